"""A shop whose listings can be sorted, filtered and viewed in every combination, and a forum that shows each thread many times."""

import re

from gossamer.sim.web.corners.mire.drawing import Drawn, dialect, drawn_site, tree_part
from gossamer.sim.web.model import Settings, Site
from gossamer.sim.web.words import NOUNS, hash64, heading, paragraphs, slug

__all__ = ["forum", "shop"]

LISTED = 10
A_KIND = 40
THREADS = 20
REPLIES = 7
MEMBERS = 6


def shop(settings: Settings) -> Site:
    count = settings.corner_pages
    path = dialect(settings, "shop", "shop", "products", "catalogue", "range")
    item = dialect(settings, "item", "product", "item", "p")
    kind, page = dialect(settings, "kind", "cat", "dept", "group"), dialect(settings, "page", "page", "p", "start")
    sort, view = (
        dialect(settings, "sort", "order", "sortby", "dir"),
        dialect(settings, "view", "view", "layout", "mode"),
    )
    colour, size = dialect(settings, "colour", "colour", "shade", "f1"), dialect(settings, "size", "size", "fit", "f2")
    price = dialect(settings, "price", "upto", "max", "f3")
    facets = {
        sort: ("price", "name", "new"),
        view: ("grid", "list"),
        colour: ("red", "green", "blue"),
        size: ("small", "large"),
    }
    kinds = -(-count // A_KIND)
    names = [NOUNS[hash64(settings.seed, "kind", n) % len(NOUNS)] + str(n) for n in range(kinds)]

    def product(number: int) -> str:
        return f"/{item}/{4000 + number * 3}-{slug(number)}"

    def listing(query: dict[str, str]) -> str:
        return f"/{path}" + ("?" + "&".join(f"{name}={query[name]}" for name in sorted(query)) if query else "")

    def draw(target: str) -> Drawn | None:
        if found := re.fullmatch(rf"/{item}/(\d+)-[a-z-]+", target):
            number, rest = divmod(int(found[1]) - 4000, 3)
            if rest or not 0 <= number < count or product(number) != target:
                return None
            near = [product((number + step) % count) for step in (1, 7)]
            return Drawn(
                heading("product", target),
                paragraphs(1100, settings.seed, target),
                [listing({kind: names[number // A_KIND]}), *near],
            )
        here, _, rest_of = target.partition("?")
        if here != f"/{path}":
            return None
        query = dict(part.split("=", 1) for part in rest_of.split("&") if "=" in part)
        return shelf(query) if set(query) <= {*facets, kind, page, price} else None

    def shelf(query: dict[str, str]) -> Drawn | None:
        plain = {name: value for name, value in query.items() if name in (kind, page)}
        if not plain.get(kind):
            return (
                Drawn("All kinds", paragraphs(700, settings.seed, "kinds"), [listing({kind: name}) for name in names])
                if not query
                else None
            )
        if plain[kind] not in names or any(query[name] not in facets[name] for name in query if name in facets):
            return None
        first = names.index(plain[kind]) * A_KIND + (int(plain.get(page, "1")) - 1) * LISTED
        last = min(first + LISTED, names.index(plain[kind]) * A_KIND + A_KIND, count)
        if not 0 <= first < last:
            return None
        shown = [n for n in range(first, last) if not query.get(colour) or facets[colour][n % 3] == query[colour]]
        shown = [n for n in shown if not query.get(size) or facets[size][n % 2] == query[size]]
        if query.get(sort):
            shown.sort(key=lambda n: hash64(query[sort], n))
        told = [heading("product", product(n)) + ". " + paragraphs(260, settings.seed, product(n))[0] for n in shown]
        links = [product(n) for n in shown]
        number = int(plain.get(page, "1"))
        if last - first == LISTED and last < min(count, (names.index(plain[kind]) + 1) * A_KIND):
            links.append(listing({**query, page: str(number + 1)}))
        for name, values in facets.items():
            links += [listing({**query, name: value}) for value in values]
        if not settings.mire_depth:
            links.append(listing({**query, price: str(int(query.get(price, "0")) + 10)}))
        title = f"{plain[kind]}, {number}"
        return Drawn(
            title,
            [f"{len(shown)} found.", *told],
            links,
            "trap" if len(query) > len(plain) else "page",
            of=listing(plain) if len(query) > len(plain) else None,
        )

    return drawn_site(settings, "mire-shop.test", [listing({})], draw, tree_part(settings))


def forum(settings: Settings) -> Site:
    count = settings.corner_pages
    thread, board = (
        dialect(settings, "thread", "thread", "topic", "t"),
        dialect(settings, "board", "board", "latest", "forum"),
    )
    reply, page = (
        dialect(settings, "reply", "reply", "quote", "replyto"),
        dialect(settings, "leaf", "page", "leaf", "pg"),
    )
    printed, member = (
        dialect(settings, "print", "print", "plain", "text"),
        dialect(settings, "member", "member", "user", "profile"),
    )
    boards = -(-count // THREADS)

    def draw(target: str) -> Drawn | None:
        if found := re.fullmatch(rf"/{board}(?:\?{page}=(\d+))?", target):
            number = int(found[1] or 1)
            if number > boards or found[1] == "1":
                return None
            shown = range((number - 1) * THREADS, min(count, number * THREADS))
            told = [heading("thread", n) + ": " + paragraphs(120, settings.seed, "thread", n)[0] for n in shown]
            further = [f"/{board}?{page}={number + 1}"] if number < boards else []
            return Drawn(f"Threads, {number}", told, [*(f"/{thread}/{9000 + n * 11}" for n in shown), *further])
        if found := re.fullmatch(rf"/{member}/(\d+)", target):
            number = int(found[1])
            if settings.mire_depth and number >= MEMBERS * count:
                return None
            card = f"Member {number} joined in {2000 + number % 24} and has written {number % 17} posts."
            others = [f"/{member}/{number + step}" for step in (1, 2)] if not settings.mire_depth else []
            return Drawn(f"Member {number}", [card, *CARD], others, "trap")
        found = re.fullmatch(rf"/({thread}|{printed})/(\d+)(?:\?({reply}|{page})=(\d+))?", target)
        if found is None:
            return None
        number, rest = divmod(int(found[2]) - 9000, 11)
        if rest or not 0 <= number < count:
            return None
        return page_of_thread(found, number)

    def page_of_thread(found: re.Match[str], number: int) -> Drawn | None:
        home, title = f"/{thread}/{found[2]}", heading("thread", number)
        text = paragraphs(1500, settings.seed, "thread", number)
        if found[1] == printed:
            return Drawn(title, text, [home], "trap", of=home) if found[3] is None else None
        if found[3] == reply:
            if settings.mire_depth and int(found[4]) >= REPLIES:
                return None
            further = [f"{home}?{reply}={int(found[4]) + 1}"] if not settings.mire_depth else []
            return Drawn(title, [*text, "Write your answer below and press send."], [home, *further], "trap", of=home)
        if found[3] == page:
            second = number % 4 == 0 and found[4] == "2"
            return Drawn(title, paragraphs(1200, settings.seed, "second", number), [home]) if second else None
        links = [f"/{board}", *(f"{home}?{reply}={at}" for at in range(REPLIES)), f"/{printed}/{found[2]}"]
        links += [f"/{member}/{number * MEMBERS + at}" for at in range(MEMBERS)]
        return Drawn(title, text, [*links, f"{home}?{page}=2"] if number % 4 == 0 else links)

    return drawn_site(settings, "mire-forum.test", [f"/{board}"], draw, tree_part(settings))


CARD = paragraphs(500, "member card")
