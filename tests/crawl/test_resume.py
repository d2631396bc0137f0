"""A crawl that is stopped, or killed in part or as a whole, goes on where it was and loses nothing.

Every kill happens at a moment that the crawl itself announces (so many leases completed), not after a time.
"""

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import uvloop

from gossamer.crawl import Crawl
from gossamer.errors import ConfigError
from gossamer.sim.web import Running, Web, audit
from tests.crawl.harness import after_completions, crawl, online, records_of, rows_of, settings, stored_in

PAGES = 400


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Running]]:
    with online(tmp_path_factory.mktemp("resume"), hosts=20, pages=PAGES) as found:
        yield found


def assert_complete(web: Web, folder: Path, most_twice: int = 0) -> None:
    """Every page is there, in archive and table; at most so many of them twice."""
    expected = web.reachable(web.seeds()).stored
    assert len(expected) == PAGES
    stored = Counter(stored_in(folder))
    assert stored.keys() == expected
    assert stored.total() - PAGES <= most_twice
    rows = rows_of(folder)
    assert Counter(row["url"] for row in rows) == stored, "a row for each capture, and a capture for each row"
    assert all(row["title"] and row["links"] for row in rows)
    places = {(place.file, place.offset): capture.url for place, capture in records_of(folder)}
    assert all(places[row["warc_file"], row["warc_offset"]] == row["url"] for row in rows)
    files = sorted((folder / "warc").glob("*.warc.gz"))
    command = [sys.executable, "-m", "warcio.cli", "check", *map(str, files)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("workers", [0, 2])
def test_a_crawl_that_was_stopped_goes_on(
    web: tuple[Web, Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    plan, running = web
    run = Crawl.prepare(tmp_path, plan.seeds(), settings(running, workers=workers))
    with monkeypatch.context() as patch:
        after_completions(60, run.stop, patch.setattr)
        first = uvloop.run(run.run())
    assert first.ending == "interrupted"
    assert 20 < first.fetched < PAGES
    assert first.stored == len(stored_in(tmp_path)) == len(rows_of(tmp_path))
    done = crawl(tmp_path, plan, running, workers=workers)
    assert (done.report.ending, done.report.fetched) == ("finished", PAGES)
    assert_complete(plan, tmp_path)
    assert not [served for served in done.log if served.url == plan.seeds()[0]], "nothing was fetched again"


def test_a_crawl_that_is_over_has_nothing_more_to_do(web: tuple[Web, Running], tmp_path: Path) -> None:
    plan, running = web
    crawl(tmp_path, plan, running)
    again = crawl(tmp_path, plan, running)
    assert (again.report.ending, again.report.fetched, again.log) == ("finished", PAGES, [])


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(
    web: tuple[Web, Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, running = web
    run = Crawl.prepare(tmp_path, plan.seeds(), settings(running, workers=2))

    def kill() -> None:
        supervisor = run._supervisor
        assert supervisor is not None
        os.kill(next(iter(supervisor._live.values())).pid, signal.SIGKILL)

    with monkeypatch.context() as patch:
        after_completions(60, kill, patch.setattr)
        report = uvloop.run(run.run())
    assert (report.ending, report.worker_deaths) == ("finished", 1)
    crawl(tmp_path, plan, running, workers=2)  # opening the crawl again finishes what the dead worker left half written
    assert_complete(plan, tmp_path, most_twice=128)


def killed(
    folder: Path, running: Running, seeds: list[str], begun: int, kill: Callable[[int, int], None], **changes: Any
) -> None:
    """A crawl in a process group of its own, killed in the moment in which so many leases are completed."""
    told = [str(folder), running.connect_to, str(begun), msgspec.json.encode(changes).decode(), *seeds]
    command = [sys.executable, "-m", "tests.crawl.runner", *told]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, cwd=root) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == b"begun\n"
        kill(victim.pid, signal.SIGKILL)
        # Workers that outlive their parent end by themselves, once they have made durable what they had; then this ends.
        assert victim.stdout.read() == b""
    assert victim.returncode == -signal.SIGKILL


@pytest.mark.parametrize("everything", [True, False], ids=["with its workers", "alone"])
def test_a_crawl_whose_parent_is_killed_goes_on(web: tuple[Web, Running], tmp_path: Path, everything: bool) -> None:
    plan, running = web
    killed(tmp_path, running, plan.seeds(), 60, os.killpg if everything else os.kill, workers=2)
    done = crawl(tmp_path, plan, running, workers=2)
    assert done.report.ending == "finished"
    assert_complete(plan, tmp_path, most_twice=2 * 128)


def test_hosts_that_were_being_asked_when_all_was_killed_get_their_pause(tmp_path: Path) -> None:
    polite = {"workers": 1, "delay": 0.8, "host_connections": 1, "sitemaps": False}
    with online(tmp_path, hosts=1, pages=1, corners=["slow"], slow_seconds=1.5, corner_pages=1) as (plan, running):
        seeds = [f"http://{host}/" for host in plan.corner_hosts("slow")]
        # When the first page is there, behind the robots.txt of all, the others are still under way.
        killed(tmp_path / "crawl", running, seeds, len(seeds) + 1, os.killpg, **polite)
        crawl(tmp_path / "crawl", plan, running, seeds, **polite)
        log = running.served()
    assert sum(served.cut for served in log) > 1, "several were cut off"
    assert audit.delay_violations(log, 0.8, tolerance=0.05) == []


def test_another_setting_is_named_and_needs_force(web: tuple[Web, Running], tmp_path: Path) -> None:
    plan, running = web
    crawl(tmp_path, plan, running, max_pages=10)
    with pytest.raises(ConfigError, match=r"(?s)delay: 0\.0 → 1\.0.*--force"):
        Crawl.prepare(tmp_path, plan.seeds(), settings(running, delay=1.0))
    Crawl.prepare(tmp_path, plan.seeds(), settings(running, max_pages=20, concurrency=7))
    Crawl.prepare(tmp_path, plan.seeds(), settings(running, delay=1.0), force=True)
