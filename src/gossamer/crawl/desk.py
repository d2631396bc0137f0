"""Where workers come for leases: the frontier, a clock, and the decision when a crawl is over.

A call for leases waits here until something may be fetched: for the time of the next host, or for a page that another
worker completes. Nothing polls: a crawl in which every host has to wait sleeps until the first one need not.

Over means one of these, and `ending` says which: everything is fetched and nothing is left to be visited again; a budget is spent; all that is left has to wait longer than
`max_wait`; somebody said stop.
"""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from enum import StrEnum

from gossamer.frontier import Content, Copy, Done, Kept, Lease, Link, RobotsFile, RocksFrontier, Stats
from gossamer.frontier.hosts import STEAL_AFTER
from gossamer.settings import Settings

__all__ = ["Desk", "Ending"]

LONGEST_NAP = 5.0
GATHER = 0.010


class Ending(StrEnum):
    """Why a crawl is over."""

    FINISHED = "finished"
    MAX_PAGES = "max-pages"
    MAX_SECONDS = "max-seconds"
    MAX_BYTES = "max-bytes"
    MAX_WAIT = "max-wait"
    INTERRUPTED = "interrupted"
    FAULT = "fault"


class Desk:
    """One frontier, many workers, in one process."""

    def __init__(self, frontier: RocksFrontier, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self.frontier = frontier
        self.ending: Ending | None = None
        self.reason = ""
        self.asleep_until = 0.0
        """When everybody waits: until when; 0 otherwise."""
        self._settings = settings
        self._clock = clock
        self._started = clock()
        self._news = asyncio.Event()
        self._callers = 0

    def end(self, ending: Ending, reason: str = "") -> None:
        """No more leases from now on; the first reason counts, unless a fault comes after it: the last pages may be refused too."""
        if self.ending is None or (ending is Ending.FAULT and self.ending is not Ending.FAULT):
            self.ending, self.reason = ending, reason
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def lease(self, worker: str, most: int, now: float) -> list[Lease] | None:
        """Leases as soon as there are some; None when the crawl is over."""
        while True:
            if await self._over():
                return None
            now = self._clock()
            leases = await self.frontier.lease(worker, most, now)
            if leases:
                self.asleep_until = 0.0
                return leases
            if await self._over():  # asking may have buried the last URLs of a dead host
                return None
            ready = await self.frontier.next_ready(now)
            nap = LONGEST_NAP if ready is None else min(max(ready - now, 0.0), LONGEST_NAP)
            if ready is not None and ready <= now:
                nap = STEAL_AFTER  # what is ready belongs to another worker, for a moment longer
            if self._settings.max_seconds is not None:
                nap = min(nap, max(self._started + self._settings.max_seconds - now, 0.0))
            self.asleep_until = 0.0 if ready is None or (await self.frontier.stats()).leased else ready
            news = self._news
            try:
                # Not `wait_for`: it forgets that it was cancelled when the news come at that very moment, and a worker that died
                # would be given leases for ever.
                async with asyncio.timeout(nap):
                    await news.wait()
            except TimeoutError:
                continue
            # One completed page seldom comes alone: leases for several are one call, one message and one task each.
            await asyncio.sleep(GATHER)

    async def _over(self) -> bool:
        await self._judge()
        return self.ending is not None

    async def _judge(self) -> None:
        """Is it over, and why?"""
        if self.ending is not None:
            return
        settings, now = self._settings, self._clock()
        if settings.max_seconds is not None and now - self._started >= settings.max_seconds:
            self.end(Ending.MAX_SECONDS, f"{settings.max_seconds:g} seconds are over")
            return
        stats = await self.frontier.stats()
        if settings.max_bytes is not None and stats.size >= settings.max_bytes:
            self.end(Ending.MAX_BYTES, f"{stats.size:,} bytes are downloaded")
        elif stats.leased:
            return
        elif not stats.queued and not stats.waiting:
            if not await self._to_be_visited(stats):
                self.end(Ending.FINISHED)
        elif settings.max_pages is not None and stats.fetched >= settings.max_pages:
            if not stats.revisiting and not await self._to_be_visited(stats):
                self.end(Ending.MAX_PAGES, f"{stats.fetched:,} pages are fetched")
        elif not math.isinf(self.frontier.revisits_until):
            ready = await self.frontier.next_ready(now)
            if ready is not None and ready - now > settings.max_wait:
                self.end(Ending.MAX_WAIT, f"all that is left has to wait, the first for another {ready - now:,.0f} s")

    async def _to_be_visited(self, stats: Stats) -> bool:
        """Whether known pages are still to be visited, now or at a time for which this crawl waits."""
        until = self.frontier.revisits_until
        due = await self.frontier.next_due() if until else None
        return bool(until) and (stats.overdue > 0 or (due is not None and due <= until))

    async def newcomers(self, most: int) -> list[str]:
        return await self.frontier.newcomers(most)

    async def complete(self, worker: str, done: Sequence[Done], now: float) -> int:
        held = await self.frontier.complete(worker, done, self._clock())
        self._wake()
        return held

    async def kept(self, worker: str, kept: Kept, now: float) -> bool:
        return await self.frontier.kept(worker, kept, self._clock())

    async def release(self, worker: str, leases: Sequence[int], now: float) -> None:
        await self.frontier.release(worker, leases, self._clock())
        self._wake()

    async def reclaim(self, worker: str, blamed: Sequence[int] = ()) -> int:
        taken = await self.frontier.reclaim(worker, self._clock(), blamed)
        self._wake()
        return taken

    async def errand(self, worker: str, url: str, now: float) -> Lease | None:
        return await self.frontier.errand(worker, url, self._clock())

    async def discover(self, links: Sequence[Link], now: float, via: str | None = None) -> int:
        new = await self.frontier.discover(links, self._clock(), via)
        if new:
            self._wake()
        return new

    async def seen_content(self, contents: Sequence[Content], now: float) -> list[Copy | None]:
        return await self.frontier.seen_content(contents, self._clock())

    async def seal(self, segment: str) -> None:
        await self.frontier.seal(segment)

    async def robots(self, origin: str) -> RobotsFile | None:
        return await self.frontier.robots(origin)

    async def extend(self, worker: str) -> None:
        await self.frontier.extend(worker, self._clock())

    async def stats(self) -> Stats:
        return await self.frontier.stats()
