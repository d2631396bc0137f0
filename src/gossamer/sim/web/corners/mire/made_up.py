"""Addresses that a server makes up: answers to whatever is asked, mazes, piled-up relative links, a page for every trade and town."""

import re

from gossamer.sim.web.corners.mire.drawing import Drawn, dialect, drawn_site, trap_count, tree_part
from gossamer.sim.web.model import Settings, Site
from gossamer.sim.web.words import hash64, heading, paragraphs, slug, unslug

__all__ = ["deeper", "flood", "lost", "maze"]

FAN = 6
TRADES = [
    "plumbing",
    "roofing",
    "catering",
    "tutoring",
    "gardening",
    "painting",
    "moving",
    "cleaning",
    "tiling",
    "welding",
]
ASIDES = ("about", "terms", "help")


def lost(settings: Settings) -> Site:
    """No address is unknown: each gets an apology, and suggestions as made up as itself."""
    count = trap_count(settings, settings.corner_pages)
    find = dialect(settings, "find", "find", "search-help", "try", "maybe")

    def draw(target: str) -> Drawn | None:
        if (
            site.tree.page(target) is not None
            or target in ("/robots.txt", "/sitemap.xml")
            or target.startswith("/members/")
        ):
            return None
        found = re.fullmatch(rf"/{find}/([a-z-]+)(?:/([a-z-]+))?", target)
        number = unslug(found[2] or found[1]) if found else -1
        if number is None or number >= count:
            number = -1
        links = [suggestion(n) for n in range(number * FAN + FAN, number * FAN + 2 * FAN) if n < count]
        words = target.strip("/").replace("/", " ").replace("-", " ")
        return Drawn(
            f"Results for {words}",
            [f"We have nothing called {words}. Perhaps one of these is what you want:", *SORRY],
            links,
            "trap",
        )

    def suggestion(number: int) -> str:
        return f"/{find}/{slug(number)}" if number % 3 else f"/{find}/{slug(hash64(number) % 5000)}/{slug(number)}"

    dead = [f"/{section}/{slug(60000 + n)}" for n, section in enumerate(("news", "guides", "people", "maps"))]
    site = drawn_site(settings, "mire-lost.test", dead, draw)
    return site


SORRY = paragraphs(450, "lost and sorry")


def maze(settings: Settings) -> Site:
    """Pages made up on demand, each with a text of its own, each known only to the one before it."""
    count = trap_count(settings, settings.corner_pages)
    path = dialect(settings, "maze", "words", "lore", "read-on", "x")
    back = hash64(settings.seed, "maze goes back") % 2 == 0

    def at(number: int) -> str:
        return f"/{path}/{slug(hash64(settings.seed, number) % 60000)}/{slug(number)}"

    def draw(target: str) -> Drawn | None:
        found = re.fullmatch(rf"/{path}/[a-z-]+/([a-z-]+)", target)
        number = unslug(found[1]) if found else None
        if number is None or number >= count or at(number) != target:
            return None
        links = [at(n) for n in range(number * 8 + 1, number * 8 + 9) if n < count]
        if back and number:
            links.append(at((number - 1) // 8))
        return Drawn(
            heading("maze", settings.seed, number), paragraphs(1500, "maze", settings.seed, number), links, "trap"
        )

    return drawn_site(settings, "mire-maze.test", [at(0)], draw)


def deeper(settings: Settings) -> Site:
    """Each guide links to three pages as if they were beside it, and the server finds them wherever they are asked for."""
    count = settings.corner_pages
    path = dialect(settings, "guide", "guide", "manual", "lessons")
    deepest = 2 if settings.mire_depth else 30
    known = re.compile(rf"(?:/{path}/([a-z-]+))?((?:/(?:{'|'.join(ASIDES)}))*)/")

    def guide(number: int) -> str:
        return f"/{path}/{slug(number, 77)}/"

    def draw(target: str) -> Drawn | None:
        found = known.fullmatch(target)
        if found is None or target == "/":
            return None
        number = unslug(found[1], 77) if found[1] else None
        if found[1] and (number is None or number >= count):
            return None
        asides = found[2].split("/")[1:]
        beside = {f"{target}{name}/": f"{name}/" for name in ASIDES} if found[1] and len(asides) < deepest else {}
        if not asides:
            assert number is not None
            near = [guide((number * 3 + step) % count) for step in (1, 2, 3)]
            return Drawn(
                heading("guide", number),
                paragraphs(1300, settings.seed, "guide", number),
                [*near, *beside],
                hrefs=beside,
            )
        bare = f"/{asides[-1]}/"
        if not found[1] and len(asides) > 1:
            return None
        text = paragraphs(800, settings.seed, "aside", bare)
        kind = "trap" if found[1] else "page"
        return Drawn(
            heading("aside", bare),
            text,
            list(beside),
            "trap" if kind == "trap" else "page",
            of=bare if found[1] else None,
            hrefs=beside,
        )

    doors = [*(f"/{name}/" for name in ASIDES), *(guide(number) for number in range(0, count, 3))]
    return drawn_site(settings, "mire-deeper.test", doors, draw, tree_part(settings))


def flood(settings: Settings) -> Site:
    """The same page for every trade in every town."""
    count = trap_count(settings, settings.corner_pages)
    path = dialect(settings, "service", "services", "near-you", "local")

    def at(number: int) -> str:
        return f"/{path}/{TRADES[hash64(number) % len(TRADES)]}-in-{slug(number)}"

    def draw(target: str) -> Drawn | None:
        found = re.fullmatch(rf"/{path}/([a-z]+)-in-([a-z-]+)", target)
        number = unslug(found[2]) if found else None
        if found is None or number is None or number >= count or at(number) != target:
            return None
        town = found[2].replace("-", " ").title()
        offer = [
            f"Looking for {found[1]} in {town}? We have {20 + number % 80} experts of {found[1]} in {town}.",
            *OFFER,
            f"Call {number:07} for {found[1]} in {town} today.",
        ]
        return Drawn(
            f"{found[1].title()} in {town}",
            offer,
            [at(n) for n in range(number * FAN + 1, number * FAN + FAN + 1) if n < count],
            "trap",
        )

    return drawn_site(settings, "mire-flood.test", [at(0)], draw)


OFFER = paragraphs(900, "offer")
