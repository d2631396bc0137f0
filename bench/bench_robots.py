"""robots.txt: what a question costs on a file of 60 rules, and what reading the file costs, beside protego and urllib.

Three files of 60 rules: only prefixes; the mix that shops have (a third with `*`, some Allow); all with `*`. The URLs are
half of them under some rule. Every peer is asked the same URLs for the same agent, and its reading of the file is timed
together with its first answer, since ours compiles an agent's rules when they are first asked for. Memory is that of the
file after that answer.
"""

import random
import tracemalloc
from collections.abc import Callable
from urllib.robotparser import RobotFileParser

from protego import Protego

from bench.harness import cpu_us, row, title
from gossamer.robots import RobotsTxt

__all__ = ["run"]

AGENT = "Gossamer"
WORDS = [
    "cart",
    "checkout",
    "account",
    "search",
    "login",
    "wishlist",
    "review",
    "tag",
    "print",
    "api",
    "media",
    "help",
]
WORDS += [
    "catalog",
    "product",
    "compare",
    "filter",
    "sort",
    "session",
    "export",
    "feed",
    "archive",
    "user",
    "order",
]


def prefix_file(rng: random.Random) -> list[str]:
    return [f"Disallow: /{rng.choice(WORDS)}/{rng.choice(WORDS)}{n}" for n in range(60)]


def shop_file(rng: random.Random) -> list[str]:
    lines = [f"Disallow: /{rng.choice(WORDS)}/{rng.choice(WORDS)}{n}/" for n in range(30)]
    lines += [f"Allow: /{rng.choice(WORDS)}/{rng.choice(WORDS)}{n}/open" for n in range(10)]
    lines += [f"Disallow: /*?*{rng.choice(WORDS)}{n}=" for n in range(10)]
    lines += [f"Disallow: /*/{rng.choice(WORDS)}{n}$" for n in range(5)]
    lines += [f"Disallow: /{rng.choice(WORDS)}/*/{rng.choice(WORDS)}{n}" for n in range(5)]
    return lines


def wildcard_file(rng: random.Random) -> list[str]:
    return [f"Disallow: /*{rng.choice(WORDS)}{n}" for n in range(60)]


def urls_for(lines: list[str], rng: random.Random, count: int) -> list[str]:
    found = []
    for n in range(count):
        if n % 2:
            pattern = rng.choice(lines).split(": ")[1]
            path = pattern.replace("*", rng.choice(WORDS)).rstrip("$")
        else:
            path = f"/{rng.choice(WORDS)}/{rng.choice(WORDS)}-{rng.choice(WORDS)}-{n}.html"
            path += f"?page={n}" if n % 4 else ""
        found.append(f"https://www.example.com{path}")
    return found


def run() -> None:
    rng = random.Random(7)
    for name, make in (("prefixes", prefix_file), ("shop mix", shop_file), ("all with *", wildcard_file)):
        lines = make(rng)
        _compare(
            name,
            "\n".join(["User-agent: *", *lines, "Sitemap: https://www.example.com/s.xml", ""]),
            urls_for(lines, rng, 1_000),
        )


def _compare(name: str, text: str, urls: list[str]) -> None:
    body = text.encode()
    ours, protego, urllib = RobotsTxt.parse(body), Protego.parse(text), _urllib(text)
    asked: dict[str, Callable[[], object]] = {
        "gossamer": lambda: [ours.allows(AGENT, url) for url in urls],
        "protego": lambda: [protego.can_fetch(url, AGENT) for url in urls],
        "urllib": lambda: [urllib.can_fetch(AGENT, url) for url in urls],
    }
    first = urls[0]
    read: dict[str, Callable[[], object]] = {
        "gossamer": lambda: [RobotsTxt.parse(body).allows(AGENT, first) for _ in range(50)],
        "protego": lambda: [Protego.parse(text).can_fetch(first, AGENT) for _ in range(50)],
        "urllib": lambda: [_urllib(text).can_fetch(AGENT, first) for _ in range(50)],
    }
    title(f"robots: 60 rules, {name}")
    for what, jobs, units in (("allows", asked, len(urls)), ("parse and first answer", read, 50)):
        figures = cpu_us(jobs, units)
        for peer, figure in figures.items():
            note = "" if peer == "gossamer" else f"{figure / figures['gossamer']:.1f} × gossamer"
            row(f"{what}, {peer}", figure, "µs", note)
    memory = {
        "gossamer": _kilobytes(lambda: _asked_once(RobotsTxt.parse(body), first)),
        "protego": _kilobytes(lambda: Protego.parse(text)),
        "urllib": _kilobytes(lambda: _urllib(text)),
    }
    for peer, figure in memory.items():
        note = "" if peer == "gossamer" else f"{figure / memory['gossamer']:.1f} × gossamer"
        row(f"memory of a file ({len(body) / 1024:.1f} KB), {peer}", figure, "KB", note)


def _asked_once(rules: RobotsTxt, url: str) -> RobotsTxt:
    rules.allows(AGENT, url)
    return rules


def _kilobytes(make: Callable[[], object], copies: int = 100) -> float:
    """What one more such object keeps in memory."""
    make()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = [make() for _ in range(copies)]
        return (tracemalloc.get_traced_memory()[0] - before) / 1024 / len(kept)
    finally:
        tracemalloc.stop()


def _urllib(text: str) -> RobotFileParser:
    parser = RobotFileParser()
    parser.parse(text.splitlines())
    return parser
