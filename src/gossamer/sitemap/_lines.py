"""A list of URLs, one a line: the protocol's text form. Absolute URLs only; blank lines and comments do not count."""

import re
from collections.abc import Iterator

from gossamer.sitemap._problems import Problems
from gossamer.sitemap._site import Site
from gossamer.sitemap._values import Entry, Sitemap, SitemapBounds

__all__ = ["is_list", "read_lines"]

_LINE = re.compile(rb"[^\r\n]+")
_ABSOLUTE = re.compile(r"https?:", re.IGNORECASE).match
_FIRST_URL = re.compile(rb"(?:\A|[\r\n])[ \t]*https?://[^\s<>\"]", re.IGNORECASE).search
# An error message of a few lines may quote a URL, but begins no line with it this early.
_SNIFFED = 4_096


def is_list(head: bytes) -> bool:
    """Whether a document without a root element looks like a list: a line near its beginning is an absolute URL."""
    return not head.lstrip().startswith(b"<") and _FIRST_URL(head, 0, _SNIFFED) is not None


def read_lines(chunks: Iterator[bytes], site: Site, bounds: SitemapBounds, problems: Problems) -> Sitemap:
    entries: list[Entry] = []
    left = bounds.entries
    for line in _lines(chunks, bounds.url_length, problems):
        href = line.decode("utf-8", "replace").strip()
        if not href or href.startswith("#"):
            continue
        if not left:
            problems.add(f"more than {bounds.entries} lines; the rest was not read")
            break
        left -= 1
        if not _ABSOLUTE(href):
            problems.add("a line is not an absolute URL and was skipped", href)
        elif url := site.url(href, None):
            entries.append(Entry(url, inside=site.inside(url)))
    return Sitemap("text", tuple(entries), problems=problems.sentences())


def _lines(chunks: Iterator[bytes], longest: int, problems: Problems) -> Iterator[bytes]:
    """Lines, none of them kept beyond `longest` bytes or so; blank ones are passed over without a Python step for each."""
    begun = b""
    for chunk in chunks:
        data = begun + chunk
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        for found in _LINE.finditer(data, 0, end):
            yield found[0]
        begun = data[end:]
        # UTF-8 takes at most four bytes a character; what is longer is dropped up to the next line end.
        if len(begun) > 4 * longest:
            problems.add("a line is longer than a URL may be")
            begun = begun[: 4 * longest]
    if begun and not problems.cut:
        yield begun
