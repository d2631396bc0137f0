"""On a web nine in ten of whose addresses are traps, nine in ten of the pages fetched are real and next to all real ones are found.

The rules know no names: the second web is the same with other words for every path and parameter. `make bench-traps` puts
Scrapy and wget beside it.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from gossamer.frontier import State
from gossamer.sim.web import Web, audit
from gossamer.traps import Rule
from tests.crawl.harness import Crawled, crawl, explained, online

PAGES = 260  # of each of the nine sites: some 3,000 real ones together


def crawled(folder: Path, seed: int, **changes: object) -> Crawled:
    depth = changes.pop("mire_depth", 9)
    plan = {"hosts": 4, "pages": 40, "corners": ["mire"], "corner_pages": PAGES, "seed": seed, "mire_depth": depth}
    with online(folder, **plan) as (web, running):
        budget = 2 * len(real_pages(web)) + 500
        return crawl(folder / "crawl", web, running, max_pages=budget, **changes)


def real_pages(web: Web) -> frozenset[str]:
    return web.reachable(web.seeds()).stored


def whole(done: Crawled) -> audit.Harvest:
    parts = audit.harvest(done.log, done.web, real_pages(done.web)).values()
    return audit.Harvest(*(sum(getattr(part, name) for part in parts) for name in ("asked", "found", "real")))


@pytest.fixture(scope="module")
def mire(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    return crawled(tmp_path_factory.mktemp("mire"), seed=1)


def test_nine_in_ten_addresses_of_this_web_are_traps() -> None:
    web = Web(hosts=4, pages=40, corners={"mire"}, corner_pages=40)
    known, waiting = set[str](), list(web.seeds())
    while waiting:
        url = waiting.pop()
        if url not in known and not web.is_forbidden(url):
            known.add(url)
            waiting.extend(web.node(url).links)
    kinds = Counter(web.node(url).kind for url in known)
    assert set(kinds) == {"page", "trap"}
    assert kinds["trap"] / kinds.total() > 0.895
    assert kinds["page"] == len(real_pages(web)), "no real page lies behind a trap"


def test_nine_in_ten_pages_fetched_are_real_and_nearly_all_real_ones_are_found(mire: Crawled) -> None:
    got = whole(mire)
    assert got.real > 2_000
    assert got.precision >= 0.9
    assert got.recall >= 0.95
    assert mire.report.ending == "finished", "the traps were left, the budget is not spent"


def test_no_site_is_given_up_for_its_traps(mire: Crawled) -> None:
    sites = audit.harvest(mire.log, mire.web, real_pages(mire.web))
    assert {host: part.recall for host, part in sites.items() if part.recall < 0.95} == {}
    assert {host: part.precision for host, part in sites.items() if part.precision < 0.75} == {}


def test_what_was_refused_says_why(mire: Crawled) -> None:
    asked = set(audit.pages_served(mire.log))
    traps = [url for url in trap_addresses(mire.web) if url not in asked]
    views = explained(mire.folder, traps).values()
    refused = [view for view in views if view is not None and view.state is State.REFUSED]
    assert len(refused) > 1_000
    rules = Counter((view.detail or "").partition(":")[0] for view in refused)
    assert set(rules) == {Rule.COPIES, Rule.NOISE, Rule.MAZE}
    assert all(any(char.isdigit() for char in view.detail or "") for view in refused)
    assert all(view.attempts == 0 for view in refused), "a refusal costs no request"


def trap_addresses(web: Web) -> list[str]:
    """Traps one step from a real page, and two; of the maze, which is learned last, some deeper ones."""
    doors = web.reachable(web.seeds()).urls("trap")
    further = {link for door in doors for link in web.node(door).links if web.is_trap(link)}
    maze = [url for url in further if "mire-maze" in url]
    deep = {link for url in maze for step in web.node(url).links for link in web.node(step).links}
    return sorted(doors | further | deep)


def test_names_do_not_matter_nor_do_traps_without_end(tmp_path: Path) -> None:
    done = crawled(tmp_path, seed=2, mire_depth=0, workers=2)
    got = whole(done)
    assert got.precision >= 0.9
    assert got.recall >= 0.95
    assert done.report.ending == "finished"


EXCLUDED = re.compile(r"visits[^?]*/[a-z]+/[a-z-]+(\.html|/)?$")


def test_what_the_crawl_excludes_is_not_asked_for_even_without_a_parameter_that_is_noise(tmp_path: Path) -> None:
    with online(tmp_path, seed=1, hosts=1, pages=1, corners=["mire"], corner_pages=60) as (web, running):
        done = crawl(tmp_path / "crawl", web, running, exclude=[EXCLUDED.pattern], max_pages=1_500)
    visits = {served.url for served in done.log if served.host == "mire-visits.test"}
    assert any("?" in url for url in visits)
    assert {url for url in visits if EXCLUDED.search(url)} == set()
