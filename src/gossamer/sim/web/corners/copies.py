"""The same text again: `copies`.

Pages of this corner write their links absolute and canonical, so an exact copy leads nowhere that its original does not.
"""

from gossamer.sim.web.model import Answer, Kind, Settings, Site
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.table import HTML, TableSite, link_to
from gossamer.sim.web.words import hash64, paragraphs

__all__ = ["copies"]

ORIGINALS = 6
NEAR = 3


def copies(settings: Settings) -> list[Site]:
    """Exact copies under another path and on another host; near copies that differ in a date and a number."""
    site, mirror = TableSite(settings, "copies.test"), TableSite(settings, "copies-mirror.test")
    for number in range(ORIGINALS):
        original = f"/original/{number}"
        links = [link_to(site.url(f"/original/{number}/notes")), link_to(site.url("/"))]
        body = site.write(original, links).encode()
        urls = [link.url for link in links]
        site.add(original, Answer(body=body), links=urls, title=site.title(original))
        for copier, target in ((site, f"/print/{number}"), (mirror, original)):
            copier.add(
                target,
                Answer(body=body),
                "copy",
                links=urls,
                of=site.url(original),
                title=site.title(original),
            )
        site.page(f"/original/{number}/notes", linked=False)
        _editions(site, number)
    return [site, mirror]


def _editions(site: TableSite, number: int) -> None:
    """One long text, and the same with another date and another count of readers; each links to a page of its own."""
    base = f"/edition/{number}"
    text = paragraphs(9000, site.tree.key, base)
    for edition in range(NEAR + 1):
        target = f"{base}/{edition}" if edition else base
        h = hash64(target)
        stamp = f"Last seen on {h % 28 + 1} May {2000 + h % 25}; read by {h % 9000 + 1000} people."
        note = f"/edition-note/{number}/{edition}"
        links = [link_to(site.url(note)), link_to(site.url("/"))]
        html = write_page(site.title(base), [*text, stamp], links, site=site.host)
        kind: Kind = "near" if edition else "page"
        of = base if edition else None
        site.add(
            target,
            Answer(200, (HTML,), html.encode()),
            kind,
            links=[link.url for link in links],
            of=of,
            title=site.title(base),
        )
        site.page(note, linked=False)
