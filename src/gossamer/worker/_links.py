"""From the links of a page to the links of the frontier: what is followed, and what need not be said again.

Most links of a page were on the page before. A link that this worker has already reported, at this depth or a smaller one, is not
reported again: the frontier would only answer that it knows. The memory of what was reported is bounded; forgetting costs a
repeated report, nothing else. It holds hashes of 64 bits, as the frontier does: a host may send half a million URLs of 2,000
characters, and they are to cost a gigabyte nowhere.
"""

from gossamer.frontier import Kind, Lease, Link
from gossamer.parse import Page
from gossamer.scope import Scope
from gossamer.settings import Settings
from gossamer.sitemap import Sitemap
from gossamer.traps import check
from gossamer.url import canonicalize

__all__ = ["Follower"]

REMEMBERED = 500_000

# Which <link> elements name a page: the others are style sheets, icons and hints for browsers.
_LINK_RELS = frozenset(
    {"canonical", "next", "prev", "alternate", "amphtml", "index", "contents", "start", "help", "up"}
)


class Follower:
    """Decides which links of a page are discovered."""

    def __init__(self, settings: Settings, scope: Scope) -> None:
        self._settings = settings
        self._scope = scope
        self._reported: dict[int, int] = {}

    def admits(self, url: str, depth: int) -> bool:
        """Whether a canonical URL is in scope, not too deep and not a trap by its shape."""
        most = self._settings.max_depth
        if most is not None and depth > most:
            return False
        return url.startswith("http") and self._scope.holds(url) and check(url, self._settings.traps) is None

    def outside(self, lease: Lease) -> str | None:
        """Why a URL that is to be fetched is out of scope after all: the frontier may have left a parameter out of it."""
        return self._scope.refusal(lease.url) if lease.via is not None else None

    def _new(self, url: str, depth: int) -> bool:
        key = hash(url)
        before = self._reported.get(key)
        if before is not None and before <= depth:
            return False
        admitted = self.admits(url, depth)
        if not admitted and before is None and self._settings.max_depth is None:
            depth = -1  # out of scope at any depth when there is no limit to it
        if len(self._reported) >= REMEMBERED:
            self._reported.clear()
        self._reported[key] = depth
        return admitted

    def of_page(self, page: Page, lease: Lease) -> list[Link]:
        """The links of a page that the frontier may not know yet."""
        if page.robots.nofollow:
            return []
        found: list[Link] = []
        depth = lease.depth + 1
        # A page that has changed is asked all over again: what it links to may have been given up as gone since.
        new = self.admits if lease.visits else self._new
        for link in page.links:
            if link.kind == "link" and _LINK_RELS.isdisjoint(link.rel.split()):
                continue
            if link.rel and "nofollow" in link.rel:
                continue
            if new(link.url, depth):
                found.append(Link(link.url, depth))
        if page.refresh is not None:
            found += self.of_redirect(page.refresh.url, lease)
        if self._settings.sitemaps:
            for feed in page.feeds:
                url = canonicalize(feed.url, self._settings.url)
                if new(url, depth):
                    found.append(Link(url, depth, kind=Kind.SITEMAP))
        return found

    def of_redirect(self, target: str, lease: Lease) -> list[Link]:
        """Where a page says it went: as deep as the page itself, one hop further."""
        if lease.hops >= self._settings.max_redirects or not self._new(target, lease.depth):
            return []
        return [Link(target, lease.depth, hops=lease.hops + 1, kind=lease.kind)]

    def of_sitemap(self, sitemap: Sitemap, lease: Lease) -> list[Link]:
        """Pages and further sitemaps that a sitemap names; pages count as one link away from the seeds."""
        found: list[Link] = []
        new = self.admits if lease.visits else self._new
        for entry in sitemap.entries:
            url = canonicalize(entry.url, self._settings.url)
            if new(url, 1):
                priority = entry.priority if entry.priority is not None else 0.5
                found.append(Link(url, 1, priority, lastmod=entry.lastmod or 0.0, changefreq=entry.changefreq))
        if lease.depth < SITEMAP_DEPTH:
            for child in sitemap.children:
                url = canonicalize(child.url, self._settings.url)
                if child.inside and self._new(url, 0):
                    found.append(Link(url, lease.depth + 1, kind=Kind.SITEMAP))
        return found


SITEMAP_DEPTH = 2
"""Sitemap indexes may name indexes, which the protocol forbids and some sites do; not without end."""
