"""`gossamer changes`: what a crawl that visits its pages again has found: new, changed, gone, moved and back.

Works beside a running crawl, whose rows appear about a minute late. What is judged, and how, is `gossamer.crawl.changes`.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from gossamer import __version__
from gossamer.cli.changes_text import RUN, entry, heading, span, summary
from gossamer.cli.commands import Help
from gossamer.cli.moments import moment
from gossamer.cli.pages import terminal_width
from gossamer.cli.wording import duration
from gossamer.cli.written import Sink, whole_or_not_at_all
from gossamer.crawl import Crawled, Folder
from gossamer.crawl.changes import KINDS, Asked, Change, Changes, Kind, Side
from gossamer.crawl.feed import atom
from gossamer.crawl.textdiff import LONGEST_RUN
from gossamer.errors import ConfigError
from gossamer.settings import Text

__all__ = ["parser", "run"]

FORMATS = ("text", "jsonl", "atom")
SHOWN, ENTRIES = 20, 100
"""Changes of a kind in text, and entries in a feed, unless --limit says otherwise."""
MOST_ENTRIES = 1_000


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer changes",
        usage="gossamer changes DIR [--since T] [--until T] [OPTIONS]",
        description="What became of the pages of the crawl in DIR, as its visits found it: new, changed (with what differs in the\n"
        "text), gone, moved, back. It may be running meanwhile.",
        epilog="A time T is a date (2026-01-05), a date and time (2026-01-05T14:30, local unless it names a zone), a time ago\n"
        "(2d, 3h, 90m, 1d12h) or Unix seconds.\n\n"
        "examples:\n"
        "  gossamer changes crawls/example.com --since 2d\n"
        "  gossamer changes crawls/example.com --since 2026-01-05 --until 2026-01-12 --only changed,gone\n"
        "  gossamer changes crawls/example.com --since 1h --where \"url LIKE '%/prices/%'\" --diff words\n"
        "  gossamer changes crawls/example.com --since 1d --format jsonl > changes.jsonl\n"
        "  gossamer changes crawls/example.com --since 7d --format atom --out changes.xml",
        formatter_class=Help,
        allow_abbrev=False,
    )  # fmt: skip
    add = made.add_argument
    add("folder", metavar="DIR", type=Path, help="folder of a crawl")
    add("--since", metavar="T", default="1d", help="visits from this time on [default: 1d]")
    add("--until", metavar="T", default="now", help="and before this one [default: now]")
    add("--only", metavar="KINDS", help="only these: " + ", ".join(KINDS) + "; several with commas")
    add("--host", metavar="HOST", help="only pages of this host")
    add("--where", metavar="SQL", help="only visits whose row meets this (DuckDB's SQL; columns as in `pages`)")
    add(
        "--ignore-boilerplate", action="store_true",
        help="a page whose stored text is the same is unchanged, whatever its bytes",
    )  # fmt: skip
    add(
        "--diff", choices=("lines", "words", "none"), default="words", metavar="HOW",
        help="of a changed text: lines, words or none [default: words]",
    )  # fmt: skip
    add("--context", type=int, default=1, metavar="N", help="unchanged lines around a change [default: 1]")
    add(
        "--limit", type=int, metavar="N",
        help="at most so many, the most recent; in text, of each kind; 0 for all [default: text 20, atom 100, jsonl all]",
    )  # fmt: skip
    add(
        "--format", choices=FORMATS, default="text", metavar="FORMAT",
        help="text, jsonl (an object a change) or atom (a feed) [default: text]",
    )  # fmt: skip
    add("--out", "--output", dest="output", metavar="FILE", type=Path, help="write there, whole or not at all")
    return made


def run(given: argparse.Namespace) -> int:
    now = time.time()
    asked, kinds, limit = _asked(given, now), _kinds(given.only), _limit(given)
    crawled = Folder(given.folder).load()
    if crawled.settings.text is Text.NONE and given.ignore_boilerplate:
        raise ConfigError("--ignore-boilerplate compares texts, and this crawl keeps none: gossamer reparse makes them")
    with Changes(given.folder, asked) as changes, whole_or_not_at_all(given.output) as sink:
        if given.format == "jsonl":
            _jsonl(changes.told(kinds, limit), sink)
        elif given.format == "atom":
            for piece in _feed(changes.told(kinds, limit), given, crawled, now):
                sink.write(piece.encode())
        else:
            for line in _lines(changes, given, asked, kinds, limit):
                sink.write(f"{line}\n".encode(errors="surrogateescape"))  # a folder may have any name
        if given.format != "text" and not any(getattr(changes.tally, kind) for kind in kinds):
            sys.stderr.write(f"{_nothing(changes, kinds)}\n")
    return 0


def _lines(
    changes: Changes, given: argparse.Namespace, asked: Asked, kinds: Sequence[Kind], limit: int
) -> Iterator[str]:
    terminal = given.output is None and sys.stdout.isatty()
    colour, columns = terminal and "NO_COLOR" not in os.environ, terminal_width() if terminal else None
    yield f"{given.folder} {span(asked.since, asked.until)}"
    if changes.tally.visits:
        yield from summary(changes.tally, columns)
    if not any(getattr(changes.tally, kind) for kind in kinds):
        yield _nothing(changes, kinds)
    for kind in kinds:
        count = getattr(changes.tally, kind)
        if count:
            yield ""
            yield heading(kind, count, min(count, limit or count), colour=colour)
            tall = False
            for change in changes.told((kind,), limit):
                lines = list(entry(change, columns, colour=colour))
                if tall:
                    yield ""
                tall = len(lines) > 3
                yield from lines


def _nothing(changes: Changes, kinds: Sequence[Kind]) -> str:
    if changes.tally.visits:
        return "nothing changed" if set(kinds) == set(KINDS) else f"nothing of that kind: {', '.join(kinds)}"
    newest = changes.newest()
    if newest is None:
        return "no page has been visited yet; while a crawl runs, rows appear about a minute after the page"
    return f"no such page was visited in that time; the newest visit in the table was {duration(max(0.0, time.time() - newest))} ago"


def _kinds(only: str | None) -> tuple[Kind, ...]:
    words = [word.strip() for word in only.split(",")] if only is not None else list(KINDS)
    for word in words:
        if word not in KINDS:
            raise ConfigError(f"--only {word!r} is no kind of change: choose from {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in words)


def _limit(given: argparse.Namespace) -> int:
    if given.limit is None:
        return {"text": SHOWN, "atom": ENTRIES, "jsonl": 0}[given.format]
    limit: int = given.limit
    if given.format == "atom" and not 0 < limit <= MOST_ENTRIES:
        raise ConfigError(
            f"--limit cannot be {limit}: a feed has 1 to {MOST_ENTRIES:,} entries; --format jsonl tells all"
        )
    return limit


def _asked(given: argparse.Namespace, now: float) -> Asked:
    for option in ("limit", "context"):
        value = getattr(given, option)
        if value is not None and value < 0:
            raise ConfigError(f"--{option} cannot be {value}: it is a whole number >= 0")
    since, until = moment(given.since, now, "--since"), moment(given.until, now, "--until")
    if since >= until:
        raise ConfigError(f"--since {given.since} is not before --until {given.until}: nothing lies between them")
    return Asked(
        since=since, until=until, host=given.host.lower() if given.host is not None else None, where=given.where,
        ignore_boilerplate=given.ignore_boilerplate, diff=given.diff, context=given.context, run=RUN if given.format == "text" else LONGEST_RUN,
    )  # fmt: skip


def _jsonl(changes: Iterable[Change], sink: Sink) -> None:
    encode = msgspec.json.Encoder().encode
    for change in changes:
        diff = change.diff
        told = {
            "url": change.url, "kind": change.kind, "at": _iso(change.at), "visited_before": _iso(change.visited_before),
            "before": _object(change.before), "after": _object(change.after),
            "removed": diff.removed if diff is not None else None, "added": diff.added if diff is not None else None,
            "diff": str(diff) if diff is not None else None, "note": (diff.note or None) if diff is not None else None,
        }  # fmt: skip
        sink.write(encode(told) + b"\n")


def _object(side: Side | None) -> dict[str, object] | None:
    return None if side is None else {**msgspec.structs.asdict(side), "at": _iso(side.at)}


def _iso(milliseconds: int | None) -> str | None:
    if milliseconds is None:
        return None
    return datetime.fromtimestamp(milliseconds / 1_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _feed(changes: Iterable[Change], given: argparse.Namespace, crawled: Crawled, now: float) -> Iterator[str]:
    seed = crawled.seeds[0] if crawled.seeds else None
    chosen = [
        f"{name} {value}"
        for name, value in (("only", given.only), ("host", given.host), ("where", given.where))
        if value
    ]
    title = "Changes" + (f" of {seed}" if seed else "") + (f" ({'; '.join(chosen)})" if chosen else "")
    crawl = f"{crawled.started!r} {seed}"
    return atom(changes, crawl=crawl, title=title, site=seed, written=now, version=__version__)
