"""explain: the whole story of a URL, for every way a URL can go, in crawls that are over and in one that runs."""

import itertools
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.frontier import State
from gossamer.frontier.inspect import Ledger
from gossamer.frontier.records import UrlRecord
from gossamer.sim.web import Web, start_in_process
from gossamer.store import Location, query, read
from gossamer.traps import template_of
from gossamer.url import host_of
from tests.cli.conftest import Said
from tests.cli.runs import Site, gossamer, started

QUICK = {"failure_backoff": 0.05, "failure_cap": 0.1, "stretch_cap": 0.1, "backoff": 1, "backoff_cap": 1, "crawl_delay_cap": 0}  # fmt: skip
PACES = [f"--set=politeness.{name}={value}" for name, value in QUICK.items()]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A web with traps, errors and pages that ask robots for things."""
    web = Web(hosts=2, pages=12, corners={"traps", "errors", "meta"}, corner_pages=8)
    with start_in_process(web, log=tmp_path_factory.mktemp("web") / "served.jsonl") as running:
        yield Site(web, running)


@pytest.fixture(scope="module")
def crawled_odd(odd: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of `odd` with small budgets against traps."""
    folder = tmp_path_factory.mktemp("crawled") / "c"
    budgets = ("--set=traps.template_urls=30", "--set=traps.least_urls=10", "--set=traps.earned=0")
    done = gossamer(
        *odd.crawl(folder, "--patience", "0.0005", "--max-wait", "1", "--host-connections", "4", "--quiet"),
        *("--max-pages", "900", *budgets, *PACES),
    )
    assert done.returncode in (0, 3), done.stderr
    return folder


@pytest.fixture(scope="module")
def bounded(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of `site` that keeps to one host, one link deep, and out of one folder."""
    folder = tmp_path_factory.mktemp("crawled") / "c"
    done = gossamer(
        *site.crawl(folder, "--quiet", "--scope", "host", "--max-depth", "1", "--exclude", "/private/", "--exclude", "[?]q=")
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


class Told:
    """A story as a program reads it."""

    def __init__(self, run: Said, folder: Path, url: str, *more: str) -> None:
        assert run("explain", str(folder), url, "--json", *more) == 0, run.err
        assert run.err == ""
        self.all: dict[str, Any] = msgspec.json.decode(run.out)
        self.steps = {step["name"]: step for step in self.all["steps"]}
        assert len(self.steps) == len(self.all["steps"]), "each step once"

    def __getattr__(self, name: str) -> Any:
        return self.all[name]

    def facts(self, step: str) -> dict[str, Any]:
        found: dict[str, Any] = self.steps[step]["facts"]
        return found

    @property
    def refusing(self) -> list[str]:
        return [check["rule"] for check in self.facts("rules")["checks"] if check["refuses"]]


def known(folder: Path, state: State, where: str = "", attempts: int = 0) -> UrlRecord:
    """The first URL, in the order of the alphabet, that a crawl has in a state."""
    with Ledger(folder / "frontier") as ledger:
        records = [ledger.record(url) for url in sorted(_urls(folder)) if where in url]
    found = [r for r in records if r is not None and r.state is state and r.attempts >= attempts]
    assert found, f"no URL with {where!r} is {state.name}"
    return found[0]


def _urls(folder: Path) -> set[str]:
    rows = query(folder, "SELECT url, links FROM pages").to_pylist()
    return {url for row in rows for url in (row["url"], *(row["links"] or ()))}


# --- the address --------------------------------------------------------------------------------------------------------


def test_what_was_typed_is_told_with_every_rule_that_changed_it(site: Site, crawled: Path, run: Said) -> None:
    host = host_of(site.seed)
    typed = f"HTTP://{host.upper()}:80/./?utm_source=x#top"
    told = Told(run, crawled, typed)
    assert (told.typed, told.url, told.known, told.state) == (typed, site.seed, True, "done")
    assert told.facts("address")["resolved"] == f"{site.seed}?utm_source=x#top"
    assert set(told.facts("address")["rules"]) == {"fragment", "tracking", "empty_query"}
    assert run("explain", str(crawled), typed) == 0
    assert run.out.startswith(f"{site.seed}\n  done: fetched ")
    assert f"  address     as typed: {typed}\n" in run.out
    assert "the fragment is removed: servers never see it\n" in run.out


def test_without_a_scheme_it_is_looked_for_under_both(site: Site, crawled: Path, run: Said) -> None:
    assert Told(run, crawled, host_of(site.seed)).url == site.seed
    unknown = Told(run, crawled, "www.nowhere.example/a")
    assert (unknown.url, unknown.known) == ("https://www.nowhere.example/a", False)


def test_another_spelling_that_is_known_is_named(site: Site, crawled: Path, run: Said) -> None:
    told = Told(run, crawled, site.seed.replace("http://", "https://"))
    assert not told.known
    assert told.facts("address")["also_known"] == [site.seed]


# --- known --------------------------------------------------------------------------------------------------------------


def test_a_page_that_is_done_is_stored_where_the_story_says(site: Site, crawled: Path, run: Said) -> None:
    url = sorted(site.expected())[7]
    told = Told(run, crawled, url)
    place = told.facts("stored")
    capture = read(crawled, Location(place["file"], place["offset"], place["length"]))
    assert (capture.url, capture.status, place["body"]) == (url, 200, True)
    [row] = query(crawled, "SELECT * FROM pages WHERE url = ?", [url]).to_pylist()
    for name in ("title", "language", "media_type", "digest", "link_count"):
        assert told.facts("answer")[name] == row[name]
    assert told.facts("host")["fetched"] >= 1
    again = told.facts("next")
    assert (again["visits"], again["changes"]) == (1, 0)
    assert again["again"] > 1.7e9, "it is settled, and has the time of its next visit"
    command = shlex.split(told.steps["stored"]["notes"][-1])
    assert run(*command[1:]) == 0
    assert run.raw == capture.body


def test_the_way_leads_from_the_seed_link_by_link(site: Site, crawled: Path, run: Said) -> None:
    rows = query(crawled, "SELECT url, via, depth FROM pages ORDER BY depth DESC, url LIMIT 1").to_pylist()
    told = Told(run, crawled, rows[0]["url"])
    way = told.facts("way")["urls"]
    assert (way[0], way[-1]) == (site.seed, rows[0]["url"])
    assert len(way) == rows[0]["depth"] + 1 > 2
    for before, after in itertools.pairwise(way):
        assert query(crawled, "SELECT via FROM pages WHERE url = ?", [after]).to_pylist() == [{"via": before}]
    assert (told.facts("found")["via"], told.facts("found")["depth"]) == (rows[0]["via"], rows[0]["depth"])
    seed = Told(run, crawled, site.seed)
    assert seed.facts("found")["how"] == "seed"
    assert "way" not in seed.steps


def test_the_robots_line_that_forbids_is_named(corners: Site, crawled_corners: Path, run: Said) -> None:
    url = "http://robots-rules.test/closed/one"
    assert run("cat", str(crawled_corners), "http://robots-rules.test/robots.txt") == 0
    lines = run.out.splitlines()
    told = Told(run, crawled_corners, url)
    robots = told.facts("robots")
    assert (told.state, robots["allowed"]) == ("refused", False)
    assert (robots["text"], lines[robots["line"] - 1]) == ("Disallow: /closed/", "Disallow: /closed/")
    assert robots["fetched"] <= told.facts("tried")["last"][0]["at"] + 1
    assert run("explain", str(crawled_corners), url) == 0
    assert run.out.splitlines()[1].startswith(
        f"  refused by robots.txt: line {robots['line']} of http://robots-rules.test/robots.txt forbids it: "
        "Disallow: /closed/ (read 2"
    )
    allowed = Told(run, crawled_corners, "http://robots-rules.test/closed/but-open").facts("robots")
    assert (allowed["allowed"], allowed["text"]) == (True, "Allow: /closed/but-open")


def test_what_robots_would_forbid_was_never_found_for_all_that(crawled_corners: Path, run: Said) -> None:
    told = Told(run, crawled_corners, "http://robots-rules.test/closed/never-linked")
    assert (told.known, told.excluded_by, told.refusing) == (False, None, ["robots"])
    assert told.verdict.startswith("never found; were it found, it would not be fetched (robots: line ")


def test_robots_txt_has_a_story_of_its_own(crawled_corners: Path, run: Said) -> None:
    told = Told(run, crawled_corners, "http://robots-rules.test/robots.txt")
    assert (told.state, told.known, told.facts("answer")["status"]) == ("robots", True, 200)


def test_a_host_that_was_given_up_says_why(crawled_corners: Path, run: Said) -> None:
    with Ledger(crawled_corners / "frontier") as ledger:
        dead = sorted(host.name for host in ledger.hosts() if host.dead is not None)
    told = Told(run, crawled_corners, f"http://{dead[0]}/nothing-here")
    assert told.facts("host")["dead"]
    assert "host" in told.refusing


def test_redirects_are_followed_to_their_end(crawled_corners: Path, run: Said) -> None:
    told = Told(run, crawled_corners, "http://redirects.test/chain/301")
    hops = [hop["url"].removeprefix("http://redirects.test/chain/301/") for hop in told.facts("leads to")["hops"]]
    assert (told.state, hops) == ("redirected", ["second", "third", "end"])
    assert told.facts("leads to")["hops"][-1]["state"] == "done"
    end = Told(run, crawled_corners, "http://redirects.test/chain/301/end")
    assert end.facts("found")["hops"] == 3
    assert end.facts("way")["urls"][-4:-1] == [f"http://redirects.test/chain/301{s}" for s in ("", "/second", "/third")]


def test_a_redirect_loop_is_called_one(crawled_corners: Path, run: Said) -> None:
    hops = Told(run, crawled_corners, "http://redirects.test/loop/left").facts("leads to")["hops"]
    assert [(hop["url"].rpartition("/")[2], hop["loop"]) for hop in hops] == [("right", False), ("left", True)]
    itself = Told(run, crawled_corners, "http://redirects.test/loop/self")
    assert (itself.state, itself.facts("leads to")["hops"][0]["loop"]) == ("failed", True)


def test_one_redirect_too_many_keeps_its_target_out(crawled_corners: Path, run: Said) -> None:
    told = Told(run, crawled_corners, "http://redirects.test/endless/11")
    assert (told.known, told.excluded_by) == (False, "redirects")
    assert told.facts("links")["pages"][0]["url"] == "http://redirects.test/endless/10"


def test_a_redirect_to_a_place_that_is_not_the_web_says_so(crawled_corners: Path, run: Said) -> None:
    told = Told(run, crawled_corners, "http://redirects.test/inward/file")
    [hop] = told.facts("leads to")["hops"]
    assert hop["url"].startswith("file:")
    assert "Only http and https are crawled" in hop["state"]


@pytest.mark.parametrize("kind", ["exact", "near"])
def test_a_copy_names_its_original(kind: str, crawled_corners: Path, run: Said) -> None:
    sql = "SELECT url, duplicate_of FROM pages WHERE duplicate_kind = ? ORDER BY url LIMIT 1"
    [row] = query(crawled_corners, sql, [kind]).to_pylist()
    told = Told(run, crawled_corners, row["url"])
    assert told.facts("copy") == {"of": row["duplicate_of"], "kind": kind}
    assert told.facts("stored")["body"] is False
    assert told.verdict.endswith(f"a copy of {row['duplicate_of']}")


def test_a_failed_page_tells_its_attempts(odd: Site, crawled_odd: Path, run: Said) -> None:
    failed = known(crawled_odd, State.FAILED, "//errors-", attempts=2)
    told = Told(run, crawled_odd, failed.url)
    tries = told.facts("tried")
    assert (told.state, tries["count"]) == ("failed", failed.attempts)
    assert 2 <= len(tries["last"]) <= 5
    assert [each["at"] for each in tries["last"]] == sorted(each["at"] for each in tries["last"])
    assert all(each["status"] >= 500 or each["error"] for each in tries["last"])
    asked = [each for each in odd.running.served() if f"http://{each.host}{each.target}" == failed.url]
    assert len(asked) == tries["count"]
    assert run("explain", str(crawled_odd), failed.url) == 0
    assert f"  tried       {failed.attempts} times:\n" in run.out


def test_a_failed_page_comes_back_by_the_command_that_its_story_names(
    crawled_odd: Path, tmp_path: Path, run: Said
) -> None:
    shutil.copytree(crawled_odd, tmp_path / "c")
    failed = known(tmp_path / "c", State.FAILED, "//errors-", attempts=2)
    [command] = Told(run, tmp_path / "c", failed.url).steps["next"]["notes"]
    assert run(*shlex.split(command)[1:]) == 0
    again = Told(run, tmp_path / "c", failed.url)
    assert again.state == "queued"
    assert again.verdict.startswith("queued again, after "), "what was tried before is remembered"
    assert len(again.facts("tried")["last"]) == len(failed.tries)


def test_a_page_that_healed_tells_what_came_before(crawled_odd: Path, run: Said) -> None:
    healed = known(crawled_odd, State.DONE, "//errors-", attempts=2)
    first, *_, last = Told(run, crawled_odd, healed.url).facts("tried")["last"]
    assert (last["status"], last["error"]) == (200, None)
    assert first["error"] is not None or first["status"] >= 500


def test_what_a_page_asks_of_robots_is_told(crawled_odd: Path, run: Said) -> None:
    unkept = Told(run, crawled_odd, "http://meta.test/noindex")
    assert (unkept.facts("answer")["noindex"], unkept.facts("stored")["body"]) == (True, False)
    shut = Told(run, crawled_odd, "http://meta.test/nofollow")
    assert "it asks robots for: nofollow; so its links were not followed" in shut.steps["answer"]["notes"]


def test_a_budget_of_pages_for_each_host_is_told(site: Site, tmp_path: Path, run: Said) -> None:
    assert run(*site.crawl(tmp_path / "c", "--max-pages-per-host", "3", "--quiet")) == 0
    refused = known(tmp_path / "c", State.REFUSED)
    told = Told(run, tmp_path / "c", refused.url)
    assert told.verdict == "refused: the host's budget of 3 pages is spent"
    assert told.facts("host")["taken"] == 3
    never = Told(run, tmp_path / "c", f"http://{host_of(refused.url)}/never-linked")
    assert (never.excluded_by, never.refusing) == (None, ["max_pages_per_host"])


def test_a_queued_page_tells_its_place(site: Site, tmp_path: Path, run: Said) -> None:
    assert run(*site.crawl(tmp_path / "c", "--max-pages", "10", "--quiet")) == 3
    with Ledger(tmp_path / "c" / "frontier") as ledger:
        records = [record for url in sorted(_urls(tmp_path / "c")) if (record := ledger.record(url)) is not None]
    queued = sorted(record.url for record in records if record.state is State.QUEUED)
    mine = [url for url in queued if host_of(url) == host_of(queued[0])]
    told = [Told(run, tmp_path / "c", url) for url in mine]
    assert {each.state for each in told} == {"queued"}
    assert len({each.facts("next")["ahead"] for each in told}) == len(mine) > 1, "no two share a place"
    assert all(0 <= each.facts("next")["front_class"] < 4 for each in told)
    assert told[0].steps["next"]["notes"][-2:] == [
        "the budget of 10 pages is spent (10 are fetched); with a larger one it goes on:",
        f"gossamer crawl --into {tmp_path}/c --max-pages 20",
    ]


def test_a_queued_page_tells_what_its_host_waits_for(site: Site, tmp_path: Path, run: Said) -> None:
    assert run(*site.crawl(tmp_path / "c", "--delay", "600", "--max-wait", "1", "--quiet")) == 3
    # The robots.txt of its host was read, the pause after that is not over, and the sitemap will come first.
    told = Told(run, tmp_path / "c", site.seed)
    assert (told.state, told.facts("next")["ahead"]) == ("queued", 1)
    assert told.facts("next")["waits_for"] == "the pause between two fetches"
    assert told.facts("next")["next_allowed"] == told.facts("host")["next_allowed"]
    assert (told.facts("host")["delay"], told.facts("host")["delay_reason"]) == (600.0, "as configured")
    assert told.steps["next"]["notes"][-1] == f"gossamer crawl --into {tmp_path}/c"


def test_a_page_that_waits_says_until_when(odd: Site, tmp_path: Path, run: Said) -> None:
    seeds = ["http://errors-5xx.test/"]
    command = [
        "crawl",
        *seeds,
        *odd.crawl(tmp_path / "c", "--patience", "100", "--max-wait", "0.5", "--quiet", *PACES)[2:],
    ]
    assert run(*command) == 3
    waiting = known(tmp_path / "c", State.WAITING)
    told = Told(run, tmp_path / "c", waiting.url)
    assert (told.state, told.facts("next")["again"]) == ("waiting", waiting.again)
    assert told.verdict.startswith("waiting to be tried again, after 1 attempt: ")
    assert "the crawl is not running; it goes on with:" in told.steps["next"]["notes"]


# --- not known: the rule that excludes it -------------------------------------------------------------------------------


def test_scope_excludes(site: Site, bounded: Path, run: Said) -> None:
    told = Told(run, bounded, "http://elsewhere.example/")
    assert (told.known, told.state, told.excluded_by) == (False, "unknown", "scope")
    assert told.verdict == (
        f"not in the crawl, excluded by scope: The scope is host ({host_of(site.seed)}), and this URL lies outside."
    )
    assert told.facts("to add it")["command"].startswith("gossamer crawl http://elsewhere.example/ --into ")


def test_a_pattern_excludes(site: Site, bounded: Path, run: Said) -> None:
    told = Told(run, bounded, f"{site.seed}private/a")
    assert (told.excluded_by, told.refusing) == ("exclude", ["exclude"])
    assert "'/private/'" in told.verdict


def test_include_patterns_exclude_the_rest(site: Site, tmp_path: Path, run: Said) -> None:
    assert run(*site.crawl(tmp_path / "c", "--include", "/only/", "--quiet")) == 0
    told = Told(run, tmp_path / "c", f"{site.seed}other/")
    assert (told.excluded_by, told.refusing) == ("include", ["include"])
    assert Told(run, tmp_path / "c", f"{site.seed}only/").excluded_by is None


def test_depth_excludes_what_a_page_at_the_limit_links_to(site: Site, bounded: Path, run: Said) -> None:
    host = host_of(site.seed)
    rows = query(bounded, "SELECT url, depth, links FROM pages WHERE depth = 1 ORDER BY url").to_pylist()
    links = {link for row in rows for link in row["links"] if host_of(link) == host}
    with Ledger(bounded / "frontier") as ledger:
        beyond = sorted(link for link in links if ledger.record(link) is None and "/members/" not in link)
    told = Told(run, bounded, beyond[0])
    assert told.excluded_by == "max_depth"
    assert told.verdict.endswith("It is 2 links from a seed; at most 1 are followed.")
    assert {page["depth"] for page in told.facts("links")["pages"]} == {1}
    quick = Told(run, bounded, beyond[0], "--quick")
    assert ("links" in quick.steps, quick.excluded_by) == (False, None)


def test_a_trap_by_shape_excludes(crawled_odd: Path, run: Said) -> None:
    told = Told(run, crawled_odd, "http://traps-deeper.test/notes/more/more/more/more/more/")
    assert told.excluded_by == "trap repeated-segment"
    assert told.verdict.endswith("A path segment comes 5 times in a row; at most 3 are followed.")


def test_a_learned_trap_excludes_with_its_numbers_and_asking_does_not_count(crawled_odd: Path, run: Said) -> None:
    url = "http://traps-counter.test/list?start=999999999"
    with Ledger(crawled_odd / "frontier") as ledger:
        look = ledger.host("traps-counter.test")
        assert look is not None
        assert look.shape is not None
        count = look.shape.templates[template_of(url)]
    for _ in range(3):
        told = Told(run, crawled_odd, url)
        assert told.excluded_by == "learned trap template-budget"
        facts = told.facts("traps")
        assert facts["template"] == "/list?start={n}"
        assert (facts["admitted"], facts["new"], facts["copies"]) == (count.seen, count.fresh, count.copies)
        assert facts["admitted"] >= facts["budget"]
        assert (facts["host_urls"], facts["host_refused"]) == (look.shape.urls, look.shape.refused)
    assert f"The host has brought {count.seen:,} URLs like /list?start={{n}} " in told.verdict


def test_a_page_refused_as_a_trap_when_its_turn_came_says_so(crawled_odd: Path, run: Said) -> None:
    with Ledger(crawled_odd / "frontier") as ledger:
        records = [ledger.record(url) for url in sorted(_urls(crawled_odd)) if "//traps-" in url]
    refused = [r for r in records if r is not None and r.state is State.REFUSED and r.detail]
    assert refused, "a web full of traps, and none was learned"
    told = Told(run, crawled_odd, refused[0].url)
    assert told.verdict == f"refused as a learned trap: {refused[0].detail}"


def test_nofollow_excludes_what_only_such_a_page_links_to(crawled_odd: Path, run: Said) -> None:
    told = Told(run, crawled_odd, "http://meta.test/nofollow/linked")
    assert told.excluded_by == "nofollow"
    assert "the page asks not to follow its links (nofollow)" in told.verdict


def test_a_link_marked_nofollow_excludes(site: Site, crawled: Path, run: Said) -> None:
    links = query(crawled, "SELECT DISTINCT unnest(links) AS url FROM pages ORDER BY url").to_pylist()
    marked = next(row["url"] for row in links if site.web.node(row["url"]).kind == "forbidden")
    told = Told(run, crawled, marked)
    assert told.excluded_by == "nofollow"
    assert "the link is marked rel=nofollow" in told.verdict


def test_other_schemes_are_not_crawled(crawled: Path, run: Said) -> None:
    for url, scheme in (("mailto:a@b.example", "mailto"), ("ftp://a.example/x", "ftp"), ("data:text/plain,x", "data")):
        told = Told(run, crawled, url)
        assert told.excluded_by == "scheme"
        assert told.verdict.endswith(f"Only http and https are crawled, and this is {scheme}.")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://10.1.2.3/", "10.1.2.3 is a private or reserved address"),
        ("http://0x7f.1/", "127.0.0.1 is a loopback address"),
        ("http://[::ffff:10.0.0.1]/", "which is a private or reserved address"),
        ("http://www.example:25/", "The port 25 belongs to another protocol"),
        ("http://me:secret@10.1.2.3/", "10.1.2.3 is a private or reserved address"),
    ],
)
def test_the_guard_would_refuse(url: str, reason: str, crawled: Path, run: Said) -> None:
    told = Told(run, crawled, url)
    assert (told.excluded_by, told.refusing) == (None, ["guard"])
    assert reason in told.verdict
    assert "to add it" not in told.steps


def test_what_was_never_found_says_how_to_add_it(site: Site, crawled: Path, run: Said) -> None:
    url = f"{site.seed}never/linked"
    told = Told(run, crawled, url)
    assert (told.known, told.excluded_by, told.refusing) == (False, None, [])
    assert told.verdict == "it was never found; nothing excludes it"
    assert told.facts("links") == {"pages": []}
    assert run("explain", str(crawled), url) == 0
    assert f"\n              gossamer crawl {url} --into {crawled} --force\n" in run.out


# --- while it runs, and when there is nothing to tell -------------------------------------------------------------------


def _begun(process: "subprocess.Popen[str]", pages: int) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if msgspec.json.decode(line).get("fetched", 0) >= pages:
            return
    raise AssertionError(f"it ended before {pages} pages (exit code {process.wait()})")


def test_a_running_crawl_is_told_of_and_not_disturbed(site: Site, tmp_path: Path, run: Said) -> None:
    command = site.crawl(
        tmp_path / "c", "--delay", "0.1", "--log-json", "--log-every", "0.1", "--workers", "1", "--json"
    )
    with started(*command) as process:
        _begun(process, 5)
        told = Told(run, tmp_path / "c", site.seed)
        assert (told.state, told.process) == ("done", process.pid)
        never = Told(run, tmp_path / "c", f"{site.seed}never/linked")
        assert never.verdict == "it was never found; nothing excludes it"
        assert never.facts("host")["delay"] == 0.1
        assert run("explain", str(tmp_path / "c"), site.seed) == 0
        assert f"\n  the crawl is running (process {process.pid}); this is how it stands now\n" in run.out
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
    assert msgspec.json.decode(out)["stored"] == len(site.expected())


def test_explaining_changes_nothing(site: Site, crawled: Path, run: Said) -> None:
    before = {path: path.stat().st_mtime_ns for path in crawled.rglob("*")}
    for url in (site.seed, f"{site.seed}never/linked", "http://elsewhere.example/"):
        assert run("explain", str(crawled), url) == 0
    assert {path: path.stat().st_mtime_ns for path in crawled.rglob("*")} == before


@pytest.mark.parametrize("url", ["http://", "http://a b/", "", "https://[::1", "http://x:99999/"])
def test_what_is_no_url_is_one_sentence(url: str, crawled: Path, run: Said) -> None:
    assert run("explain", str(crawled), url) == 2
    assert (run.out, run.err) == ("", f"gossamer: {url!r} is not a URL\n")


def test_a_terminal_without_the_letters_is_no_fault(crawled: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gossamer", "explain", str(crawled), "http://a.example/"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"? scope" in done.stdout


def test_an_argument_of_any_bytes_is_told_of(crawled: Path, run: Said) -> None:
    told = Told(run, crawled, "http://a.example/\udcff")
    assert (told.url, told.known) == ("http://a.example/%EF%BF%BD", False)


def test_a_folder_that_is_no_crawl_is_one_sentence(tmp_path: Path, crawled: Path, run: Said) -> None:
    assert run("explain", str(tmp_path), "http://a.example/") == 1
    assert run.err == f"gossamer: {tmp_path} is not the folder of a crawl: there is no crawl.json in it\n"
    (tmp_path / "crawl.json").write_bytes((crawled / "crawl.json").read_bytes())
    assert run("explain", str(tmp_path), "http://a.example/") == 1
    assert run.err.startswith(f"gossamer: there is no frontier in {tmp_path}/frontier: ")
    assert run.out == ""
