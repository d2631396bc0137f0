"""A diary: a dated archive and a calendar with some events in it, both real; the rest of the calendar is empty and goes on."""

import re

from gossamer.sim.web.corners.mire.drawing import Drawn, dialect, drawn_site, trap_count, tree_part
from gossamer.sim.web.model import Settings, Site
from gossamer.sim.web.words import heading, paragraphs, slug, unslug

__all__ = ["diary"]

HOST = "mire-diary.test"
A_MONTH = 8
SHOWN = 4
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def diary(settings: Settings) -> Site:
    posts = settings.corner_pages
    events = max(1, posts // 2)
    archived, busy = -(-posts // A_MONTH), -(-events // SHOWN)
    empty = trap_count(settings, posts + events + archived + busy + tree_part(settings)) // 5
    archive = dialect(settings, "archive", "archive", "older", "issues")
    calendar = dialect(settings, "calendar", "events", "agenda", "whats-on", "programme")
    event = dialect(settings, "event", "event", "date", "happening")
    first_post, first_event = 2015 * 12, 2023 * 12
    dated = re.compile(r"/(\d{4})/(\d\d)/(\d\d)/([a-z-]+)")
    monthly = re.compile(rf"/{archive}/(\d{{4}})/(\d\d)/?")
    calendared = re.compile(rf"/{calendar}/(\d{{4}})/(\d\d)(?:/(\d\d))?")
    single = re.compile(rf"/{event}/(\d+)")

    def post(number: int) -> str:
        month = first_post + number // A_MONTH
        return f"/{month // 12}/{month % 12 + 1:02}/{1 + number % A_MONTH * 3:02}/{slug(number)}"

    def month_of(name: str, month: int) -> str:
        return f"/{name}/{month // 12:04}/{month % 12 + 1:02}"

    def draw(target: str) -> Drawn | None:
        if found := dated.fullmatch(target):
            number = unslug(found[4])
            if number is None or number >= posts or post(number) != target:
                return None
            near = [post(other) for other in (number - 1, number + 1) if 0 <= other < posts]
            month = first_post + number // A_MONTH
            return Drawn(
                heading("post", target), paragraphs(1800, settings.seed, target), [month_of(archive, month), *near]
            )
        if found := monthly.fullmatch(target):
            month = int(found[1]) * 12 + int(found[2]) - 1
            numbers = [
                n for n in range((month - first_post) * A_MONTH, (month - first_post + 1) * A_MONTH) if 0 <= n < posts
            ]
            if not numbers:
                return None
            near = [month_of(archive, m) for m in (month - 1, month + 1) if first_post <= m < first_post + archived]
            told = [paragraphs(250, settings.seed, post(number))[0] for number in numbers]
            return Drawn(f"{MONTHS[month % 12]} {month // 12}", told, [*map(post, numbers), *near])
        if found := single.fullmatch(target):
            number, rest = divmod(int(found[1]) - 700, 7)
            if rest or not 0 <= number < events:
                return None
            at = month_of(calendar, first_event + number // SHOWN)
            return Drawn(heading("event", target), paragraphs(900, settings.seed, target), [at])
        found = calendared.fullmatch(target)
        return page_of_calendar(int(found[1]) * 12 + int(found[2]) - 1, found[3]) if found else None

    def has(month: int) -> bool:
        return -empty // 2 <= month - first_event <= busy + empty // 2 and 12 <= month < 9999 * 12

    def page_of_calendar(month: int, day: str | None) -> Drawn | None:
        if not has(month):
            return None
        name = f"{MONTHS[month % 12]} {month // 12}"
        here = month_of(calendar, month)
        if day is not None:
            return Drawn(f"{int(day)} {name}", [f"Nothing is planned for {int(day)} {name}.", *GRID], [here], "trap")
        near = [month_of(calendar, m) for m in (month - 1, month + 1) if has(m)]
        numbers = [
            n for n in range((month - first_event) * SHOWN, (month - first_event + 1) * SHOWN) if 0 <= n < events
        ]
        days = [f"{here}/{day:02}" for day in (5, 12, 19, 26)]
        if not numbers:
            return Drawn(name, [f"There are no events in {name}.", *GRID], [*near, *days], "trap")
        shown = [f"/{event}/{700 + number * 7}" for number in numbers]
        told = [paragraphs(350, settings.seed, link)[0] for link in shown]
        return Drawn(name, [*told, *GRID], [*shown, *near, *days])

    doors = [month_of(archive, first_post + archived - 1), month_of(calendar, first_event)]
    return drawn_site(settings, HOST, doors, draw, tree_part(settings))


GRID = [
    "Week " + " ".join(str(day) for day in range(1, 32)) + ". Choose a day to see what is planned.",
    *paragraphs(400, "grid"),
]
