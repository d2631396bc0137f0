"""robots.txt as a worker reads it: fetched by lease, followed through redirects, remembered compiled.

The frontier hands out the lease for an origin's robots.txt before any page of it and keeps what was read. A worker compiles it once
and keeps the compiled form in a cache bounded by bytes: a hostile file of 500 KiB weighs as much as a hundred ordinary ones.

A redirect to another host is an errand there: that host's pause is kept too. RFC 9309 2.3.1.2 asks for at least five.
"""

import asyncio
from collections import OrderedDict

import msgspec

from gossamer.errors import InvalidURL
from gossamer.fetch import Failure, Fetcher, Request, Response
from gossamer.frontier import Done, Kind, Lease, Link, RobotsFile
from gossamer.outcome import Action, ErrorClass, for_error, settled
from gossamer.robots import RobotsTxt
from gossamer.settings import Settings
from gossamer.url import canonicalize, host_of, resolve
from gossamer.worker._leases import Leases
from gossamer.worker._rows import address_of

__all__ = ["RobotsDesk"]

KEPT = 24 * 3600.0
HOPS = 5
MAX_BODY = 512 * 1024
CACHE_BYTES = 32 << 20
BASE_WEIGHT = 8_192


class RobotsDesk:
    """Reads robots.txt files and answers from them."""

    def __init__(self, name: str, settings: Settings, frontier: Leases, fetcher: Fetcher) -> None:
        self._name = name
        self._settings = settings
        self._frontier = frontier
        self._fetcher = fetcher
        self._cache: OrderedDict[str, tuple[RobotsTxt, int]] = OrderedDict()
        self._weight = 0

    async def of(self, origin: str, now: float) -> RobotsTxt:
        """The rules of an origin; a lease of it was given, so they have been read."""
        held = self._cache.get(origin)
        if held is not None:
            self._cache.move_to_end(origin)
            return held[0]
        file = await self._frontier.robots(origin)
        return self._keep(origin, file.body if file is not None else b"")

    def _keep(self, origin: str, body: bytes) -> RobotsTxt:
        rules = RobotsTxt.parse(body)
        weight = BASE_WEIGHT + 16 * len(rules.source)
        old = self._cache.pop(origin, None)
        self._weight += weight - (old[1] if old is not None else 0)
        self._cache[origin] = (rules, weight)
        while self._weight > CACHE_BYTES and len(self._cache) > 1:
            self._weight -= self._cache.popitem(last=False)[1][1]
        return rules

    async def read(self, lease: Lease, now: float) -> tuple[Done, Response | None]:
        """Fetch the robots.txt that a lease names; what came of it, and the last answer for the archive."""
        origin = lease.url.removesuffix("/robots.txt")
        answer = await self._follow(lease)
        if isinstance(answer, Failure):
            return self._unreachable(lease, answer.error, answer.detail, answer.timings.total), None
        seconds = answer.timings.total
        if answer.status >= 500 or answer.status == 429:
            detail = f"robots.txt answers {answer.status}, so nothing may be fetched for now"
            done = self._unreachable(lease, ErrorClass.ROBOTS_UNREACHABLE, detail, seconds)
            retry_after = answer.header("retry-after")
            return Done(
                lease.id, done.action, answer.status, done.error, detail, seconds=seconds, retry_after=retry_after
            ), answer
        body = answer.content[:MAX_BODY] if 200 <= answer.status < 300 else b""
        rules = self._keep(origin, body)
        file = RobotsFile(origin, answer.status, rules.source, now, now + KEPT)
        agent = self._settings.user_agent
        rate = rules.request_rate(agent)
        delays = [d for d in (rules.crawl_delay(agent), rate.delay if rate is not None else None) if d is not None]
        return Done(
            lease.id, Action.DONE, answer.status, seconds=seconds, address=address_of(answer, self._settings), robots=file,
            crawl_delay=max(delays, default=None), links=tuple(self._sitemaps(origin, rules)),
        ), answer  # fmt: skip

    def _unreachable(self, lease: Lease, error: ErrorClass, detail: str, seconds: float) -> Done:
        outcome = for_error(error)
        action = Action.DEAD if settled(outcome, lease.attempt) in (Action.DEAD, Action.REFUSED) else Action.DEFER_HOST
        return Done(lease.id, action, error=error, detail=detail, seconds=seconds)

    async def _follow(self, lease: Lease) -> Response | Failure:
        url, home = lease.url, host_of(lease.url)
        errand: Lease | None = None
        for _ in range(HOPS + 1):
            answer = await self._fetcher.fetch(Request(url, max_body=MAX_BODY))
            if errand is not None:
                await self._frontier.complete(self._name, [_errand_done(errand, answer)], 0.0)
            if isinstance(answer, Failure) or answer.status not in (301, 302, 303, 307, 308):
                return answer
            try:
                url = canonicalize(resolve(answer.header("location") or "", url), self._settings.url)
            except InvalidURL:
                return answer
            # Its body is let go of: who holds memory may not wait for more.
            answer = msgspec.structs.replace(answer, body=b"", content=b"")
            if host_of(url) == home:
                errand = None
                await asyncio.sleep(self._settings.politeness.delay)
            else:
                errand = await self._permission(url)
                if errand is None:
                    return Failure(
                        url, ErrorClass.ROBOTS_UNREACHABLE, f"robots.txt moved to {host_of(url)}, which is busy"
                    )
        # RFC 9309 2.3.1.2: after more redirects than that it may count as unavailable, which means no restrictions.
        return answer

    async def _permission(self, url: str) -> Lease | None:
        for _ in range(20):
            errand = await self._frontier.errand(self._name, url, 0.0)
            if errand is not None:
                return errand
            await asyncio.sleep(max(0.1, self._settings.politeness.delay / 2))
        return None

    def _sitemaps(self, origin: str, rules: RobotsTxt) -> list[Link]:
        if not self._settings.sitemaps or self._settings.max_depth == 0:
            return []
        found = []
        for named in rules.sitemaps[:100] or (f"{origin}/sitemap.xml",):
            try:
                found.append(
                    Link(canonicalize(resolve(named, f"{origin}/robots.txt"), self._settings.url), kind=Kind.SITEMAP)
                )
            except InvalidURL:
                continue
        return found


def _errand_done(errand: Lease, answer: Response | Failure) -> Done:
    if isinstance(answer, Failure):
        return Done(errand.id, Action.DONE, error=answer.error, seconds=answer.timings.total)
    return Done(
        errand.id, Action.DONE, answer.status, seconds=answer.timings.total, retry_after=answer.header("retry-after")
    )
