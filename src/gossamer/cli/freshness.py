"""`gossamer freshness`: how many of a crawl's pages are up to date, as an estimate, and what its visits go into.

Works beside a running crawl: ages and plans are those of the frontier as it last wrote, visits those of the page table, where rows
appear about a minute late.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from gossamer.cli.commands import Help
from gossamer.cli.freshness_chart import Drawn, chart
from gossamer.cli.freshness_text import lines
from gossamer.cli.freshness_values import Budget, Freshness
from gossamer.cli.pages import terminal_width
from gossamer.cli.written import whole_or_not_at_all
from gossamer.crawl import Crawled, Folder
from gossamer.crawl.changes import Asked, Changes
from gossamer.crawl.freshness import Sums
from gossamer.crawl.spread import DAY, HOUR
from gossamer.crawl.stale import HostFreshness, stalest
from gossamer.crawl.visits import Visits, by_stretch, together
from gossamer.errors import ConfigError, GossamerError
from gossamer.frontier.inspect import Ledger

__all__ = ["look", "parser", "run"]

HOSTS = 20
WEEK = 7 * DAY


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer freshness",
        usage="gossamer freshness DIR [OPTIONS]",
        description="How many pages of the crawl in DIR are up to date, as far as can be told without asking: from how often each was\n"
        "found changed, and how long ago it was visited. With ages, visits and budget. It may be running meanwhile.",
        epilog="examples:\n"
        "  gossamer freshness crawls/example.com\n"
        "  gossamer freshness crawls/example.com --by host --limit 10        where the stale pages are\n"
        "  gossamer freshness crawls/example.com --chart freshness.svg\n"
        "  gossamer freshness crawls/example.com --host www.example.com --json",
        formatter_class=Help,
        allow_abbrev=False,
    )  # fmt: skip
    add = made.add_argument
    add("folder", metavar="DIR", type=Path, help="folder of a crawl")
    add("--host", metavar="HOST", help="only pages of this host")
    add(
        "--by", choices=("host",), metavar="WHAT", help="host: also a line each for the hosts with the most stale pages"
    )
    add("--limit", type=int, default=HOSTS, metavar="N", help=f"of --by, at most so many; 0 for all [default: {HOSTS}]")
    add("--chart", metavar="FILE", type=Path, help="also draw it: an SVG file, written whole or not at all")
    add("--json", action="store_true", help="one JSON object instead; times are in seconds")
    return made


def run(given: argparse.Namespace) -> int:
    if given.limit < 0:
        raise ConfigError(f"--limit cannot be {given.limit}: it is a whole number >= 0")
    if given.chart is not None and given.chart.suffix.lower() != ".svg":
        raise ConfigError(f"--chart {given.chart} does not end in .svg: the chart is an SVG file, and nothing else")
    host = given.host.lower() if given.host is not None else None
    told, drawn = look(
        given.folder, time.time(), host, given.limit if given.by == "host" else None, draw=given.chart is not None
    )
    if given.chart is not None and drawn is not None:
        with whole_or_not_at_all(given.chart) as sink:
            sink.write(chart(told, drawn).encode())
    if given.json:
        sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    else:
        columns = terminal_width() if sys.stdout.isatty() else None
        sys.stdout.write("\n".join(lines(told, columns)) + "\n")
        if given.chart is not None:
            sys.stderr.write(f"the chart is in {given.chart}\n")
    return 0


def look(
    path: Path, now: float, host: str | None = None, hosts: int | None = None, *, draw: bool = False
) -> tuple[Freshness, Drawn | None]:
    """Read everything; the folder is not touched. `hosts` of them are told of one by one (0: all); None for none."""
    folder = Folder(path)
    crawled = folder.load()
    sums = Sums(now)
    with Ledger(folder.frontier) as ledger:
        found = _taken_in(ledger, sums, now, host, hosts)
        stats = ledger.stats()
    if not sums.pages.held:
        raise GossamerError(_nothing(path, sums, host))
    stretch, stretches = _stretch(now - crawled.started) if draw else (HOUR, 24)
    hour, day, parts = _visits(path, now, host, stretch, stretches)
    due = sums.due()
    told = Freshness(
        folder=str(path), at=now, host=host, pages=sums.pages, now=sums.share(), in_a_day=sums.share(DAY),
        in_a_week=sums.share(WEEK), ages=sums.ages.told(), change_intervals=sums.intervals.told(), due=due,
        last_hour=hour, last_day=day, budget=_budget(crawled, due.planned, hour, day, now),
        revisits=stats.revisits if host is None else None, changed=stats.changed if host is None else None,
        unchanged=stats.unchanged if host is None else None, hosts=tuple(found) if hosts is not None else None,
    )  # fmt: skip
    return told, Drawn(sums, stretch, parts) if draw else None


def _taken_in(ledger: Ledger, sums: Sums, now: float, host: str | None, hosts: int | None) -> Sequence[HostFreshness]:
    if hosts is not None:
        return stalest(ledger.pages(host), sums, now, hosts)
    for record, trust in ledger.pages(host):
        sums.add(record, trust)
    return ()


def _visits(
    path: Path, now: float, host: str | None, stretch: float, stretches: int
) -> tuple[Visits, Visits, list[Visits]]:
    """Those of the last hour, of the last day, and of each stretch."""
    since = now - max(DAY, stretch * stretches)
    with Changes(path, Asked(since=max(since, 0.0), until=now, host=host, diff="none")) as changes:
        hours = by_stretch(changes, HOUR, 24)
        return hours[-1], together(hours), by_stretch(changes, stretch, stretches)


def _stretch(age: float) -> tuple[float, int]:
    """Into which stretches the visits of a crawl of that age are drawn, and how many."""
    if age > 3 * DAY:
        return DAY, 14
    return (HOUR, 24) if age > 3 * HOUR else (300.0, 24)


def _budget(crawled: Crawled, planned: int, hour: Visits, day: Visits, now: float) -> Budget:
    each = crawled.settings.recrawl.visits_per_day
    second = each * planned / DAY
    age = max(now - crawled.started, 1.0)

    def used(visits: int, seconds: float) -> float:
        return visits / (second * min(seconds, age)) if second > 0.0 else 0.0

    return Budget(each, each * planned, used(hour.again, HOUR), used(day.again, DAY))


def _nothing(path: Path, sums: Sums, host: str | None) -> str:
    pages = sums.pages
    if host is not None and not pages.known:
        return f"{path} knows no page of {host}; gossamer hosts lists its hosts"
    where = f"{path}" if host is None else f"{path}, {host}"
    if pages.gone or pages.retired or pages.moved:
        return f"{where}: there is no page to be fresh: of {pages.known:,} known, all that were visited are gone or lead elsewhere"
    return f"{where}: no page has been visited yet; {pages.known:,} known"
