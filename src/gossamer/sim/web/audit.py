"""Reading the log as a judge: was the crawl polite, obedient and complete?

Every function is pure, from the records of a run to figures or to findings in words; an empty list of findings is a pass.
Times are those of the server: a gap runs from the last byte of one answer handed over to the head of the next request.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from gossamer.sim.web.log import Served
from gossamer.sim.web.model import Kind
from gossamer.sim.web.names import canonical_target, url_of
from gossamer.sim.web.plan import Expected, Web, split_url

__all__ = [
    "Harvest", "by_host", "delay_violations", "forbidden_requests", "harvest", "kinds_served", "max_busy", "max_connections", "min_gaps",
    "pages_served", "retry_after_violations", "storage_problems", "trap_share",
]  # fmt: skip


def by_host(log: Iterable[Served]) -> dict[str, list[Served]]:
    """The records of each host, by start."""
    found: dict[str, list[Served]] = {}
    for served in sorted(log, key=lambda s: s.start):
        found.setdefault(served.host, []).append(served)
    return found


def min_gaps(log: Iterable[Served]) -> dict[str, float]:
    """For each host asked more than once: the shortest time from the end of an answer to the start of the next request.

    Negative where the next request came before the answer was complete.
    """
    found = {}
    for host, records in by_host(log).items():
        if len(records) > 1:
            ended, gaps = records[0].end, []
            for served in records[1:]:
                gaps.append(served.start - ended)
                ended = max(ended, served.end)
            found[host] = min(gaps)
    return found


def max_busy(log: Iterable[Served]) -> dict[str, int]:
    """For each host: the most requests in progress at one time."""
    found: dict[str, int] = {}
    for host, records in by_host(log).items():
        edges = sorted([(s.start, 1) for s in records] + [(s.end, -1) for s in records], key=lambda e: (e[0], e[1]))
        now = most = 0
        for _, step in edges:
            now += step
            most = max(most, now)
        # An answer that took no measurable time still was one request.
        found[host] = max(most, 1)
    return found


def max_connections(log: Iterable[Served]) -> dict[str, int]:
    """For each host: the most connections that were open to it when a request came."""
    found: Counter[str] = Counter()
    for served in log:
        found[served.host] = max(found[served.host], served.connections)
    return dict(found)


def delay_violations(
    log: Iterable[Served],
    delay: float,
    crawl_delays: Mapping[str, float] | None = None,
    tolerance: float = 0.005,
) -> list[str]:
    """Requests that came sooner than the delay (of the host where it has one, when that is longer) after the last answer."""
    found = []
    for host, gap in min_gaps(log).items():
        least = max(delay, (crawl_delays or {}).get(host, 0.0))
        if gap < least - tolerance:
            found.append(f"{host}: {gap:.3f} s between an answer and the next request, {least:g} s asked for")
    return found


def retry_after_violations(log: Iterable[Served], tolerance: float = 0.005) -> list[str]:
    """Requests, other than for robots.txt, that came before a host's Retry-After had passed."""
    found = []
    for host, records in by_host(log).items():
        closed_until = 0.0
        for served in records:
            early = closed_until - served.start
            if early > tolerance and served.target != "/robots.txt":
                found.append(f"{host}{served.target}: {early:.3f} s before Retry-After had passed")
            if served.retry_after is not None:
                closed_until = max(closed_until, served.end + served.retry_after)
    return found


def _canonical(served: Served) -> str:
    return url_of(served.host, canonical_target(served.target))


def forbidden_requests(log: Iterable[Served], web: Web) -> list[str]:
    """Addresses asked for although robots.txt, nofollow or the guard forbid it, hosts outside this web included."""
    return sorted({s.url for s in log if s.target != "/robots.txt" and web.is_forbidden(_canonical(s))})


def pages_served(log: Iterable[Served], *statuses: int) -> Counter[str]:
    """How often each canonical address was answered (with one of these statuses, where any is given)."""
    return Counter(_canonical(s) for s in log if not statuses or s.status in statuses)


def kinds_served(log: Iterable[Served], web: Web) -> Counter[Kind]:
    """How many requests went to pages, to traps, to missing pages, … (robots.txt and /sitemap.xml are not counted)."""
    return Counter(web.node(_canonical(s)).kind for s in log if s.target not in ("/robots.txt", "/sitemap.xml"))


def trap_share(log: Iterable[Served], web: Web) -> float:
    """The share of requests that went into traps."""
    kinds = kinds_served(log, web)
    return kinds["trap"] / max(1, kinds.total())


class Harvest(msgspec.Struct, frozen=True):
    """What a crawl brought home: requests for pages, how many of them brought a real page for the first time, and how many there are."""

    asked: int
    found: int
    real: int

    @property
    def precision(self) -> float:
        """The share of requests that brought a real page nobody had brought before."""
        return self.found / max(1, self.asked)

    @property
    def recall(self) -> float:
        """The share of the real pages that were brought."""
        return self.found / max(1, self.real)


def harvest(log: Iterable[Served], web: Web, real: Iterable[str]) -> dict[str, Harvest]:
    """By host. A real page counts once, under whichever of its addresses (a session in the path) it was brought first."""
    wanted: dict[str, set[str]] = {}
    for url in real:
        wanted.setdefault(split_url(url)[0], set()).add(url)
    asked, found = Counter[str](), Counter[str]()
    missing = {host: set(urls) for host, urls in wanted.items()}
    for served in log:
        if served.target in ("/robots.txt", "/sitemap.xml") or served.host not in wanted:
            continue
        asked[served.host] += 1
        node = web.node(_canonical(served))
        url = node.of if node.kind == "trap" and node.of is not None else node.url
        if url in missing[served.host] and served.status == 200:
            missing[served.host].remove(url)
            found[served.host] += 1
    return {host: Harvest(asked[host], found[host], len(urls)) for host, urls in wanted.items()}


def storage_problems(stored: Iterable[str], expected: Expected, web: Web, *, near_skipped: bool = True) -> list[str]:
    """What is wrong with the set of addresses that a finished crawl stored with a body of their own.

    Of exact copies one is stored, whichever came first. Of near copies at least one is; where `near_skipped`, at most one.
    A real page counts as stored where the same page under a trap's address (a session in the path) came before it.
    """
    kept = {url: expected.nodes.get(url) or web.node(url) for url in stored}
    grouped = {url for urls in expected.groups.values() for url in urls}
    covered = {node.of for node in kept.values() if node.kind == "trap"}
    missing = expected.stored - grouped - kept.keys() - covered
    found = [f"not stored: {url}" for url in sorted(missing)]
    for of, urls in sorted(expected.groups.items()):
        exact = any(expected.nodes[url].kind == "copy" for url in urls if url != of)
        count = len(urls & kept.keys())
        if count == 0:
            found.append(f"not stored, nor any copy of it: {of}")
        elif count > 1 and (exact or near_skipped):
            found.append(f"stored {count} times: {of}")
    fit: frozenset[Kind] = frozenset({"page", "copy", "near", "soft404", "binary", "free", "trap"})
    for url, node in sorted(kept.items()):
        if node.kind not in fit:
            found.append(f"stored although {node.kind}: {url}")
        elif url not in expected.nodes and node.kind not in ("trap", "free", "soft404"):
            found.append(f"stored although out of scope or out of reach: {url}")
    return found
