"""The attacks: what each hostile host does, and what the frontier must say of its URLs when the crawl is over.

`ATTACKS` is the list; `docs/reliability.md` has a row for each, and the tests compare the two. Every attack is made at its full
size, also in the short form of the tests; only the crowds of hosts are smaller there (`GOSSAMER_FAULTS=long` makes them whole).
"""

import gzip
import itertools
import os
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec

from gossamer.frontier import State
from gossamer.sim.web import Web
from gossamer.sim.web.corners.bombs import brotli_bomb, gzip_bomb, zstd_bomb
from tests.faults.front import Exchange, Play

__all__ = ["ATTACKS", "LONG", "NO_NAMES", "Attack", "Fate", "healthy_web"]

MIB = 1 << 20
GIB = 1 << 30
HTML = "Content-Type: text/html; charset=utf-8"
GONE = "404 Not Found"


class Fate(msgspec.Struct, frozen=True):
    """What must have become of a URL: its state, and words of the error and its reason."""

    state: State
    words: str = ""


class Attack(msgspec.Struct, frozen=True):
    """One row of the table."""

    name: str
    happens: str
    """What the crawl makes of it, for people."""
    plays: dict[str, Play]
    fates: dict[str, Fate]
    seeds: tuple[str, ...] = ()
    """The URLs of `fates` when empty."""
    secure: tuple[str, ...] = ()
    """Hosts that speak TLS, by the fault of their certificate."""
    settings: dict[str, Any] = {}
    makes: tuple[Callable[[], bytes], ...] = ()
    """What takes a while to make: done before the crawl begins."""

    @property
    def starts(self) -> tuple[str, ...]:
        return self.seeds or tuple(self.fates)


ATTACKS: list[Attack] = []
LONG = os.environ.get("GOSSAMER_FAULTS") == "long"
CROWD = 100 if LONG else 6
FEW = 30 if LONG else 3

DONE = Fate(State.DONE)


def healthy_web() -> Web:
    """The web beside them: 200 pages over 8 hosts."""
    return Web(hosts=8, pages=200, skew=0)


def attack(name: str, happens: str, plays: Mapping[str, Play], fates: dict[str, Fate], **more: Any) -> None:
    ATTACKS.append(Attack(name, happens, dict(plays), fates, **more))


def html_of(start: bytes, piece: bytes, count: int, end: bytes = b"") -> bytes:
    return b"<!doctype html>" + start + piece * count + end


ABSENT = ("/robots.txt", "/sitemap.xml")


def page(make: Callable[[], bytes], *headers: str) -> Play:
    """Every address of the host is this page."""

    async def play(exchange: Exchange) -> None:
        if exchange.target in ABSENT:
            await exchange.answer(b"", status=GONE)
        else:
            await exchange.html(make(), *headers)

    return play


def raw(start: bytes, again: bytes = b"", pause: float = 0.0, *, close: bool = False) -> Play:
    """Sends bytes as they are, then others for ever, or closes, or says nothing more."""

    async def play(exchange: Exchange) -> None:
        if exchange.target in ABSENT:
            await exchange.answer(b"", status=GONE)
            return
        await exchange.send(start)
        if again:
            await exchange.forever(again, pause)
        if not close:
            await exchange.silence()

    return play


# --- pages that hurt to read ------------------------------------------------------------------------------------------


@cache
def million_links() -> bytes:
    body = b"<!doctype html><title>Links</title>" + b"".join(b"<a href=/c/%d>" % n for n in range(1_000_000))
    return gzip.compress(body, 1)


@cache
def attributes() -> bytes:
    return b"<!doctype html><title>Attributes</title><p " + b" ".join(b"a%d" % n for n in range(1_000_000)) + b">text"


async def linking(exchange: Exchange) -> None:
    if exchange.target == "/":
        await exchange.html(million_links(), "Content-Encoding: gzip")
    elif exchange.target in ABSENT:
        await exchange.answer(b"", status=GONE)
    else:
        await exchange.html(b"<!doctype html><title>One of many</title>" + exchange.target.encode())


def pages_that_hurt() -> None:
    kept = "read up to its bounds, kept whole in the archive"
    shapes: dict[str, Callable[[], bytes]] = {
        "1 M nested elements": lambda: html_of(b"<title>n</title>", b"<div>", 1_000_000),
        "1 M attributes on one tag": attributes,
        "10 MB of <": lambda: html_of(b"<title>lt</title>", b"<", 10 * MIB),
        "2 M entities": lambda: html_of(b"<title>e</title>", b"&nGt;", 2_000_000),
        "a title of 10 MB": lambda: html_of(b"<title>", b"title ", 10 * MIB // 6),
        "1 M tables": lambda: html_of(b"<title>t</title>", b"<table>x", 1_000_000),
        "formatting never closed, 100,000 times": lambda: html_of(
            b"<title>f</title>", b"<p><font color=a%d><b id=b><i x=1>", 100_000
        ),
        "one word of 10 MB": lambda: html_of(b"<title>w</title><p>", b"a", 10 * MIB),
        "comments and brackets that never end": lambda: html_of(b"<title>c</title>", b"<!--<![CDATA[<?", 650_000),
    }
    for number, (name, make) in enumerate(shapes.items()):
        host = f"shape-{number}.test"
        make = cache(make)
        attack(name, kept, {host: page(make)}, {f"http://{host}/": DONE}, makes=(make,))
    attack(
        "1 M links on one page",
        "10,000 links are taken; the trap rules, or here `max_pages_per_host` (30), end them",
        {"links.test": linking},
        {
            "http://links.test/": DONE,
            "http://links.test/c/9999": Fate(State.REFUSED),
        },
        seeds=("http://links.test/",),
        settings={"max_pages_per_host": 30},
        makes=(million_links,),
    )
    base = b'<!doctype html><title>Base</title><base href="http://base.test/%b/">' % (b"x" * MIB)
    attack(
        "a base of 1 MB under 10,000 links",
        "relative links are dropped: each would be too long to follow",
        {"base.test": page(lambda: base + b"".join(b"<a href=l%d>l</a>" % n for n in range(10_000)))},
        {"http://base.test/": DONE},
    )
    long = b"<!doctype html><title>Long</title>" + b"".join(
        b'<a href="/%d%b">l</a>' % (n, b"x" * MIB) for n in range(9)
    )
    attack(
        "links of 1 MB",
        "refused by their length (`too-long`)",
        {"long-links.test": page(lambda: long)},
        {"http://long-links.test/": DONE},
    )


# --- bodies -----------------------------------------------------------------------------------------------------------


@cache
def nested_bomb() -> bytes:
    return gzip.compress(gzip_bomb(GIB), 9)


@cache
def members_bomb() -> bytes:
    return gzip.compress(b" " * MIB, 9) * 1000


def bodies() -> None:
    bombs: dict[str, Callable[[], bytes]] = {
        "gzip": lambda: gzip_bomb(GIB),
        "br": lambda: brotli_bomb(GIB),
        "zstd": lambda: zstd_bomb(GIB),
        "gzip, gzip": nested_bomb,
        "gzip in 1,000 members": members_bomb,
        "gzip with 5 MB behind it": lambda: (
            gzip.compress(b"<title>t</title>" + b"text " * 1000) + b"\xff\x00" * (5 * MIB // 2)
        ),
        "deflate": lambda: zlib.compress(b" " * (64 * MIB), 9),
    }
    for number, (name, make) in enumerate(bombs.items()):
        host = f"bomb-{number}.test"
        coding = name if name == "gzip, gzip" else name.split()[0]
        size = {"br": "256 MB", "deflate": "64 MB"}.get(name, "1 GB")
        make = cache(make)
        attack(
            name if "behind" in name else f"{size} packed as {name}",
            "unpacked up to `max_decoded`, kept as sent",
            {host: page(make, f"Content-Encoding: {coding}")},
            {f"http://{host}/": DONE},
            makes=(make,),
        )
    start = b"HTTP/1.1 200 OK\r\n" + HTML.encode() + b"\r\n"
    attack(
        "a body without end",
        "cut at `max_body`, kept and marked as cut",
        {"endless.test": raw(start + b"\r\n", b"<p>more</p>" * 6000)},
        {"http://endless.test/": DONE},
    )
    attack(
        "100 hosts with bodies without end, at once",
        "each cut at `max_body`; large bodies take turns",
        {"*.endless-many.test": raw(start + b"\r\n", b"<p>more</p>" * 6000)},
        {f"http://e{n}.endless-many.test/": DONE for n in range(CROWD)},
    )
    attack(
        "100 hosts with 20 MB packed into 170 KB, at once",
        "unpacked and read one after the other",
        {"*.packed-many.test": page(many_words, "Content-Encoding: gzip")},
        {f"http://p{n}.packed-many.test/": DONE for n in range(CROWD)},
        makes=(many_words,),
    )
    attack(
        "chunks of one byte without end",
        "cut after 100,000 pieces, kept and marked as cut",
        {"chunks.test": raw(start + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 5000)},
        {"http://chunks.test/": DONE},
    )
    attack(
        "a body of 1 byte a second",
        "cut as too slow, kept and marked as cut",
        {"drip.test": raw(start + b"Content-Length: 1000\r\n\r\n", b"x", 1.0)},
        {"http://drip.test/": DONE},
    )
    attack(
        "headers of 1 line a second",
        "given up as too slow after 3 tries",
        {"drip-head.test": raw(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 1.0)},
        {"http://drip-head.test/": Fate(State.FAILED, "bytes/s came for")},
    )


@cache
def many_words() -> bytes:
    line = b"<p>" + b" ".join(b"word%d" % n for n in range(1000)) + b"</p>\n"
    return gzip.compress(b"<!doctype html><title>Words</title>" + line * (20 * MIB // len(line)), 6)


# --- heads, lengths, what is not HTTP ---------------------------------------------------------------------------------


def heads() -> None:
    too_large = Fate(State.FAILED, "header-too-large")
    floods = {
        "1 M header lines": raw(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 10_000),
        "one header without end": raw(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 65_536),
        "5,000 cookies": raw(b"HTTP/1.1 200 OK\r\n" + b"".join(b"Set-Cookie: c%d=v; Max-Age=99999\r\n" % n for n in range(5000)) + b"\r\n", close=True),
        "interim answers (103) without end": raw(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\n" * 500),
    }  # fmt: skip
    for number, (name, play) in enumerate(floods.items()):
        host = f"head-{number}.test"
        attack(
            name,
            "given up when the headers pass their cap; no cookie is kept",
            {host: play},
            {f"http://{host}/": too_large},
        )
    start, body = b"HTTP/1.1 200 OK\r\n" + HTML.encode() + b"\r\n", b"<title>Length</title><p>a body of some length</p>"
    garbage = Fate(State.FAILED, "protocol-garbage")
    lengths = {
        "length-small": (b"Content-Length: 20\r\n\r\n" + body, DONE),
        "length-large": (b"Content-Length: 20000\r\n\r\n" + body, DONE),
        "length-negative": (b"Content-Length: -5\r\n\r\n" + body, garbage),
        "length-two": (b"Content-Length: 5\r\nContent-Length: 49\r\n\r\n" + body, garbage),
        "length-word": (b"Content-Length: many\r\n\r\n" + body, garbage),
        "length-huge": (b"Content-Length: 99999999999999999999999\r\n\r\n" + body, DONE),
    }
    attack(
        "a wrong Content-Length (small, large, negative, two, a word, huge)",
        "small: cut there; large: tried 3 times, kept and marked as cut; huge: read to the end; the others are garbage",
        {f"{name}.test": raw(start + rest, close=True) for name, (rest, _) in lengths.items()},
        {f"http://{name}.test/": fate for name, (_, fate) in lengths.items()},
    )
    nonsense = {
        "no-status": b"<html>no head at all</html>",
        "http-0-9": b"<title>HTTP/0.9</title>",
        "binary": bytes(range(256)) * 40,
        "ssh": b"SSH-2.0-OpenSSH_9.2p1\r\n",
        "http-9": b"HTTP/9.9 200 OK\r\n\r\n",
        "status-word": b"HTTP/1.1 fine\r\n\r\n",
        "nul-header": b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\nhello",
    }
    attack(
        "what is not HTTP (no head, HTTP/0.9, binary, SSH, HTTP/9.9, NUL in a header)",
        "given up as garbage after 2 tries",
        {f"{name}.test": raw(data, close=True) for name, data in nonsense.items()},
        {f"http://{name}.test/": garbage for name in nonsense},
    )
    attack(
        "status 999 and other numbers that are none",
        "999 is a refusal; 042 and 1000 are garbage",
        {
            "status-999.test": raw(b"HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n", close=True),
            "status-042.test": raw(b"HTTP/1.1 042 No\r\nContent-Length: 0\r\n\r\n", close=True),
            "status-1000.test": raw(b"HTTP/1.1 1000 No\r\nContent-Length: 0\r\n\r\n", close=True),
        },
        {
            "http://status-999.test/": Fate(State.REFUSED, "turns crawlers away"),
            "http://status-042.test/": Fate(State.FAILED),
            "http://status-1000.test/": Fate(State.FAILED),
        },
    )

    async def mute(exchange: Exchange) -> None:
        await exchange.silence()

    attack(
        "50 hosts that accept and never answer",
        "given up after 4 tries; they hold no other host up",
        {"*.mute.test": mute},
        {f"http://m{n}.mute.test/": Fate(State.FAILED, "No answer began") for n in range(50)},
    )


# --- TLS --------------------------------------------------------------------------------------------------------------


def tls() -> None:
    async def garbage(exchange: Exchange) -> None:
        await exchange.send(b"\x16\x03\x01\x00\x04junk")

    async def plain(exchange: Exchange) -> None:
        await exchange.answer(b"not TLS")

    async def stall(exchange: Exchange) -> None:
        await exchange.silence()

    invalid, failed = "certificate", "TLS handshake failed"
    attack(
        "TLS that is expired, for another name, self-signed, garbage, plain HTTP, stalled",
        "not one request is sent; given up with the reason",
        {"tls-garbage.test": garbage, "tls-plain.test": plain, "tls-stall.test": stall},
        {
            "https://tls-expired.test/": Fate(State.FAILED, invalid),
            "https://tls-wrong-name.test/": Fate(State.FAILED, invalid),
            "https://tls-self-signed.test/": Fate(State.FAILED, invalid),
            "https://tls-garbage.test/": Fate(State.FAILED, failed),
            "https://tls-plain.test/": Fate(State.FAILED, failed),
            "https://tls-stall.test/": Fate(State.FAILED, "No connection stood"),
        },
        secure=("tls-expired.test", "tls-wrong-name.test", "tls-self-signed.test"),
    )


# --- redirects --------------------------------------------------------------------------------------------------------


def moved(where: Callable[[str], str]) -> Play:
    async def play(exchange: Exchange) -> None:
        if exchange.target in ABSENT:
            await exchange.answer(b"", status=GONE)
        else:
            await exchange.answer(b"", f"Location: {where(exchange.target)}", status="302 Found")

    return play


def redirects() -> None:
    attack(
        "redirects in a circle (to itself, of two, of two hosts)",
        "each address is asked for once",
        {
            "circle.test": moved(lambda target: {"/self": "/self", "/a": "/b", "/b": "/a"}.get(target, "http://circle-two.test/")),
            "circle-two.test": moved(lambda target: "http://circle.test/far"),
        },
        {
            "http://circle.test/self": Fate(State.FAILED, "lead back"),
            "http://circle.test/a": Fate(State.REDIRECTED),
            "http://circle.test/far": Fate(State.REDIRECTED),
        },
    )  # fmt: skip
    attack(
        "a chain of 10,000 redirects",
        "given up after `max_redirects`",
        {"chain.test": moved(lambda target: f"/{int(target[1:]) + 1}")},
        {
            "http://chain.test/0": Fate(State.REDIRECTED),
            "http://chain.test/9": Fate(State.REDIRECTED),
            "http://chain.test/10": Fate(State.FAILED, "more often than allowed"),
        },
        seeds=("http://chain.test/0",),
    )
    attack(
        "a chain of redirects over 10,000 hosts",
        "given up after `max_redirects`",
        {"*.hop.test": hopping},
        {
            "http://h0.hop.test/": Fate(State.REDIRECTED),
            "http://h10.hop.test/": Fate(State.FAILED, "more often than allowed"),
        },
        seeds=("http://h0.hop.test/",),
    )
    attack(
        "a Location of 1 MB, and one of 60 KB",
        "1 MB: the headers pass their cap; 60 KB: not followed",
        {"location.test": moved(lambda target: "/" + "x" * (MIB if target == "/mega" else 60_000))},
        {
            "http://location.test/mega": Fate(State.FAILED, "header-too-large"),
            "http://location.test/long": Fate(State.REDIRECTED),
        },
    )


async def hopping(exchange: Exchange) -> None:
    if exchange.target in ABSENT:
        await exchange.answer(b"", status=GONE)
    else:
        number = int(exchange.host.partition(".")[0][1:])
        await exchange.answer(b"", f"Location: http://h{number + 1}.hop.test/", status="302 Found")


# --- names without end, names of every kind ---------------------------------------------------------------------------


def names() -> None:
    fresh = itertools.count()

    async def farm(exchange: Exchange) -> None:
        if exchange.target in ABSENT:
            await exchange.answer(b"", status=GONE)
            return
        links = b"".join(b"<a href=http://s%d.farm.test/>l</a>" % next(fresh) for _ in range(5_000))
        await exchange.html(b"<!doctype html><title>%d</title>" % next(fresh) + links)

    attack(
        "subdomains without end, 5,000 new ones on each page",
        "the domain gets `traps.domain_hosts` hosts (here 40), the others are refused (`domain-hosts`)",
        {"*.farm.test": farm},
        {"http://start.farm.test/": DONE},
        settings={"traps": {"domain_hosts": 40}},
    )

    async def any_name(exchange: Exchange) -> None:
        if exchange.target in ABSENT:
            await exchange.answer(b"", status=GONE)
        elif exchange.host == "unicode.test" and exchange.target == "/":
            links = "".join(f'<a href="{link}">l</a>' for link in (*UNICODE, *NO_NAMES))
            raw_bytes = b"".join(b'<a href="' + link + b'">l</a>' for link in RAW_LINKS)
            await exchange.html(
                b"<!doctype html><title>Names</title>" + links.encode("utf-8", "surrogatepass") + raw_bytes
            )
        else:
            await exchange.html(b"<!doctype html><title>One</title>" + exchange.head)

    attack(
        "names and paths of every kind of unicode (IDN, bidi, NUL, surrogates, emoji, homographs, dots)",
        "one canonical address each, or none; what is stored can be read back",
        {"unicode.test": any_name, "*.unicode.test": any_name},
        {"http://unicode.test/": DONE, **UNICODE_FATES},
        seeds=("http://unicode.test/",),
    )


UNICODE = {
    "http://bücher.unicode.test/": "http://xn--bcher-kva.unicode.test/",
    "http://BÜCHER.unicode.test/": "http://xn--bcher-kva.unicode.test/",
    "http://a。unicode.test/": "http://a.unicode.test/",
    "http://b．unicode｡test/": "http://b.unicode.test/",
    "http://😀.unicode.test/": "http://xn--e28h.unicode.test/",
    "http://раураl.unicode.test/": "http://xn--l-7sba6dbr.unicode.test/",
    "http://ｆｕｌｌ.unicode.test/": "http://full.unicode.test/",
    "http://faß.unicode.test/": "http://xn--fa-hia.unicode.test/",
    "/😀/ünï?q=ß#x": "http://unicode.test/%F0%9F%98%80/%C3%BCn%C3%AF?q=%C3%9F",
    "/bidi/\u202eabc\u2066": "http://unicode.test/bidi/%E2%80%AEabc%E2%81%A6",
    "/surrogate/%ED%A0%80": "http://unicode.test/surrogate/%ED%A0%80",
    "/overlong/%C0%AF": "http://unicode.test/overlong/%C0%AF",
    "/nul/%00": "http://unicode.test/nul/%00",
    "/cut/%E4%BD": "http://unicode.test/cut/%E4%BD",
    "/reference/&#xD800;": "http://unicode.test/reference/%EF%BF%BD",
    "/newline/a&#10;b": "http://unicode.test/newline/ab",
    "/percent/%zz%": "http://unicode.test/percent/%25zz%25",
}
"""Spellings, and the one address that each stands for."""
UNICODE_FATES = dict.fromkeys(UNICODE.values(), DONE)
NO_NAMES = (
    "http://a%00b.unicode.test/",
    "http://a\u202eb.unicode.test/",
    "http://\ud800.unicode.test/",
    "http://a b.unicode.test/",
    "http://xn--\u0661.unicode.test/",
    "http://%zz.unicode.test/",
    f"http://{'a' * 64}.unicode.test/",
    f"http://{'a.' * 200}unicode.test/",
    "http://..unicode.test/",
    "http://[::1.unicode.test/",
    "http://*.unicode.test/",
)
"""What is no name: nothing may be asked there."""
RAW_LINKS = (b"/raw/\xff\xfe", b"/raw/\xed\xa0\x80", b"/raw/\xc0\xaf", b"http://\xff.unicode.test/")


# --- against others ---------------------------------------------------------------------------------------------------


def slander() -> None:
    """Links that would give a healthy host a bad name."""
    victim = healthy_web().seeds()[0].removesuffix("/")
    ports = (25, 22, 6667, 53)
    links = b"".join(b'<a href="%b:%d/">l</a>' % (victim.encode(), port) for port in ports)
    attack(
        "links to ports of a healthy host where nothing may be asked",
        "only those addresses are given up, not the host",
        {"slander.test": page(lambda: b"<!doctype html><title>Slander</title>" + links)},
        {
            "http://slander.test/": DONE,
            **{f"{victim}:{port}/": Fate(State.FAILED, "another protocol") for port in ports},
        },
        seeds=("http://slander.test/",),
    )


# --- robots.txt and sitemaps ------------------------------------------------------------------------------------------


def robots() -> None:
    async def endless(exchange: Exchange) -> None:
        if exchange.target == "/robots.txt":
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1073741824\r\n\r\n")
            await exchange.send(b"User-agent: *\nDisallow: /closed\n")
            await exchange.forever(b"Disallow: /something/else/*/and/so/on\n" * 1000)
        else:
            await exchange.html(b"<!doctype html><title>Open</title>" + exchange.target.encode())

    attack(
        "a robots.txt of 1 GB",
        "its first 512 KiB count",
        {"robots-large.test": endless},
        {
            "http://robots-large.test/": DONE,
            "http://robots-large.test/closed": Fate(State.REFUSED, "robots.txt"),
        },
    )

    async def wild(exchange: Exchange) -> None:
        if exchange.target == "/robots.txt":
            rules = b"".join(b"Disallow: /%b%d\n" % (b"*a" * 60, n) for n in range(3_000))
            await exchange.answer(b"User-agent: *\n" + rules, "Content-Type: text/plain")
        else:
            await exchange.html(b"<!doctype html><title>Wild</title>" + b"a" * 100 + exchange.target.encode())

    attack(
        "a robots.txt of 3,000 rules with 60 wildcards each",
        "matched without going back; the pages are kept",
        {"robots-wild.test": wild},
        {f"http://robots-wild.test/{'a' * 1000}b{n}": DONE for n in range(5)},
    )

    async def slow(exchange: Exchange) -> None:
        if exchange.target == "/robots.txt":
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
            await exchange.forever(b"#", 1.0)
        else:
            await exchange.html(b"<!doctype html><title>Slow</title>")

    attack(
        "a robots.txt of 1 byte a second",
        "cut as too slow; what came of it counts",
        {"robots-slow.test": slow},
        {"http://robots-slow.test/": DONE},
    )


def sitemap_host(files: dict[str, Callable[[], bytes]]) -> Play:
    async def play(exchange: Exchange) -> None:
        path = exchange.target.partition("?")[0]
        if path == "/robots.txt":
            named = "".join(f"Sitemap: http://{exchange.host}{file}\n" for file in files)
            await exchange.answer(f"User-agent: *\nDisallow:\n{named}".encode(), "Content-Type: text/plain")
        elif path in files:
            await exchange.answer(files[path](), "Content-Type: application/xml")
        else:
            await exchange.html(f"<!doctype html><title>{exchange.host}{exchange.target}</title>".encode())

    return play


@cache
def sitemap_bomb() -> bytes:
    start = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return gzip.compress(start) + gzip_bomb(GIB)


@cache
def large_sitemap() -> bytes:
    entry = b"<url><loc>http://large.test/same</loc><lastmod>2026-01-01</lastmod></url>\n"
    return b"<urlset>" + entry * (49 * MIB // len(entry)) + b"</urlset>"


def sitemaps() -> None:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    laughs = f'<?xml version="1.0"?><!DOCTYPE u [{entities}]><urlset><url><loc>&l9;</loc></url></urlset>'.encode()

    def index(*urls: str) -> bytes:
        return (
            "<sitemapindex>" + "".join(f"<sitemap><loc>{u}</loc></sitemap>" for u in urls) + "</sitemapindex>"
        ).encode()

    attack(
        "sitemaps that unpack to 1 GB, or expand to billions of entities",
        "unpacked up to a bound; no entity is expanded",
        {"sitemap-bomb.test": sitemap_host({"/a.xml.gz": sitemap_bomb, "/b.xml": lambda: laughs})},
        {
            "http://sitemap-bomb.test/": DONE,
            "http://sitemap-bomb.test/a.xml.gz": DONE,
            "http://sitemap-bomb.test/b.xml": DONE,
        },
        seeds=("http://sitemap-bomb.test/",),
        makes=(sitemap_bomb,),
    )
    self_, two = "http://sitemap-circle.test/self.xml", "http://sitemap-circle.test/two.xml"

    async def family(exchange: Exchange) -> None:
        path = exchange.target
        if path == "/robots.txt":
            await exchange.answer(f"Sitemap: {self_}\nSitemap: http://{exchange.host}/f1.xml\n".encode())
        elif path == "/self.xml" or path == "/two.xml":
            await exchange.answer(index(self_, two), "Content-Type: application/xml")
        elif path.endswith(".xml"):
            number = int(path[2:-4])
            children = [f"http://{exchange.host}/f{number * 10 + n}.xml" for n in range(10)]
            await exchange.answer(index(*children), "Content-Type: application/xml")
        else:
            await exchange.html(b"<!doctype html><title>Sitemaps</title>")

    attack(
        "sitemap indexes in a circle, and indexes of indexes without end",
        "each is read once, three levels deep",
        {"sitemap-circle.test": family},
        {"http://sitemap-circle.test/": DONE, self_: DONE, two: DONE, "http://sitemap-circle.test/f199.xml": DONE},
        seeds=("http://sitemap-circle.test/",),
    )
    attack(
        "30 hosts with sitemaps of 49 MB, at once",
        "large bodies take turns; each is read up to its bounds",
        {"*.sitemap-large.test": sitemap_host({"/s.xml": large_sitemap})},
        {f"http://s{n}.sitemap-large.test/{path}": DONE for n in range(FEW) for path in ("", "s.xml")},
        seeds=tuple(f"http://s{n}.sitemap-large.test/" for n in range(FEW)),
        makes=(large_sitemap,),
    )


for family in (pages_that_hurt, bodies, heads, tls, redirects, names, slander, robots, sitemaps):
    family()
