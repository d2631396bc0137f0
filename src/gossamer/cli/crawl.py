"""`gossamer crawl`: what was typed becomes seeds, settings and a folder; then the crawl runs and the exit code says how it ended."""

import argparse
import logging
import sys
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.commands import Help
from gossamer.cli.options import add_options, given_settings
from gossamer.crawl import Crawl, Folder, Seeds
from gossamer.errors import ConfigError
from gossamer.scope import Scope
from gossamer.settings import Settings, load, merge
from gossamer.url import host_of

__all__ = ["folder_for", "parser", "run", "seeds_from"]

_DESCRIPTION = """\
Crawl from the SEEDs into a folder: every answer into WARC files, every page into a table (Parquet).

A SEED is a URL (https:// is assumed), @FILE with one a line (# begins a comment), or - for standard input. Run the same
command again and it goes on where it stopped, however it stopped. Without a SEED, --into DIR goes on with what is there.
"""

_EXAMPLES = """\
examples:
  gossamer crawl https://example.com
      all of example.com and its subdomains, one request a second to each host, into crawls/example.com
  gossamer crawl https://docs.example.com/guide/ --scope prefix --into guide
      only what lies below /guide/
  gossamer crawl @seeds.txt --scope any --max-depth 1 --max-pages 10000 --contact https://me.example/bot
      the pages of a list and what they link to
  gossamer crawl --into guide --max-pages 500
      go on with the crawl in the folder guide, up to 500 pages in all
  gossamer crawl @seeds.txt --config crawl.toml --set politeness.backoff=120 --json --quiet > report.json
      settings from a file, one of the finer ones by hand, the report for a program

exit codes: 0 finished, 1 something went wrong, 2 the command or a setting is wrong, 3 stopped by a budget (--max-...),
130 interrupted. All state is kept in every case.
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer crawl",
        usage="gossamer crawl SEED... [--into DIR] [OPTIONS]",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=Help,
        allow_abbrev=False,
    )
    made.add_argument("seeds", nargs="*", metavar="SEED", help="URL, @FILE, or - for standard input")
    made.add_argument(
        "--into",
        metavar="DIR",
        type=Path,
        help="folder of the crawl [default: crawls/HOST, the host of the first seed]",
    )
    made.add_argument(
        "--force", action="store_true", help="go on although the settings are not those the crawl was begun with"
    )
    add_options(made)
    finer = made.add_argument_group("all other settings")
    finer.add_argument("--config", metavar="FILE", type=Path, help="TOML file of settings; what is given here wins")
    finer.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        help="any setting by its full name (docs/settings.md), say politeness.backoff=120; may be given several times",
    )
    output = made.add_argument_group("what it says")
    output.add_argument("--json", action="store_true", help="one JSON object on standard output at the end")
    output.add_argument("--quiet", action="store_true", help="nothing but errors while it runs, and no summary")
    output.add_argument("--verbose", action="count", default=0, help="log what happens; twice: everything")
    output.add_argument("--log-json", action="store_true", help="log and progress as JSON lines on standard error")
    output.add_argument(
        "--log-every", metavar="SECONDS", type=float, default=5.0, help="between progress lines [default: 5]"
    )
    output.add_argument(
        "--metrics-port", metavar="PORT", type=int, help="Prometheus metrics on http://127.0.0.1:PORT/metrics"
    )
    return made


def run(given: argparse.Namespace) -> int:
    seeds = seeds_from(given.seeds)
    settings = _settings(given, resuming=not seeds)
    Scope((), settings.scope, settings.include, settings.exclude)  # a pattern that is none is found out here
    folder = given.into if given.into is not None else folder_for(seeds, settings)
    _refuse_strangers(folder)

    from gossamer.cli.runner import Manner, run_crawl

    return run_crawl(
        lambda: Crawl.prepare(folder, seeds, settings, force=given.force),
        Manner(
            json=given.json,
            quiet=given.quiet,
            log_json=given.log_json,
            log_level=_level(given),
            every=max(given.log_every, 0.1),
            metrics_port=given.metrics_port,
            chosen=given.into is None,
        ),
    )


def _level(given: argparse.Namespace) -> int:
    if given.verbose:
        return logging.INFO if given.verbose == 1 else logging.DEBUG
    return logging.ERROR if given.quiet else logging.WARNING


def seeds_from(words: list[str]) -> list[str]:
    """The seeds that the words of the command line stand for."""
    seeds: list[str] = []
    for word in words:
        if word == "-":
            seeds += _listed(sys.stdin.read())
        elif word.startswith("@"):
            try:
                seeds += _listed(Path(word[1:]).read_text(encoding="utf-8-sig"))
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
                raise ConfigError(f"cannot read the seeds in {word[1:]}: {reason.lower()}") from None
        else:
            seeds.append(word)
    if words and not seeds:
        raise ConfigError(f"there is no seed in {', '.join(words)}")
    return seeds


def _listed(text: str) -> list[str]:
    """A # begins a comment at the start of a line or after a space: in a URL it is part of it."""
    lines = (f" {line}".partition(" #")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def _settings(given: argparse.Namespace, *, resuming: bool) -> Settings:
    layers: list[dict[str, Any]] = []
    if resuming:
        if given.into is None:
            raise ConfigError("there is nothing to crawl: name a URL, or a folder to go on with (--into DIR)")
        if not Folder(given.into).exists():
            raise ConfigError(f"there is no crawl in {given.into} to go on with: name a URL to begin one")
        layers.append(msgspec.to_builtins(Folder(given.into).load().settings))
    if given.config is not None:
        layers.append(load(given.config))
    layers.append(given_settings(given))
    return merge(*layers)


def folder_for(seeds: list[str], settings: Settings) -> Path:
    """Where a crawl goes that was given no folder."""
    host = host_of(Seeds.of(seeds[:1], settings).urls[0])
    return Path("crawls") / ("".join(c if c.isalnum() or c in ".-" else "_" for c in host).strip(".") or "crawl")


def _refuse_strangers(folder: Path) -> None:
    """A folder with a `warc`, say, and without our record is somebody else's work."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file; name a folder to crawl into")
    if not Folder(folder).exists():
        strange = [name for name in ("frontier", "warc", "pages") if (folder / name).exists()]
        if strange:
            raise ConfigError(
                f"{folder} is not the folder of a crawl, but has {' and '.join(strange)} in it: name another one"
            )
