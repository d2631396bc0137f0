"""What a site says it has: XML sitemaps and indexes, text lists, RSS and Atom feeds, plain or gzipped, read leniently.

    parse_sitemap(body, url, content_type, bounds) -> Sitemap(kind, entries, children, problems)

The bytes walk one way, in pieces of 64 KiB, and no stage holds more than a few of them, so a 50 MB sitemap costs the memory
of its entries and not that of a tree:

    body → unpack (gzip, at most twice)   _unpack
         → UTF-8 (BOM, declared, guessed)  _decode
         → what is it?                     _prolog: the root element, an HTML page, a list
         → entries                         _scan and _reader (XML), or _lines (a list)

Sitemaps are written by programs nobody looks after, and by people who wish the reader harm. So nothing here raises, names
are matched without regard to namespace and case, what cannot be used is skipped, and every such thing is one sentence in
`problems`. A DTD is stepped over and its entities do not exist: nothing can be expanded, nothing fetched. Work is bounded by
counts, never by a clock: the same input gives the same output. The counts are the fields of `SitemapBounds`.

Which site? The protocol's own rule (same host, at or below the sitemap's directory) is broken by most sites that are honest:
`www` lists the bare domain, a CDN host lists the shop, and robots.txt may name a sitemap anywhere. `inside` is therefore
"same registrable domain" (the same host where there is none, as for an address): one owner, by the Public Suffix List.
What is outside is marked, not dropped; the crawl's scope decides.
"""

from collections.abc import Iterator

from gossamer.sitemap._decode import as_utf8, charset_of
from gossamer.sitemap._lines import is_list, read_lines
from gossamer.sitemap._problems import Problems
from gossamer.sitemap._prolog import find_root
from gossamer.sitemap._reader import Enough, Reader
from gossamer.sitemap._scan import Scanner
from gossamer.sitemap._site import Site
from gossamer.sitemap._unpack import unpacked
from gossamer.sitemap._values import DEFAULT_BOUNDS, Alternate, Child, Entry, Kind, Sitemap, SitemapBounds

__all__ = [
    "DEFAULT_BOUNDS",
    "Alternate",
    "Child",
    "Entry",
    "Kind",
    "Sitemap",
    "SitemapBounds",
    "parse_sitemap",
]

# How much is looked at to decide what the document is: prologs are a few hundred bytes, a large DTD some tens of KiB.
_HEAD = 131_072

_KINDS: dict[str, Kind] = {
    "urlset": "urlset",
    "sitemapindex": "index",
    "rss": "rss",
    "rdf": "rss",
    "feed": "atom",
}


def parse_sitemap(
    body: bytes, url: str, content_type: str | None = None, bounds: SitemapBounds = DEFAULT_BOUNDS
) -> Sitemap:
    """Read the sitemap or feed that was fetched from `url`; never raises, and says in `problems` what was wrong with it."""
    problems = Problems()
    site = Site(url, bounds, problems)
    chunks = as_utf8(unpacked(body, bounds, problems), charset_of(content_type), problems)
    head, more = _peek(chunks)
    root = find_root(head, problems)
    if root is not None and root.name in _KINDS:
        kind = _KINDS[root.name]
        reader = Reader(kind, root.entities, site, bounds, problems)
        _read(_joined(head[root.at :], chunks), Scanner(reader, bounds, problems))
        return Sitemap(kind, tuple(reader.entries), tuple(reader.children), problems.sentences())
    if root is None and is_list(head):
        return read_lines(_joined(head, chunks), site, bounds, problems)
    if root is not None and root.name == "html":
        problems.add("an HTML page, not a sitemap")
    elif root is not None:
        problems.add("not a sitemap or feed: the root element is", root.name)
    elif not head.strip():
        problems.add("empty")
    else:
        problems.add("neither XML with a known root element nor a list of URLs" + (" in its head" if more else ""))
    return Sitemap(problems=problems.sentences())


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    """The first _HEAD bytes or so, and whether the iterator may have more."""
    taken: list[bytes] = []
    size = 0
    for chunk in chunks:
        taken.append(chunk)
        size += len(chunk)
        if size >= _HEAD:
            return b"".join(taken), True
    return b"".join(taken), False


def _joined(head: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from chunks


def _read(chunks: Iterator[bytes], scanner: Scanner) -> None:
    try:
        for chunk in chunks:
            scanner.feed(chunk)
        scanner.finish()
    except Enough:
        pass  # the problem is noted, and what was read stands
