"""CPU time of the small rules: traps, politeness, recrawl, outcome. Each is asked once a link or once a fetch.

No library does the same, so the anchor is what any URL rule must at least do: `urllib.parse.urlsplit`, in the same run.
"""

from collections.abc import Callable
from urllib.parse import urlsplit

from bench.harness import cpu_us, row, title
from gossamer import outcome, politeness, recrawl, traps

NOW = 1_700_000_000.0
UNITS = 20_000

URLS = [
    "https://example.com/",
    "https://en.example.org/wiki/Extreme_programming",
    "https://www.example.com/news/2019/04/23/how-the-web-was-won/",
    "https://shop.example.com/category/shoes?colour=red&size=42&sort=price&page=3",
    "https://docs.example.net/3.11/library/asyncio-task.html",
    "https://forum.example.com/viewtopic.php?f=12&t=48151&start=40",
    "https://cdn.example.com/assets/7f3d9c2b1a/img/logo.png",
    "https://example.com/login?next=https%3A%2F%2Fexample.com%2Faccount%2Forders",
] * (UNITS // 8)


def run() -> None:
    title("The small rules (CPU a call)")
    figures = cpu_us(_jobs(), UNITS)
    anchor = figures.pop("urlsplit")
    for name, value in figures.items():
        row(name, value, "µs", f"{value / anchor:.2f} x urlsplit")
    row("urlsplit (the anchor; its cache defeated)", anchor, "µs")


def _jobs() -> dict[str, Callable[[], object]]:
    rules, polite = traps.TrapRules(), politeness.Politeness()
    host = politeness.HostState(NOW, 0.0, 0.3)
    fine, throttled = politeness.Fetched(200, 0.25), politeness.Fetched(429, 0.25, "120")
    dated = politeness.Fetched(503, 0.25, "Sun, 06 Nov 2033 08:49:37 GMT")
    failed = politeness.Failed(outcome.ErrorClass.CONNECT_REFUSED, 10.0)
    page = recrawl.observe(recrawl.observe(recrawl.History(), False, NOW), True, NOW + 86_400)
    later = NOW + 200_000
    again = range(UNITS)

    def admit() -> None:
        shape = traps.HostShape()
        for url in URLS:
            shape.admit(url, NOW, rules)

    def split() -> None:
        for n, url in enumerate(URLS):
            urlsplit(f"{url}#{n}")

    return {
        "urlsplit": split,
        "traps.check": lambda: [traps.check(url, rules) for url in URLS],
        "traps.template_of": lambda: [traps.template_of(url) for url in URLS],
        "HostShape.admit": admit,
        "politeness.after, fetched": lambda: [politeness.after(host, fine, later, polite) for _ in again],
        "politeness.after, 429 in seconds": lambda: [politeness.after(host, throttled, later, polite) for _ in again],
        "politeness.after, 503 with a date": lambda: [politeness.after(host, dated, later, polite) for _ in again],
        "politeness.after, failed": lambda: [politeness.after(host, failed, later, polite) for _ in again],
        "recrawl.observe, changed": lambda: [recrawl.observe(page, True, later) for _ in again],
        "recrawl.observe, unchanged": lambda: [recrawl.observe(page, False, later) for _ in again],
        "recrawl.next_visit": lambda: [recrawl.next_visit(page, 1.0, 20_000.0, later) for _ in again],
        "outcome.for_status": lambda: [outcome.for_status(503) for _ in again],
    }
