"""Hosts that answer late, refuse for a while, or fail: `slow`, `throttle`, `errors`."""

import msgspec

from gossamer.sim.web.model import Answer, Delivery, Node, Request, Settings, Site
from gossamer.sim.web.table import TEXT, TableSite
from gossamer.sim.web.wire import http_date
from gossamer.sim.web.words import hash64, unit

__all__ = ["errors", "slow", "throttle"]

THROTTLE_EVERY = 6  # page requests between two refusals
SLOW_HOSTS = 5


def slow(settings: Settings) -> list[Site]:
    """Every answer comes after slow_seconds to twice that."""
    return [_slow(settings, f"slow-{number}.test") for number in range(SLOW_HOSTS)]


def _slow(settings: Settings, host: str) -> Site:
    site = TableSite(settings, host)

    def late(request: Request, answer: Answer) -> Answer:
        seconds = settings.slow_seconds * (1 + unit(host, request.target))
        delivery = msgspec.structs.replace(answer.delivery, delay=seconds)
        return msgspec.structs.replace(answer, delivery=delivery)

    site.wrap = late
    return site


def throttle(settings: Settings) -> list[Site]:
    """Now and then a host refuses and says how long to stay away; until then it goes on refusing."""
    return [
        _throttling(settings, "throttle-seconds.test", 429, "seconds"),
        _throttling(settings, "throttle-date.test", 429, "date"),
        _throttling(settings, "throttle-503.test", 503, "seconds"),
        _throttling(settings, "throttle-silent.test", 429, "silent"),
    ]


def _throttling(settings: Settings, host: str, status: int, form: str) -> Site:
    site = TableSite(settings, host, remembers=True)

    def sometimes(request: Request, answer: Answer) -> Answer:
        left = request.closed_until - request.monotonic
        # A host that names no time refuses once only: a client that backs off for minutes still finishes.
        starts = (
            request.asked == THROTTLE_EVERY
            if form == "silent"
            else request.asked % THROTTLE_EVERY == THROTTLE_EVERY - 1
        )
        if left <= 0 and not starts:
            return msgspec.structs.replace(answer, fixed=False)
        seconds = float(settings.retry_after) if left <= 0 else left
        whole = int(-(-seconds // 1))
        headers = {
            "seconds": (TEXT, ("Retry-After", str(whole))),
            # A date has whole seconds: one more, so that the promise is not shorter than the refusal.
            "date": (TEXT, ("Retry-After", http_date(int(request.wall) + whole + 1))),
            "silent": (TEXT,),
        }[form]
        kept = 0.0 if form == "silent" else seconds
        return Answer(status, headers, b"Too many requests.\n", fixed=False, closes_for=kept)

    site.wrap = sometimes
    return site


def errors(settings: Settings) -> list[Site]:
    """Failures that heal after one or two tries, and failures that do not. Only leaves fail for ever."""
    return [
        _failing(
            settings,
            "errors-5xx.test",
            [Answer(s, (TEXT,), b"broken\n", fixed=False) for s in (500, 502, 504)],
        ),
        _failing(settings, "errors-reset.test", [Answer(0, delivery=Delivery(reset=True), fixed=False)]),
        _failing(settings, "errors-empty.test", [Answer(0, delivery=Delivery(raw=b"", stop_after=0), fixed=False)]),
        _failing(settings, "errors-cut.test", None),
        _gone(settings),
    ]


def _failing(settings: Settings, host: str, failures: list[Answer] | None) -> Site:
    site = TableSite(settings, host, remembers=True)
    tree = site.tree

    def fate(target: str) -> int | None:
        """How many tries fail; None for all of them."""
        page = tree.page(target)
        if not page:
            return 0
        turn = (tree.key + page) % 6
        leaf = page * settings.fan + 1 >= tree.size
        if turn == 0 and leaf:
            return None
        return {1: 1, 2: 2}.get(turn, 0)

    def fail(request: Request, answer: Answer) -> Answer:
        tries = fate(request.target)
        if tries is not None and request.tries >= tries:
            return msgspec.structs.replace(answer, fixed=False)
        if failures is None:  # cut in the middle of the body, with a reset
            return msgspec.structs.replace(answer, delivery=Delivery(stop_after=600, reset=True), fixed=False)
        return failures[hash64(request.target) % len(failures)]

    def verdict(node: Node) -> Node:
        target = node.url.partition(host)[2]
        if node.kind == "page" and fate(target) is None:
            return Node(node.url, "failed")
        return node

    site.wrap, site.verdict = fail, verdict
    return site


def _gone(settings: Settings) -> Site:
    site = TableSite(settings, "errors-4xx.test")
    for status in (400, 401, 403, 404, 405, 406, 410, 418, 451):
        site.add(f"/answers/{status}", Answer(status, (TEXT,), b"no\n"), "missing")
    return site
