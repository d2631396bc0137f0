"""Bytes in whatever encoding → UTF-8, piece by piece.

What a sitemap declares is often wrong (a template's `encoding="UTF-16"` over UTF-8 bytes), and what it must be by the protocol
(UTF-8) is usually right. So: a byte order mark decides; zero bytes show UTF-16 and UTF-32 without one; else it is UTF-8 until a
byte proves the contrary, and from there on, if all before was ASCII, what the header or the XML declaration says. URLs are
ASCII almost always, so a wrong guess costs a title, not a link.
"""

import codecs
import re
from collections.abc import Iterator

from resiliparse.parse.encoding import map_encoding_to_html5

from gossamer.sitemap._problems import Problems

__all__ = ["as_utf8", "charset_of"]

_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Where the zero bytes of the first four are, when the first character (and, for UTF-16, the second) is ASCII.
_ZEROS = {"x000": "utf-32-le", "000x": "utf-32-be", "x0x0": "utf-16-le", "0x0x": "utf-16-be"}

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE).search
_DECLARED = re.compile(
    rb"\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']", re.IGNORECASE
).match


def charset_of(content_type: str | None) -> str | None:
    """The charset parameter of a Content-Type header."""
    found = _CHARSET(content_type) if content_type else None
    return found[1] if found else None


def as_utf8(chunks: Iterator[bytes], charset: str | None, problems: Problems) -> Iterator[bytes]:
    """The same text in UTF-8, without a byte order mark."""
    first = next(chunks, b"")
    mark, name = next(((mark, name) for mark, name in _MARKS if first.startswith(mark)), (b"", ""))
    first = first[len(mark) :]
    if not name:
        name = _ZEROS.get("".join("x" if byte else "0" for byte in first[:4]), "utf-8")
    if name != "utf-8":
        return _decoded(codecs.getincrementaldecoder(name)("replace"), first, chunks)
    found = _DECLARED(first)
    declared = charset or (found[1].decode("ascii") if found else None)
    return _assumed_utf8(first, chunks, declared, problems)


def _assumed_utf8(first: bytes, chunks: Iterator[bytes], declared: str | None, problems: Problems) -> Iterator[bytes]:
    strict = codecs.getincrementaldecoder("utf-8")("strict")
    ascii_only = True
    chunk: bytes | None = first
    while chunk is not None:
        pending = strict.getstate()[0]
        if not pending and chunk.isascii():
            yield chunk
        else:
            try:
                text = strict.decode(chunk)
            except UnicodeDecodeError:
                decoder = _fallback(declared if ascii_only else "utf-8", problems)
                yield from _decoded(decoder, pending + chunk, chunks)
                return
            ascii_only = False
            yield text.encode()
        chunk = next(chunks, None)
    if strict.getstate()[0]:
        problems.add("the last character is cut off")


def _fallback(declared: str | None, problems: Problems) -> codecs.IncrementalDecoder:
    """For a document that is not UTF-8: what it declares, or else windows-1252, which has a character for every byte."""
    name = map_encoding_to_html5(declared, False) if declared else None
    if name is None or name in {"utf-8", "utf-16-le", "utf-16-be"}:
        problems.add("bytes that are not UTF-8 were replaced" if declared == "utf-8" else "not UTF-8 as it should be")
        name = "utf-8" if declared == "utf-8" else "cp1252"
    return codecs.getincrementaldecoder(name)("replace")


def _decoded(decoder: codecs.IncrementalDecoder, first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield decoder.decode(first).encode("utf-8", "replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")
