"""A corner host: an ordinary tree of pages with special addresses added to it.

A corner is written as a list of special addresses, each with what it answers and what a crawl should make of it. Unless it
says otherwise an address is linked from the home page, so that a crawl meets it. Families of addresses that cannot be
listed (an endless calendar) are rules instead: functions from an address to its spot.
"""

from collections.abc import Callable, Iterable

import msgspec

from gossamer.sim.web.model import PLAIN, Answer, Delivery, Kind, Link, Node, Request, Settings, Site
from gossamer.sim.web.names import canonical_target, url_of
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.tree import TreeSite
from gossamer.sim.web.words import hash64, heading, paragraphs

__all__ = ["HTML", "TEXT", "Spot", "TableSite", "link_to"]

HTML = ("Content-Type", "text/html; charset=utf-8")
TEXT = ("Content-Type", "text/plain; charset=utf-8")

Make = Callable[[Request], Answer]


class Spot(msgspec.Struct, frozen=True):
    """One special address: what it answers and what should become of it."""

    node: Node
    make: Make


def link_to(url: str, href: str | None = None, *, nofollow: bool = False) -> Link:
    return Link(url, url if href is None else href, heading("link", url)[:40], nofollow)


def always(answer: Answer) -> Make:
    return lambda request: answer


class TableSite:
    """A site of listed spots over a tree of ordinary pages."""

    hidden: tuple[str, ...] = ()

    def __init__(
        self,
        settings: Settings,
        host: str,
        *,
        size: int | None = None,
        remembers: bool = False,
        delay: float | None = None,
    ) -> None:
        self.settings = settings
        self.host = host
        self.remembers = remembers
        self.crawl_delay = delay
        self.tree = TreeSite(settings, host, settings.corner_pages if size is None else size)
        self.spots: dict[str, Spot] = {}
        self.rules: list[Callable[[str], Spot | None]] = []
        self.family: Callable[[str], Site] | None = None  # answers for every subdomain, where there are endlessly many
        self.wrap: Callable[[Request, Answer], Answer] | None = None  # last word on every answer of the tree
        self.verdict: Callable[[Node], Node] | None = None  # last word on every node of the tree

    def url(self, target: str) -> str:
        return target if "://" in target else url_of(self.host, target)

    def add(
        self,
        target: str,
        answer: Answer | Make,
        kind: Kind = "page",
        *,
        links: Iterable[str] = (),
        unfollowed: Iterable[str] = (),
        of: str | None = None,
        title: str | None = None,
        linked: bool = True,
        href: str | None = None,
    ) -> str:
        """Put an address on the table; gives its URL."""
        url = url_of(self.host, target)
        node = Node(
            url,
            kind,
            tuple(map(self.url, links)),
            tuple(map(self.url, unfollowed)),
            self.url(of) if of else None,
            title,
        )
        self.spots[target] = Spot(node, answer if callable(answer) else always(answer))
        if linked:
            self.link(target, href)
        return url

    def link(self, target: str, href: str | None = None, *, nofollow: bool = False) -> None:
        """Link to an address from the home page."""
        self.tree.extra += (link_to(self.url(target), target if href is None else href, nofollow=nofollow),)

    def page(
        self,
        target: str,
        kind: Kind = "page",
        *,
        links: Iterable[Link] = (),
        followed: bool = True,
        head: str = "",
        headers: Iterable[tuple[str, str]] = (HTML,),
        delivery: Delivery = PLAIN,
        of: str | None = None,
        linked: bool = True,
        href: str | None = None,
    ) -> str:
        """Add an ordinary page of text at a special address."""
        wanted = list(links)
        title = self.title(target)
        body = self.write(target, wanted, head).encode()
        return self.add(
            target,
            Answer(200, tuple(headers), body, delivery),
            kind,
            links=[link.url for link in wanted if followed and not link.nofollow],
            unfollowed=[link.url for link in wanted if not followed or link.nofollow],
            of=of,
            title=title,
            linked=linked,
            href=href,
        )

    def title(self, target: str) -> str:
        return heading(self.tree.key, target)

    def write(self, target: str, links: Iterable[Link] = (), head: str = "", size: int = 2500) -> str:
        """The HTML of a page of text for an address; other addresses, other text."""
        text = paragraphs(size + hash64(target) % 1500, self.tree.key, target)
        return write_page(self.title(target), text, list(links), site=self.host, head=head)

    def find(self, target: str) -> Spot | None:
        found = self.spots.get(target)
        for rule in self.rules:
            found = found or rule(target)
        return found

    def answer(self, request: Request) -> Answer:
        spot = self.find(request.target)
        if spot is not None:
            return spot.make(request)
        answer = self.tree.answer(request)
        return self.wrap(request, answer) if self.wrap is not None and request.target != "/robots.txt" else answer

    def node(self, target: str) -> Node:
        spot = self.find(canonical_target(target))
        if spot is not None:
            return spot.node
        node = self.tree.node(target)
        return self.verdict(node) if self.verdict is not None else node
