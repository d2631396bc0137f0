"""Politeness, as the servers see it: the log of the web is the judge.

The web stamps the end of an answer after its last byte was handed over, by its own clock and when its process gets the CPU
again: on a busy machine that is some milliseconds after the client had the byte. So the gap from end to start has a tolerance
(`STAMP`). The gap from start to start has that of a timer alone (`TICK`): whatever the machine does, a request cannot come
sooner than the delay after the one before.
"""

from itertools import pairwise
from pathlib import Path

from gossamer.sim.web import Served, audit
from tests.crawl.harness import Crawled, crawl, online, stored_in

STAMP = 0.05
TICK = 0.001  # event loops count time in milliseconds


def assert_paced(log: list[Served], delay: float, crawl_delays: dict[str, float]) -> None:
    assert audit.delay_violations(log, delay, crawl_delays, tolerance=STAMP) == []
    for host, records in audit.by_host(log).items():
        least = max(delay, crawl_delays.get(host, 0.0))
        gaps = [after.start - before.start for before, after in pairwise(records)]
        assert min(gaps, default=least) >= least - TICK, host


def test_two_hundred_hosts_each_have_their_pause_and_their_one_request_at_a_time(tmp_path: Path) -> None:
    delay = 0.4
    with online(tmp_path, hosts=200, pages=1000, skew=0.0, corners=["robots"], corner_pages=4, crawl_delay=0.8,
                without=["robots-503.test"]) as (web, running):  # fmt: skip
        done = crawl(
            tmp_path / "crawl", web, running, web.seeds(every_host=True), workers=2, delay=delay, host_connections=1
        )
    assert audit.storage_problems(stored_in(done.folder), web.reachable(web.seeds()), web) == []
    assert_paced(done.log, delay, web.crawl_delays())
    assert web.crawl_delays() == {"robots-delay.test": 0.8}
    assert set(audit.max_busy(done.log).values()) == {1}
    # An errand (a robots.txt that moved to this host) may be the other worker's.
    connections = {host: most for host, most in audit.max_connections(done.log).items() if most > 1}
    assert connections.keys() <= {"robots-rules.test"}
    assert audit.forbidden_requests(done.log, web) == []
    # Politeness is what limits this crawl, and nothing else does: all hosts are fetched from side by side.
    assert done.report.seconds < 15
    assert len(done.log) > 1000


def test_robots_txt_comes_first(tmp_path: Path) -> None:
    with online(tmp_path, hosts=30, pages=120, corners=["robots"], corner_pages=2, crawl_delay=0.1,
                without=["robots-503.test"]) as (web, running):  # fmt: skip
        done = crawl(tmp_path / "crawl", web, running, workers=2)
    errands = {"robots-rules.test"}  # another host's robots.txt has moved here, which is no page either
    for host, records in audit.by_host(done.log).items():
        targets = [served.target for served in records]
        assert targets[0] == "/robots.txt", host
        assert targets.count("/robots.txt") == 1 or host in errands or records[0].status not in (200, 404, 403), host


def test_a_host_never_has_more_requests_or_connections_than_allowed(tmp_path: Path) -> None:
    with online(tmp_path, hosts=2, pages=40, corners=["slow"], slow_seconds=0.05, corner_pages=20) as (web, running):
        done = crawl(tmp_path / "crawl", web, running, host_connections=3)
    assert max(audit.max_busy(done.log).values()) == 3, "allowed and used"
    assert max(audit.max_connections(done.log).values()) == 3


def test_two_workers_share_what_is_allowed(tmp_path: Path) -> None:
    with online(tmp_path, hosts=2, pages=40, corners=["slow"], slow_seconds=0.05, corner_pages=20) as (web, running):
        done = crawl(tmp_path / "crawl", web, running, host_connections=3, workers=2)
    assert max(audit.max_busy(done.log).values()) == 3
    assert max(audit.max_connections(done.log).values()) <= 3, "also counting those that lie idle between fetches"


THROTTLING = {"hosts": 1, "pages": 1, "corners": ["throttle"], "corner_pages": 8, "retry_after": 1}


def test_retry_after_is_kept(tmp_path: Path) -> None:
    with online(tmp_path, **THROTTLING) as (web, running):
        done = crawl(tmp_path / "crawl", web, running, host_connections=1, workers=2)
    assert sum(served.retry_after is not None for served in done.log) >= 3
    assert audit.retry_after_violations(done.log, tolerance=STAMP) == []
    assert {served.status for served in done.log} >= {429, 503}
    assert audit.storage_problems(stored_in(done.folder), web.reachable(web.seeds()), web) == []


def test_retry_after_is_kept_over_a_restart(tmp_path: Path) -> None:
    with online(tmp_path, **THROTTLING) as (web, running):
        first = crawl(tmp_path / "crawl", web, running, host_connections=1, max_wait=0.2)
        assert first.report.ending == "max-wait"
        assert "has to wait" in first.report.reason
        second = crawl(tmp_path / "crawl", web, running, host_connections=1)
    assert second.report.ending == "finished"
    assert audit.retry_after_violations(first.log + second.log, tolerance=STAMP) == []
    assert audit.storage_problems(stored_in(tmp_path / "crawl"), web.reachable(web.seeds()), web) == []


def test_slow_hosts_do_not_slow_the_others(tmp_path: Path) -> None:
    """With few places in flight, so that hosts which hold on to them would be felt."""

    def plain_pages_took(done: Crawled) -> float:
        slow = set(done.web.corner_hosts("slow"))
        others = [served for served in done.log if served.host not in slow]
        return max(served.end for served in others) - min(served.start for served in others)

    took = {}
    slow = [f"slow-{number}.test" for number in range(5)]
    for name, without in (("with", []), ("without", slow)):
        folder = tmp_path / name
        folder.mkdir()
        with online(folder, hosts=40, pages=400, skew=0.0, corners=["slow"], slow_seconds=0.8, corner_pages=2,
                    without=without) as (web, running):  # fmt: skip
            seeds = web.seeds(every_host=True)
            done = crawl(
                folder / "crawl", web, running, seeds, delay=0.1, host_connections=1, concurrency=32,
                fetch={"first_byte_timeout": 10, "total_timeout": 10},
            )  # fmt: skip
        assert audit.storage_problems(stored_in(done.folder), web.reachable(seeds), web) == []
        took[name] = plain_pages_took(done)
    assert took["with"] < 1.5 * took["without"] + 0.3, took
