"""Budgets end a crawl where they say, not a page later, and leave it so that it can go on."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.sim.web import Running, Web, audit
from gossamer.sim.web.plan import split_url
from tests.crawl.harness import crawl, depths, online, rows_of, stored_in


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Running]]:
    with online(tmp_path_factory.mktemp("plain"), hosts=24, pages=360) as found:
        yield found


@pytest.mark.parametrize("workers", [0, 2])
def test_max_pages_is_exact_and_a_later_run_goes_on_from_there(
    plain: tuple[Web, Running], tmp_path: Path, workers: int
) -> None:
    web, running = plain
    first = crawl(tmp_path, web, running, workers=workers, max_pages=101)
    assert (first.report.ending, first.report.fetched, first.report.stored) == ("max-pages", 101, 101)
    assert len(stored_in(tmp_path)) == 101
    assert first.report.queued > 0
    second = crawl(tmp_path, web, running, workers=workers, max_pages=150)
    assert (second.report.ending, second.report.fetched) == ("max-pages", 150)
    last = crawl(tmp_path, web, running, workers=workers)
    assert (last.report.ending, last.report.fetched) == ("finished", 360)
    assert sorted(stored_in(tmp_path)) == sorted(web.reachable(web.seeds()).stored)


def test_a_spent_budget_asks_no_further_host_for_anything(tmp_path: Path) -> None:
    with online(tmp_path, hosts=40, pages=40) as (web, running):
        done = crawl(tmp_path / "crawl", web, running, max_pages=1)
    assert (done.report.fetched, done.report.hosts > 5) == (1, True)
    assert {served.host for served in done.log} == {split_url(web.seeds()[0])[0]}


@pytest.mark.parametrize("most", [0, 1, 3])
def test_max_depth_is_the_number_of_links_from_a_seed(plain: tuple[Web, Running], tmp_path: Path, most: int) -> None:
    """On one host with one connection breadth-first is by levels, so that the set is exact."""
    web, running = plain
    seeds = web.seeds()
    home = split_url(seeds[0])[0]
    done = crawl(tmp_path, web, running, scope="host", max_depth=most, host_connections=1)
    expected = {
        url: depth for url, depth in depths(web, seeds, lambda url: split_url(url)[0] == home).items() if depth <= most
    }
    assert {row["url"]: row["depth"] for row in rows_of(tmp_path)} == expected
    assert done.report.ending == "finished"


def test_max_depth_over_many_hosts_misses_nothing_and_adds_nothing(plain: tuple[Web, Running], tmp_path: Path) -> None:
    """A seed's own links are all known before any other page is, so that two levels are exact however the hosts take turns."""
    web, running = plain
    crawl(tmp_path, web, running, max_depth=2)
    expected = {url for url, depth in depths(web, web.seeds()).items() if depth <= 2}
    assert set(stored_in(tmp_path)) == expected
    assert len(expected) > 50


def test_max_pages_per_host_is_exact_for_each_host(plain: tuple[Web, Running], tmp_path: Path) -> None:
    web, running = plain
    done = crawl(tmp_path, web, running, workers=2, max_pages_per_host=7)
    sizes = Counter(split_url(url)[0] for url in web.reachable(web.seeds()).stored)
    assert Counter(split_url(url)[0] for url in stored_in(tmp_path)) == {
        host: min(size, 7) for host, size in sizes.items()
    }
    assert (done.report.ending, done.report.queued) == ("finished", 0)
    assert done.report.refused > 0


@pytest.mark.parametrize("workers", [0, 2])
def test_max_seconds_ends_a_crawl_on_time_even_while_all_hosts_wait(
    plain: tuple[Web, Running], tmp_path: Path, workers: int
) -> None:
    web, running = plain
    done = crawl(tmp_path, web, running, workers=workers, max_seconds=1.0, delay=4.0, host_connections=1)
    assert done.report.ending == "max-seconds"
    assert 1.0 <= done.report.seconds < 3.0
    assert done.report.queued > 0


def test_max_bytes_ends_a_crawl_soon_after(plain: tuple[Web, Running], tmp_path: Path) -> None:
    web, running = plain
    done = crawl(tmp_path, web, running, max_bytes=300_000, concurrency=4)
    largest = max(served.sent for served in done.log)
    assert done.report.ending == "max-bytes"
    assert 300_000 <= done.report.bytes <= 300_000 + 2 * 4 * largest, "what was in flight, and a bunch of leases"
    assert done.report.stored == len(stored_in(tmp_path))


def test_max_wait_ends_a_crawl_whose_hosts_are_closed_for_long(tmp_path: Path) -> None:
    """A robots.txt that answers 503 closes its host: the crawl does not sit it out, and does not forget it either."""
    with online(tmp_path, hosts=2, pages=12, corners=["robots"], corner_pages=2, crawl_delay=0.1) as (web, running):
        done = crawl(tmp_path / "crawl", web, running, max_wait=2, politeness={"backoff": 100, "backoff_cap": 100})
        assert done.report.ending == "max-wait"
        assert 1 <= done.report.queued <= 2
        assert done.report.seconds < 5
        assert audit.storage_problems(stored_in(done.folder), web.reachable(web.seeds()), web) == []
        again = crawl(tmp_path / "crawl", web, running, max_wait=2, politeness={"backoff": 100, "backoff_cap": 100})
    assert again.report.ending == "max-wait"
    assert again.log == [], "the wait is remembered"


def test_a_host_whose_robots_txt_fails_for_good_is_given_up(tmp_path: Path) -> None:
    with online(tmp_path, hosts=1, pages=1, corners=["robots"], corner_pages=2, crawl_delay=0.1) as (web, running):
        done = crawl(
            tmp_path / "crawl", web, running, ["http://robots-500.test/", "http://robots-reset.test/"], scope="host"
        )
    assert done.report.ending == "finished"
    assert {served.target for served in done.log} == {"/robots.txt"}
    assert (done.report.fetched, done.report.failed) == (0, 2)
