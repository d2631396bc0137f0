"""Which commands there are, and what `gossamer --help` teaches.

A command is a module with `parser()` and `run(given)`. Only the module of the command that is given is imported, and only its
parser is built: `gossamer status` does not pay for the crawler, and the crawler does not pay for the terminal view unless it is shown.
"""

import argparse
import difflib
import importlib
import os
import sys
from typing import Protocol

from gossamer import __version__
from gossamer.errors import ConfigError, GossamerError, InvalidURL

__all__ = ["COMMANDS", "HELP", "Command", "Help", "parser_of", "run"]

COMMANDS = (
    "crawl",
    "recrawl",
    "status",
    "hosts",
    "pages",
    "cat",
    "explain",
    "failures",
    "changes",
    "freshness",
    "verify",
    "reparse",
    "demo",
)

FAULT, USAGE = 1, 2

HELP = """\
Gossamer is a web crawler: fast over the whole web, gentle to each host, never losing a page.

usage: gossamer COMMAND [OPTIONS]

Crawl:
  crawl SEED...     crawl from these URLs into a folder, or go on with a crawl that stopped
  recrawl DIR       visit again what is due, once; crawl --continuous does so without end
  demo              a synthetic web on this machine, to try things on; --crawl crawls it too

Look at a crawl, while it runs or after:
  status DIR        how far it is, what it holds, why it ended
  hosts DIR         the hosts: fetched, failed, how long each is left alone
  pages DIR         the page table: SQL conditions, as a table, JSON lines, CSV or Parquet
  cat DIR URL       one stored answer
  explain DIR URL   the whole story of a URL: found where, tried when, kept where, or excluded by which rule
  failures DIR      the URLs that were given up: how many and why; --requeue tries them again
  changes DIR       what later visits found: new, changed (with what differs), gone, moved; as text, JSON lines or a feed
  freshness DIR     how many pages are up to date, as an estimate; ages, visits, budget, and a chart

Look after a crawl that is stopped:
  verify DIR        is it whole: records, digests, rows, books; --repair cures what is not
  reparse DIR       the page table made anew from the WARC files

Try it:
  gossamer demo --crawl                                  a crawl of a small made-up web, in a few seconds
  gossamer crawl https://example.com                     one site, politely, into crawls/example.com
  gossamer crawl https://example.com --max-pages 100     a hundred pages of it; the same command goes on later
  gossamer pages crawls/example.com --where "status = 404"

Options:
  -h, --help        this text; gossamer COMMAND --help tells all about a command
  --version         the version

Exit codes: 0 done, 1 something went wrong, 2 the command or a setting is wrong, 3 stopped by a budget (--max-...),
130 interrupted, everything kept.
"""


class Command(Protocol):
    """What the module of a command offers."""

    def parser(self) -> argparse.ArgumentParser: ...

    def run(self, given: argparse.Namespace) -> int: ...


class Help(argparse.RawDescriptionHelpFormatter):
    """Options in one column, what they do in another; at most 100 wide."""

    def __init__(self, prog: str) -> None:
        width = int(os.environ.get("COLUMNS", "0") or 0) or _terminal_width()
        super().__init__(prog, max_help_position=30, width=max(60, min(width, 100)))


def _terminal_width() -> int:
    try:
        return os.get_terminal_size(1).columns - 2
    except OSError:
        return 100


def _module(name: str) -> Command:
    module: Command = importlib.import_module(f"gossamer.cli.{name}")
    return module


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a command."""
    return _module(name).parser()


def run(arguments: list[str]) -> int:
    """Find the command and run it; errors become one sentence each."""
    first = arguments[0] if arguments else ""
    if first in ("", "-h", "--help", "help"):
        if len(arguments) > 1 and arguments[1] in COMMANDS:
            return run([arguments[1], "--help"])
        (sys.stdout if first else sys.stderr).write(HELP)
        return 0 if first else USAGE
    if first in ("--version", "-V", "version"):
        sys.stdout.write(f"gossamer {__version__}\n")
        return 0
    if first not in COMMANDS:
        return _tell(_unknown(first), USAGE)
    return _guarded(_module(first), arguments[1:])


def _guarded(command: Command, arguments: list[str]) -> int:
    try:
        parser = command.parser()
        given, rest = parser.parse_known_intermixed_args(arguments)
        given.rest = rest
        if rest and not parser.get_default("hands_on"):
            parser.error(_surplus(rest, parser))
        code = command.run(given)
        sys.stdout.flush()
    except (ConfigError, InvalidURL) as error:
        return _tell(str(error), USAGE)
    except GossamerError as error:
        return _tell(str(error), FAULT)
    except BrokenPipeError:  # whoever reads our output (head, less) has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as exit_:  # argparse, after its own words
        return exit_.code if isinstance(exit_.code, int) else USAGE
    return code


def _surplus(words: list[str], parser: argparse.ArgumentParser) -> str:
    known = [option for action in parser._actions for option in action.option_strings]
    near = difflib.get_close_matches(words[0].partition("=")[0], known, 1)
    return f"there is no option {words[0]}" + (f"; did you mean {near[0]}?" if near else "")


def _unknown(word: str) -> str:
    if "://" in word or "." in word:
        return f"{word!r} is not a command; to crawl it: gossamer crawl {word}"
    near = difflib.get_close_matches(word, COMMANDS, 1)
    return f"there is no command {word!r}; " + (f"did you mean {near[0]!r}?" if near else "gossamer --help lists them")


def _tell(sentence: str, code: int) -> int:
    sys.stderr.write(f"gossamer: {sentence}\n")
    return code
