"""`make bench-frontier`: millions of URLs over a million hosts through the embedded engine; what one costs, early and late.

URLs known grow as in a crawl: pages are leased and completed, each with 20 links of which twelve stay on their host, four fall on hosts by a power
law and four on hosts at random. At each mark two costs are taken: a *link* (discover, over the way to the mark, the pages that brought them
included) and a *page* (lease and complete alone, 20,000 of them). Their sum is what a URL costs from being found to being finished. CPU time of the
process, RocksDB's own threads included; ratios are to the first mark.
"""

import argparse
import asyncio
import resource
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from gossamer.frontier import Done, FrontierSettings, Lease, Link, RocksFrontier
from gossamer.outcome import Action
from gossamer.politeness import Politeness

START = 1_800_000_000.0
LEASES = 50
PAGES = 20_000
OWN, POPULAR, RANDOM = 12, 4, 4


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

    async def pages(self, most: int | None = None, known: int | None = None) -> int:
        """Fetch pages until `most` are done (without links) or `known` URLs are known (with links)."""
        done = 0
        while most is None or done < most:
            if known is not None and (await self.frontier.stats()).seen >= known:
                break
            leases = await self.frontier.lease("w", LEASES, self._now)
            if not leases:
                ready = await self.frontier.next_ready(self._now)
                assert ready is not None
                self._now = max(ready, self._now + 0.01)
                continue
            links = self._links(leases) if known is not None else [()] * len(leases)
            finished = [
                Done(lease.id, Action.DONE, status=200, seconds=0.1, size=10_000, links=found)
                for lease, found in zip(leases, links, strict=True)
            ]
            await self.frontier.complete("w", finished, self._now)
            self._now += 0.01
            done += len(leases)
        return done

    def _links(self, leases: list[Lease]) -> list[tuple[Link, ...]]:
        shape = (len(leases), POPULAR)
        popular = np.minimum((self._chance.pareto(0.6, shape) * 20).astype(np.int64), self._hosts - 1).tolist()
        random = self._chance.integers(0, self._hosts, (len(leases), RANDOM)).tolist()
        found = []
        for row, lease in enumerate(leases):
            own = int(lease.url[9 : lease.url.index(".")])
            targets = [own] * OWN + popular[row] + random[row]
            found.append(tuple(self._page(target, lease.depth + 1) for target in targets))
        return found

    def _page(self, host: int, depth: int) -> Link:
        number = int(self._next_page[host])
        self._next_page[host] += 1
        return Link(f"https://h{host}.example/{number}", depth=depth)


async def measure(folder: Path, marks: list[int], hosts: int) -> None:
    web = Growing(folder, hosts)
    await web.begin()
    print(f"{'URLs known':>12} {'hosts':>9} {'µs/link':>8} {'µs/page':>8} {'sum':>7} {'ratio':>6} {'memory':>8}")
    first, before = 0.0, 0
    for mark in marks:
        start = time.process_time()
        await web.pages(known=mark)
        stats = await web.frontier.stats()
        link = (time.process_time() - start) / (stats.seen - before) * 1e6
        before = stats.seen
        start = time.process_time()
        done = await web.pages(most=PAGES)
        page = (time.process_time() - start) / done * 1e6
        first = first or link + page
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{stats.seen:>12,} {stats.hosts:>9,} {link:>8.1f} {page:>8.1f} {link + page:>7.1f} {(link + page) / first:>6.2f}"
            f" {memory:>5.0f} MB",
            flush=True,
        )
    await web.frontier.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=20_000_000)
    parser.add_argument("--hosts", type=int, default=1_000_000)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="gossamer-bench-"))
    marks = [options.urls // part for part in (20, 10, 4, 2, 1)]
    try:
        asyncio.run(measure(folder / "frontier", marks, options.hosts))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
