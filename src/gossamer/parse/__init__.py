"""What a page says: bytes in, a `Page` out.

    parse_page(body, url, content_type, headers)   encoding → guard → tree → one walk → text
    parse_media_type(value)                        Content-Type as browsers read it
    Bounds, DEFAULT                                how much of a body is read; what was cut is in Page.cuts

Nothing the web sends raises here, and the cost is bounded before the tree builder sees the document (`bounds.py` says how and
why). Bytes that are UTF-8 already go to the tree builder as they are; others are decoded first.
"""

from collections.abc import Iterable

from selectolax.lexbor import LexborHTMLParser

from gossamer import _native
from gossamer.parse._page import Link, MetaRobots, Page, Refresh, TextMode
from gossamer.parse.bounds import DEFAULT, Bounds, guard
from gossamer.parse.decoders import decode
from gossamer.parse.directives import robots_of
from gossamer.parse.encoding import choose_encoding
from gossamer.parse.html import read_tree
from gossamer.parse.language import language_of
from gossamer.parse.mime import MediaType, media_type_of, parse_media_type, sniff
from gossamer.url import LinkMemory

__all__ = [
    "DEFAULT",
    "Bounds",
    "Link",
    "MediaType",
    "MetaRobots",
    "Page",
    "Refresh",
    "TextMode",
    "parse_media_type",
    "parse_page",
]

_HTML = frozenset(("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"))
# Encodings in which the bytes of ASCII text mean something else.
_NOT_ASCII = frozenset(("UTF-16LE", "UTF-16BE", "ISO-2022-JP", "replacement"))

# The two references that are shorter than what they stand for: lexbor 2.x reckons that none is, and writes past its buffer
# after some 4,000 of them.
_SWELLING = ((b"&nGt;", "≫⃒".encode()), (b"&nLt;", "≪⃒".encode()))


def parse_page(
    body: bytes,
    url: str,
    content_type: str | None = None,
    headers: Iterable[tuple[str, str]] = (),
    *,
    text: TextMode = "both",
    bounds: Bounds = DEFAULT,
    agent: str = "gossamer",
    memory: LinkMemory | None = None,
) -> Page:
    """Read a response body fetched from `url`.

    `content_type` wins over a Content-Type among the headers. `agent` is the name under which meta elements and
    X-Robots-Tag may address us. With a `memory`, links resolved on earlier pages of the same directory are not resolved
    again, and come out as it remembers them (canonical, if it has rules).
    """
    headers = tuple(headers)
    media = _media_type(content_type, headers)
    essence = media.essence if media is not None else sniff(body)
    charset = media.charset if media is not None else None
    if essence not in _HTML:
        return _other(body, url, essence, charset, headers, text, bounds, agent)

    encoding, source = choose_encoding(body, charset)
    markup = _as_utf8(body, encoding)
    markup, cuts = guard(markup, bounds)
    if _native.swells(markup):  # after the guard: what it takes out may join the halves of one
        for reference, characters in _SWELLING:
            markup = markup.replace(reference, characters)
    tree = LexborHTMLParser(_readable(markup))
    facts = read_tree(tree, url, headers, agent, bounds, memory, text)
    main, full = facts.main_text, facts.full_text
    cuts += facts.cuts
    return Page(
        url=url,
        media_type=essence,
        encoding=encoding,
        encoding_source=source,
        title=facts.title,
        text=_within(main, bounds.max_text, "main text", cuts),
        full_text=_within(full, bounds.max_text, "full text", cuts),
        language=language_of(main or full, facts.language, _header(headers, "content-language")),
        description=facts.description,
        canonical=facts.canonical,
        hreflang=facts.hreflang,
        open_graph=facts.open_graph,
        robots=facts.robots,
        refresh=facts.refresh,
        base=facts.base,
        links=facts.links,
        feeds=facts.feeds,
        cuts=tuple(cuts),
    )


def _other(
    body: bytes,
    url: str,
    essence: str,
    charset: str | None,
    headers: tuple[tuple[str, str], ...],
    text: TextMode,
    bounds: Bounds,
    agent: str,
) -> Page:
    """A body that is not HTML: plain text has its text, anything else its media type and what the headers say."""
    robots = robots_of((), headers, agent)
    if essence != "text/plain":
        return Page(url=url, media_type=essence, base=url, robots=robots)
    encoding, source = choose_encoding(body[: bounds.max_bytes], charset, html=False)
    cuts: list[str] = []
    if len(body) > bounds.max_bytes:
        cuts.append(f"The body was cut at {bounds.max_bytes:,} of its {len(body):,} bytes.")
    content = decode(body[: bounds.max_bytes], encoding) if text != "none" else ""
    content = _within(content, bounds.max_text, "text", cuts)
    return Page(
        url=url,
        media_type=essence,
        encoding=encoding,
        encoding_source=source,
        text=content if text in ("main", "both") else "",
        full_text=content if text in ("full", "both") else "",
        language=language_of(content, "", _header(headers, "content-language")),
        robots=robots,
        base=url,
        cuts=tuple(cuts),
    )


def _media_type(content_type: str | None, headers: tuple[tuple[str, str], ...]) -> MediaType | None:
    if content_type is not None:
        # One plain value, by far the most common, is remembered; only a comma can make it several.
        return media_type_of((content_type,)) if "," in content_type else parse_media_type(content_type)
    return media_type_of(value for name, value in headers if name.lower() == "content-type")


def _as_utf8(body: bytes, encoding: str) -> bytes:
    if encoding == "UTF-8":
        return body.removeprefix(b"\xef\xbb\xbf")
    if encoding not in _NOT_ASCII and body.isascii():
        return body
    return decode(body, encoding).encode("utf-8", "replace")


def _readable(markup: bytes) -> bytes:
    """Bytes that are UTF-8 to the last: the tree builder would hand on what it cannot read, in pieces."""
    return markup if _native.is_utf8(markup) else markup.decode("utf-8", "replace").encode()


def _header(headers: tuple[tuple[str, str], ...], wanted: str) -> str:
    for name, value in headers:
        if len(name) == len(wanted) and name.lower() == wanted:
            return value
    return ""


def _within(text: str, most: int, what: str, cuts: list[str]) -> str:
    if len(text) <= most:
        return text
    cuts.append(f"The {what} was cut at {most:,} of its {len(text):,} characters.")
    return text[:most]
