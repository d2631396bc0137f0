"""Endless addresses: `traps`, and hosts that never say 404: `soft404`.

Each trap host has an ordinary tree of real pages, all reachable without entering the trap; what lies behind the door of a
trap is endless, of no worth, and told by `Web.is_trap`. How many of its addresses a crawl asks for is the measure of it.
"""

import calendar
import re
from collections.abc import Callable

from gossamer.sim.web.model import Answer, Link, Node, Request, Settings, Site
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.table import Spot, TableSite, always, link_to
from gossamer.sim.web.words import hash64, heading, paragraphs, slug

__all__ = ["soft404", "traps"]

MONTHS = tuple(calendar.month_name)[1:]
FACETS = {"colour": ("red", "green", "blue", "grey"), "size": ("s", "m", "l"), "sort": ("price", "name", "age"),
          "page": ("1", "2", "3", "4", "5", "6", "7", "8"), "maker": ("ash", "elm", "oak", "fir", "yew")}  # fmt: skip


def traps(settings: Settings) -> list[Site]:
    """A calendar, session ids in query and path, facets, ever deeper relative links, a maze of made-up pages, a counter."""
    return [
        _trap(settings, "traps-calendar.test", "/calendar/2024/01", r"/calendar/(\d+)/(\d+)", _calendar),
        _trap(settings, "traps-facets.test", "/shop?page=1", r"/shop\?(.*)", _facets),
        _trap(settings, "traps-deeper.test", "/notes/", r"/notes/((?:more/|again/)*)", _deeper),
        _trap(settings, "traps-maze.test", "/maze/calm-harbour", r"/maze/([a-z-]+(?:/[a-z-]+)*)", _maze),
        _trap(settings, "traps-counter.test", "/list?start=0", r"/list\?start=(\d+)", _counter),
        _session_query(settings),
        _session_path(settings),
    ]


Draw = Callable[[TableSite, re.Match[str]], tuple[str, list[str], list[Link]]]


def _trap(settings: Settings, host: str, door: str, pattern: str, draw: Draw) -> Site:
    site = TableSite(settings, host)
    known = re.compile(pattern)
    site.link(door)

    def rule(target: str) -> Spot | None:
        found = known.fullmatch(target)
        if found is None:
            return None
        title, text, links = draw(site, found)
        answer = Answer(body=write_page(title, text, links, site=host).encode())
        return Spot(Node(site.url(target), "trap", tuple(link.url for link in links)), always(answer))

    site.rules.append(rule)
    return site


def _calendar(site: TableSite, found: re.Match[str]) -> tuple[str, list[str], list[Link]]:
    """Every month has a next and a previous one, and says that nothing happens in it."""
    year, month = int(found[1]), int(found[2])
    at = year * 12 + month - 1
    near = [f"/calendar/{(at + step) // 12:04d}/{(at + step) % 12 + 1:02d}" for step in (-1, 1, 12)]
    name = f"{MONTHS[(month - 1) % 12]} {year}"
    return (
        f"Calendar: {name}",
        [f"There are no events in {name}.", *CALENDAR_TEXT],
        [link_to(site.url(t), t) for t in near],
    )


CALENDAR_TEXT = paragraphs(1200, "calendar")
SHOP_TEXT = paragraphs(1500, "shop")


def _facets(site: TableSite, found: re.Match[str]) -> tuple[str, list[str], list[Link]]:
    """Every choice can be added, changed or taken away: the product of all, in one canonical order of parameters."""
    chosen = dict(part.split("=", 1) for part in found[1].split("&") if "=" in part)
    links = []
    for name, values in FACETS.items():
        for value in values:
            query = "&".join(f"{key}={text}" for key, text in sorted((chosen | {name: value}).items()))
            links.append(link_to(site.url(f"/shop?{query}"), f"/shop?{query}"))
    label = ", ".join(f"{key} {value}" for key, value in sorted(chosen.items()))
    return f"Shop: {label}", [f"Chosen: {label}.", *SHOP_TEXT], links


def _deeper(site: TableSite, found: re.Match[str]) -> tuple[str, list[str], list[Link]]:
    """A relative link that was meant to be absolute: each page is one folder deeper than the last."""
    here = f"/notes/{found[1]}"
    links = [link_to(site.url(here + step), step) for step in ("more/", "again/")]
    return "Notes", paragraphs(900, "notes", here), links


def _maze(site: TableSite, found: re.Match[str]) -> tuple[str, list[str], list[Link]]:
    """Pages made up on demand, their text too: nothing repeats but the shape."""
    name = found[1]
    targets = [f"/maze/{slug(hash64(name, way) % 60000)}/{slug(hash64(way, name) % 60000)}" for way in range(8)]
    return heading("maze", name), paragraphs(1500, "maze", name), [link_to(site.url(t), t) for t in targets]


def _counter(site: TableSite, found: re.Match[str]) -> tuple[str, list[str], list[Link]]:
    """A listing whose `next` never ends."""
    start = int(found[1])
    targets = [f"/list?start={start + step}" for step in (10, 20, 50)]
    return (
        f"Results from {start}",
        [f"Showing {start} to {start + 9}.", *SHOP_TEXT],
        [link_to(site.url(t), t) for t in targets],
    )


def _session_query(settings: Settings) -> Site:
    """Each link carries a fresh session id under a name that canonical rules know: the canonical address is the real page."""
    site = TableSite(settings, "traps-session-query.test", remembers=True)
    tree = site.tree
    names = ("PHPSESSID", "sid", ";jsessionid")

    def fresh(request: Request, answer: Answer) -> Answer:
        page = tree.page(request.target)
        if page is None:
            return answer
        token = f"{hash64(tree.key, request.asked):016x}{hash64(request.asked):016x}"
        links = [
            with_href(link, _with_session(link.url, names[at % 3], token)) for at, link in enumerate(tree.links(page))
        ]
        return Answer(body=write_page(tree.title(page), tree.text(page), links, site=site.host).encode(), fixed=False)

    def rule(target: str) -> Spot | None:
        """The same page under a session id: the server knows it, a crawler should not ask for it so."""
        bare = SESSION.sub("", target).replace("?&", "?").rstrip("?&")
        if bare == target or tree.page(bare) is None:
            return None
        return Spot(
            Node(site.url(target), "trap", of=site.url(bare)),
            lambda request: fresh(Request(bare, asked=request.asked), Answer()),
        )

    site.wrap = fresh
    site.rules.append(rule)
    return site


SESSION = re.compile(r";jsessionid=[0-9a-f]+|(?<=[?&])(?:PHPSESSID|sid)=[0-9a-f]+&?")


def _with_session(url: str, name: str, token: str) -> str:
    path, mark, query = url.partition("?")
    if name.startswith(";"):
        return f"{path}{name}={token}{mark}{query}"
    return f"{url}{'&' if mark else '?'}{name}={token}"


def with_href(link: Link, href: str) -> Link:
    return Link(link.url, href, link.text, link.nofollow)


def _session_path(settings: Settings) -> Site:
    """A second way into the site puts a session into the path: every page again, under ever new names."""
    site = TableSite(settings, "traps-session-path.test")
    tree = site.tree
    site.link("/s/0000000000000000/")
    shape = re.compile(r"/s/([0-9a-f]{16})(/.*)")

    def rule(target: str) -> Spot | None:
        found = shape.fullmatch(target)
        page = tree.page(found[2]) if found else None
        if found is None or page is None:
            return None
        token = f"{hash64(found[1], found[2]):016x}"
        links = [
            link_to(site.url(f"/s/{token}{tree.target(other)}"), f"/s/{token}{tree.target(other)}")
            for other in range(page * settings.fan + 1, page * settings.fan + settings.fan + 1)
            if other < tree.size
        ]
        links.append(link_to(site.url(f"/s/{token}/"), f"/s/{token}/"))
        body = write_page(tree.title(page), tree.text(page), links, site=site.host)
        return Spot(
            Node(site.url(target), "trap", tuple(link.url for link in links), of=tree.url(page)),
            always(Answer(body=body.encode())),
        )

    site.rules.append(rule)
    return site


def soft404(settings: Settings) -> list[Site]:
    """Unknown addresses answer 200 with an apology; one host redirects them to its home page instead."""
    polite, moving = TableSite(settings, "soft404.test"), TableSite(settings, "soft404-home.test")
    dead = [f"/archive/{slug(number, 4040)}" for number in range(8)]
    for target in dead:
        polite.link(target)
        moving.link(target)

    def sorry(target: str) -> Spot | None:
        if (
            polite.tree.page(target) is not None
            or target in ("/robots.txt", "/sitemap.xml")
            or target.startswith("/members/")
        ):
            return None
        body = write_page(
            "Page not found", [f"We looked for {target} and found nothing.", *SORRY], [], site=polite.host
        )
        return Spot(Node(polite.url(target), "soft404"), always(Answer(body=body.encode())))

    def home(target: str) -> Spot | None:
        if (
            moving.tree.page(target) is not None
            or target in ("/robots.txt", "/sitemap.xml")
            or target.startswith("/members/")
        ):
            return None
        node = Node(moving.url(target), "redirect", (moving.url("/"),))
        return Spot(node, always(Answer(302, (("Location", "/"),))))

    polite.rules.append(sorry)
    moving.rules.append(home)
    return [polite, moving]


SORRY = paragraphs(500, "sorry")
