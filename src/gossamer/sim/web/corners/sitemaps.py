"""Pages that only a sitemap names: `sitemaps`."""

import gzip

from gossamer.sim.web.model import Answer, Settings, Site
from gossamer.sim.web.table import TEXT, TableSite
from gossamer.sim.web.words import slug

__all__ = ["index_xml", "sitemaps", "urlset_xml"]

XML = ("Content-Type", "application/xml")
NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
HIDDEN = 6


def sitemaps(settings: Settings) -> list[Site]:
    """robots.txt names an index, a text list, a feed; /sitemap.xml unnamed; broken XML; an index that contains itself."""
    return [
        _index(settings),
        _default(settings),
        _text(settings),
        _feed(settings),
        _broken(settings),
        _cycle(settings),
    ]


def urlset_xml(urls: list[str], lastmod: str = "2023-11-14T22:13:20Z") -> str:
    entries = "".join(
        f"<url><loc>{url.replace('&', '&amp;')}</loc><lastmod>{lastmod}</lastmod><changefreq>weekly</changefreq>"
        f"<priority>0.{at % 9 + 1}</priority></url>\n"
        for at, url in enumerate(urls)
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACE}>\n{entries}</urlset>\n'


def index_xml(urls: list[str]) -> str:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>\n" for url in urls)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex {NAMESPACE}>\n{entries}</sitemapindex>\n'


def hide(site: TableSite, folder: str, count: int = HIDDEN) -> list[str]:
    """Pages that no page links to."""
    found = [site.page(f"/{folder}/{slug(number, 77)}", linked=False) for number in range(count)]
    site.hidden += tuple(found)
    return found


def name_in_robots(site: TableSite, target: str) -> None:
    body = f"User-agent: *\nDisallow:\n\nSitemap: {site.url(target)}\n"
    site.add("/robots.txt", Answer(200, (TEXT,), body.encode()), linked=False)


def file(site: TableSite, target: str, body: str | bytes, media: tuple[str, str] = XML) -> str:
    return site.add(
        target,
        Answer(200, (media,), body.encode() if isinstance(body, str) else body),
        "binary",
        linked=False,
    )


def _index(settings: Settings) -> Site:
    site = TableSite(settings, "sitemaps-index.test")
    name_in_robots(site, "/maps/index.xml")
    first = file(site, "/maps/first.xml", urlset_xml(hide(site, "first")))
    packed = gzip.compress(urlset_xml(hide(site, "second")).encode(), mtime=0)
    second = file(site, "/maps/second.xml.gz", packed, ("Content-Type", "application/gzip"))
    file(site, "/maps/index.xml", index_xml([first, second, site.url("/maps/missing.xml")]))
    return site


def _default(settings: Settings) -> Site:
    site = TableSite(settings, "sitemaps-default.test")
    site.add("/robots.txt", Answer(404, (TEXT,), b""), linked=False)
    file(site, "/sitemap.xml", urlset_xml(hide(site, "only")))
    return site


def _text(settings: Settings) -> Site:
    site = TableSite(settings, "sitemaps-text.test")
    name_in_robots(site, "/list.txt")
    file(site, "/list.txt", "\r\n".join(hide(site, "listed")), TEXT)
    return site


def _feed(settings: Settings) -> Site:
    site = TableSite(settings, "sitemaps-feed.test")
    name_in_robots(site, "/feed.rss")
    items = "".join(f"<item><title>News</title><link>{url}</link></item>\n" for url in hide(site, "story"))
    feed = f'<?xml version="1.0"?>\n<rss version="2.0"><channel><title>News</title>\n{items}</channel></rss>\n'
    file(site, "/feed.rss", feed, ("Content-Type", "application/rss+xml"))
    return site


def _broken(settings: Settings) -> Site:
    """The file ends in the middle of its last entry: the entries before it can be had."""
    site = TableSite(settings, "sitemaps-broken.test")
    name_in_robots(site, "/sitemap.xml")
    whole = urlset_xml([*hide(site, "rescued"), site.url("/never-whole")])
    file(site, "/sitemap.xml", whole[: whole.index("/never-whole") + 4])
    return site


def _cycle(settings: Settings) -> Site:
    site = TableSite(settings, "sitemaps-cycle.test")
    name_in_robots(site, "/a.xml")
    leaf = file(site, "/leaf.xml", urlset_xml(hide(site, "found")))
    file(site, "/a.xml", index_xml([site.url("/a.xml"), site.url("/b.xml")]))
    file(site, "/b.xml", index_xml([site.url("/a.xml"), leaf]))
    return site
