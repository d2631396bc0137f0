"""Session ids under names that no list has: in the query of nearly every link, or in the path of a second way through the site."""

import re

from gossamer.sim.web.corners.mire.drawing import Drawn, dialect, drawn_site
from gossamer.sim.web.model import Answer, Link, Node, Settings, Site
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.table import Spot, TableSite
from gossamer.sim.web.words import hash64, paragraphs

__all__ = ["paths", "visits"]

A_PAGE = 40


class Tokens:
    """Session ids, one after the other: the number of each is hidden in it."""

    def __init__(self, settings: Settings, what: str) -> None:
        self.key = hash64(settings.seed, what)
        self.digits = (8, 16, 24)[self.key % 3]
        self.ends = settings.mire_depth + 1 if settings.mire_depth else 1 << 30

    def token(self, number: int) -> str:
        number %= self.ends
        noise = f"{hash64(self.key, number):016x}" * 2
        return noise[: self.digits] + f"{number ^ self.key & 0xFFFFFFFF:08x}"

    def number(self, token: str) -> int | None:
        number = int(token[-8:], 16) ^ self.key & 0xFFFFFFFF
        return number if self.token(number) == token else None


def visits(settings: Settings) -> Site:
    """Each link carries a token, and each page gives its links the next one; a list of contents has the plain addresses."""
    contents = dialect(settings, "contents", "contents", "overview", "site-map")
    name = dialect(settings, "visit", "visit", "zid", "vtok", "k")
    tokens = Tokens(settings, "visits")
    pages = -(-settings.corner_pages // A_PAGE)

    def draw(target: str) -> Drawn | None:
        found = re.fullmatch(rf"/{contents}/(\d+)", target)
        if found is None or not 1 <= int(found[1]) <= pages:
            return None
        number = int(found[1])
        shown = [
            site.tree.target(page) for page in range((number - 1) * A_PAGE, min(settings.corner_pages, number * A_PAGE))
        ]
        further = [f"/{contents}/{number + 1}"] if number < pages else []
        return Drawn(f"Contents, {number}", paragraphs(300, settings.seed, target), [*further, *shown])

    site = drawn_site(settings, "mire-visits.test", [f"/{contents}/1"], draw)
    tree = site.tree
    carried = re.compile(rf"([?&]){name}=([0-9a-f]+)(?:&|$)")

    def with_token(target: str, number: int) -> str:
        path, _, query = target.partition("?")
        pairs = sorted([*(query.split("&") if query else []), f"{name}={tokens.token(number)}"])
        return f"{path}?{'&'.join(pairs)}"

    def written(target: str, number: int) -> tuple[bytes, tuple[str, ...]]:
        page = tree.page(target)
        assert page is not None
        links = []
        for link in tree.links(page):
            own = link.url.removeprefix(f"http://{site.host}")
            if own == link.url or link.nofollow or own.startswith(f"/{contents}/"):
                links.append(link)
            else:
                links.append(Link(site.url(with_token(own, number)), with_token(own, number), link.text))
        body = write_page(tree.title(page), tree.text(page), links, site=site.host).encode()
        return body, tuple(dict.fromkeys(link.url for link in links if not link.nofollow))

    def rule(target: str) -> Spot | None:
        found = carried.search(target)
        bare = carried.sub(r"\1", target).rstrip("?&") if found else target
        number = tokens.number(found[2]) if found else -1
        page = tree.page(bare)
        if page is None or number is None:
            return None
        body, links = written(bare, number + 1)
        node = Node(
            site.url(target),
            "trap" if found else "page",
            links,
            _unfollowed(site, page),
            site.url(bare) if found else None,
            tree.title(page),
        )
        return Spot(node, lambda request: Answer(body=body))

    site.rules.append(rule)
    return site


def _unfollowed(site: TableSite, page: int) -> tuple[str, ...]:
    return tuple(link.url for link in site.tree.links(page) if link.nofollow)


def paths(settings: Settings) -> Site:
    """A second way into the site puts a token into the path, and every page gives the next one to its links."""
    tokens = Tokens(settings, "paths")
    lead = dialect(settings, "session path", "/s/{}", "/visit-{}", "/{}")
    shape = re.compile(lead.format("([0-9a-f]{16,40})") + "(/.*)")

    def draw(target: str) -> Drawn | None:
        found = shape.fullmatch(target)
        page = site.tree.page(found[2]) if found else None
        number = tokens.number(found[1]) if found else None
        if page is None or number is None:
            return None
        fan, tree = settings.fan, site.tree
        others = [0, *(n for n in range(page * fan + 1, page * fan + fan + 1) if n < tree.size)]
        links = {lead.format(tokens.token(number + 1)) + tree.target(other): tree.target(other) for other in others}
        return Drawn(tree.title(page), tree.text(page), list(links), "trap", of=tree.target(page), labels=links)

    site = drawn_site(settings, "mire-paths.test", [lead.format(tokens.token(0)) + "/"], draw)
    return site
