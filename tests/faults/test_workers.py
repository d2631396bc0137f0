"""Pages that the parser does not survive, and workers that die or hang: each costs its own page at most, and never a second download.

The attack is a parser that raises, kills its process or never returns for certain URLs. It is put in place before the nursery is forked,
so that every worker has it, and it is real for them: the signal is sent, the loop does loop. In the process of the tests themselves
it only takes a note, so that recovery and rebuilding are seen never to read what kills.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop

from gossamer.crawl import Crawl, pulse, supervisor
from gossamer.crawl.nursery import Nursery
from gossamer.frontier import FailureView, Kind, RocksFrontier
from gossamer.frontier.inspect import Ledger
from gossamer.outcome import ErrorClass
from gossamer.settings import merge
from gossamer.sim.web import Running, Web
from gossamer.sitemap import parse_sitemap
from gossamer.store import read, rows_of
from gossamer.store._values import Location
from gossamer.worker import _rows, _worker, row_maker
from tests.crawl import harness
from tests.crawl.harness import Crawled, crawl, online, records_of, settings

PAGES = 60
ALONE = {"workers": 1, "concurrency": 1}
"""One page in hand at a time: what a death costs is that page, so requests can be counted."""
HERE = os.getpid()

Attack = Callable[[], None]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Running]]:
    with online(tmp_path_factory.mktemp("workers"), hosts=4, pages=PAGES) as found:
        yield found


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hung() -> None:
    while True:
        pass


def once(mark: Path) -> Attack:
    """Kills the first who comes."""

    def attack() -> None:
        if not mark.exists():
            mark.touch()
            killed()

    return attack


def raising(error: Exception) -> Attack:
    def attack() -> None:
        raise error

    return attack


class Victims:
    """A parser that certain pages attack."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.read_here: list[str] = []
        """Pages that were read in this process although they kill."""

    def set(self, attacks: dict[str, Attack]) -> None:
        parse = _rows.read_page

        def attacked(content: bytes, url: str, *more: Any) -> Any:
            if url in attacks:
                if os.getpid() == HERE and attacks[url] in (killed, hung):
                    self.read_here.append(url)
                else:
                    attacks[url]()
            return parse(content, url, *more)

        self._patch.setattr(_worker, "read_page", attacked)
        self._patch.setattr(_rows, "read_page", attacked)

    def heal(self) -> None:
        self._patch.undo()


@pytest.fixture
def victims() -> Iterator[Victims]:
    with pytest.MonkeyPatch.context() as patch:
        found = Victims(patch)
        yield found
    assert found.read_here == []


def dispensable(web: Web, most: int) -> list[str]:
    """Pages without whose links all others are reached."""
    every = web.reachable(web.seeds()).stored
    chosen: list[str] = []
    for url in sorted(every - set(web.seeds())):
        without = {*chosen, url}
        found, level = set(web.seeds()), list(web.seeds())
        while level:
            level = [
                link for page in level if page not in without for link in web.node(page).links if link not in found
            ]
            found.update(level)
        if every <= found and len(chosen) < most:
            chosen.append(url)
    assert len(chosen) == most
    return chosen


def requests(run: Crawled, url: str) -> int:
    return sum(served.url == url for served in run.log)


def failures(folder: Path) -> dict[str, FailureView]:
    with Ledger(folder / "frontier") as ledger:
        return {view.url: view for view in ledger.failed()}


def requeue(folder: Path, **which: Any) -> int:
    async def ask() -> int:
        frontier = RocksFrontier(folder / "frontier", settings=merge(harness.FAST).frontier)
        try:
            return (await frontier.requeue(time.time(), **which)).count
        finally:
            await frontier.close()

    return asyncio.run(ask())


def table(folder: Path) -> dict[str, dict[str, Any]]:
    """The page table by URL; a page has one row."""
    rows = harness.rows_of(folder)
    assert max(Counter(row["url"] for row in rows).values()) == 1
    return {row["url"]: row for row in rows}


def rebuilt(folder: Path) -> dict[str, tuple[str, int, str | None, tuple[str, ...], str | None]]:
    """What the page table would be, made anew from the archive."""
    make = row_maker(merge(harness.FAST))
    rows = [row for path in sorted((folder / "warc").glob("*.warc.gz")) for row in rows_of(path, make)]
    return {row.url: (row.warc_file, row.warc_offset, row.text, row.links, row.duplicate_of) for row in rows}


def assert_rebuilt_alike(folder: Path) -> None:
    told = {
        url: (row["warc_file"], row["warc_offset"], row["text"], tuple(row["links"]), row["duplicate_of"])
        for url, row in table(folder).items()
    }
    assert rebuilt(folder) == told
    places = {(place.file, place.offset): capture.url for place, capture in records_of(folder)}
    assert all(places[file, offset] == url for url, (file, offset, *_) in told.items())


def undisturbed(web: tuple[Web, Running], folder: Path) -> set[tuple[str, str]]:
    """What a crawl without any attack keeps: URL and digest."""
    crawl(folder, *web)
    return kept(folder)


def kept(folder: Path) -> set[tuple[str, str]]:
    stored = Counter(harness.stored_in(folder))
    return {(url, row["digest"]) for url, row in table(folder).items() if url in stored}


# --- a parser that raises -------------------------------------------------------------------------------------------


def test_a_page_that_cannot_be_read_is_kept_and_read_later_without_another_request(
    web: tuple[Web, Running], tmp_path: Path, victims: Victims
) -> None:
    plan, running = web

    errors = [
        AttributeError("no such thing"),
        MemoryError(),
        RecursionError("too deep"),
        ValueError("odd"),
        KeyError(1),
    ]
    bad = {url: raising(error) for url, error in zip(dispensable(plan, 5), errors, strict=True)}
    victims.set(bad)
    first = crawl(tmp_path / "c", plan, running, workers=2)
    assert (first.report.ending, first.report.failed, first.report.worker_deaths) == ("finished", len(bad), 0)
    found = failures(tmp_path / "c")
    assert found.keys() == bad.keys()
    for url, view in found.items():
        assert (view.reason, view.status, view.stage, view.attempts) == (ErrorClass.PARSE_FAILED, 200, "parse", 1)
        assert requests(first, url) == 1
        assert view.place is not None
        capture = read(tmp_path / "c", Location(view.place.file, view.place.offset, view.place.length))
        assert (capture.url, capture.notes.extra) == (url, {"kind": "unread"})
    assert table(tmp_path / "c").keys().isdisjoint(bad)
    assert_rebuilt_alike(tmp_path / "c")

    victims.heal()
    assert requeue(tmp_path / "c", reason=ErrorClass.PARSE_FAILED) == len(bad)
    second = crawl(tmp_path / "c", plan, running, workers=2)
    assert (second.report.ending, second.report.failed, second.log) == ("finished", 0, []), "no host was asked anything"
    assert second.report.bytes == first.report.bytes, "nothing was downloaded twice"
    assert failures(tmp_path / "c") == {}
    assert_rebuilt_alike(tmp_path / "c")
    assert kept(tmp_path / "c") == undisturbed(web, tmp_path / "undisturbed")


def test_what_is_still_unreadable_is_given_up_again_where_it_lies(
    web: tuple[Web, Running], tmp_path: Path, victims: Victims
) -> None:
    plan, running = web
    [url] = dispensable(plan, 1)
    victims.set({url: raising(ValueError("\x1b[31m" + "x" * 10_000))})
    crawl(tmp_path, plan, running, workers=1)
    before = failures(tmp_path)[url]
    assert before.detail is not None
    assert len(before.detail) <= 300
    assert requeue(tmp_path) == 1
    again = crawl(tmp_path, plan, running, workers=1)
    after = failures(tmp_path)[url]
    assert (again.log, after.place, after.reason) == ([], before.place, before.reason)
    assert sum(capture.url == url for _, capture in records_of(tmp_path)) == 1


@pytest.mark.parametrize("how", ["refetch", "deleted", "damaged"])
def test_what_cannot_be_read_from_the_archive_is_fetched(
    web: tuple[Web, Running], tmp_path: Path, victims: Victims, how: str
) -> None:
    plan, running = web
    [url] = dispensable(plan, 1)
    victims.set({url: raising(ValueError("odd"))})
    crawl(tmp_path, plan, running, workers=1)
    victims.heal()
    place = failures(tmp_path)[url].place
    assert place is not None
    path = tmp_path / "warc" / place.file
    if how == "deleted":
        path.unlink()
    elif how == "damaged":
        with path.open("r+b") as file:
            file.seek(place.offset + place.length // 2)
            file.write(b"\0" * 20)
    assert requeue(tmp_path, urls=[url], refetch=how == "refetch") == 1
    again = crawl(tmp_path, plan, running, workers=1)
    assert (again.report.ending, again.report.failed) == ("finished", 0)
    assert [served.url for served in again.log if not served.target.endswith("robots.txt")] == [url]
    assert table(tmp_path)[url]["title"]


@pytest.mark.parametrize("attack", [raising(ValueError("odd")), killed], ids=["raises", "kills"])
def test_a_sitemap_that_could_not_be_read_is_read_from_the_archive(tmp_path: Path, attack: Attack) -> None:
    with online(tmp_path, hosts=1, pages=5, corners=["sitemaps"], corner_pages=4) as (plan, running):
        seeds = [f"http://{host}/" for host in plan.corner_hosts("sitemaps")]
        crawl(tmp_path / "undisturbed", plan, running, seeds)
        with Ledger(tmp_path / "undisturbed" / "frontier") as ledger:
            found = (ledger.url(url) for url in sorted({served.url for served in running.served()}))
            bad = next(
                view.url for view in found if view is not None and view.kind is Kind.SITEMAP and view.status == 200
            )
        with pytest.MonkeyPatch.context() as patch:
            parse = parse_sitemap

            def attacked(body: bytes, url: str, *more: Any) -> Any:
                if url == bad:
                    attack()
                return parse(body, url, *more)

            patch.setattr(_worker, "parse_sitemap", attacked)
            crawl(tmp_path / "c", plan, running, seeds, **ALONE)
        view = failures(tmp_path / "c")[bad]
        assert (view.kind, view.stage) == (Kind.SITEMAP, "parse")
        assert requeue(tmp_path / "c", urls=[bad]) == 1
        run = crawl(tmp_path / "c", plan, running, seeds, **ALONE)
    assert requests(run, bad) == 0
    assert failures(tmp_path / "c") == {}
    assert table(tmp_path / "c").keys() == table(tmp_path / "undisturbed").keys()


# --- a parser that kills --------------------------------------------------------------------------------------------


def test_a_page_that_kills_three_workers_is_given_up_and_the_rest_is_stored(
    web: tuple[Web, Running], tmp_path: Path, victims: Victims
) -> None:
    plan, running = web
    bad = dict.fromkeys(dispensable(plan, 2), killed)
    every = undisturbed(web, tmp_path / "undisturbed")
    victims.set(bad)
    first = crawl(tmp_path / "c", plan, running, **ALONE)
    assert (first.report.ending, first.report.failed) == ("finished", 2), first.report.reason
    assert first.report.worker_deaths == 6
    found = failures(tmp_path / "c")
    assert found.keys() == bad.keys()
    for url, view in found.items():
        assert (view.reason, view.status, view.deaths, view.stage) == (ErrorClass.WORKER_DIED, 200, 3, "parse")
        assert requests(first, url) == 2, "the first download was lost with its worker, the second was stored"
    crawl(tmp_path / "c", plan, running, workers=1)  # and recovery does not die of it either
    assert kept(tmp_path / "c") == {(url, digest) for url, digest in every if url not in bad}

    victims.heal()
    assert requeue(tmp_path / "c", reason="worker-died") == 2
    second = crawl(tmp_path / "c", plan, running, workers=1)
    assert (second.report.ending, second.report.failed, second.log) == ("finished", 0, [])
    assert_rebuilt_alike(tmp_path / "c")
    assert kept(tmp_path / "c") == every


def test_a_page_that_was_there_when_a_worker_died_is_like_any_other_in_the_end(
    tmp_path: Path, victims: Victims
) -> None:
    """Copies too: what a death made us store beforehand is no page of the archive, so a copy is still told as one."""
    with online(tmp_path, hosts=1, pages=5, corners=["copies"], corner_pages=6) as (plan, running):
        seeds = [f"http://{host}/" for host in plan.corner_hosts("copies")]
        crawl(tmp_path / "undisturbed", plan, running, seeds, near_duplicates="off")
        expected = alike(tmp_path / "undisturbed")
        several = next(group for group in expected if len(group) > 2)
        bad = {url: once(tmp_path / f"died-{number}") for number, url in enumerate(several)}
        victims.set(bad)
        run = crawl(tmp_path / "c", plan, running, seeds, near_duplicates="off", **ALONE)
        victims.heal()
    assert (run.report.ending, run.report.failed, run.report.worker_deaths) == ("finished", 0, len(bad))
    assert [requests(run, url) for url in bad] == [2] * len(bad)
    assert alike(tmp_path / "c") == expected
    assert len(harness.stored_in(tmp_path / "c")) == len(harness.stored_in(tmp_path / "undisturbed"))
    assert_rebuilt_alike(tmp_path / "c")


def alike(folder: Path) -> list[list[str]]:
    """Pages of the same content, as the table has them: which of them came first is chance."""
    groups: dict[str, list[str]] = {}
    for url, row in table(folder).items():
        groups.setdefault(row["duplicate_of"] or url, []).append(url)
    return sorted(sorted(group) for group in groups.values())


# --- a worker that hangs --------------------------------------------------------------------------------------------


def test_a_parser_that_never_returns_costs_its_page_only(
    web: tuple[Web, Running], tmp_path: Path, victims: Victims, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, running = web
    [url] = dispensable(plan, 1)
    monkeypatch.setattr(pulse, "SILENCE", 2.0)
    victims.set({url: hung})
    run = crawl(tmp_path, plan, running, **ALONE)
    assert (run.report.ending, run.report.failed, run.report.worker_deaths) == ("finished", 1, 3)
    assert failures(tmp_path)[url].reason == ErrorClass.WORKER_DIED
    assert requests(run, url) == 2
    assert table(tmp_path).keys() == plan.reachable(plan.seeds()).stored - {url}


def test_a_worker_that_is_stopped_is_replaced_within_seconds(
    web: tuple[Web, Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, running = web
    run = Crawl.prepare(tmp_path, plan.seeds(), settings(running, workers=2))
    stopped: list[float] = []

    def stop() -> None:
        assert run._supervisor is not None
        os.kill(next(iter(run._supervisor._live.values())).pid, signal.SIGSTOP)
        stopped.append(time.monotonic())

    with monkeypatch.context() as patch:
        harness.after_completions(10, stop, patch.setattr)
        report = uvloop.run(run.run())
    assert (report.ending, report.worker_deaths, len(stopped)) == ("finished", 1, 1)
    assert time.monotonic() - stopped[0] < 3 * pulse.SILENCE, "ten seconds, and what a crowded machine adds"
    assert pulse.SILENCE <= 10
    crawl(tmp_path, plan, running, workers=2)
    assert set(harness.stored_in(tmp_path)) == plan.reachable(plan.seeds()).stored


def test_all_workers_killed_at_once_are_all_replaced(
    web: tuple[Web, Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, running = web
    run = Crawl.prepare(tmp_path, plan.seeds(), settings(running, workers=6))

    def kill() -> None:
        assert run._supervisor is not None
        for process in run._supervisor._live.values():
            os.kill(process.pid, signal.SIGKILL)

    with monkeypatch.context() as patch:
        harness.after_completions(10, kill, patch.setattr)
        report = uvloop.run(run.run())
    assert (report.ending, report.worker_deaths) == ("finished", 6), report.reason
    crawl(tmp_path, plan, running, workers=2)
    assert set(harness.stored_in(tmp_path)) == plan.reachable(plan.seeds()).stored


def test_a_worker_that_hangs_up_and_lingers_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LINGER", 0.1)
    nursery = Nursery(lambda first, second: time.sleep(1_000))
    try:
        pid = nursery.fork(0, 1)
        asyncio.run(supervisor._ended(pid))
        assert nursery.wait(pid) == -signal.SIGKILL
    finally:
        nursery.close()


# --- what counts as silence -----------------------------------------------------------------------------------------


@pytest.fixture
def program() -> Iterator[Callable[[str], int]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str) -> int:
        process = subprocess.Popen(
            [sys.executable, "-c", f"print(flush=True)\n{code}"], stdout=subprocess.PIPE, stdin=subprocess.PIPE
        )
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process.pid

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_a_stopped_or_sleeping_worker_is_silent_for_all_the_time_that_passes(program: Callable[[str], int]) -> None:
    asleep, stopped = program("input()"), program("while True: pass")
    os.kill(stopped, signal.SIGSTOP)
    deadline = time.monotonic() + 20
    for pid, state in ((asleep, "S"), (stopped, "T")):
        while (pulse.vital_signs(pid) or ("", 0.0))[0] != state:
            assert time.monotonic() < deadline
        watched = pulse.Pulse()
        ticks = 1
        while not watched.tick(pid, 1.0):
            ticks += 1
        assert ticks == pulse.SILENCE


def test_a_running_worker_is_silent_for_the_time_it_had(program: Callable[[str], int]) -> None:
    """On a machine where it gets a tenth of a core, a page of one second is no hang."""
    pid = program("while True: pass")
    watched = pulse.Pulse()
    for _ in range(1_000):  # a thousand seconds pass, as far as the watch is told, and it has next to nothing of them
        assert not watched.tick(pid, 1.0)
    assert watched.silent < pulse.SILENCE
    watched.heard()
    assert watched.silent == 0


def test_a_worker_that_is_gone_is_nobodys_hang(program: Callable[[str], int]) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert not pulse.Pulse().tick(process.pid, 1_000.0)
