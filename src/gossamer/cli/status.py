"""`gossamer status`: how far a crawl is, what it holds and why it ended; it may be running meanwhile."""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.commands import Help
from gossamer.cli.summary import LastRun, ending_words
from gossamer.cli.wording import duration, plain, size
from gossamer.crawl import Crawled, Folder
from gossamer.errors import FrontierError
from gossamer.frontier import Stats
from gossamer.frontier.inspect import Ledger, holder

__all__ = ["Held", "Standing", "look", "parser", "run"]

_STATES = {
    "queued": "may be fetched",
    "waiting": "failed, and are tried again later",
    "done": "fetched, copies included",
    "redirected": "lead elsewhere",
    "gone": "do not exist (404, 410)",
    "refused": "left alone: robots.txt, budget, unsafe address",
    "failed": "given up",
}


_AGAIN = ("revisits", "changed", "unchanged", "back", "retired", "revisiting", "due", "overdue")


class Held(msgspec.Struct, frozen=True):
    """Files of one part of the folder."""

    files: int = 0
    bytes: int = 0


class Standing(msgspec.Struct, frozen=True):
    """All that there is to say of a crawl's folder."""

    folder: str
    running: bool
    process: int | None
    begun: float
    ended: float | None
    ending: str
    seeds: tuple[str, ...]
    urls: dict[str, int]
    urls_seen: int
    fetched: int
    duplicates: int
    bytes: int
    hosts: int
    trapped: int
    failures: dict[str, int]
    again: dict[str, int]
    next_due: float | None
    budget: dict[str, float]
    disk: dict[str, Held]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer status",
        usage="gossamer status DIR [--json]",
        description="How far the crawl in DIR is, what it holds and why it ended. It may be running meanwhile.",
        epilog="examples:\n  gossamer status crawls/example.com\n  gossamer status crawls/example.com --json",
        formatter_class=Help,
        allow_abbrev=False,
    )
    made.add_argument("folder", metavar="DIR", type=Path, help="folder of a crawl")
    made.add_argument("--json", action="store_true", help="one JSON object instead")
    return made


def run(given: argparse.Namespace) -> int:
    found = look(given.folder)
    if given.json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    else:
        sys.stdout.write("\n".join(_lines(found, time.time())) + "\n")
    return 0


def look(path: Path) -> Standing:
    """Read everything; the folder is not touched."""
    folder = Folder(path)
    crawled = folder.load()
    process = holder(folder.frontier)
    last = LastRun.load(path) if process is None else None
    stats, failures, next_due = Stats(), dict[str, int](), None
    try:
        with Ledger(folder.frontier) as ledger:
            stats = ledger.stats()
            next_due = ledger.next_due()
            failures = dict(ledger.failures().most_common(10))
    except FrontierError:
        if folder.frontier.exists() and any(folder.frontier.iterdir()):
            raise
    return Standing(
        folder=str(path),
        running=process is not None,
        process=process,
        begun=crawled.started,
        ended=last.ended if last is not None else None,
        ending=_ending(process, last),
        seeds=crawled.seeds,
        urls={name: getattr(stats, name) for name in _STATES},
        urls_seen=stats.seen,
        fetched=stats.fetched,
        duplicates=stats.copies,
        bytes=stats.size,
        hosts=stats.hosts,
        trapped=stats.trapped,
        failures=failures,
        again={name: getattr(stats, name) for name in _AGAIN},
        next_due=next_due,
        budget=_budget(crawled),
        disk={name: _held(path / name) for name in ("warc", "pages", "frontier")},
    )


def _ending(process: int | None, last: LastRun | None) -> str:
    if process is not None:
        return f"running (process {process})"
    if last is None:
        return "cut off: the last run ended without a word; run it again to mend what there is to mend and go on"
    return ending_words(last.report)


def _budget(crawled: Crawled) -> dict[str, float]:
    names = ("max_pages", "max_seconds", "max_bytes", "max_pages_per_host", "max_depth")
    return {name: value for name in names if (value := getattr(crawled.settings, name)) is not None}


def _held(folder: Path) -> Held:
    sizes = []
    for file in folder.glob("*") if folder.is_dir() else ():
        try:
            sizes.append(file.stat().st_size)
        except OSError:  # RocksDB deletes files as it likes
            continue
    return Held(len(sizes), sum(sizes))


def _lines(s: Standing, now: float) -> list[str]:
    lines = [f"{s.folder}: {s.ending}"]
    begun = f"begun {_when(s.begun)}, {duration(max(now - s.begun, 0))} ago"
    lines.append(f"  {begun}" + (f"; ended {_when(s.ended)}" if s.ended is not None else ""))
    more = f" and {len(s.seeds) - 3:,} more" if len(s.seeds) > 3 else ""
    lines.append(f"  from {', '.join(plain(seed) for seed in s.seeds[:3])}{more}")
    if s.budget:
        spent: dict[str, Any] = {"max_pages": s.fetched, "max_bytes": s.bytes}
        lines.append("  budget: " + ", ".join(_spent(name, most, spent.get(name)) for name, most in s.budget.items()))
    lines += ["", f"  {s.urls_seen:>12,}  URLs seen on {s.hosts:,} host{'' if s.hosts == 1 else 's'}"]
    lines += [f"  {s.urls[name]:>12,}  {name:<10}  {_STATES[name]}" for name in _STATES if s.urls[name]]
    if s.trapped:
        lines.append(f"  {s.trapped:>12,}  in traps    not taken in: endless calendars, session ids and the like")
    lines += ["", f"  {s.fetched:>12,}  pages answered, {size(s.bytes)}; {s.duplicates:,} of them copies"]
    if s.again["revisits"]:
        found = ", ".join(
            f"{s.again[name]:,} {name}" for name in ("changed", "unchanged", "back", "retired") if s.again[name]
        )
        lines.append(f"  {s.again['revisits']:>12,}  visits to known pages" + (f": {found}" if found else ""))
    late = s.again["overdue"] + s.again["revisiting"]
    if late or s.next_due is not None:
        first = f", the first {_in(s.next_due - now)}" if s.next_due is not None else ""
        late_ = f"; {late:,} more are due and wait for their host" if late else ""
        lines.append(f"  {s.again['due']:>12,}  to be visited again{first}{late_}")
    if s.failures:
        reasons = ", ".join(f"{plain(reason)} {number:,}" for reason, number in s.failures.items())
        lines.append(f"  {'':>12}  failed: {reasons}")
    lines.append("")
    lines += [f"  {size(held.bytes):>12}  {name} ({held.files:,} files)" for name, held in s.disk.items()]
    return lines


def _in(seconds: float) -> str:
    return f"in {duration(seconds)}" if seconds > 0 else f"due for {duration(-seconds)}"


def _spent(name: str, most: float, now: float | None) -> str:
    option = "--" + name.replace("_", "-")
    return f"{option} {most:,.15g}" + (f" ({now / most:.0%} used)" if now is not None else "")


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
