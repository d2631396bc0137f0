"""Which URLs belong to a crawl: a rule about places, decided from the seeds alone.

    host      the very hosts of the seeds
    domain    the registrable domains of the seeds (`www.`, `blog.` and the bare name are one site); the default
    prefix    URLs that begin with a seed's directory
    any       the whole web

`include` and `exclude` are regular expressions searched in the URL: with includes one of them has to be found, and no exclude may be.
A seed itself is always in scope. Every refusal is a sentence that names its rule.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from gossamer.errors import ConfigError
from gossamer.url import host_of, registrable_domain

__all__ = ["Reach", "Scope"]


class Reach(StrEnum):
    """How far from the seeds a crawl goes."""

    HOST = "host"
    DOMAIN = "domain"
    PREFIX = "prefix"
    ANY = "any"


class Scope:
    """The places of one crawl; built once, asked for every link."""

    def __init__(
        self,
        seeds: Iterable[str],
        reach: Reach = Reach.DOMAIN,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
    ) -> None:
        self.reach = reach
        self._seeds = frozenset(seeds)
        self._hosts = {host_of(seed) for seed in self._seeds}
        self._sites = {registrable_domain(host) or host for host in self._hosts}
        self._prefixes = tuple(sorted({_directory(seed) for seed in self._seeds}))
        self._include = [_compiled(pattern, "include") for pattern in include]
        self._exclude = [_compiled(pattern, "exclude") for pattern in exclude]
        self._known: dict[str, bool] = {}

    def holds(self, url: str) -> bool:
        """Whether the URL (canonical) belongs to the crawl."""
        if url in self._seeds:
            return True
        if self.reach is not Reach.ANY and not self._near(url):
            return False
        if self._include and not any(pattern.search(url) for pattern in self._include):
            return False
        return not any(pattern.search(url) for pattern in self._exclude)

    def refusal(self, url: str) -> str | None:
        """Why the URL does not belong to the crawl, in a sentence; None when it does."""
        if self.holds(url):
            return None
        if self.reach is not Reach.ANY and not self._near(url):
            places = {Reach.HOST: self._hosts, Reach.DOMAIN: self._sites, Reach.PREFIX: self._prefixes}[self.reach]
            shown = ", ".join(sorted(places)[:5]) + (", …" if len(places) > 5 else "")
            return f"The scope is {self.reach} ({shown}), and this URL lies outside."
        for pattern in self._exclude:
            if pattern.search(url):
                return f"The exclude pattern {pattern.pattern!r} is found in it."
        return "None of the include patterns is found in it."

    def _near(self, url: str) -> bool:
        if self.reach is Reach.PREFIX:
            return url.startswith(self._prefixes)
        host = host_of(url)
        if self.reach is Reach.HOST:
            return host in self._hosts
        known = self._known.get(host)
        if known is None:
            if len(self._known) > 100_000:
                self._known.clear()
            known = self._known[host] = (registrable_domain(host) or host) in self._sites
        return known


def _directory(url: str) -> str:
    path = url.partition("?")[0]
    return path[: path.rfind("/") + 1]


def _compiled(pattern: str, name: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(f"--{name} {pattern!r} is not a regular expression: {error}") from None
