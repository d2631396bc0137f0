"""The ordinary site: a tree of pages under `/`, every one of which can be reached by links from there.

Pages are numbered; page p links to pages fan·p + 1 … fan·p + fan, its children, so the tree is complete whatever the size
and nothing needs to be stored. Beside that a page links to its parent, to a few pages of its host drawn by hash, to other
hosts (home pages mostly, by the power law), and now and then, with rel=nofollow, to an address under /members/ that
exists and that nobody may ask for. The home page of plain host h links to the home pages of hosts fan·h + 1 …, so that all
hosts are reachable from the first.
"""

from collections.abc import Callable
from functools import cached_property

from gossamer.sim.web.model import Answer, Delivery, Link, Node, Request, Settings, Site
from gossamer.sim.web.names import canonical_target, host_name, popular_host, spell, url_of
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.words import NOUN_PHRASES, hash64, heading, paragraphs, slug, unit, unslug

__all__ = ["TreeSite"]

SECTIONS = ("news", "guides", "people", "places", "history", "recipes", "letters", "tools", "essays", "maps")
NO_ROBOTS = Answer(404, (("Content-Type", "text/plain"),), b"no rules here\n")
ALLOW_ALL = Answer(200, (("Content-Type", "text/plain"),), b"User-agent: *\nDisallow:\n")
NOT_FOUND = Answer(404, body=b"<!DOCTYPE html><title>Not found</title><p>There is no such page here.</p>\n")


class TreeSite:
    """`size` pages on `host`. `number` is given for plain hosts only: they link to each other; `extra` goes on the home page."""

    remembers = False
    crawl_delay: float | None = None
    hidden: tuple[str, ...] = ()
    family: Callable[[str], Site] | None = None

    def __init__(
        self,
        settings: Settings,
        host: str,
        size: int,
        number: int | None = None,
        extra: tuple[Link, ...] = (),
    ) -> None:
        self.settings = settings
        self.host = host
        self.size = size
        self.number = number
        self.extra = extra

    @cached_property
    def key(self) -> int:
        return hash64(self.settings.seed, "host", self.host)

    def target(self, page: int) -> str:
        """The canonical path of page number `page`."""
        if page == 0:
            return "/"
        name, form = slug(page, self.key >> 32), self.key % 8
        section = SECTIONS[((page + self.key) * 0x9E3779B97F4A7C15 >> 40) % len(SECTIONS)]  # a tenth of a hash's cost
        if form < 3:
            return f"/{section}/{name}"
        if form < 5:
            return f"/{section}/{name}.html"
        return f"/{section}/{name}/" if form < 7 else f"/read?topic={section}.{name}"

    def page(self, target: str) -> int | None:
        """The number of the page at a canonical path, or None."""
        if target == "/":
            return 0
        name = target.rstrip("/").rsplit("/", 1)[-1].removesuffix(".html").rsplit(".", 1)[-1]
        found = unslug(name, self.key >> 32)
        return found if found and found < self.size and self.target(found) == target else None

    def url(self, page: int) -> str:
        return url_of(self.host, self.target(page))

    def title(self, page: int) -> str:
        return heading(self.key, page)

    def links(self, page: int) -> list[Link]:
        """Every link of a page, in the order in which it writes them."""
        settings, size, key = self.settings, self.size, self.key
        here: list[int] = [0, (page - 1) // settings.fan if page else 0]
        here += range(page * settings.fan + 1, min(size, page * settings.fan + settings.fan + 1))
        here += (hash64(key, "near", page, at) % size for at in range(2 + key % 4))
        found = [self._link(self.host, self.target(other), page, at) for at, other in enumerate(here)]
        if hash64(key, "members", page) % 6 == 0:
            found.append(self._link(self.host, f"/members/{slug(page, key)}", page, 0, nofollow=True))
        if self.number is None:
            away: list[str] = []
        else:
            away = [self._away(page, at) for at in range(hash64(key, "away", page) % 4)]
            if page == 0:
                first = self.number * settings.fan + 1
                away += (
                    url_of(host_name(settings, n), "/")
                    for n in range(first, first + settings.fan)
                    if n < settings.hosts
                )
        for at, url in enumerate(away):
            host, _, target = url.removeprefix("http://").partition("/")
            found.append(self._link(host, "/" + target, page, 100 + at))
        return [*found, *self.extra] if page == 0 else found

    def _away(self, page: int, at: int) -> str:
        h = hash64(self.key, "to", page, at)
        number = popular_host(self.settings, h / 2**64)
        other = TreeSite(self.settings, host_name(self.settings, number), 1, number)
        return other.url(0)

    def _link(self, host: str, target: str, page: int, at: int, *, nofollow: bool = False) -> Link:
        h = hash64(self.key, "spell", page, at)
        return Link(url_of(host, target), spell(host, target, h, self.host), NOUN_PHRASES[h >> 40 & 4095], nofollow)

    def text(self, page: int) -> list[str]:
        length = (1100 + 13000 * unit(self.key, "size", page) ** 3) * self.settings.text
        return paragraphs(int(length), self.key, page)

    def render(self, page: int) -> bytes:
        return write_page(self.title(page), self.text(page), self.links(page), site=self.host).encode()

    def answer(self, request: Request) -> Answer:
        target = request.target
        if target == "/robots.txt":
            return NO_ROBOTS if self.key >> 8 & 1 else ALLOW_ALL
        page = self.page(target)
        if page is None:
            if target.startswith("/members/"):
                return Answer(
                    body=write_page("Members", paragraphs(900, self.key, target), [], site=self.host).encode()
                )
            return NOT_FOUND
        chunked = hash64(self.key, "chunked", page) % 8 == 0
        return Answer(body=self.render(page), delivery=Delivery(chunk=1024) if chunked else Delivery())

    def node(self, target: str) -> Node:
        url = url_of(self.host, target)
        page = self.page(canonical_target(target))
        if page is None:
            return Node(url, "forbidden" if target.startswith("/members/") else "missing")
        links = self.links(page)
        return Node(
            url,
            "page",
            tuple(dict.fromkeys(link.url for link in links if not link.nofollow)),
            tuple(link.url for link in links if link.nofollow),
            title=self.title(page),
        )
