"""Links: resolve and canonicalize, beside urljoin + w3lib, which most Python crawlers use."""

from itertools import cycle, islice
from urllib.parse import urljoin

from w3lib.url import canonicalize_url

from bench.harness import cpu_us, row, title
from gossamer.url import DEFAULT, LinkMemory, Resolver, canonicalize, fingerprint, registrable_domain, resolve

BASE = "https://docs.example.org/3/library/asyncio.html"
HREFS = [
    "../tutorial/index.html", "asyncio-task.html#coroutines", "/3/whatsnew/3.12.html", "https://www.example.com/a/b",
    "https://news.example.com/2024/05/story?id=123&utm_source=feed", "?page=2&sort=asc", "./functions.html", "//cdn.example.net/x",
    "search?q=caf%c3%a9&lang=fr", "genindex-A.html", "https://bücher.example/straße", "/~user/%7Efile",
]  # fmt: skip
LINKS = list(islice(cycle(HREFS), 6_000))


def ours() -> None:
    for href in LINKS:
        canonicalize(resolve(href, BASE))


def ours_remembering() -> None:
    memory = LinkMemory(DEFAULT)
    for _ in range(len(LINKS) // len(HREFS)):
        resolver = Resolver(BASE, memory)
        for href in HREFS:
            resolver.resolve(href)


def w3lib() -> None:
    for href in LINKS:
        canonicalize_url(urljoin(BASE, href))


def run() -> None:
    title("url: one link, resolved and canonicalized (bar 5 µs)")
    figures = cpu_us(
        {"gossamer": ours, "gossamer, seen on the last page": ours_remembering, "urljoin + w3lib": w3lib},
        len(LINKS),
    )
    for name, value in figures.items():
        row(
            name,
            value,
            "µs CPU/link",
            f"{figures['urljoin + w3lib'] / value:.1f} × faster than urljoin + w3lib",
        )
    url = canonicalize(resolve(HREFS[4], BASE))
    single = {
        "fingerprint": lambda: [fingerprint(url) for _ in range(1000)],
        "registrable_domain": lambda: [registrable_domain(url) for _ in range(1000)],
        "canonicalize, already canonical": lambda: [canonicalize(BASE) for _ in range(1000)],
    }
    for name, value in cpu_us(single, 1000).items():
        row(name, value, "µs CPU/call")
