"""Sitemaps: CPU a URL of a sitemap of 50,000, beside lxml: reading the texts alone, and doing the same work."""

import gzip
from collections.abc import Callable
from datetime import datetime
from functools import partial
from urllib.parse import urljoin, urlsplit

from lxml import etree

from bench.harness import cpu_us, row, title
from gossamer.sitemap import parse_sitemap

URLS = 50_000
_PEER = "lxml, urljoin, urlsplit, datetime"
_SITE = "https://www.example.com/sitemap.xml"


def _sitemap(url: Callable[[int], str]) -> bytes:
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return (head + "".join(map(url, range(URLS))) + "</urlset>\n").encode()


def _full(number: int) -> str:
    return (
        f"  <url>\n    <loc>https://www.example.com/catalog/item-{number}?colour=red&amp;size={number % 9}</loc>\n"
        f"    <lastmod>2024-{number % 12 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:00+00:00</lastmod>\n"
        f"    <changefreq>weekly</changefreq>\n    <priority>0.{number % 10}</priority>\n  </url>\n"
    )


def _bare(number: int) -> str:
    return f"<url><loc>https://www.example.com/catalog/item-{number}</loc></url>\n"


def _lxml_locations(body: bytes) -> list[str]:
    """The usual recipe: the tree, then one XPath. Nothing is resolved, checked or dated."""
    found: list[str] = etree.fromstring(body).xpath("//*[local-name()='loc']/text()")
    return found


def _lxml_fields(body: bytes) -> list[dict[str, str]]:
    """All four fields as text, in one walk over the tree."""
    return [{child.tag.rpartition("}")[2]: child.text for child in url} for url in etree.fromstring(body)]


def _lxml_same_work(body: bytes) -> list[tuple[str, float | None, bool]]:
    """What a crawler needs, by the obvious means: absolute URLs, dates as numbers, whether the host is the sitemap's."""
    found = []
    for fields in _lxml_fields(body):
        url = urljoin(_SITE, fields["loc"])
        date = fields.get("lastmod")
        seconds = datetime.fromisoformat(date).timestamp() if date else None
        found.append((url, seconds, urlsplit(url).hostname == "www.example.com"))
    return found


def run() -> None:
    title(f"sitemap of {URLS:,} URLs, CPU a URL")
    for name, body in (("loc only", _sitemap(_bare)), ("all fields", _sitemap(_full))):
        assert len(parse_sitemap(body, _SITE).entries) == URLS
        packed = gzip.compress(body, 6)
        jobs: dict[str, Callable[[], object]] = {
            "gossamer": partial(parse_sitemap, body, _SITE),
            "gossamer, gzipped": partial(parse_sitemap, packed, _SITE),
            "lxml, tree and xpath to loc": partial(_lxml_locations, body),
            "lxml, tree and all fields as text": partial(_lxml_fields, body),
            _PEER: partial(_lxml_same_work, body),
        }
        times = cpu_us(jobs, URLS)
        for job, value in times.items():
            row(f"{name}: {job}", value, "µs/URL", f"{value / times[_PEER]:.2f} x the same work")
