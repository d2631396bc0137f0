"""`Web`: the whole synthetic web as one pure value, and the oracle of a crawl of it.

It is endless in the sense that nothing is stored: asked about an address, it computes. Plain hosts are a power law of
ordinary sites; each corner that is switched on adds hosts of its own, linked from the plain ones.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

import msgspec

from gossamer.errors import ConfigError
from gossamer.sim.web.corners import CORNERS
from gossamer.sim.web.corners.changing import HOST as CHANGING
from gossamer.sim.web.corners.changing import Change, Schedule, changes, schedule
from gossamer.sim.web.model import Answer, Kind, Link, Node, Request, Scope, Settings, Site
from gossamer.sim.web.names import canonical_target, domain_of, host_name, host_number, host_size, url_of
from gossamer.sim.web.tree import TreeSite

__all__ = ["Expected", "Web"]

MISDIRECTED = Answer(421, (("Content-Type", "text/plain"),), b"no such host in this web\n")


class Expected(msgspec.Struct, frozen=True, dict=True):
    """What a correct crawl comes to: each address it meets, by what should become of it."""

    nodes: dict[str, Node]

    def urls(self, *kinds: Kind) -> frozenset[str]:
        """The addresses of these kinds."""
        return frozenset(url for url, node in self.nodes.items() if node.kind in kinds)

    @cached_property
    def stored(self) -> frozenset[str]:
        """Must be stored, each with its own body."""
        return self.urls("page")

    @cached_property
    def fetched(self) -> frozenset[str]:
        """Must be asked for: everything but traps, hostile pages (their fate is free) and the forbidden."""
        return self.urls("page", "copy", "near", "redirect", "noindex", "soft404", "missing", "failed", "binary")

    @cached_property
    def forbidden(self) -> frozenset[str]:
        """Linked somewhere, and never to be asked for."""
        return self.urls("forbidden")

    @cached_property
    def groups(self) -> dict[str, frozenset[str]]:
        """Original → it and all its copies, exact and near: of each group's exact copies one is stored."""
        found: dict[str, set[str]] = {}
        for url, node in self.nodes.items():
            if node.of is not None and node.kind in ("copy", "near"):
                found.setdefault(node.of, {node.of}).add(url)
        return {of: frozenset(urls) for of, urls in found.items()}


class Web:
    """The web of these settings: `Web(seed=1, hosts=200, pages=5000, corners={"robots", "traps"})`; `corners="all"` is all."""

    def __init__(self, settings: Settings | None = None, /, **changes: object) -> None:
        if changes.get("corners") == "all":
            changes["corners"] = frozenset(CORNERS)
        plain = msgspec.to_builtins(settings or Settings()) | changes
        try:
            self.settings = msgspec.convert(plain, Settings)
        except msgspec.ValidationError as error:
            raise ConfigError(f"the synthetic web cannot be made so: {error}") from error
        unknown = self.settings.corners - CORNERS.keys()
        if unknown:
            raise ConfigError(f"no such corner: {', '.join(sorted(unknown))}; there are {', '.join(sorted(CORNERS))}")
        if self.settings.pages < self.settings.hosts:
            raise ConfigError("a host has at least one page: `pages` must not be less than `hosts`")
        self._plain = lru_cache(maxsize=4096)(self._plain_site)

    @cached_property
    def _corners(self) -> dict[str, dict[str, Site]]:
        settings = self.settings
        return {
            name: {site.host: site for site in CORNERS[name](settings) if site.host not in settings.without}
            for name in sorted(settings.corners)
        }

    @cached_property
    def _corner_sites(self) -> dict[str, Site]:
        return {host: site for sites in self._corners.values() for host, site in sites.items()}

    def _plain_site(self, number: int) -> TreeSite:
        settings, corner_hosts = self.settings, list(self._corner_sites)
        roots = (url_of(host, "/") for host in corner_hosts[number :: settings.hosts])
        extra = tuple(Link(url, url, url) for url in roots)
        return TreeSite(settings, host_name(settings, number), host_size(settings, number), number, extra)

    def site(self, host: str) -> Site | None:
        """The site that answers for a host, or None: no such host in this web."""
        found = self._corner_sites.get(host)
        if found is None:
            number = host_number(self.settings, host)
            if number is not None:
                return self._plain(number)
            parent = self._corner_sites.get(host.partition(".")[2])
            found = parent.family(host) if parent is not None and parent.family is not None else None
        return found

    def corner_hosts(self, corner: str) -> list[str]:
        """The hosts dedicated to a corner; none where it is not switched on."""
        return list(self._corners.get(corner, ()))

    def hosts(self) -> Iterator[str]:
        """Every host, the plain ones first."""
        yield from (host_name(self.settings, number) for number in range(self.settings.hosts))
        yield from self._corner_sites

    def seeds(self, *, every_host: bool = False) -> list[str]:
        """The home page from which, with scope `any`, all is reachable; or the home page of every host."""
        return (
            [url_of(host, "/") for host in self.hosts()] if every_host else [url_of(host_name(self.settings, 0), "/")]
        )

    def answer(self, host: str, request: Request) -> Answer:
        site = self.site(host)
        return MISDIRECTED if site is None else site.answer(request)

    def node(self, url: str) -> Node:
        """What should become of an address; `forbidden` where the host is not of this web."""
        host, target = split_url(url)
        site = self.site(host)
        return Node(url, "forbidden") if site is None else site.node(canonical_target(target))

    def is_trap(self, url: str) -> bool:
        return self.node(url).kind == "trap"

    def is_forbidden(self, url: str) -> bool:
        return self.node(url).kind == "forbidden"

    def version(self, url: str, at: float) -> int | None:
        """The version that a page of the changing corner has at a web time; None for a page without versions."""
        return self._versions[url].version(at) if url in self._versions else None

    def changes(self, since: float, until: float) -> list[Change]:
        """What changed, went or came back in that span of web time; nothing where the corner is not switched on."""
        return changes(self.settings, since, until) if "changing" in self.settings.corners else []

    @cached_property
    def _versions(self) -> dict[str, Schedule]:
        plans = (schedule(self.settings, number) for number in range(self.settings.corner_pages))
        return {url_of(CHANGING, plan.target): plan for plan in plans} if "changing" in self.settings.corners else {}

    def crawl_delays(self) -> dict[str, float]:
        """Host → Crawl-delay, for the corner hosts that have one."""
        return {host: site.crawl_delay for host, site in self._corner_sites.items() if site.crawl_delay is not None}

    def crawl_delay(self, host: str) -> float | None:
        site = self.site(host)
        return site.crawl_delay if site is not None else None

    def reachable(self, seeds: Iterable[str], scope: Scope = "any", *, sitemaps: bool = True) -> Expected:
        """The oracle: follow every link that a crawler should follow from the seeds, within the scope."""
        seeds = list(seeds)
        inside = within(seeds, scope)
        nodes: dict[str, Node] = {}
        waiting = deque(seeds)
        visited: set[str] = set()
        while waiting:
            url = waiting.popleft()
            if url in nodes or not inside(url):
                continue
            node = nodes[url] = self.node(url)
            host = split_url(url)[0]
            if host not in visited:
                visited.add(host)
                site = self.site(host)
                waiting.extend(site.hidden if sitemaps and site is not None else ())
            if node.kind in ("trap", "forbidden"):
                continue
            waiting.extend(node.links)
            for other in node.unfollowed:
                if inside(other) and other not in nodes:
                    nodes[other] = self.node(other)
        return Expected(nodes)


class within:  # noqa: N801 - reads as a word: `inside = within(seeds, scope)`
    """Whether a URL is in the scope that these seeds span."""

    def __init__(self, seeds: list[str], scope: Scope) -> None:
        self.scope = scope
        self.prefixes = tuple(seed.rsplit("/", 1)[0] + "/" for seed in seeds)
        self.hosts = {split_url(seed)[0] for seed in seeds}
        self.domains = {domain_of(host) for host in self.hosts}

    def __call__(self, url: str) -> bool:
        host = split_url(url)[0]
        if self.scope == "any":
            return True
        if self.scope == "prefix":
            return url.startswith(self.prefixes)
        return host in self.hosts if self.scope == "host" else domain_of(host) in self.domains


def split_url(url: str) -> tuple[str, str]:
    """Host and target of a canonical URL of this web."""
    host, slash, target = url.partition("://")[2].partition("/")
    return host, slash + target or "/"
