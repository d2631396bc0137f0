"""`make bench-frontier`: many URLs over many hosts through the embedded engine; what one costs at the start and at the end.

Every page leads to `--links` others, most on its own host, so that URLs known grow to `--urls` while pages are fetched; then the
cost of discover + lease + complete for a URL at full size is compared with that at a twentieth of it. Host sizes follow a
power law. Times are CPU of this process, RocksDB's own threads included.
"""

import argparse
import asyncio
import resource
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from gossamer.frontier import Done, FrontierSettings, Link, RocksFrontier
from gossamer.outcome import Action
from gossamer.politeness import Politeness

LINKS = 20
BATCH = 50


async def measure(folder: Path, urls: int, hosts: int) -> None:
    settings = FrontierSettings(robots=False, politeness=Politeness(delay=1.0, answer_multiple=0.0))
    frontier = RocksFrontier(folder, settings)
    chance = np.random.default_rng(1)
    now = 1_800_000_000.0
    next_page = np.zeros(hosts, dtype=np.int64)
    await frontier.discover([Link(f"https://h{n}.example/0") for n in range(1000)], now)
    next_page[:1000] = 1
    steps = [urls * n // 20 for n in range(1, 21)]
    print(f"{'URLs known':>12} {'pages done':>11} {'hosts':>9} {'µs CPU/URL':>11} {'ratio':>6} {'parent MB':>10}")
    first = None
    done_before = seen_before = 0
    cpu = time.process_time()
    for step in steps:
        while True:
            stats = await frontier.stats()
            if stats.seen >= step:
                break
            leases = await frontier.lease("w", BATCH, now)
            if not leases:
                ready = await frontier.next_ready(now)
                assert ready is not None
                now = max(ready, now + 0.01)
                continue
            done = []
            # Most links stay on their host; the others fall on hosts by a power law, which also brings in new hosts.
            strangers = np.minimum((chance.pareto(0.6, size=(len(leases), 4)) * 20).astype(np.int64), hosts - 1)
            for row, lease in enumerate(leases):
                host = int(lease.url[9 : lease.url.index(".")])
                links = []
                for target in [host] * (LINKS - 8) + [int(n) for n in strangers[row]] + [int(n) for n in chance.integers(0, hosts, 4)]:
                    links.append(Link(f"https://h{target}.example/{next_page[target]}", depth=lease.depth + 1))
                    next_page[target] += 1
                done.append(Done(lease.id, Action.DONE, status=200, seconds=0.1, size=10_000, links=tuple(links)))
            await frontier.complete("w", done, now)
            now += 0.01
        spent, cpu = time.process_time() - cpu, time.process_time()
        added, finished = stats.seen - seen_before, stats.done - done_before
        seen_before, done_before = stats.seen, stats.done
        per_url = spent / added * 1e6
        first = first or per_url
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{stats.seen:>12,} {stats.done:>11,} {stats.hosts:>9,} {per_url:>11.1f} {per_url / first:>6.2f} {memory:>10.0f}", flush=True)
    print(f"last step: {finished:,} pages fetched, {added:,} URLs found")
    await frontier.close()


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


main()
