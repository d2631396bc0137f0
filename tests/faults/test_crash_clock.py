"""A wall clock that jumps by hours and years, back and forth, while a crawl runs or between two runs of it."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gossamer.crawl.clock import SteadyClock
from gossamer.frontier import Done, Kind, Link, RobotsFile, RocksFrontier
from gossamer.outcome import Action
from gossamer.sim.web import Running, Web, audit
from gossamer.store import Store, StoreSettings
from tests.crawl.harness import online, stored_in
from tests.exchanges import NOON, capture, stored
from tests.faults.crashes import LONG, Victim, assert_sound

HOUR, YEAR = 3_600, 31_536_000
# It begins right, since what a crawl takes for now is decided once. Then every quarter of a second something else.
JUMPS = [0] * 6 + [HOUR, -HOUR, YEAR, -YEAR, 0, 10 * YEAR, -40 * YEAR, 60, -60]
DELAY = 0.3
SLACK = 0.05


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Running]]:
    """Hosts of a few pages each, and some that ask to be left alone for a second."""
    folder = tmp_path_factory.mktemp("clock")
    pages = 400 if LONG else 60
    with online(folder, hosts=10, pages=pages, skew=0.3, corners=["throttle"], corner_pages=4, retry_after=1) as found:
        yield found


def command(web: tuple[Web, Running], folder: Path, *more: str) -> list[str]:
    plan, running = web
    return [
        "crawl", *plan.seeds(), "--into", str(folder), "--connect-to", running.connect_to, "--scope", "any",
        "--delay", str(DELAY), "--workers", "2", "--quiet", "--json", "--set", "politeness.answer_multiple=0",
        "--set", "politeness.stretch_cap=0.4", "--set", "politeness.backoff=1", "--set", "politeness.backoff_cap=1",
        "--patience", "0.0005", "--max-wait", "30", *more,
    ]  # fmt: skip


def assert_polite_and_complete(web: tuple[Web, Running], folder: Path, begun: int) -> None:
    plan, running = web
    log = running.served()[begun:]
    assert audit.delay_violations(log, DELAY, tolerance=SLACK) == []
    assert audit.retry_after_violations(log, tolerance=SLACK) == []
    asked = [served.url for served in log if served.target == "/robots.txt" and served.status == 200]
    assert len(asked) == len(set(asked)), "robots.txt is good for a day, whatever the clock says"
    seeds = plan.seeds()
    assert audit.storage_problems(stored_in(folder), plan.reachable(seeds), plan) == []
    assert_sound(folder)


def test_jumps_while_crawling_neither_hurry_nor_hang_nor_lose(web: tuple[Web, Running], tmp_path: Path) -> None:
    begun = len(web[1].served())
    jumps = ",".join(map(str, JUMPS))
    report = Victim([jumps, *command(web, tmp_path / "c")], "tests.faults.jumpy").finish()
    assert report["worker_deaths"] == 0
    assert_polite_and_complete(web, tmp_path / "c", begun)


@pytest.mark.parametrize(("first", "second"), [(YEAR, 0), (0, -YEAR), (0, YEAR), (10 * YEAR, -10 * YEAR)])
def test_a_clock_that_was_set_between_two_runs_makes_nobody_wait(
    web: tuple[Web, Running], tmp_path: Path, first: int, second: int
) -> None:
    begun = len(web[1].served())
    early = Victim([str(first), *command(web, tmp_path / "c", "--max-pages", "20")], "tests.faults.jumpy")
    code, out, err = early.ended()
    assert (code, err) == (3, ""), "a budget is spent"
    assert msgspec.json.decode(out)["fetched"] == 20
    late = Victim([str(second), *command(web, tmp_path / "c", "--max-wait", "10")], "tests.faults.jumpy").finish()
    assert late["fetched"] > 20
    plan, running = web
    assert audit.delay_violations(running.served()[begun:], DELAY, tolerance=SLACK) == []
    seeds = plan.seeds()
    assert audit.storage_problems(stored_in(tmp_path / "c"), plan.reachable(seeds), plan) == []
    assert_sound(tmp_path / "c")


async def test_robots_txt_is_not_read_again_because_a_worker_lives_in_another_year(tmp_path: Path) -> None:
    """The worker stamps what it read by its own clock; when it expires is counted by the frontier's."""
    frontier = RocksFrontier(tmp_path)
    try:
        await frontier.discover([Link("http://a.example/")], NOON)
        [lease] = await frontier.lease("w", 1, NOON)
        assert lease.kind is Kind.ROBOTS
        file = RobotsFile("http://a.example", 200, b"", NOON - YEAR, NOON - YEAR + 24 * HOUR)
        await frontier.complete("w", [Done(lease.id, Action.DONE, 200, robots=file)], NOON)
        [lease] = await frontier.lease("w", 1, NOON + HOUR)
        assert lease.kind is Kind.PAGE
        await frontier.complete("w", [Done(lease.id, Action.DONE, 200)], NOON + HOUR)
        await frontier.discover([Link("http://a.example/2")], NOON + HOUR)
        [lease] = await frontier.lease("w", 1, NOON + 25 * HOUR)
        assert lease.kind is Kind.ROBOTS, "a day is over"
    finally:
        await frontier.close()


def test_the_steady_clock_only_goes_forward() -> None:
    wall, seconds = [1_000_000.0], [50.0]
    clock = SteadyClock(lambda: wall[0], lambda: seconds[0])
    wall[0], seconds[0] = 5.0, 60.0
    assert clock() == 1_000_010.0
    clock.begin_after(900_000.0)
    assert clock() == 1_000_010.0, "the past is not gone back to"
    clock.begin_after(2_000_000.0)
    seconds[0] += 1.5
    assert clock() == 2_000_001.5


def test_rows_are_written_although_the_clock_went_back(tmp_path: Path) -> None:
    now = [NOON]
    with Store(tmp_path, "w0", StoreSettings(part_seconds=60), clock=lambda: now[0]) as store:
        stored(store, capture(1))
        assert store.write_parts() == 0, "they have only just come"
        now[0] -= YEAR
        assert store.write_parts() == 1
