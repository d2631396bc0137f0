"""Crawls that visit pages again, on a web whose pages change by schedule: what is found is what the web's own log says happened."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
import uvloop

from gossamer.crawl import Again, Crawl
from gossamer.crawl.changes import Asked, Changes
from gossamer.crawl.verify import verify
from gossamer.frontier.inspect import Ledger
from gossamer.settings import merge
from gossamer.sim.web import Served
from gossamer.sim.web.corners.changing import HOST, Schedule, schedule
from gossamer.sim.web.model import Settings as WebSettings
from tests.crawl.harness import FAST, Crawled, crawl, online, records_of, rows_of, settings

PAGES = 21
WEB: dict[str, Any] = {
    "hosts": 1, "pages": 3, "corners": frozenset({"changing"}), "corner_pages": PAGES, "speed": 60.0, "change_seconds": 240.0,
}  # fmt: skip
EAGER = {"recrawl": {"continuous": True, "policy": {"name": "fixed", "interval": 2, "floor": 1, "ceiling": 60}}}


def plans(web: WebSettings) -> dict[str, Schedule]:
    return {f"http://{HOST}{plan.target}": plan for plan in (schedule(web, n) for n in range(web.corner_pages))}


def visits(log: list[Served]) -> dict[str, list[Served]]:
    """The answers that pages of the corner gave, in order."""
    found: dict[str, list[Served]] = defaultdict(list)
    for served in sorted(log, key=lambda each: each.start):
        if served.host == HOST and served.target.startswith("/live/"):
            found[served.url].append(served)
    return found


def happened(plan: Schedule, before: Served, after: Served) -> str:
    """What a visit has to find, by the schedule and the visit before."""
    was, now = plan.version(before.at), plan.version(after.at)
    if plan.gone(now):
        return "gone" if not plan.gone(was) else "absent"
    if plan.gone(was):
        return "back"
    return "unchanged" if was == now else "changed"


@pytest.fixture(scope="module", params=[0, 2])
def watched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """A crawl without end, ended after a while."""
    folder = tmp_path_factory.mktemp("continuous")
    with online(folder, **WEB) as (web, running):
        seeds = [f"http://{HOST}/"]
        return crawl(
            folder / "crawl", web, running, seeds, scope="host", workers=request.param, max_seconds=12, **EAGER
        )


def test_a_continuous_crawl_goes_on_until_it_is_stopped(watched: Crawled) -> None:
    assert watched.report.ending == "max-seconds"
    assert watched.report.revisits >= 3 * PAGES
    assert watched.report.next_due is not None
    seen = visits(watched.log)
    assert len(seen) == PAGES
    assert min(len(each) for each in seen.values()) >= 3


def test_what_changed_is_found_and_nothing_is_made_up(watched: Crawled) -> None:
    expected: dict[str, int] = defaultdict(int)
    for url, answers in visits(watched.log).items():
        plan = plans(watched.web.settings)[url]
        for before, after in pairwise(answers):
            expected[happened(plan, before, after)] += 1
    assert expected["changed"] >= 5
    assert expected["unchanged"] >= 5
    with Ledger(watched.folder / "frontier") as ledger:
        stats = ledger.stats()
        records = {url: ledger.record(url) for url in plans(watched.web.settings)}
    others = watched.report.revisits - sum(len(answers) - 1 for answers in visits(watched.log).values())
    # Besides the pages of the schedule there are the home page, which stays, and one whose footer differs at each visit.
    volatile = len([s for s in watched.log if s.target == "/volatile"]) - 1
    assert stats.changed == expected["changed"] + volatile
    assert stats.unchanged == expected["unchanged"] + others - volatile
    assert stats.back == expected["back"]
    for url, answers in visits(watched.log).items():
        record, plan = records[url], plans(watched.web.settings)[url]
        assert record is not None
        assert record.watch is not None
        if not plan.vanishes:
            found = [happened(plan, before, after) for before, after in pairwise(answers)]
            assert record.watch.history.visits == len(answers)
            assert record.watch.history.changes == found.count("changed")


def test_unchanged_pages_cost_no_more_than_a_304_where_the_server_can_tell(watched: Crawled) -> None:
    told = 0
    for url, answers in visits(watched.log).items():
        plan = plans(watched.web.settings)[url]
        for before, after in pairwise(answers):
            if plan.signal == "neither" or happened(plan, before, after) != "unchanged":
                continue
            told += 1
            assert after.status == 304
            assert after.if_none_match is not None or after.if_modified_since is not None
    assert told >= 5


def test_every_visit_is_in_the_archive_and_an_unchanged_one_without_a_body(watched: Crawled) -> None:
    kinds: dict[str, int] = defaultdict(int)
    bodies = {(capture.url, round(capture.at * 1000)) for _, capture in records_of(watched.folder) if capture.body}
    captures = defaultdict(list)
    for _, capture in records_of(watched.folder):
        if "kind" not in capture.notes.extra:
            captures[capture.url].append(capture)
    for url, answers in visits(watched.log).items():
        assert len(captures[url]) in (len(answers), len(answers) - 1), "but for one that was under way at the end"
        for capture in captures[url]:
            revisit = capture.duplicate
            if revisit is None:
                kinds["whole"] += capture.status == 200
                continue
            kinds[revisit.profile] += 1
            assert revisit.at is not None
            assert (revisit.url, round(revisit.at * 1000)) in bodies, "it refers to a capture that has the bytes"
            assert capture.status == (304 if revisit.profile == "server-not-modified" else 200)
    assert kinds["server-not-modified"] >= 5
    assert kinds["identical-payload-digest"] >= 2
    assert kinds["whole"] >= PAGES - 4
    assert len(rows_of(watched.folder)) == sum(len(each) for each in captures.values())


def test_changes_tells_what_the_webs_log_says(watched: Crawled) -> None:
    expected: dict[str, list[str]] = {}
    for url, answers in visits(watched.log).items():
        plan = plans(watched.web.settings)[url]
        found = [happened(plan, before, after) for before, after in pairwise(answers)]
        expected[url] = [kind for kind in found if kind in ("changed", "gone", "back")]
        if plan.gone(plan.version(answers[0].at)):
            expected[url] = [kind if kind != "back" else "new" for kind in expected[url][:1]] + expected[url][1:]
    told: dict[str, list[str]] = defaultdict(list)
    with Changes(watched.folder, Asked(since=0.0, until=time.time() + 3_600, diff="none")) as changes:
        for change in changes.told(("changed", "gone", "back", "new")):
            if "/live/" in change.url:
                told[change.url].insert(0, change.kind)
    for url in expected:
        answers = visits(watched.log)[url]
        first = ["new"] if answers[0].status == 200 else []
        assert told[url] == first + expected[url], url


def test_the_folder_is_whole(watched: Crawled) -> None:
    verdict = verify(watched.folder)
    assert verdict.counts == {}


def test_one_pass_over_all_visits_each_page_once_and_ends(tmp_path: Path) -> None:
    with online(tmp_path, **(WEB | {"speed": 1.0})) as (web, running):
        seeds = [f"http://{HOST}/"]
        first = crawl(tmp_path / "crawl", web, running, seeds, scope="host")
        assert first.report.ending == "finished"
        assert first.report.next_due is not None
        assert first.report.next_due > time.time() + 3_000, "an hour is the least"

        def again(older_than: float | None) -> tuple[Any, list[Served]]:
            before = len(running.served())
            changed = settings(running, scope="host")
            run = Crawl.prepare(tmp_path / "crawl", [], changed, again=Again(older_than))
            return uvloop.run(run.run()), running.served()[before:]

        report, log = again(None)
        assert (report.ending, report.revisits, log) == ("finished", 0, []), "nothing is due"
        report, log = again(1e6)
        assert (report.revisits, log) == (0, []), "nothing is as old as that"
        report, log = again(0.0)
        assert report.ending == "finished"
        asked = [served.url for served in log if served.host == HOST]
        assert len(asked) == len(set(asked))
        assert set(visits(log)) == set(visits(first.log))
        assert report.revisits == first.report.fetched
        assert report.unchanged >= PAGES // 2


def test_boilerplate_alone_is_no_change_if_one_says_so(tmp_path: Path) -> None:
    with online(tmp_path, **WEB) as (web, running):
        for ignore in (False, True):
            folder = tmp_path / f"crawl-{ignore}"
            seeds = [f"http://{HOST}/volatile"]
            changes = {"scope": "prefix", "include": ("volatile",)}
            crawl(folder, web, running, seeds, **changes)
            again = merge(
                FAST, {"connect_to": running.connect_to}, changes, {"recrawl": {"ignore_boilerplate": ignore}}
            )
            run = Crawl.prepare(folder, [], again, again=Again(0.0), force=True)
            report = uvloop.run(run.run())
            assert (report.revisits, report.changed, report.unchanged) == (1, 1 - ignore, 0 + ignore)
            assert len(rows_of(folder)) == 2
            assert all(row["text"] for row in rows_of(folder)), "either way what came is kept"


@pytest.mark.parametrize("workers", [0, 2])
def test_a_crawl_that_is_killed_among_revisits_goes_on_and_is_whole(tmp_path: Path, workers: int) -> None:
    with online(tmp_path, **WEB) as (_, running):
        folder = tmp_path / "crawl"
        changes = {"scope": "host", "workers": workers, "near_duplicates": "off", **EAGER}
        command = [
            sys.executable, "-m", "tests.crawl.runner", str(folder), running.connect_to, str(4 * PAGES),
            msgspec.json.encode(changes).decode(), f"http://{HOST}/",
        ]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            os.killpg(process.pid, signal.SIGKILL)
        before = len(running.served())
        run = Crawl.prepare(folder, [], merge(FAST, {"connect_to": running.connect_to}, changes), again=Again(0.0))
        report = uvloop.run(run.run())
        assert report.ending == "finished"
        assert set(visits(running.served()[before:])) == plans(WebSettings(**WEB)).keys(), (
            "each page still had its time"
        )
        assert verify(folder).counts == {}
        with Ledger(folder / "frontier") as ledger:
            stats = ledger.stats()
        assert (stats.queued, stats.waiting, stats.overdue, stats.revisiting) == (0, 0, 0, 0)
        assert stats.due + stats.retired == stats.seen


def test_an_interrupt_ends_a_crawl_without_end_and_keeps_its_times(tmp_path: Path) -> None:
    with online(tmp_path, **(WEB | {"speed": 1.0})) as (_, running):
        changed = settings(running, scope="host", recrawl={"continuous": True})
        run = Crawl.prepare(tmp_path / "crawl", [f"http://{HOST}/"], changed)

        async def interrupted() -> Any:
            task = asyncio.create_task(run.run())
            while run.desk is None or not run.desk.asleep_until:  # noqa: ASYNC110 - nothing tells that a crawl sleeps
                await asyncio.sleep(0.05)
            assert run.desk.asleep_until > time.time() + 3_000, "it sleeps until the next page is due"
            run.stop()
            return await task

        report = uvloop.run(interrupted())
        assert report.ending == "interrupted"
        assert report.queued == 0
        with Ledger(tmp_path / "crawl" / "frontier") as ledger:
            assert ledger.next_due() == pytest.approx(report.next_due)
            assert ledger.stats().due == msgspec.structs.replace(ledger.stats()).done + ledger.stats().gone
