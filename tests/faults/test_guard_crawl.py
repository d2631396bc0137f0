"""The guard, attacked through whole crawls: whatever a page, a redirect, a sitemap, a robots.txt or a name server says, nothing but the
public web is spoken to.

The private servers listen where every one of these ways would lead. They must never see a connection. 127.0.0.2 plays the
public web, since no test may speak to a real address of it.
"""

import asyncio
import html
import ipaddress
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from gossamer.crawl import Crawl
from gossamer.fetch import _dns as dns
from gossamer.fetch import _target as target
from gossamer.fetch import _transfer as transfer
from gossamer.fetch._guard import refusal
from gossamer.frontier import State, UrlView
from gossamer.settings import merge
from tests.crawl.harness import FAST, explained, stored_in
from tests.loopback import Handler, Server, name_server, run, serving

PUBLIC = "127.0.0.2"
PRIVATE = ("127.0.0.1", "127.0.0.3", "::1")


@pytest.fixture(autouse=True)
def second_loopback_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    public = {ipaddress.ip_address(PUBLIC), ipaddress.ip_address(f"::ffff:{PUBLIC}")}

    def judge(address: str) -> str | None:
        return None if ipaddress.ip_address(address) in public else refusal(address)

    for module in (target, dns, transfer):
        monkeypatch.setattr(module, "refusal", judge)


class Net(msgspec.Struct):
    """The public server, the private ones, and a name server."""

    port: int
    public: Server
    private: list[Server]
    names: str

    def untouched(self) -> None:
        assert [server.connections for server in self.private] == [0] * len(self.private)


Pages = dict[str, tuple[str, str, str]]
"""(host, target) as `host/target` → status, further header, body. `{port}` stands for the port of all servers."""


@asynccontextmanager
async def net(pages: Pages, names: dict[tuple[str, str], list[Sequence[str]]]) -> AsyncIterator[Net]:
    async with AsyncExitStack() as stack:
        public = await stack.enter_async_context(serving(answers(pages), host=PUBLIC))
        private = [await stack.enter_async_context(serving(b"", host=address, port=public.port)) for address in PRIVATE]
        questions = await stack.enter_async_context(name_server(names, ttl=0))
        yield Net(public.port, public, private, f"127.0.0.1:{questions.port}")


def answers(pages: Pages) -> Handler:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        port = writer.get_extra_info("sockname")[1]
        wanted = head.partition("Host: ")[2].partition(":")[0].lower() + head.split(" ")[1]
        status, header, body = pages.get(wanted, ("404 Not Found", "X-Nothing: here", ""))
        filled = body.replace("{port}", str(port)).encode()
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(filled)}", "Connection: close", header, "", ""]
        writer.write("\r\n".join(lines).replace("{port}", str(port)).encode() + filled)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    return handler


def page(body: str) -> tuple[str, str, str]:
    return "200 OK", "Content-Type: text/html; charset=utf-8", f"<!doctype html><title>Page</title>{body}"


def moved(location: str) -> tuple[str, str, str]:
    return "302 Found", f"Location: {location}", ""


def text(body: str) -> tuple[str, str, str]:
    return "200 OK", "Content-Type: text/plain", body


async def crawl(folder: Path, found: Net, seed: str, ip: Literal["4", "6"] = "4", **more: Any) -> None:
    fetch = FAST["fetch"] | {"nameservers": [found.names], "ip_version": ip, "dns_timeout": 1, "dns_tries": 2}
    settings = merge(FAST | {"host_connections": 1}, {"fetch": fetch}, more)
    report = await Crawl.prepare(folder, [seed.replace("{port}", str(found.port))], settings).run()
    assert (report.ending, report.queued, report.waiting) == ("finished", 0, 0)


def guarded(folder: Path, urls: Sequence[str], port: int) -> None:
    """Each URL is known and was never asked for, and the reason is the guard's."""
    views = explained(folder, [url.replace("{port}", str(port)) for url in urls])
    wrong = {url: view and (view.state, view.error, view.detail) for url, view in views.items() if not _guarded(view)}
    assert wrong == {}


def _guarded(view: UrlView | None) -> bool:
    return (
        view is not None
        and view.state in (State.REFUSED, State.FAILED)
        and view.status == 0
        and ("guard keeps" in (view.detail or "") or "not on the public web" in (view.detail or ""))
    )


HOSTS = (
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "0177.1", "127.0.0.3", "127.0.0.1.",
    "localhost", "LOCALHOST", "localhost.", "a.localhost", "0.0.0.0", "0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::80ff:fffe]",
    "169.254.169.254", "10.0.0.1", "192.168.0.1", "172.16.0.1", "100.64.0.1", "[fe80::1]", "[fd00::1]", "[fec0::1]",
    "①②⑦.⓪.⓪.①", "127。0。0。1",
)  # fmt: skip
"""Spellings of addresses that are none of ours to ask."""
CANONICAL = (
    "127.0.0.1", "127.0.0.3", "localhost", "a.localhost", "0.0.0.0", "[::1]", "[::]", "[::ffff:7f00:1]", "[::7f00:1]",
    "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::80ff:fffe]", "169.254.169.254", "10.0.0.1",
    "192.168.0.1", "172.16.0.1", "100.64.0.1", "[fe80::1]", "[fd00::1]", "[fec0::1]",
)  # fmt: skip
"""The addresses that these come to."""
PUBLIC_NAMES: dict[tuple[str, str], list[Sequence[str]]] = {
    (name, "A"): [(PUBLIC,)] for name in ("start.test", "moved.test", "other.test")
}


def test_links_to_private_addresses_in_every_spelling(tmp_path: Path) -> None:
    links = "".join(f'<a href="http://{host}:{{port}}/{n}">l</a>' for n, host in enumerate(HOSTS))
    frames = "".join(f'<iframe src="http://{host}:{{port}}/f"></iframe>' for host in HOSTS)
    heads = "".join(f'<link rel="{rel}" href="http://127.0.0.1:{{port}}/{rel}">' for rel in ("canonical", "next"))
    feed = '<link rel=alternate type="application/rss+xml" href="http://127.0.0.1:{port}/feed">'
    refresh = '<meta http-equiv=refresh content="0; url=http://127.0.0.1:{port}/refresh">'
    pages = {
        "start.test/": page(heads + feed + refresh + links + frames + "<a href=/last>l</a>"),
        "start.test/last": page("end"),
    }

    async def scenario() -> int:
        async with net(pages, PUBLIC_NAMES) as found:
            await crawl(tmp_path, found, "http://start.test:{port}/")
            found.untouched()
            return found.port

    port = run(scenario(), 60)
    guarded(tmp_path, [f"http://{host}:{{port}}/f" for host in CANONICAL], port)
    guarded(tmp_path, [f"http://127.0.0.1:{{port}}/{rel}" for rel in ("canonical", "next", "feed", "refresh")], port)
    assert len(stored_in(tmp_path)) == 2, "the page and the one behind it, and nothing else"


def test_redirects_to_private_addresses_in_every_spelling(tmp_path: Path) -> None:
    links = "".join(f"<a href=/r/{n}>l</a>" for n in range(len(HOSTS)))
    pages = {"start.test/": page(links)} | {
        f"start.test/r/{n}": moved(f"http://{host}:{{port}}/r") for n, host in enumerate(HOSTS) if host.isascii()
    }

    async def scenario() -> int:
        async with net(pages, PUBLIC_NAMES) as found:
            await crawl(tmp_path, found, "http://start.test:{port}/")
            found.untouched()
            return found.port

    port = run(scenario(), 60)
    guarded(tmp_path, [f"http://{host}:{{port}}/r" for host in CANONICAL], port)


@pytest.mark.parametrize("way", ["link", "redirect"])
def test_other_schemes_and_credentials_lead_nowhere(tmp_path: Path, way: str) -> None:
    secret = tmp_path / "secret.html"
    secret.write_text("<title>secret</title>")
    urls = [
        f"file://{secret}", f"file://localhost{secret}", "gopher://127.0.0.1:{port}/_GET", "ftp://127.0.0.1:{port}/",
        "data:text/html,<title>secret</title>", "javascript:alert(1)", "dict://127.0.0.1:{port}/d", "ws://127.0.0.1:{port}/",
        "view-source:http://127.0.0.1:{port}/", "blob:http://127.0.0.1:{port}/x", "http://user:pass@127.0.0.1:{port}/",
        "http://start.test:{port}@127.0.0.1:{port}/", "http://127.0.0.1:{port}\\@start.test/", "//127.0.0.1:{port}/",
        "http:/\\127.0.0.1:{port}/", "http:127.0.0.1:{port}/", "\\\\127.0.0.1:{port}/", "http://user@start.test:25/",
    ]  # fmt: skip
    if way == "link":
        pages = {"start.test/": page("".join(f'<a href="{html.escape(url)}">l</a>' for url in urls))}
    else:
        pages = {"start.test/": page("".join(f"<a href=/r/{n}>l</a>" for n in range(len(urls))))}
        pages |= {f"start.test/r/{n}": moved(url) for n, url in enumerate(urls)}
    pages |= {"start.test//127.0.0.1/": page("harmless")}

    async def scenario() -> None:
        async with net(pages, PUBLIC_NAMES) as found:
            await crawl(tmp_path / "crawl", found, "http://start.test:{port}/")
            found.untouched()

    run(scenario(), 60)
    assert all(url.startswith("http://start.test:") for url in stored_in(tmp_path / "crawl"))


PRIVATE_NAMES: dict[tuple[str, str], list[Sequence[str]]] = {
    ("a-loopback.test", "A"): [("127.0.0.1",)],
    ("a-mixed.test", "A"): [("127.0.0.1", "127.0.0.3", "10.0.0.1")],
    ("a-zero.test", "A"): [("0.0.0.0",)],
    ("a-metadata.test", "A"): [("169.254.169.254",)],
    ("a-alias.test", "A"): [("cname:localhost",)],
    ("a-alias-with-address.test", "A"): [("cname:localhost", "127.0.0.1")],
    ("aaaa-loopback.test", "AAAA"): [("::1",)],
    ("aaaa-mapped.test", "AAAA"): [("::ffff:127.0.0.1",)],
    ("aaaa-compatible.test", "AAAA"): [("::127.0.0.1",)],
    ("aaaa-nat64.test", "AAAA"): [("64:ff9b::7f00:1",)],
    ("aaaa-6to4.test", "AAAA"): [("2002:7f00:1::",)],
    ("aaaa-teredo.test", "AAAA"): [("2001:0:7f00:1::80ff:fffe",)],
    ("aaaa-local.test", "AAAA"): [("fd00::1",)],
}


@pytest.mark.parametrize("ip", ["4", "6"])
def test_names_at_private_addresses(tmp_path: Path, ip: Literal["4", "6"]) -> None:
    kind = "A" if ip == "4" else "AAAA"
    named = [name for name, family in PRIVATE_NAMES if family == kind]
    names = PRIVATE_NAMES | PUBLIC_NAMES | {("start.test", "AAAA"): [(f"::ffff:{PUBLIC}",)]}
    links = "".join(f"<a href=http://{name}:{{port}}/>l</a><a href=http://{name}.:{{port}}/dot>l</a>" for name in named)
    pages = {"start.test/": page(links + "<a href=/last>l</a>"), "start.test/last": page("end")}

    async def scenario() -> int:
        async with net(pages, names) as found:
            await crawl(tmp_path, found, "http://start.test:{port}/", ip)
            found.untouched()
            return found.port

    port = run(scenario(), 60)
    guarded(tmp_path, [f"http://{name}:{{port}}/" for name in named if name != "a-alias.test"], port)
    assert len(stored_in(tmp_path)) == 2


def test_a_name_that_alternates_never_reaches_the_private_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dns, "LEAST_TTL", 0.0)  # the floor of the cache would hide most of the alternating
    names = PUBLIC_NAMES | {("rebind.test", "A"): [(PUBLIC,), (PUBLIC,), ("127.0.0.1",), (PUBLIC, "127.0.0.3")]}
    links = "".join(f"<a href=http://rebind.test:{{port}}/{n}>l</a>" for n in range(24))
    pages = {"start.test/": page(links)} | {f"rebind.test/{n}": page(str(n)) for n in range(24)}

    async def scenario() -> int:
        async with net(pages, names) as found:
            await crawl(tmp_path, found, "http://start.test:{port}/")
            found.untouched()
            return found.port

    port = run(scenario(), 60)
    views = explained(tmp_path, [f"http://rebind.test:{port}/{n}" for n in range(24)])
    states = [view.state for view in views.values() if view is not None]
    assert set(states) == {State.DONE, State.REFUSED}, "both answers were met"
    assert all(_guarded(view) for view in views.values() if view is not None and view.state is State.REFUSED)


def test_sitemaps_and_robots_txt_name_private_addresses(tmp_path: Path) -> None:
    places = [f"http://{host}:{{port}}/s.xml" for host in HOSTS if host.isascii()]
    entries = "".join(f"<url><loc>http://{host}:{{port}}/e</loc></url>" for host in HOSTS)
    children = "".join(f"<sitemap><loc>{place}</loc></sitemap>" for place in places)
    pages = {
        "start.test/robots.txt": text(
            "".join(f"Sitemap: {place}\n" for place in [*places, f"file://{tmp_path}/x", "gopher://127.0.0.1:{port}/"])
            + "Sitemap: http://start.test:{port}/own.xml\nSitemap: http://start.test:{port}/index.xml\n"
        ),
        "start.test/own.xml": ("200 OK", "Content-Type: application/xml", f"<urlset>{entries}</urlset>"),
        "start.test/index.xml": ("200 OK", "Content-Type: application/xml", f"<sitemapindex>{children}</sitemapindex>"),
        "start.test/": page("<a href=http://moved.test:{port}/>l</a><a href=http://other.test:{port}/>l</a>"),
        "moved.test/robots.txt": moved("http://127.0.0.1:{port}/robots.txt"),
        "other.test/robots.txt": moved("http://[::ffff:127.0.0.1]:{port}/robots.txt"),
        "moved.test/": page("never asked for"),
        "other.test/": page("never asked for"),
    }

    async def scenario() -> int:
        async with net(pages, PUBLIC_NAMES) as found:
            await crawl(tmp_path, found, "http://start.test:{port}/")
            found.untouched()
            return found.port

    port = run(scenario(), 60)
    guarded(tmp_path, ["http://127.0.0.1:{port}/s.xml", "http://[::1]:{port}/s.xml"], port)
    guarded(tmp_path, ["http://moved.test:{port}/", "http://other.test:{port}/"], port)
    assert stored_in(tmp_path) == [f"http://start.test:{port}/"]


def test_a_seed_on_this_machine_opens_its_own_port_and_no_other(tmp_path: Path) -> None:
    """And the refusal of another port of the same host does not end the crawl of the seed's."""

    async def scenario() -> tuple[int, int]:
        async with AsyncExitStack() as stack:
            other = await stack.enter_async_context(serving(b""))
            pages = {
                "127.0.0.1/": page(f"<a href=http://127.0.0.1:{other.port}/>l</a><a href=http://127.0.0.1:25/>l</a>"
                                   "<a href=/1>l</a><a href=/2>l</a>"),
                "127.0.0.1/1": page("one"),
                "127.0.0.1/2": page("two"),
            }  # fmt: skip
            seed = await stack.enter_async_context(serving(answers(pages)))
            found = Net(seed.port, seed, [other], "127.0.0.1:9")
            await crawl(tmp_path, found, "http://127.0.0.1:{port}/")
            found.untouched()
            return seed.port, other.port

    port, other = run(scenario(), 60)
    assert sorted(stored_in(tmp_path)) == [f"http://127.0.0.1:{port}/{path}" for path in ("", "1", "2")]
    guarded(tmp_path, [f"http://127.0.0.1:{other}/"], port)
