"""A crawl ends with exactly the pages that the web's own plan says are reachable, allowed and in scope."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.crawl.reparse import reparse
from gossamer.crawl.verify import verify
from gossamer.frontier import State
from gossamer.sim.web import Kind, Running, Scope, Web, audit
from gossamer.sim.web.corners import CORNERS
from gossamer.sim.web.plan import split_url
from tests.crawl.harness import Crawled, crawl, depths, explained, online, rows_of, stored_in


def assert_as_planned(done: Crawled, seeds: list[str], scope: Scope = "any") -> None:
    expected = done.web.reachable(seeds, scope)
    stored = stored_in(done.folder)
    assert audit.storage_problems(stored, expected, done.web) == []
    assert len(stored) == len(set(stored)), "no page is stored twice"
    assert audit.forbidden_requests(done.log, done.web) == []
    assert set(audit.pages_served(done.log)) >= expected.fetched
    report = done.report
    assert (report.ending, report.queued, report.waiting, report.worker_deaths) == ("finished", 0, 0, 0)
    assert report.stored == len(stored)
    assert sorted(row["url"] for row in rows_of(done.folder)) == sorted({row["url"] for row in rows_of(done.folder)})


# --- plain webs -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Running]]:
    """Some two dozen hosts, several of them of one domain."""
    with online(tmp_path_factory.mktemp("plain"), hosts=24, pages=360) as found:
        yield found


def test_one_host_is_crawled_whole(plain: tuple[Web, Running], tmp_path: Path) -> None:
    web, running = plain
    done = crawl(tmp_path, web, running, scope="host")
    assert_as_planned(done, web.seeds(), "host")
    assert {served.host for served in done.log} == {split_url(web.seeds()[0])[0]}
    assert done.report.fetched == len(web.reachable(web.seeds(), "host").stored) > 50


def test_two_hundred_hosts_are_crawled_whole_by_two_workers(tmp_path: Path) -> None:
    with online(tmp_path, hosts=200, pages=2200) as (web, running):
        done = crawl(tmp_path / "crawl", web, running, workers=2)
    assert_as_planned(done, web.seeds())
    assert (done.report.stored, done.report.hosts) == (2200, 200)
    workers = {row["warc_file"].split("-")[2] for row in rows_of(done.folder)}
    assert len(workers) == 2, "both had their share"


def test_a_domain_is_crawled_with_all_its_hosts_and_no_other(plain: tuple[Web, Running], tmp_path: Path) -> None:
    web, running = plain
    seed = next(f"http://{host}/" for host in web.hosts() if host.startswith("h"))
    done = crawl(tmp_path, web, running, [seed], scope="domain", workers=2)
    assert_as_planned(done, [seed], "domain")
    hosts = {served.host for served in done.log}
    assert len(hosts) > 1
    assert {host.split(".", 1)[1] for host in hosts} == {split_url(seed)[0].split(".", 1)[1]}


def test_a_prefix_is_crawled_and_nothing_outside_it(plain: tuple[Web, Running], tmp_path: Path) -> None:
    web, running = plain
    host = next(host for host in web.hosts() if web.reachable([f"http://{host}/news/"], "prefix").nodes)
    tree = web.reachable([f"http://{host}/"], "host").stored
    sections = sorted(url for url in tree if url.count("/") > 3)
    seed = max(sections, key=lambda url: len(web.reachable([url], "prefix").stored))
    done = crawl(tmp_path, web, running, [seed], scope="prefix")
    assert_as_planned(done, [seed], "prefix")
    directory = seed.rsplit("/", 1)[0] + "/"
    asked = {served.url for served in done.log} - {f"http://{host}/robots.txt", f"http://{host}/sitemap.xml"}
    assert {url for url in asked if not url.startswith(directory)} == set()


@pytest.mark.parametrize("order", ["dfs", "best-first"])
def test_another_order_finds_the_same_pages(plain: tuple[Web, Running], tmp_path: Path, order: str) -> None:
    web, running = plain
    done = crawl(tmp_path, web, running, order=order, workers=2)
    assert_as_planned(done, web.seeds())


def test_depth_first_goes_deep_first(plain: tuple[Web, Running], tmp_path: Path) -> None:
    web, running = plain
    seed = web.seeds()
    at = {url: depth for url, depth in depths(web, seed).items() if split_url(url)[0] == split_url(seed[0])[0]}
    mean = {}
    for order in ("bfs", "dfs"):
        done = crawl(tmp_path / order, web, running, scope="host", order=order, host_connections=1)
        depth = [at[served.url] for served in done.log if served.url in at]
        mean[order] = sum(depth[: len(depth) // 3]) / (len(depth) // 3)
    assert mean["dfs"] > mean["bfs"]


def test_include_and_exclude_decide_what_is_followed(plain: tuple[Web, Running], tmp_path: Path) -> None:
    web, running = plain
    include, exclude = r"^http://[^/]+/$|/(news|guides|people)/|topic=(news|people)", r"/guides/.*e"

    def inside(url: str) -> bool:
        return bool(re.search(include, url)) and not re.search(exclude, url)

    done = crawl(tmp_path, web, running, include=[include], exclude=[exclude])
    expected = depths(web, web.seeds(), inside)
    assert set(stored_in(tmp_path)) == set(expected)
    assert 30 < len(expected) < 300
    assert done.report.ending == "finished"


# --- every corner -----------------------------------------------------------------------------------------------------

ENDLESS = frozenset({
    "bombs-farm.test",  # a host for each of endlessly many names: only a budget ends it
    "robots-503.test",  # a dozen tries a second apart at best; it has a test of its own
})  # fmt: skip
CORNER_WEB = {
    "hosts": 4, "pages": 40, "corner_pages": 12, "slow_seconds": 0.05, "retry_after": 1, "crawl_delay": 0.3,
    "bomb_bytes": 30_000_000, "bomb_items": 20_000, "change_seconds": 3600.0,
}  # fmt: skip
# The maze makes up pages without end, and nothing about them repeats: only the budget of a host ends it.
CORNER_CRAWL = {"max_pages_per_host": 150, "traps": {"template_urls": 150, "least_urls": 20}}


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """All corners at once, by two workers."""
    folder = tmp_path_factory.mktemp("every")
    with online(folder, corners="all", without=sorted(ENDLESS), **CORNER_WEB) as (web, running):
        return crawl(folder / "crawl", web, running, workers=2, **CORNER_CRAWL)


@pytest.fixture(scope="module")
def verdicts(every: Crawled) -> dict[str, tuple[Kind, State | None]]:
    """What the plan calls each address, and what the crawl made of it."""
    nodes = every.web.reachable(every.web.seeds()).nodes
    views = explained(every.folder, nodes)
    return {url: (node.kind, view.state if (view := views[url]) is not None else None) for url, node in nodes.items()}


@pytest.mark.parametrize("corner", sorted(CORNERS))
def test_a_corner_is_stored_as_planned(every: Crawled, corner: str) -> None:
    hosts = set(every.web.corner_hosts(corner))
    assert hosts
    expected = every.web.reachable(every.web.seeds())
    here = type(expected)({url: node for url, node in expected.nodes.items() if split_url(url)[0] in hosts})
    stored = [url for url in stored_in(every.folder) if split_url(url)[0] in hosts]
    problems = audit.storage_problems(stored, here, every.web)
    if corner == "errors":
        # The plan calls a page that is cut off at every try a failure; what came of it is kept, and marked as cut.
        cut = [url for url in here.urls("failed") if split_url(url)[0] == "errors-cut.test"]
        assert problems == [f"stored although failed: {url}" for url in cut]
        assert {row["truncated"] for row in rows_of(every.folder) if row["url"] in cut} == {"disconnect"}
    else:
        assert problems == []
    assert len(stored) == len(set(stored))


def test_the_whole_web_is_crawled_to_its_end_and_nothing_forbidden_is_asked_for(every: Crawled) -> None:
    report = every.report
    assert (report.ending, report.queued, report.waiting, report.worker_deaths) == ("finished", 0, 0, 0)
    assert audit.forbidden_requests(every.log, every.web) == []
    expected = every.web.reachable(every.web.seeds())
    assert expected.fetched - set(audit.pages_served(every.log)) == set()
    assert report.stored == len(stored_in(every.folder))


ANSWERS: dict[Kind, set[State | None]] = {
    "page": {State.DONE},
    "copy": {State.DONE},
    "near": {State.DONE},
    "binary": {State.DONE},
    "noindex": {State.DONE},
    "soft404": {State.DONE},
    "redirect": {State.REDIRECTED},
    "missing": {State.GONE, State.REFUSED, State.FAILED},
    # Never heard of (behind nofollow), or refused for the host's robots.txt, or given up with a host that has none to read.
    "forbidden": {None, State.REFUSED, State.FAILED},
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_each_kind_of_page_ends_in_its_state(verdicts: dict[str, tuple[Kind, State | None]], kind: Kind) -> None:
    found = {url: state for url, (called, state) in verdicts.items() if called == kind}
    assert found
    assert {url: state for url, state in found.items() if state not in ANSWERS[kind]} == {}


def test_what_never_gives_a_good_answer_ends_among_the_failures(
    verdicts: dict[str, tuple[Kind, State | None]],
) -> None:
    other = {
        url.removeprefix("http://"): state
        for url, (kind, state) in verdicts.items()
        if kind == "failed" and state is not State.FAILED
    }
    # The hop itself was answered in order; what it led to was refused by the guard, or is the other hop.
    hops = dict.fromkeys(
        [
            *(f"redirects.test/inward/{name}" for name in ("loopback", "metadata", "octal", "mapped")),
            *(f"redirects.test/loop/{name}" for name in ("left", "right")),
        ],
        State.REDIRECTED,
    )
    assert {url: state for url, state in other.items() if not url.startswith("errors-cut.test")} == hops


def test_copies_name_their_originals(every: Crawled) -> None:
    groups = every.web.reachable(every.web.seeds()).groups
    assert len(groups) >= 12
    rows = {row["url"]: row for row in rows_of(every.folder)}
    for of, urls in groups.items():
        original = next(url for url in urls if rows[url]["duplicate_of"] is None)
        kinds = {rows[url]["duplicate_kind"] for url in urls - {original}}
        assert {rows[url]["duplicate_of"] for url in urls - {original}} == {original}, of
        assert kinds == ({"near"} if "edition" in of else {"exact"})


def test_pages_in_any_encoding_have_the_title_that_a_browser_shows(every: Crawled) -> None:
    rows = {row["url"]: row for row in rows_of(every.folder)}
    nodes = every.web.reachable(every.web.seeds()).nodes.values()
    # White space is collapsed, as a browser does it (HTML, `document.title`).
    titled = {node.url: " ".join(node.title.split()) for node in nodes if node.kind == "page" and node.title}
    kept = [url for url in titled if url in rows and rows[url]["duplicate_of"] is None]
    assert sum("charsets.test" in url for url in kept) >= 20
    assert {url: rows[url]["title"] for url in kept if rows[url]["title"] != titled[url]} == {}


def test_a_page_that_asks_not_to_be_kept_leaves_no_text(every: Crawled) -> None:
    asked = every.web.reachable(every.web.seeds()).urls("noindex")
    rows = [row for row in rows_of(every.folder) if row["url"] in asked]
    assert len(rows) == len(asked) > 0
    assert [(row["text"], row["title"], row["links"]) for row in rows] == [(None, None, [])] * len(rows)


def test_every_corner_is_whole_on_disk_and_its_table_can_be_made_anew(every: Crawled) -> None:
    """Records, rows and books agree; and whatever a row says, it says from what is in the WARC."""
    assert verify(every.folder).counts == {}
    before = rows_of(every.folder)
    made = reparse(every.folder)
    assert (made.rows, made.failed) == (len(before), 0)
    assert rows_of(every.folder) == before
    assert verify(every.folder).counts == {}


def test_traps_cost_little(every: Crawled) -> None:
    trapped = audit.kinds_served(every.log, every.web)["trap"]
    assert trapped < 1000
    assert every.report.trapped > 0, "template budgets closed doors"


def test_hostile_answers_cost_little_memory(tmp_path: Path) -> None:
    """In processes of its own: what the tests before have taken is not counted."""
    with online(tmp_path, corners=["bombs"], without=sorted(ENDLESS), **CORNER_WEB) as (web, running):
        given = (
            str(tmp_path / "crawl"),
            running.connect_to,
            "0",
            json.dumps({"workers": 2, **CORNER_CRAWL}),
            *web.seeds(),
        )
        program = [sys.executable, "-m", "tests.crawl.runner", *given]
        printed = subprocess.run(program, capture_output=True, check=True, timeout=120, text=True).stdout
    report = json.loads(printed.splitlines()[-1])
    assert report["ending"] == "finished"
    assert report["fetched"] > 50
    assert report["peak_memory"] < 500 << 20


def test_a_crawl_in_one_process_finds_the_same(tmp_path: Path) -> None:
    corners = ["binary", "charsets", "compressed", "copies", "idn", "meta", "redirects", "sitemaps", "soft404"]
    with online(tmp_path, corners=corners, **CORNER_WEB) as (web, running):
        done = crawl(tmp_path / "crawl", web, running, workers=0)
    assert_as_planned(done, web.seeds())


def test_near_copies_are_kept_where_the_crawl_is_told_so(tmp_path: Path) -> None:
    with online(tmp_path, hosts=1, pages=1, corners=["copies"], corner_pages=1) as (web, running):
        expected = web.reachable(web.seeds())
        for policy, kinds in (("store", {"exact", "near"}), ("off", {"exact"})):
            done = crawl(tmp_path / policy, web, running, near_duplicates=policy)
            assert audit.storage_problems(stored_in(done.folder), expected, web, near_skipped=False) == []
            assert set(stored_in(done.folder)) >= expected.urls("near")
            assert {row["duplicate_kind"] for row in rows_of(done.folder)} - {None} == kinds


def test_without_sitemaps_what_only_they_name_is_not_found(tmp_path: Path) -> None:
    with online(tmp_path, hosts=1, pages=1, corners=["sitemaps"], corner_pages=4) as (web, running):
        done = crawl(tmp_path / "crawl", web, running, sitemaps=False)
    assert set(stored_in(done.folder)) == web.reachable(web.seeds(), sitemaps=False).stored
    assert not [served.url for served in done.log if "sitemap.xml" in served.target]
