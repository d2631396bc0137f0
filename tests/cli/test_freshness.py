"""`gossamer freshness`: an estimate that agrees with what a crawl of weeks really held, and clear words where there is nothing to tell."""

import asyncio
import itertools
import random
import shutil
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer import __version__
from gossamer.cli.freshness import look
from gossamer.crawl import Crawled, Folder
from gossamer.frontier import FrontierSettings, Link, RocksFrontier
from gossamer.frontier.inspect import Ledger
from gossamer.settings import Settings
from tests.cli.conftest import Said
from tests.cli.revisited import DAY, Served, Told, revisited
from tests.cli.runs import Site

SVG = "{http://www.w3.org/2000/svg}"


class Grown(msgspec.Struct, frozen=True):
    """A crawl of 20 days that ended just now."""

    folder: Path
    served: Sequence[Served]
    told: Sequence[Told]
    end: float


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Grown:
    folder, dice, end = tmp_path_factory.mktemp("grown") / "c", random.Random(3), time.time()
    served = [
        Served(f"https://h{n % 4}.example/p{n}?a=1&b=2", dice.lognormvariate(0.0, 1.2) * 5 * DAY) for n in range(200)
    ]
    for page in served[:10]:
        page.gone_from = end - 10 * DAY
    told = asyncio.run(revisited(folder, served, end - 20 * DAY, end, visits_per_day=0.3, retire_after=2))
    return Grown(folder, served, told, end)


def said(run: Said, *arguments: str) -> dict[str, Any]:
    assert run("freshness", *arguments, "--json") == 0, run.err
    found: dict[str, Any] = msgspec.json.decode(run.out)
    return found


# --- a crawl that visited each page once ------------------------------------------------------------------------------


def test_a_crawl_that_visited_each_page_once_says_so(site: Site, crawled: Path, run: Said) -> None:
    found = said(run, str(crawled))
    pages = len(site.expected())
    assert (found["pages"]["held"], found["pages"]["once"], found["pages"]["known"]) == (pages, pages, pages)
    assert 0.99 < found["now"]["plain"] <= 1.0
    assert found["in_a_day"]["plain"] == pytest.approx(found["now"]["plain"] * 0.8395, abs=0.001), "e^-0.175: the prior"
    assert (found["last_day"]["first"], found["last_day"]["again"], found["revisits"]) == (pages, 0, 0)
    assert found["due"]["planned"] == pages
    assert found["due"]["next"]["at"] > found["at"]
    assert found["change_intervals"]["pages"] == 0
    assert run("freshness", str(crawled)) == 0
    assert f"% of {pages} pages up to date" in run.out
    assert "Every page was visited once only" in run.out
    assert "no page has been visited again yet" in run.out
    assert "time between changes" not in run.out
    assert run.err == ""


def test_a_chart_of_it_has_two_panels(crawled: Path, run: Said, tmp_path: Path) -> None:
    chart = tmp_path / "f.svg"
    assert run("freshness", str(crawled), "--chart", str(chart)) == 0
    assert run.err == f"the chart is in {chart}\n"
    titles = [t.text for t in ET.parse(chart).getroot().iter(f"{SVG}text") if t.get("class") == "title"]
    assert titles == ["Age: time since the last visit", "Without visits"]


# --- a crawl of weeks -------------------------------------------------------------------------------------------------


def test_the_estimate_is_near_the_truth(grown: Grown) -> None:
    found, _ = look(grown.folder, grown.end)
    held = [page for page in grown.served if page.gone_from > grown.end]
    truth = sum(page.next_change > grown.end for page in held) / len(held)
    assert found.pages.held == len(held)
    assert found.now.plain == pytest.approx(truth, abs=0.12), "200 coins: three standard deviations are 0.1"
    assert found.in_a_week.plain < found.in_a_day.plain < found.now.plain


def test_visits_and_what_they_found_are_those_that_were_made(grown: Grown) -> None:
    found, drawn = look(grown.folder, grown.end, draw=True)
    assert drawn is not None
    again = [visit for visit in grown.told if not visit.first]
    assert (drawn.stretch, len(drawn.visits)) == (DAY, 14)
    for number, visits in enumerate(reversed(drawn.visits)):
        own = [v for v in again if grown.end - (number + 1) * DAY <= v.at < grown.end - number * DAY]
        assert visits.again == pytest.approx(len(own), abs=1), (
            "a visit within a millisecond of midnight may be on either side"
        )
        assert visits.changed == pytest.approx(sum(v.changed for v in own), abs=1)
        assert visits.again == visits.changed + visits.unchanged + visits.other
    day = [v for v in again if v.at >= grown.end - DAY]
    assert found.last_day.again == pytest.approx(len(day), abs=1)
    assert found.last_day.first == found.last_hour.first == 0
    assert found.revisits == len(again)
    assert found.changed == sum(v.changed for v in again)
    assert found.unchanged == sum(v.status == 304 for v in again)
    pages = len(grown.served) - found.pages.retired
    assert found.due.planned == pages
    assert found.budget.per_day == pytest.approx(0.3 * pages)
    assert found.budget.used_in_last_day == pytest.approx(found.last_day.again / (0.3 * pages))


def test_ages_are_the_times_since_the_last_visits(grown: Grown) -> None:
    found, _ = look(grown.folder, grown.end)
    last = {visit.url: visit.at for visit in grown.told}
    ages = sorted(grown.end - int(last[page.url]) for page in grown.served if page.gone_from > grown.end)
    assert found.ages.longest == pytest.approx(ages[-1], abs=1)
    assert found.ages.median == pytest.approx(ages[len(ages) // 2], rel=0.05)
    assert sum(each.pages for each in found.ages.bins) == found.ages.pages == len(ages)


def test_pages_that_are_gone_are_counted_apart(grown: Grown, run: Said) -> None:
    found, _ = look(grown.folder, grown.end)
    lost = sum(page.gone_from <= grown.end for page in grown.served)
    assert found.pages.gone + found.pages.retired == lost
    assert found.pages.retired > 0
    assert run("freshness", str(grown.folder)) == 0
    assert f"{found.pages.retired} retired" in run.out
    assert "time between changes" in run.out
    assert "found a change" in run.out


def test_by_host_and_of_one_host(grown: Grown, run: Said) -> None:
    whole = said(run, str(grown.folder), "--by", "host", "--limit", "0")
    assert sum(host["held"] for host in whole["hosts"]) == whole["pages"]["held"]
    assert [host["stale"] for host in whole["hosts"]] == sorted((h["stale"] for h in whole["hosts"]), reverse=True)
    first = whole["hosts"][0]
    one = said(run, str(grown.folder), "--host", first["host"].upper())
    assert (one["pages"]["held"], one["host"], one["hosts"]) == (first["held"], first["host"], None)
    assert one["now"]["plain"] == pytest.approx(first["fresh"], abs=0.001)
    assert one["last_day"]["again"] < whole["last_day"]["again"]
    assert one["revisits"] is None, "the frontier's books are those of all hosts"
    assert run("freshness", str(grown.folder), "--by", "host", "--limit", "2") == 0
    assert [line.split()[0] for line in run.out.splitlines()[-2:]] == [host["host"] for host in whole["hosts"][:2]]


def test_a_chart_with_revisits_has_three_panels_and_is_small(grown: Grown, run: Said, tmp_path: Path) -> None:
    chart = tmp_path / "f.svg"
    assert run("freshness", str(grown.folder), "--chart", str(chart), "--json") == 0
    found = msgspec.json.decode(run.out)
    assert run.err == ""
    assert chart.stat().st_size < 40_000
    tree = ET.parse(chart).getroot()
    titles = [t.text for t in tree.iter(f"{SVG}text") if t.get("class") == "title"]
    assert titles == ["Age: time since the last visit", "Without visits", "Revisits in each day until now"]
    texts = [t.text for t in tree.iter(f"{SVG}text") if t.get("class") == "value"]
    assert texts == [str(each["pages"]) for each in found["ages"]["bins"] if each["pages"]]
    assert len(list(tree.iter(f"{SVG}polyline"))) == 2
    assert list(tmp_path.iterdir()) == [chart], "nothing is left beside it"


# --- beside a running crawl, and where there is nothing ---------------------------------------------------------------


async def test_it_works_beside_a_frontier_that_is_open_and_changes_nothing(grown: Grown, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    shutil.copytree(grown.folder, folder)
    settings = FrontierSettings(robots=False, recrawl=Folder(folder).load().settings.recrawl)
    frontier = RocksFrontier(folder / "frontier", settings)
    later = grown.end + 30 * DAY
    await frontier.revisit(float("inf"))
    under_way = await frontier.lease("w", 5, later)
    before = (await frontier.stats()).queued
    found, _ = look(folder, later, hosts=0)
    assert found.pages.held + found.pages.gone + found.pages.retired == len(grown.served)
    assert found.due.under_way == before >= len(under_way) > 0
    assert found.due.now > 0
    assert found.due.planned == found.due.now + found.due.under_way
    assert found.due.most_overdue is not None
    assert (await frontier.stats()).queued == before
    await frontier.close()


def test_the_pages_of_a_ledger_are_all_there_is_and_hosts_stand_together(crawled: Path, site: Site) -> None:
    with Ledger(crawled / "frontier") as ledger:
        urls = [record.url for record, _ in ledger.pages()]
        hosts = [url.split("/")[2] for url in urls]
        assert site.expected() <= set(urls)
        assert len(urls) == len(set(urls)) == ledger.stats().seen
        assert sum(a != b for a, b in itertools.pairwise(hosts)) == len(set(hosts)) - 1
        own = [record.url for record, _ in ledger.pages(hosts[-1])]
        assert own == [url for url, host in zip(urls, hosts, strict=True) if host == hosts[-1]]
        assert list(ledger.pages("nowhere.example")) == []


async def begun(folder: Path) -> None:
    """A crawl that knows a page and has visited none."""
    Folder(folder).save(Crawled(__version__, time.time(), ("https://a.example/",), Settings()))
    frontier = RocksFrontier(folder / "frontier", FrontierSettings(robots=False))
    await frontier.discover([Link("https://a.example/")], time.time())
    await frontier.close()
    (folder / "pages").mkdir()


async def test_a_crawl_that_visited_nothing_says_so(run: Said, tmp_path: Path) -> None:
    await begun(tmp_path / "c")
    assert run("freshness", str(tmp_path / "c"), "--chart", str(tmp_path / "f.svg")) == 1
    assert (run.out, run.err) == ("", f"gossamer: {tmp_path}/c: no page has been visited yet; 1 known\n")
    assert not (tmp_path / "f.svg").exists()


@pytest.mark.parametrize(
    ("more", "code", "sentence"),
    [
        (["--host", "nowhere.example"], 1, "knows no page of nowhere.example; gossamer hosts lists its hosts"),
        (["--limit", "-1"], 2, "--limit cannot be -1: it is a whole number >= 0"),
        (["--chart", "f.png"], 2, "--chart f.png does not end in .svg: the chart is an SVG file, and nothing else"),
        (["--chart", "/nowhere/f.svg"], 1, "cannot write /nowhere/f.svg"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    crawled: Path, run: Said, more: list[str], code: int, sentence: str
) -> None:
    assert run("freshness", str(crawled), *more) == code
    assert run.out == ""
    assert sentence in run.err
    assert run.err.count("\n") == 1


def test_a_folder_that_is_no_crawl(run: Said, tmp_path: Path) -> None:
    assert run("freshness", str(tmp_path)) == 1
    assert run.err == f"gossamer: {tmp_path} is not the folder of a crawl: there is no crawl.json in it\n"
