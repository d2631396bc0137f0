"""`gossamer explain`: the whole story of a URL, laid out for a terminal or as one object for programs."""

import argparse
import os
import re
import sys
import textwrap
import time
from pathlib import Path

import msgspec

from gossamer.cli.commands import Help
from gossamer.cli.pages import terminal_width
from gossamer.cli.wording import plain, width
from gossamer.crawl.story import Step, Story, tell

__all__ = ["lines_of", "parser", "run"]

NAMES = 11
NARROWEST = 50


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer explain",
        usage="gossamer explain DIR URL [--json] [--quick]",
        description="The whole story of URL in the crawl in DIR: how its address was made canonical, where it was found,\n"
        "what was tried and answered, what it repeats, where it is stored, what comes next. Of a URL that is\n"
        "not in the crawl: the rules are run again, and the one that excludes it is named. The crawl may be\n"
        "running meanwhile.",
        epilog="exit codes: 0 the story is told, whatever it is (with --json, `known` says whether the URL is in the\n"
        "crawl and `excluded_by` which rule keeps it out), 1 DIR is not a crawl or cannot be read, 2 URL is\n"
        "not a URL.\n\n"
        "examples:\n"
        "  gossamer explain crawls/example.com https://example.com/about\n"
        "  gossamer explain crawls/example.com example.com/calendar/2031/07\n"
        "  gossamer explain crawls/example.com https://example.com/ --json",
        formatter_class=Help,
        allow_abbrev=False,
    )
    made.add_argument("folder", metavar="DIR", type=Path, help="folder of a crawl")
    made.add_argument(
        "url",
        metavar="URL",
        help="as typed; it is made canonical as the crawl did, and without http:// looked for as https and http",
    )
    made.add_argument("--json", action="store_true", help="one JSON object instead")
    made.add_argument(
        "--quick",
        action="store_true",
        help="of a URL that is not in the crawl: do not look through the page table for pages that link to it",
    )
    return made


def run(given: argparse.Namespace) -> int:
    typed = os.fsencode(given.url).decode("utf-8", "replace")  # an argument may be any bytes
    story = tell(given.folder, typed, time.time(), search_links=not given.quick)
    if given.json:
        sys.stdout.write(msgspec.json.encode(story).decode() + "\n")
    else:
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        sys.stdout.write("\n".join(lines_of(story, terminal_width(), colour=colour)) + "\n")
    return 0


def lines_of(story: Story, columns: int | None, *, colour: bool = False) -> list[str]:
    """The story as lines: names to the left, sentences to the right, wrapped to `columns` (None: not at all)."""
    bold, dim, off = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if colour else ("", "", "")
    lines = [f"{bold}{plain(story.url)}{off}"]
    lines += [f"  {bold}{line}{off}" for line in _wrapped(plain(story.verdict), columns, 2)]
    if story.process is not None:
        lines.append(f"  {dim}the crawl is running (process {story.process}); this is how it stands now{off}")
    lines.append("")
    for step in story.steps:
        head, *rest = _right(step, columns)
        lines.append(f"  {dim}{step.name:<{NAMES}}{off} {head}")
        lines += [f"  {'':<{NAMES}} {f'{bold}{line}{off}' if line.startswith('✗') else line}" for line in rest]
    return lines


def _right(step: Step, columns: int | None) -> list[str]:
    """The right side of a step; a command stays in one piece, to be copied."""
    indent = NAMES + 3
    found = _wrapped(plain(step.sentence), columns, indent)
    for note in step.notes:
        text = _harmless(note)
        found += [text] if text.startswith("gossamer ") else _wrapped(text, columns, indent)
    return found


def _harmless(note: str) -> str:
    """A note without what a terminal would obey; its spaces stay, as they align."""
    return _WORD.sub(lambda word: plain(word[0]), note)


_WORD = re.compile(r"[^ ]+")
_COLUMN = re.compile(r".{1,30}? {2,}(?=[^ (])")


def _wrapped(text: str, columns: int | None, indent: int) -> list[str]:
    """Lines that fit, but for words (URLs) that do not: those are never broken. What goes on is indented."""
    if columns is None or width(text) <= columns - indent:
        return [text]
    column = _COLUMN.match(text)
    room = max(columns, NARROWEST) - indent
    return textwrap.wrap(
        text, room, subsequent_indent=" " * (column.end() if column else 2), break_long_words=False, break_on_hyphens=False
    ) or [""]  # fmt: skip
