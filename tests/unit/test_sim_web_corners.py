"""Each corner of the synthetic web does what its table says, and its oracle is right: an obedient crawler agrees with it."""

import asyncio
import contextlib
import gzip
import html
import http.client
import re
import socket
import zlib
from collections import deque
from collections.abc import Iterator

import brotli
import pytest
import zstandard
from resiliparse.parse.html import HTMLTree

from gossamer.errors import InvalidURL
from gossamer.robots import RobotsTxt
from gossamer.sim.web import (
    Answer,
    Running,
    Web,
    audit,
    serve,
    start_in_process,
)
from gossamer.sim.web.corners import CORNERS
from gossamer.sim.web.plan import split_url
from gossamer.sitemap import parse_sitemap
from gossamer.url import canonicalize, resolve
from tests.unit.sim_web import ANCHOR, SMALL, ask, fetch, links_of, raw


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(corners="all", **SMALL)


@pytest.fixture(scope="module")
def running(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with start_in_process(web, log=tmp_path_factory.mktemp("web") / "served.jsonl") as running:
        yield running


# ---- the corners


def test_without_corners_there_are_plain_hosts_only_and_with_all_every_host_is_reached(web: Web) -> None:
    assert len(list(Web(hosts=5, pages=5).hosts())) == 5
    assert web.settings.corners == frozenset(CORNERS)
    assert all(web.corner_hosts(corner) for corner in CORNERS)
    reached = {split_url(url)[0] for url in web.reachable(web.seeds()).nodes}
    assert reached >= set(web.hosts())
    assert "slow-0.test" not in set(Web(web.settings, without=frozenset({"slow-0.test"})).hosts())


def test_every_address_of_the_oracle_is_canonical(web: Web) -> None:
    assert [url for url in web.reachable(web.seeds()).nodes if canonicalize(url) != url] == []


PLAIN_HTML = (
    "copies",
    "errors",
    "idn",
    "meta",
    "redirects",
    "robots",
    "sitemaps",
    "slow",
    "soft404",
    "throttle",
    "traps",
)


def test_the_links_that_pages_write_are_the_links_that_the_oracle_follows(web: Web) -> None:
    hosts = {host for corner in PLAIN_HTML for host in web.corner_hosts(corner)}
    checked = 0
    for url, node in web.reachable(web.seeds()).nodes.items():
        host = split_url(url)[0]
        if host in hosts and node.kind in ("page", "near", "copy", "noindex", "trap"):
            body = ask(web, url, tries=9, asked=1).body.decode()
            base = re.search(r'<base href="([^"]*)"', body)
            written = links_of(body, base[1] if base else url) - set(node.unfollowed)
            assert written | {f"http://{host}/"} == set(node.links) | {f"http://{host}/"}, url
            checked += 1
    assert checked > 500


def test_throttling_hosts_say_how_long_and_refuse_until_then(running: Running, web: Web) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)) as connection:
        statuses = []
        for _ in range(7):
            connection.request("GET", "/", headers={"Host": "throttle-seconds.test"})
            answer = connection.getresponse()
            answer.read()
            statuses.append((answer.status, answer.getheader("Retry-After")))
    assert statuses == [(200, None)] * 5 + [(429, "2")] * 2
    log = [s for s in running.served() if s.host == "throttle-seconds.test"]
    assert len(audit.retry_after_violations(log)) == 1
    known = {"asked": 5, "wall": 1000.0, "monotonic": 50.0}
    assert (
        dict(ask(web, "http://throttle-date.test/", **known).headers)["Retry-After"] == "Thu, 01 Jan 1970 00:16:43 GMT"
    )
    assert ask(web, "http://throttle-503.test/", **known).status == 503
    assert ask(web, "http://throttle-503.test/", asked=7, monotonic=50.0, closed_until=50.5).status == 503
    assert ask(web, "http://throttle-503.test/", asked=7, monotonic=50.0, closed_until=49.5).status == 200
    silent = ask(web, "http://throttle-silent.test/", asked=6)
    assert (silent.status, "Retry-After" in dict(silent.headers)) == (429, False)


def test_errors_heal_after_their_tries_or_never(running: Running, web: Web) -> None:
    for host in web.corner_hosts("errors")[:4]:
        expected = web.reachable([f"http://{host}/"], "host")
        assert expected.stored
        for url in expected.stored:
            assert ask(web, url, tries=2).delivery.stop_after is None
            assert ask(web, url, tries=2).status == 200
    failing = web.reachable([f"http://{host}/" for host in web.corner_hosts("errors")], "host").urls("failed")
    assert {split_url(url)[0] for url in failing} == set(web.corner_hosts("errors")[:4])
    for url in failing:
        host = split_url(url)[0]
        if host == "errors-5xx.test":
            assert [fetch(running, url).status >= 500 for _ in range(3)] == [True] * 3
        elif host == "errors-cut.test":
            with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
                fetch(running, url)
        else:
            with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)) as caught:
                fetch(running, url)
            assert (type(caught.value) is ConnectionResetError) == (host == "errors-reset.test")
    assert fetch(running, "http://errors-4xx.test/answers/451").status == 451


def test_redirects_lead_where_the_oracle_says(running: Running, web: Web) -> None:
    expected = web.reachable(["http://redirects.test/"], "any")
    hops = [node for node in expected.nodes.values() if node.kind == "redirect"]
    assert len(hops) > 15
    for node in hops:
        got = fetch(running, node.url)
        assert 300 < got.status < 400
        location = got.headers["location"].encode("latin-1").decode()
        assert canonicalize(resolve(location, node.url)) == node.links[0]
    assert {
        "http://redirects.test/loop/self",
        "http://redirects.test/no-location",
        "http://redirects.test/inward/loopback",
    } <= (expected.urls("failed"))
    assert "location" not in fetch(running, "http://redirects.test/no-location").headers
    assert b'http-equiv="refresh"' in fetch(running, "http://redirects.test/refresh").body
    assert fetch(running, "http://redirects.test/endless/41").headers["location"] == "/endless/42"
    assert web.is_trap("http://redirects.test/endless/41")
    assert web.is_forbidden("http://127.0.0.1/secret")


def rules_of(web: Web, host: str) -> RobotsTxt | None:
    """What RFC 9309 makes of a host's robots.txt: None where the host must be left alone."""
    url = f"http://{host}/robots.txt"
    for _ in range(6):
        answer = ask(web, url)
        location = dict(answer.headers).get("Location")
        if location is None:
            if answer.status == 200:
                return RobotsTxt.parse(answer.body)
            return RobotsTxt.parse(b"") if 400 <= answer.status < 500 else None
        url = resolve(location, url)
    return RobotsTxt.parse(b"")


def test_the_robots_oracle_agrees_with_the_robots_rules(web: Web) -> None:
    denied = 0
    for host in web.corner_hosts("robots"):
        rules = rules_of(web, host)
        expected = web.reachable([f"http://{host}/"], "host")
        for url, node in expected.nodes.items():
            if "/members/" not in url:
                allowed = rules is not None and rules.allows("Gossamer/1.0 (+http://example.org)", url)
                assert allowed == (node.kind != "forbidden"), (url, node.kind)
                denied += not allowed
        if host == "robots-delay.test":
            assert rules is not None
            assert rules.crawl_delay("gossamer") == web.crawl_delay(host) == web.crawl_delays()[host]
    assert denied > 20


def test_pages_that_no_page_links_to_stand_in_the_sitemaps(web: Web) -> None:
    for host in web.corner_hosts("sitemaps"):
        rules = rules_of(web, host)
        assert rules is not None
        waiting, seen, named = (
            deque(rules.sitemaps or (f"http://{host}/sitemap.xml",)),
            set[str](),
            set[str](),
        )
        while waiting:
            url = waiting.popleft()
            answer = ask(web, url)
            if url not in seen and answer.status == 200:
                seen.add(url)
                sitemap = parse_sitemap(answer.body, url)
                waiting.extend(child.url for child in sitemap.children)
                named.update(entry.url for entry in sitemap.entries)
        hidden = (
            web.reachable([f"http://{host}/"], "host").stored
            - web.reachable([f"http://{host}/"], "host", sitemaps=False).stored
        )
        assert len(hidden) >= 6
        assert hidden <= named, host
        assert all(ask(web, url).status == 200 for url in hidden)


def test_copies_are_the_same_bytes_and_near_copies_nearly_the_same_words(web: Web) -> None:
    expected = web.reachable(web.seeds())
    copies, near = expected.urls("copy"), expected.urls("near")
    assert len(copies) == 12
    assert len(near) == 18
    for url in copies:
        assert ask(web, url).body == ask(web, expected.nodes[url].of or "").body
    for url in near:
        one, other = (
            re.sub(r"<[^>]*>", " ", ask(web, u).body.decode()).split() for u in (url, expected.nodes[url].of or "")
        )
        assert one != other
        assert len(set(one) ^ set(other)) < 40
        assert ask(web, url).body != ask(web, expected.nodes[url].of or "").body
    assert len(expected.groups) == 12


def test_traps_are_endless_and_the_real_pages_lie_outside(web: Web) -> None:
    for host in web.corner_hosts("traps"):
        expected = web.reachable([f"http://{host}/"], "host")
        assert len(expected.stored) == web.settings.corner_pages
        doors = expected.urls("trap")
        if host == "traps-session-query.test":
            assert not doors
            continue
        met = set[str]()
        waiting = deque(doors)
        while waiting and len(met) < 300:
            url = waiting.popleft()
            if url not in met:
                met.add(url)
                assert ask(web, url).status == 200
                assert web.is_trap(url)
                waiting.extend(link for link in web.node(url).links if link != f"http://{host}/")
        assert len(met) == 300, host


def test_session_ids_are_fresh_on_every_visit_and_gone_from_the_canonical_address(running: Running, web: Web) -> None:
    home = "http://traps-session-query.test/"
    first, second = (fetch(running, home).body.decode() for _ in range(2))
    assert first != second
    assert links_of(first, home) == links_of(second, home) == set(web.node(home).links)
    written = [html.unescape(href) for href, _ in ANCHOR.findall(first)]
    assert {name for name in ("PHPSESSID=", "sid=", ";jsessionid=") for href in written if name in href} == {
        "PHPSESSID=", "sid=", ";jsessionid=",
    }  # fmt: skip
    for href in written:
        assert fetch(running, resolve(href, home)).status == 200
        assert web.is_trap(resolve(href, home)) == (href != "/" and "/members/" not in href)


def test_soft_404_hosts_never_say_404(running: Running, web: Web) -> None:
    got = fetch(running, "http://soft404.test/nothing/here")
    assert got.status == 200
    assert b"found nothing" in got.body
    assert len(web.reachable(["http://soft404.test/"], "host").urls("soft404")) == 8
    assert fetch(running, "http://soft404-home.test/nothing/here").headers["location"] == "/"


def test_charsets_are_declared_as_their_names_say(running: Running, web: Web) -> None:
    expected = web.reachable(["http://charsets.test/"], "host")
    cases = {split_url(url)[1][1:]: node for url, node in expected.nodes.items() if "(" in (node.title or "")}
    assert len(cases) == 20
    for name, codec in {
        "windows-1251-header": "cp1251", "koi8-r-header": "koi8-r", "shift-jis-meta": "shift_jis", "gbk-header": "gbk",
        "utf-16-bom": "utf-16", "utf-16-le-header": "utf-16-le", "utf-8-undeclared": "utf-8", "wrong-header": "cp1251",
        "utf-8-bom-beats-header": "utf-8", "big5-header": "big5", "euc-kr-meta": "euc_kr",
    }.items():  # fmt: skip
        got = fetch(running, cases[name].url)
        assert f"<title>{cases[name].title}</title>" in got.body.decode(codec)
        assert ("charset=" in got.headers["content-type"]) == ("-header" in name), name


UNPACK = {
    "gzip": gzip.decompress, "x-gzip": gzip.decompress, "br": brotli.decompress, "zstd": zstandard.decompress,
    "gzip, br": lambda data: gzip.decompress(brotli.decompress(data)),
}  # fmt: skip


def test_bodies_are_packed_where_the_client_accepts_it(running: Running, web: Web) -> None:
    targets = [
        url
        for url in web.reachable(["http://compressed.test/"], "host").stored
        if f"{url}/linked" in web.node(url).links
    ]
    assert len(targets) == 16
    for url in targets:
        plain = fetch(running, url)
        packed = fetch(running, url, accept_encoding="gzip, deflate, br, zstd")
        coding = packed.headers["content-encoding"]
        assert "content-encoding" not in plain.headers
        assert ("transfer-encoding" in packed.headers) == ("chunked" in url)
        if coding == "deflate":
            unpacked = zlib.decompress(packed.body, -15 if "raw" in url else 15)
        else:
            unpacked = UNPACK[coding](packed.body)
        assert unpacked == plain.body


def test_broken_answers_break_as_their_names_say(running: Running, web: Web) -> None:
    host = "http://broken.test"
    expected = web.reachable([host + "/"], "host")
    readable = [url for url in expected.stored if f"{url}/linked" in web.node(url).links]
    assert len(readable) == 20
    for url in readable:
        tree = HTMLTree.parse(fetch(running, url).body.decode(errors="replace"))
        found = {anchor.getattr("href") for anchor in tree.document.query_selector_all("a")}
        assert f"{split_url(url)[1]}/linked" in found, url
        assert not any(href is not None and "/never" in href for href in found), url
    assert "content-type" not in fetch(running, f"{host}/no-content-type").headers
    assert b"\0" in fetch(running, f"{host}/nul-bytes").body
    with pytest.raises(UnicodeDecodeError):
        fetch(running, f"{host}/bad-utf-8").body.decode()
    assert not fetch(running, f"{host}/truncated").body.endswith(b"</html>\n")
    assert len(fetch(running, f"{host}/length-too-short").body) == 900
    with pytest.raises(http.client.IncompleteRead):
        fetch(running, f"{host}/length-too-long")
    for name in ("garbage", "status-word", "http-0.9"):
        with pytest.raises(http.client.BadStatusLine):
            fetch(running, f"{host}/{name}")
    assert raw(running, b"GET /half-a-head HTTP/1.1\r\nHost: broken.test\r\n\r\n") == b"HTTP/1.1 200 OK\r\nContent-Ty"


def test_changing_pages_change_when_their_schedule_says() -> None:
    web = Web(corners={"changing"}, corner_pages=40, change_seconds=100.0)
    epoch = web.settings.epoch
    pages = sorted(url for url in web.reachable(["http://changing.test/"], "host").nodes if "/live/" in url)
    changed = web.changes(epoch, epoch + 1000)
    assert {change.kind for change in changed} == {"changed", "gone", "back"}
    assert [change.at for change in changed] == sorted(change.at for change in changed)
    still = [url for url in pages if url not in {change.url for change in changed}]
    assert still
    for change in changed[:60]:
        before, after = (ask(web, change.url, at=change.at + step) for step in (-0.01, 0.01))
        assert before.body != after.body
        assert (web.version(change.url, change.at - 0.01), web.version(change.url, change.at + 0.01)) == (
            change.version - 1, change.version,
        )  # fmt: skip
        assert (after.status in (404, 410)) == (change.kind == "gone")
        assert (before.status in (404, 410)) == (change.kind == "back")
    for url in still:
        assert ask(web, url, at=epoch).body == ask(web, url, at=epoch + 1000).body


def test_conditional_requests_get_304_until_the_page_changes() -> None:
    web = Web(corners={"changing"}, corner_pages=40, change_seconds=100.0)
    epoch = web.settings.epoch
    seen = set()
    for change in web.changes(epoch, epoch + 500):
        if change.kind != "changed":
            continue
        headers = dict(ask(web, change.url, at=change.at - 0.01).headers)
        signals = {"if-none-match": headers.get("ETag"), "if-modified-since": headers.get("Last-Modified")}
        asked = {name: value for name, value in signals.items() if value is not None}
        seen.add(tuple(asked))
        again, later = (ask(web, change.url, at=change.at + step, headers=asked).status for step in (-0.005, 0.01))
        assert (again, later) == (304 if asked else 200, 200)
    assert seen == {(), ("if-none-match",), ("if-modified-since",), ("if-none-match", "if-modified-since")}


async def _at(web: Web, moments: list[float]) -> list[bytes]:
    """The home page of the changing corner's first page at each of these web times, over a socket."""
    now = [0.0]
    target = split_url(next(url for url in sorted(web.reachable(["http://changing.test/"]).stored) if "/live/" in url))[
        1
    ]
    answers = []
    async with serve(web, clock=lambda: now[0]) as server:
        for moment in moments:
            now[0] = moment
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(f"GET {target} HTTP/1.1\r\nHost: changing.test\r\nConnection: close\r\n\r\n".encode())
            answers.append((await reader.read()).partition(b"\r\n\r\n")[2])
            writer.close()
            await writer.wait_closed()
        assert [s.at for s in server.log.served()] == moments
    return answers


def test_the_server_takes_its_clock_as_a_parameter() -> None:
    web = Web(corners={"changing"}, corner_pages=4, change_seconds=10.0)
    epoch = web.settings.epoch
    first, same, other = asyncio.run(_at(web, [epoch, epoch, epoch + 10_000]))
    assert first == same != other


def test_the_sitemap_of_the_changing_host_has_true_dates() -> None:
    web = Web(corners={"changing"}, corner_pages=30)
    epoch = web.settings.epoch
    entries = {
        entry.url: entry
        for entry in parse_sitemap(
            ask(web, "http://changing.test/sitemap.xml", at=epoch + 600).body,
            "http://changing.test/sitemap.xml",
        ).entries
    }
    last = {change.url: change for change in web.changes(epoch, epoch + 600)}
    for url, change in last.items():
        assert (url in entries) == (change.kind != "gone")
        if url in entries:
            assert entries[url].lastmod == pytest.approx(change.at, abs=1.0)


def test_bombs_are_small_on_the_wire_and_large_when_unpacked(running: Running, web: Web) -> None:
    size = web.settings.bomb_bytes
    for coding, unpack in {
        "gzip": gzip.decompress,
        "deflate": zlib.decompress,
        "br": brotli.decompress,
        "zstd": lambda data: zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).readall(),
    }.items():
        got = fetch(running, f"http://bombs.test/{coding}-bomb")
        assert len(got.body) < size / 100
        assert len(unpack(got.body)) >= size
    assert fetch(running, "http://bombs.test/nested-tags").body.count(b"<div>") == web.settings.bomb_items
    assert fetch(running, "http://bombs.test/links").body.count(b"<a ") == web.settings.bomb_items // 2
    assert len(fetch(running, "http://bombs.test/long-url").body) > 1_000_000


def test_endless_bodies_do_not_end_and_mute_hosts_do_not_speak(running: Running) -> None:
    for name in ("endless-chunks", "endless-length", "endless-close"):
        got = raw(running, f"GET /{name} HTTP/1.1\r\nHost: bombs.test\r\n\r\n".encode(), most=3_000_000)
        assert len(got) >= 3_000_000
    got = raw(running, b"GET /robots.txt HTTP/1.1\r\nHost: bombs-robots.test\r\n\r\n", most=1_000_000)
    assert b"Disallow: /closed/" in got
    with socket.create_connection(("127.0.0.1", running.port), timeout=0.1) as plug:
        plug.sendall(b"GET / HTTP/1.1\r\nHost: bombs-mute.test\r\n\r\n")
        with pytest.raises(TimeoutError):
            plug.recv(1)
    flood = raw(running, b"GET /many-headers HTTP/1.1\r\nHost: bombs.test\r\n\r\n", most=10_000_000)
    assert flood.count(b"X-Padding") == 2000
    assert fetch(running, "http://bombs.test/").status == 200


def test_the_subdomain_farm_has_a_page_for_any_name(running: Running, web: Web) -> None:
    got = fetch(running, "http://any-name-at-all.bombs-farm.test/")
    assert got.status == 200
    assert got.body.count(b".bombs-farm.test/") >= 10
    assert web.is_trap("http://any-name-at-all.bombs-farm.test/")
    assert not web.is_trap("http://bombs-farm.test/")


def test_meta_robots_and_their_header_stand_where_the_names_say(running: Running, web: Web) -> None:
    expected = web.reachable(["http://meta.test/"], "host")
    assert {split_url(url)[1] for url in expected.urls("noindex")} == {
        "/noindex", "/none", "/both", "/by-name", "/header-noindex", "/header-by-name",
    }  # fmt: skip
    assert {split_url(url)[1] for url in expected.forbidden if "/members/" not in url} == {
        "/nofollow/linked", "/none/linked", "/both/linked", "/header-nofollow/linked",
    }  # fmt: skip
    assert fetch(running, "http://meta.test/header-by-name").headers["x-robots-tag"] == "gossamer: noindex"
    assert b'content="noindex"' in fetch(running, "http://meta.test/noindex").body
    assert (
        b'rel="canonical" href="http://meta.test/canonical/real"'
        in fetch(running, "http://meta.test/canonical/copy").body
    )


def test_names_and_paths_beyond_ascii_have_one_address_each(running: Running, web: Web) -> None:
    expected = web.reachable(["http://idn.test/"], "any")
    assert {
        "http://xn--bcher-kva.test/",
        "http://xn--wgv71a.test/",
        "http://idn.test/two%20words",
    } <= expected.stored
    body = fetch(running, "http://idn.test/").body.decode()
    assert 'href="http://bücher.test/"' in body
    assert all(fetch(running, url).status == 200 for url in expected.stored)


def test_binary_files_have_their_media_types(running: Running, web: Web) -> None:
    files = web.reachable(["http://binary.test/"], "host").urls("binary")
    types = {url.rpartition(".")[2]: fetch(running, url).headers["content-type"] for url in files}
    assert len(types) == 11
    assert types["png"] == "image/png"
    assert types["pdf"] == "application/pdf"


# ---- the oracle against a crawler that is slow, simple and obedient


def fine(answer: Answer) -> bool:
    d = answer.delivery
    return answer.status < 500 and answer.status > 0 and not (d.mute or d.reset or d.stop_after or d.raw is not None)


def sitemap_pages(web: Web, host: str, rules: RobotsTxt) -> Iterator[str]:
    waiting, seen = deque([*rules.sitemaps, f"http://{host}/sitemap.xml"]), set[str]()
    while waiting:
        url = waiting.popleft()
        if url in seen or len(seen) > 20 or not rules.allows(web.settings.agent, url):
            continue
        seen.add(url)
        answer = ask(web, url)
        if answer.status == 200 and "html" not in dict(answer.headers)["Content-Type"]:
            sitemap = parse_sitemap(answer.body, url)
            waiting.extend(child.url for child in sitemap.children)
            yield from (entry.url for entry in sitemap.entries if entry.inside)


def reference_crawl(web: Web) -> tuple[set[str], set[str]]:
    """Everything asked for and everything stored; traps are left out because their address says so."""
    rules: dict[str, RobotsTxt | None] = {}
    asked, stored = set[str](), set[str]()
    waiting = deque(web.seeds())
    while waiting:
        url = waiting.popleft()
        host = split_url(url)[0]
        if url in asked or web.site(host) is None or web.is_trap(url):
            continue
        if host not in rules:
            rules[host] = said = rules_of(web, host)
            waiting.extend(sitemap_pages(web, host, said) if said is not None else ())
        said = rules[host]
        if said is None or not said.allows(web.settings.agent, url):
            continue
        asked.add(url)
        answers = (ask(web, url, tries=tries, at=web.settings.epoch) for tries in range(3))
        answer = next((answer for answer in answers if fine(answer)), None)
        headers = dict(answer.headers) if answer is not None else {}
        with contextlib.suppress(InvalidURL):
            if answer is not None and "Location" in headers and headers["Location"]:
                waiting.append(canonicalize(resolve(headers["Location"], url)))
        if answer is None or answer.status != 200 or "html" not in (headers.get("Content-Type") or "html"):
            continue
        kept, followed, links = read_page(web, url, answer, headers.get("X-Robots-Tag", ""))
        stored |= {url} if kept else set()
        waiting.extend(links if followed else ())
    return asked, stored


def read_page(web: Web, url: str, answer: Answer, tag: str) -> tuple[bool, bool, list[str]]:
    encoding = "utf-16" if answer.body[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    tree = HTMLTree.parse(answer.body.decode(encoding, "replace")).document
    agent = web.settings.agent
    said = " ".join(
        m.getattr("content", "") for m in tree.query_selector_all("meta") if m.getattr("name") in ("robots", agent)
    ).lower()
    said += tag.removeprefix(f"{agent}:") if ":" not in tag.removeprefix(f"{agent}:") else ""
    base = tree.query_selector("base")
    start = resolve(base.getattr("href"), url) if base else url
    links = []
    for anchor in tree.query_selector_all("a"):
        with contextlib.suppress(InvalidURL):
            if anchor.getattr("rel") != "nofollow":
                links.append(canonicalize(resolve(anchor.getattr("href", "") or "", start)))
    return "noindex" not in said and "none" not in said, "nofollow" not in said and "none" not in said, links


def test_an_obedient_crawler_asks_for_and_stores_exactly_what_the_oracle_says(web: Web) -> None:
    asked, stored = reference_crawl(web)
    expected = web.reachable(web.seeds())
    assert expected.fetched <= asked
    assert asked.isdisjoint(expected.forbidden)
    assert {web.node(url).kind for url in asked - expected.fetched if "/long" not in url} == {"free"}
    assert stored >= expected.stored
    assert {web.node(url).kind for url in stored - expected.stored} == {"copy", "near", "soft404", "free"}
    assert audit.storage_problems(stored - expected.urls("copy", "near"), expected, web) == []
