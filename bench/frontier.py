"""`make bench-frontier`: 20 million URLs over a million hosts through the embedded engine; what one costs, early and late.

Every URL goes all the way: discovered, leased, completed. The web first grows to a backlog (20 links a page); from then on each page completed brings
one new link, half of them on its own host and half on any, so that as many URLs are discovered as are fetched. Each row is the average over the
way from the mark before it, once RocksDB has settled: compaction, which comes in lumps, belongs to the URLs that caused it. CPU time of the whole
process, RocksDB's threads included. The ratio is to the first million.
"""

import argparse
import asyncio
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gossamer.frontier import Done, FrontierSettings, Lease, Link, RocksFrontier
from gossamer.outcome import Action
from gossamer.politeness import Politeness

START = 1_800_000_000.0
LEASES = 50
BACKLOG = 20  # parts of all URLs that wait at a time
OWN, POPULAR, RANDOM = 12, 4, 4
IDLE = 0.05


class Growing:
    """A frontier, a clock and a web that grows as it is asked for."""

    def __init__(self, folder: Path, hosts: int) -> None:
        politeness = Politeness(delay=1.0, answer_multiple=0.0)
        self.frontier = RocksFrontier(folder, FrontierSettings(robots=False, politeness=politeness))
        self._hosts = hosts
        self._chance = np.random.default_rng(1)
        self._next_page = np.ones(hosts, dtype=np.int64)
        self._now = START

    async def begin(self) -> None:
        await self.frontier.discover([Link(f"https://h{n}.example/0") for n in range(1000)], self._now)

    async def grow(self, known: int) -> None:
        """Fetch pages, each with many links, until so many URLs are known."""
        while (await self.frontier.stats()).seen < known:
            await self._step(self._links)

    async def steady(self, known: int) -> int:
        """Fetch pages, each with one new link, until so many URLs are known; how many pages that took."""
        pages = 0
        while (await self.frontier.stats()).seen < known:
            pages += await self._step(self._one_link)
        return pages

    async def _step(self, links_of: Callable[[list[Lease]], list[tuple[Link, ...]]]) -> int:
        leases = await self.frontier.lease("w", LEASES, self._now)
        if not leases:
            ready = await self.frontier.next_ready(self._now)
            assert ready is not None
            self._now = max(ready, self._now + 0.01)
            return 0
        finished = [
            Done(lease.id, Action.DONE, status=200, seconds=0.1, size=10_000, links=found)
            for lease, found in zip(leases, links_of(leases), strict=True)
        ]
        await self.frontier.complete("w", finished, self._now)
        self._now += 0.01
        return len(leases)

    def _one_link(self, leases: list[Lease]) -> list[tuple[Link, ...]]:
        """Half of them on the page's own host, half on any."""
        anywhere = self._chance.integers(0, self._hosts, len(leases)).tolist()
        targets = [_host(lease) if row % 2 else anywhere[row] for row, lease in enumerate(leases)]
        return [(self._page(target, lease.depth + 1),) for target, lease in zip(targets, leases, strict=True)]

    def _links(self, leases: list[Lease]) -> list[tuple[Link, ...]]:
        shape = (len(leases), POPULAR)
        popular = np.minimum((self._chance.pareto(0.6, shape) * 20).astype(np.int64), self._hosts - 1).tolist()
        random = self._chance.integers(0, self._hosts, (len(leases), RANDOM)).tolist()
        found = []
        for row, lease in enumerate(leases):
            targets = [_host(lease)] * OWN + popular[row] + random[row]
            found.append(tuple(self._page(target, lease.depth + 1) for target in targets))
        return found

    def _page(self, host: int, depth: int) -> Link:
        number = int(self._next_page[host])
        self._next_page[host] += 1
        return Link(f"https://h{host}.example/{number}", depth=depth)


def _host(lease: Lease) -> int:
    return int(lease.url[9 : lease.url.index(".")])


async def settled() -> float:
    """Wait until RocksDB's threads have nothing left to do; the process's CPU time by then."""
    spent = time.process_time()
    while True:
        await asyncio.sleep(1.0)
        now = time.process_time()
        if now - spent < IDLE:
            return now
        spent = now


async def measure(folder: Path, urls: int, hosts: int) -> None:
    web = Growing(folder, hosts)
    await web.begin()
    await web.grow(urls // BACKLOG // 2)
    spent = await settled()
    print(f"{'URLs known':>12} {'hosts':>9} {'pages done':>11} {'µs CPU/URL':>11} {'ratio':>6} {'memory':>8}")
    first = 0.0
    for part in (20, 10, 5, 2, 1):
        pages = await web.steady(urls // part)
        stats = await web.frontier.stats()
        before, spent = spent, await settled()
        cost = (spent - before) / pages * 1e6
        first = first or cost
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{stats.seen:>12,} {stats.hosts:>9,} {stats.done:>11,} {cost:>11.1f} {cost / first:>6.2f} {memory:>5.0f} MB",
            flush=True,
        )
    await web.frontier.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=20_000_000)
    parser.add_argument("--hosts", type=int, default=1_000_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gossamer-bench-"))
    try:
        asyncio.run(measure(folder / "frontier", options.urls, options.hosts))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
