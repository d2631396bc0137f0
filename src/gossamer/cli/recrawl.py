"""`gossamer recrawl`: one pass over the known pages of a crawl that are due, and then it ends."""

import argparse
import logging
import sys
import time
from pathlib import Path

from gossamer.cli.commands import Help
from gossamer.cli.moments import moment
from gossamer.cli.wording import duration
from gossamer.crawl import Again, Crawl, Folder
from gossamer.errors import ConfigError
from gossamer.frontier.inspect import Ledger

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Visit again, once, the pages of the crawl in DIR whose time has come. A page is asked for only if it has changed, where its server can
tell; what has changed is stored beside what was there before, and its links are followed as ever. `gossamer crawl --into DIR
--continuous` does the same without end.
"""

_EXAMPLES = """\
examples:
  gossamer recrawl crawls/example.com
      what is due; when nothing is, it says when the next page will be
  gossamer recrawl crawls/example.com --older-than 7d
      also what was last visited more than a week ago
  gossamer changes crawls/example.com --since 1h
      what it found

exit codes: as those of `gossamer crawl`
"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer recrawl",
        usage="gossamer recrawl DIR [--all | --older-than TIME] [OPTIONS]",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=Help,
        allow_abbrev=False,
    )
    made.add_argument("folder", metavar="DIR", type=Path, help="folder of a crawl that is stopped")
    which = made.add_mutually_exclusive_group()
    which.add_argument("--all", action="store_true", help="every known page, due or not")
    which.add_argument("--older-than", metavar="TIME", help="also pages last visited before a time (7d, 2026-01-05)")
    made.add_argument("--json", action="store_true", help="one JSON object on standard output at the end")
    made.add_argument("--quiet", action="store_true", help="nothing but errors while it runs, and no summary")
    made.add_argument("--log-json", action="store_true", help="log and progress as JSON lines on standard error")
    made.add_argument("--verbose", action="count", default=0, help="log what happens; twice: everything")
    return made


def run(given: argparse.Namespace) -> int:
    folder = Folder(given.folder)
    crawled = folder.load()
    now = time.time()
    older = 0.0 if given.all else None
    if given.older_than is not None:
        older = now - moment(given.older_than, now, "--older-than")
        if older < 0:
            raise ConfigError(f"--older-than {given.older_than!r} is in the future")
    if older is None and not given.json and (words := _nothing_due(folder, now)) is not None:
        if not given.quiet:
            sys.stdout.write(words + "\n")
        return 0

    from gossamer.cli.runner import Manner, run_crawl

    level = (logging.INFO if given.verbose == 1 else logging.DEBUG) if given.verbose else logging.WARNING
    return run_crawl(
        lambda: Crawl.prepare(given.folder, [], crawled.settings, again=Again(older)),
        Manner(
            json=given.json,
            quiet=given.quiet,
            log_json=given.log_json,
            log_level=logging.ERROR if given.quiet else level,
        ),
    )


def _nothing_due(folder: Folder, now: float) -> str | None:
    """What to say when there is nothing to do; None when there is, or nobody knows yet."""
    with Ledger(folder.frontier) as ledger:
        stats, due, whole = ledger.stats(), ledger.next_due(), ledger.planned
    if not whole or stats.queued or stats.waiting or stats.overdue or (due is not None and due <= now):
        return None
    if due is None:
        return "Nothing is due, and nothing will be: no page of this crawl is visited again."
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(due))
    return f"Nothing is due. The next page will be in {duration(due - now)}, at {when}; --all visits all of them now."
