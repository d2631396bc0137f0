"""Pages and answers that break the rules: `broken`. Each broken page that can be read leads to a page of its own."""

import re
from collections.abc import Callable

from gossamer.sim.web.model import PLAIN, Answer, Delivery, Kind, Settings, Site
from gossamer.sim.web.table import HTML, TableSite, link_to
from gossamer.sim.web.words import hash64

__all__ = ["broken"]

Change = Callable[[bytes], bytes]


def broken(settings: Settings) -> list[Site]:
    """Broken HTML, bad bytes, wrong lengths and types, and answers that are hardly HTTP."""
    site = TableSite(settings, "broken.test")
    home = link_to(site.url("/"), "/")

    def case(
        name: str,
        change: Change,
        kind: Kind = "page",
        headers: tuple[tuple[str, str], ...] = (HTML,),
        delivery: Delivery = PLAIN,
    ) -> None:
        end = f"/{name}/linked"
        body = change(site.write(f"/{name}", [home, home, home, link_to(site.url(end), end)]).encode())
        known = kind == "page"
        site.add(f"/{name}", Answer(200, headers, body, delivery), kind, links=[end])
        site.page(end, "page" if known else "free", linked=False)

    for name, change in HTML_CASES.items():
        case(name, change)
    types: dict[str, tuple[tuple[str, str], ...]] = {
        "no-content-type": (),
        "empty-content-type": (("Content-Type", ""),),
        "bad-content-type": (("Content-Type", ";;text/html;;charset"),),
        "two-content-types": (("Content-Type", "text/html"), ("Content-Type", "text/html; charset=utf-8")),
        "xhtml": (("Content-Type", "application/xhtml+xml; charset=utf-8"),),
    }
    for name, headers in types.items():
        case(name, same, headers=headers)
    case("no-length", same, delivery=Delivery(length=-1))
    case("length-too-short", same, "free", delivery=Delivery(length=900))
    case("length-too-long", same, "free", delivery=Delivery(length=100_000, stop_after=100_000))
    case("two-lengths", same, "free", headers=(HTML, ("Content-Length", "7")))
    case(
        "length-not-a-number",
        same,
        "free",
        delivery=raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: many\r\n\r\n"),
    )
    case(
        "bad-chunks",
        lambda b: b"zz\r\n" + b,
        "free",
        delivery=raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
    )
    case("http-0.9", same, "free", delivery=raw(""))
    case("http-1.0", same, "free", delivery=raw("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"))
    case("http-4.2", same, "free", delivery=raw("HTTP/4.2 200 OK\r\nContent-Type: text/html\r\n\r\n"))
    case(
        "status-999",
        same,
        "free",
        delivery=raw("HTTP/1.1 999 No\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"),
    )
    case("status-word", same, "free", delivery=raw("HTTP/1.1 fine\r\n\r\n"))
    case("garbage", lambda b: noise(3000), "free", delivery=raw("\x16\x03\x01\x02"))
    case(
        "header-without-colon",
        same,
        "free",
        delivery=raw("HTTP/1.1 200 OK\r\nno colon here\r\n: no name\r\nContent-Type: text/html\r\n\r\n"),
    )
    case("only-line-feeds", same, "free", delivery=raw("HTTP/1.1 200 OK\nContent-Type: text/html\n\n"))
    case("half-a-head", lambda b: b"", "free", delivery=raw("HTTP/1.1 200 OK\r\nContent-Ty"))
    case("binary-as-html", lambda b: noise(9000), "free")
    case("empty", lambda b: b"", "free")
    return [site]


def raw(head: str) -> Delivery:
    return Delivery(raw=head.encode("latin-1"))


def noise(size: int) -> bytes:
    return b"".join(hash64("noise", at).to_bytes(8) for at in range(size // 8))


def same(body: bytes) -> bytes:
    return body


def _unclosed(body: bytes) -> bytes:
    for tag in (b"</p>", b"</li>", b"</article>", b"</main>", b"</body>", b"</html>"):
        body = body.replace(tag, b"")
    return body


def _crossed(body: bytes) -> bytes:
    return body.replace(b"<h1>", b"<b><i><h1>").replace(b"</h1>", b"</b></h1></i>").replace(b"<p>", b"<p><table><em>")


def _before_the_end(body: bytes) -> bytes:
    """Cut in the middle of the text, behind the last link."""
    return body[: body.rindex(b"</article>")] + b"<p>and then"


HTML_CASES: dict[str, Change] = {
    "unclosed": _unclosed,
    "crossed": _crossed,
    "truncated": _before_the_end,
    "truncated-in-tag": lambda b: _before_the_end(b) + b'<a href="/never-whole',
    "nul-bytes": lambda b: b.replace(b" the ", b" \0the\0 "),
    "bad-utf-8": lambda b: b.replace(b" the ", b" \xff\xfe\xc3\x28 "),
    "no-head": lambda b: b[b.index(b"<body>") :],
    "unquoted": lambda b: re.sub(rb'<a href="([^"]*)"', rb"<a href=\1 ", b),
    "uppercase": lambda b: b.replace(b"<a href", b"<A HREF").replace(b"</a>", b"</A>"),
    "comment-never-closed-twice": lambda b: b.replace(
        b"<main>", b"<!-- a --- b --!><main><!-- <a href='/never'>no</a> -->"
    ),
    "script-with-tags": lambda b: b.replace(b"<main>", b"<script>var a = '<a href=\"/never\">no</a>';</script><main>"),
    "entities": lambda b: b.replace(b" the ", b" &the &amp &#0; &#x110000; &notanentity; "),
    "duplicate-attributes": lambda b: b.replace(b"<a href=", b"<a class=x class=y href="),
    "carriage-returns": lambda b: b.replace(b"\n", b"\r"),
}
