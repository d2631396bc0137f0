"""Media types as browsers read them (WHATWG MIME Sniffing), and a short guess where the server said nothing.

Content-Type is written by people: duplicate parameters, stray quotes, several headers. The standard says what each comes
to, and the answer decides whether a body is parsed as HTML at all.
"""

import functools
import re
from collections.abc import Iterable

import msgspec

__all__ = ["MediaType", "media_type_of", "parse_media_type", "sniff"]

_WS = "\t\n\r "
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile("[\t\x20-\x7e\x80-\xff]*")


class MediaType(msgspec.Struct, frozen=True, gc=False):
    """`type/subtype` and its parameters, names in lower case, first occurrence wins."""

    essence: str
    parameters: tuple[tuple[str, str], ...] = ()

    @property
    def charset(self) -> str | None:
        for name, value in self.parameters:
            if name == "charset":
                return value
        return None

    def __str__(self) -> str:
        return self.essence + "".join(f";{name}={_quoted(value)}" for name, value in self.parameters)


def _quoted(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@functools.lru_cache(maxsize=512)  # a crawl meets a few dozen spellings of Content-Type
def parse_media_type(value: str) -> MediaType | None:
    """Parse one Content-Type value (mimesniff, "parse a MIME type"); None when it is no media type."""
    kind, semicolon, rest = value.strip(_WS).partition(";")
    main, slash, sub = kind.partition("/")
    sub = sub.rstrip(_WS)
    if not slash or not _TOKEN.fullmatch(main) or not _TOKEN.fullmatch(sub):
        return None
    parameters: dict[str, str] = {}
    at = 0
    while semicolon and at < len(rest):
        while at < len(rest) and rest[at] in _WS:
            at += 1
        start = at
        while at < len(rest) and rest[at] not in ";=":
            at += 1
        name = rest[start:at].lower()
        if at >= len(rest):
            break
        if rest[at] == ";":
            at += 1
            continue
        at += 1
        if at < len(rest) and rest[at] == '"':
            text, at = _quoted_string(rest, at + 1)
            end = rest.find(";", at)
            at = len(rest) if end < 0 else end
        else:
            end = rest.find(";", at)
            end = len(rest) if end < 0 else end
            text, at = rest[at:end].rstrip(_WS), end
            if not text:
                at += 1
                continue
        at += 1
        if _TOKEN.fullmatch(name) and _VALUE.fullmatch(text) and name not in parameters:
            parameters[name] = text
    return MediaType(f"{main}/{sub}".lower(), tuple(parameters.items()))


def _quoted_string(text: str, at: int) -> tuple[str, int]:
    """The value of a quoted string whose opening quote is before `at`, and where it ended."""
    out: list[str] = []
    while at < len(text):
        if text[at] == '"':
            return "".join(out), at + 1
        if text[at] == "\\":
            at += 1
            if at == len(text):
                out.append("\\")
                break
        out.append(text[at])
        at += 1
    return "".join(out), at


def media_type_of(values: Iterable[str]) -> MediaType | None:
    """The media type of several Content-Type headers together (Fetch, "extract a MIME type")."""
    found: MediaType | None = None
    charset: str | None = None
    for value in _split(", ".join(values)):
        parsed = parse_media_type(value)
        if parsed is None or parsed.essence == "*/*":
            continue
        if found is None or parsed.essence != found.essence:
            charset = parsed.charset
        elif parsed.charset is None and charset is not None:
            parsed = MediaType(parsed.essence, (*parsed.parameters, ("charset", charset)))
        elif parsed.charset is not None:
            charset = parsed.charset
        found = parsed
    return found


def _split(value: str) -> list[str]:
    """Split at commas outside of quoted strings (Fetch, "get, decode, and split")."""
    if '"' not in value:
        return value.split(",")
    parts: list[str] = []
    start = at = 0
    while at < len(value):
        if value[at] == '"':
            _, at = _quoted_string(value, at + 1)
        elif value[at] == ",":
            parts.append(value[start:at])
            at += 1
            start = at
        else:
            at += 1
    parts.append(value[start:])
    return parts


_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"OggS\x00", "application/ogg"),
    (b"\x00\x01\x00\x00", "font/ttf"),
    (b"wOF", "font/woff"),
    (b"%!PS-Adobe-", "application/postscript"),
)
_HTML = re.compile(
    rb"(?i)[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|link|!--)"
    rb"(?:[\t\n\f\r />]|--|$)"
)
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def sniff(body: bytes) -> str:
    """A guess at the media type of a body that came without one: enough to know HTML from text from the rest."""
    head = body[:512]
    for magic, essence in _MAGIC:
        if head.startswith(magic):
            return essence
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith((b"\xfe\xff", b"\xff\xfe")):
        return "text/html" if b"<" in head else "text/plain"
    start = head.removeprefix(b"\xef\xbb\xbf")
    if _HTML.match(start):
        return "text/html"
    if start.lstrip().startswith(b"<?xml"):
        return "application/xhtml+xml" if b"<html" in head else "text/xml"
    if _BINARY.search(head):
        return "application/octet-stream"
    # Tags somewhere near the top: what servers without a Content-Type mostly send is still HTML.
    return "text/html" if re.search(rb"(?i)<(?:html|body|head|p|div|a|title)[\s>]", body[:2048]) else "text/plain"
