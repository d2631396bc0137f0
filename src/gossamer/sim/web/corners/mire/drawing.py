"""What the sites of the mire share: a page drawn from its address, and a choice of names by the seed."""

from collections.abc import Callable

import msgspec

from gossamer.sim.web.model import Answer, Kind, Link, Node, Settings
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.table import Spot, TableSite, always, link_to
from gossamer.sim.web.words import hash64

__all__ = ["ENDLESS", "Drawn", "dialect", "drawn_site", "trap_count", "tree_part"]

ENDLESS = 1 << 40


class Drawn(msgspec.Struct, frozen=True):
    """A page: its title, its paragraphs and where its links lead, on its own host."""

    title: str
    text: list[str]
    links: list[str]
    kind: Kind = "page"
    of: str | None = None
    hrefs: dict[str, str] = {}
    """Links that the page writes in another way than as their path."""
    labels: dict[str, str] = {}
    """Links whose words are those of a link to another address: a session does not change what a page says."""


def dialect(settings: Settings, what: str, *names: str) -> str:
    """The name that this web has for something."""
    return names[hash64(settings.seed, "dialect", what) % len(names)]


def trap_count(settings: Settings, real: int) -> int:
    """How many trap addresses a site has beside so many real ones."""
    return settings.mire_depth * real if settings.mire_depth else ENDLESS


def tree_part(settings: Settings) -> int:
    """Pages of the ordinary tree of a site that has other real pages too."""
    return max(1, settings.corner_pages // 4)


def drawn_site(
    settings: Settings, host: str, doors: list[str], draw: Callable[[str], Drawn | None], size: int | None = None
) -> TableSite:
    """A site whose special pages are computed from their addresses; the home page links to the doors."""
    site = TableSite(settings, host, size=size)
    for door in doors:
        site.link(door)

    def rule(target: str) -> Spot | None:
        found = draw(target)
        if found is None:
            return None
        links = [
            Link(site.url(to), found.hrefs.get(to, to), link_to(site.url(found.labels.get(to, to))).text)
            for to in found.links
        ]
        body = write_page(found.title, found.text, links, site=host).encode()
        followed = tuple(dict.fromkeys(link.url for link in links))
        node = Node(site.url(target), found.kind, followed, of=site.url(found.of) if found.of else None)
        return Spot(node, always(Answer(body=body)))

    site.rules.append(rule)
    return site
