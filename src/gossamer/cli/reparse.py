"""`gossamer reparse`: the page table made anew from the WARC files."""

import argparse
import sys
import time
from pathlib import Path

import msgspec

from gossamer.cli.commands import Help
from gossamer.cli.wording import duration, size
from gossamer.crawl.reparse import PAGE_SECONDS, reparse
from gossamer.errors import ConfigError
from gossamer.settings import Text

__all__ = ["parser", "run"]

EVERY = 1.0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer reparse",
        usage="gossamer reparse DIR [--text main|full|none] [--page-seconds S] [--json]",
        description="The page table of the crawl in DIR made anew from its WARC files, without asking any host for anything. It is written "
        "beside the old one and takes its place as a whole. The crawl must be stopped.",
        epilog="examples:\n  gossamer reparse crawls/example.com\n  gossamer reparse crawls/example.com --text full",
        formatter_class=Help,
        allow_abbrev=False,
    )
    made.add_argument("folder", metavar="DIR", type=Path, help="folder of a crawl")
    made.add_argument(
        "--text",
        choices=[str(text) for text in Text],
        help="which text the table has from now on, also of pages fetched later (default: as before)",
    )
    made.add_argument(
        "--page-seconds",
        metavar="S",
        type=float,
        default=PAGE_SECONDS,
        help=f"CPU seconds that one page may take (default: {PAGE_SECONDS:g}); one that takes more, or kills its parser, gets a row "
        "whose column error says so",
    )
    made.add_argument("--workers", metavar="N", type=int, help="processes to use (default: one a core)")
    made.add_argument("--json", action="store_true", help="one JSON object instead")
    return made


def run(given: argparse.Namespace) -> int:
    if given.page_seconds <= 0:
        raise ConfigError("--page-seconds must be more than 0")
    if given.workers is not None and given.workers < 1:
        raise ConfigError("--workers must be at least 1")
    told = _Progress()
    done = reparse(
        given.folder,
        text=Text(given.text) if given.text else None,
        page_seconds=given.page_seconds,
        processes=given.workers,
        progress=told,
    )
    told.end()
    if given.json:
        sys.stdout.write(msgspec.json.encode(done).decode() + "\n")
        return 0
    failed = f"; {done.failed:,} could not be read, and their column error says why" if done.failed else ""
    files = f"{done.files:,} WARC file{'' if done.files == 1 else 's'}"
    sys.stdout.write(f"{done.rows:,} rows made anew from {files} in {duration(done.seconds)}{failed}\n")
    return 0


class _Progress:
    """A line on a terminal, every second."""

    def __init__(self) -> None:
        self._next = time.monotonic() + EVERY
        self._shown = False
        self._terminal = sys.stderr.isatty()

    def __call__(self, rows: int, done: int, total: int) -> None:
        if not self._terminal or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY
        sys.stderr.write(f"\r\033[K{rows:,} rows, {done / max(total, 1):.0%} of {size(total)}")
        sys.stderr.flush()
        self._shown = True

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\033[K")
