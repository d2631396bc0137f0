"""Whole crawls of the synthetic web, run as a user's would be, and everything a test may ask of them afterwards."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from gossamer.crawl import Crawl, Desk, Report
from gossamer.frontier import Done, RocksFrontier, UrlView
from gossamer.settings import Settings, merge
from gossamer.sim.web import Running, Served, Web, start_in_process
from gossamer.store import Capture, Damage, Location, captures, query

__all__ = [
    "FAST", "Crawled", "after_completions", "crawl", "depths", "explained", "online", "records_of", "rows_of",
    "settings", "stored_in",
]  # fmt: skip

# A crawl that need not be gentle: whatever a corner does, its waits are fractions of a second. The one longer wait is that
# after a 429 or 503 without Retry-After, which no setting makes shorter than a second.
FAST: dict[str, Any] = {
    "scope": "any",
    "workers": 0,
    "delay": 0,
    "host_connections": 4,
    "patience": 0.0005,
    "max_wait": 30,
    "politeness": {
        "answer_multiple": 0,
        "stretch_cap": 0.1,
        "backoff": 1,
        "backoff_cap": 1,
        "failure_backoff": 0.05,
        "failure_cap": 0.1,
    },
    "fetch": {"connect_timeout": 2, "first_byte_timeout": 1, "total_timeout": 3, "low_speed_seconds": 1},
}


def settings(running: Running, /, **changes: Any) -> Settings:
    """`FAST` with changes, towards a running web."""
    return merge(FAST, {"connect_to": running.connect_to}, changes)


class Crawled(msgspec.Struct, frozen=True):
    """A crawl that is over."""

    web: Web
    folder: Path
    report: Report
    log: list[Served]
    """What the web served during it."""


@contextmanager
def online(folder: Path, **web: Any) -> Iterator[tuple[Web, Running]]:
    """A web on loopback, in a process of its own."""
    plan = Web(**web)
    with start_in_process(plan, log=folder / "served.jsonl") as running:
        yield plan, running


def crawl(folder: Path, web: Web, running: Running, seeds: list[str] | None = None, /, **changes: Any) -> Crawled:
    """One run until it is over, from the web's one seed unless others are named."""
    before = len(running.served())
    run = Crawl.prepare(folder, web.seeds() if seeds is None else seeds, settings(running, **changes))
    report = uvloop.run(run.run())
    return Crawled(web, folder, report, running.served()[before:])


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The page table."""
    found: list[dict[str, Any]] = query(folder, "SELECT * FROM pages ORDER BY url, fetched_at").to_pylist()
    return found


def records_of(folder: Path) -> list[tuple[Location, Capture]]:
    """Every capture of every WARC file, robots.txt and sitemaps included."""
    found: list[tuple[Location, Capture]] = []
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        for item in captures(path):
            assert not isinstance(item, Damage), f"{path.name}: {item}"
            found.append(item)
    return found


def stored_in(folder: Path) -> list[str]:
    """The URLs of the pages that the archive keeps with a body of their own: one entry for each time."""
    return [
        capture.url
        for _, capture in records_of(folder)
        if capture.status == 200
        and capture.duplicate is None
        and capture.body_stored
        and "kind" not in capture.notes.extra  # robots.txt and sitemaps are archived, but are no pages
    ]


def explained(folder: Path, urls: Iterable[str]) -> dict[str, UrlView | None]:
    """What the frontier of a crawl that is over knows of each URL."""

    async def ask() -> dict[str, UrlView | None]:
        frontier = RocksFrontier(folder / "frontier")
        try:
            return {url: await frontier.explain(url) for url in urls}
        finally:
            await frontier.close()

    return asyncio.run(ask())


def depths(web: Web, seeds: list[str], inside: Callable[[str], bool] = lambda url: True) -> dict[str, int]:
    """Every page of the plan that a crawl from these seeds stores, with the fewest links that lead to it."""
    found, level = dict.fromkeys(seeds, 0), seeds
    while level:
        depth = found[level[0]] + 1
        further = dict.fromkeys(link for url in level for link in web.node(url).links)
        level = [url for url in further if url not in found and inside(url)]
        found |= dict.fromkeys(level, depth)
    return {url: depth for url, depth in found.items() if web.node(url).kind == "page"}


def after_completions(count: int, act: Callable[[], object], patch: Callable[..., None] = setattr) -> None:
    """Do something, once, in the very moment in which a crawl has completed so many leases."""
    complete, left = Desk.complete, count

    async def counting(self: Desk, worker: str, done: list[Done], now: float) -> int:
        nonlocal left
        held = await complete(self, worker, done, now)
        before, left = left, left - held
        if before > 0 >= left:
            act()
        return held

    patch(Desk, "complete", counting)
