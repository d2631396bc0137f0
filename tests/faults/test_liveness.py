"""Fairness and liveness: a huge slow host starves nobody, and a crawl in which everybody has to wait sleeps, and wakes on time."""

import os
import time
from pathlib import Path

from gossamer.sim.web import audit
from tests.crawl.harness import Crawled, crawl, online, stored_in
from tests.faults.crashes import LONG, Victim, eventually

WATCHED = 10.0 if LONG else 5.0
MOST_CPU = 0.02
"""Of one core, for each process of a crawl that waits."""
LATE = 0.5 if LONG else 1.5
"""Seconds after its time within which a host is asked: half a second, and more where others use the machine as well."""
DELAY = WATCHED + 4.0


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_crawl_in_which_every_host_waits_sleeps_and_wakes_on_time(tmp_path: Path) -> None:
    with online(tmp_path, hosts=30, pages=90, skew=0.0) as (web, running):
        told = [
            "crawl", *web.seeds(every_host=True), "--into", str(tmp_path / "c"), "--connect-to", running.connect_to,
            "--delay", str(DELAY), "--max-pages", "30", "--no-sitemaps", "--workers", "2", "--quiet", "--json",
        ]  # fmt: skip
        victim = Victim(told)
        eventually(lambda: len(running.served()) == 30, "robots.txt of all hosts")
        time.sleep(1.0)  # what is to be written of it is written
        processes = [victim.pid, victim.nursery(), *victim.workers()]
        before, begun = [cpu_of(pid) for pid in processes], time.monotonic()
        time.sleep(WATCHED - 1.0)
        used = [cpu_of(pid) - cpu for pid, cpu in zip(processes, before, strict=True)]
        watched = time.monotonic() - begun
        assert len(running.served()) == 30, "nobody was asked meanwhile"
        code, _, err = victim.ended()
        assert (code, err) == (3, "")
        log = running.served()
    shares = [cpu / watched for cpu in used]
    assert max(shares) < MOST_CPU, f"CPU of parent, nursery and workers: {shares}"
    gaps = audit.min_gaps(log)
    assert len(gaps) == 30
    assert min(gaps.values()) >= DELAY - 0.05
    assert max(gaps.values()) <= DELAY + LATE
    print(f"asleep: {max(shares):.2%} of a core at most; woken {max(gaps.values()) - DELAY:.3f} s late at most")


def test_one_huge_slow_host_starves_nobody(tmp_path: Path) -> None:
    """Its thousand URLs come first in the queue, and it may hold half of the places in flight."""

    def others_took(done: Crawled) -> float:
        others = [served for served in done.log if not served.host.startswith("slow-")]
        return max(served.end for served in others) - min(served.start for served in others)

    took = {}
    slow = [f"slow-{number}.test" for number in range(5)]
    for name, without in (("with", slow[1:]), ("without", slow)):
        folder = tmp_path / name
        folder.mkdir()
        with online(folder, hosts=20, pages=400 if LONG else 200, skew=0.0, corners=["slow"], slow_seconds=1.0,
                    corner_pages=1_000, without=without) as (web, running):  # fmt: skip
            seeds = [f"http://{host}/" for host in (*web.corner_hosts("slow"), *list(web.hosts())[:20])]
            done = crawl(
                folder / "crawl", web, running, seeds, delay=0.1, host_connections=4, concurrency=8, workers=0,
                max_seconds=30 if LONG else 15, fetch={"first_byte_timeout": 10, "total_timeout": 10},
            )  # fmt: skip
            plain = {url for url in web.reachable(seeds).stored if "slow-" not in url}
        assert plain <= set(stored_in(done.folder)), "all of the others were fetched meanwhile"
        took[name] = others_took(done)
    assert took["with"] < 1.5 * took["without"] + 1.0, took
    print(f"the others took {took['with']:.2f} s beside the huge slow host, {took['without']:.2f} s without it")
