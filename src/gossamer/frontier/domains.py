"""How many hosts each registrable domain has brought: subdomains cost nothing, so a hostile name server has millions of them.

A domain may have `traps.domain_hosts` hosts; a host beyond that is refused before anything is written down of it. Hosts of seeds are
never refused, and count. Suffixes under which strangers register (`co.uk`, and those of blog hosters that are on the Public
Suffix List) are no domains: each name below them has a budget of its own.

Counts live in memory, bounded, and on disk once a domain has several hosts; nearly all domains never do. A count that is forgotten errs on
the side of admitting.
"""

import msgspec
from rocksdict import WriteBatch

from gossamer.frontier.disk import Disk
from gossamer.frontier.records import encode
from gossamer.traps import Rule, Trap, TrapRules
from gossamer.url import registrable_domain

__all__ = ["DomainBook", "DomainCount", "decode_domain", "judged", "key"]

REMEMBERED = 50_000
WRITTEN_FROM = 16


class DomainCount(msgspec.Struct, array_like=True, gc=False):
    """What a registrable domain has brought."""

    hosts: int = 0
    refused: int = 0
    """URLs refused because their host was one too many."""


decode_domain = msgspec.msgpack.Decoder(DomainCount).decode


class DomainBook:
    """Counts hosts by registrable domain, and says when a domain has had enough of them."""

    def __init__(self, disk: Disk, rules: TrapRules) -> None:
        self._disk = disk
        self._rules = rules
        self._counts: dict[str, DomainCount] = {}
        self._changed: dict[str, DomainCount] = {}

    def admit(self, host: str, *, seed: bool = False) -> Trap | None:
        """Count a host that is new to the crawl, or say why it is one too many."""
        domain = registrable_domain(host)
        if domain is None:
            return None
        count = self._of(domain)
        trap = None if seed else judged(domain, count, self._rules)
        if trap is None:
            count.hosts += 1
        else:
            count.refused += 1
        if count.hosts >= WRITTEN_FROM or trap is not None:
            self._changed[domain] = count
        return trap

    def refusal(self, host: str) -> Trap | None:
        """Why a host that is not known would be refused; nothing is counted."""
        domain = registrable_domain(host)
        return None if domain is None else judged(domain, self._of(domain), self._rules)

    def write(self, batch: WriteBatch) -> None:
        """Put what changed into the transition's batch."""
        for domain, count in self._changed.items():
            batch.put(key(domain), encode(count), self._disk.to["meta"])
        self._changed.clear()
        if len(self._counts) > REMEMBERED:
            self._counts.clear()

    def _of(self, domain: str) -> DomainCount:
        count = self._counts.get(domain)
        if count is None:
            raw = self._disk.of["meta"].get(key(domain))
            count = self._counts[domain] = DomainCount() if raw is None else decode_domain(raw)
        return count


def judged(domain: str, count: DomainCount, rules: TrapRules) -> Trap | None:
    """Why a further host of the domain is one too many."""
    most = rules.domain_hosts
    if count.hosts < most:
        return None
    return Trap(
        Rule.DOMAIN_HOSTS,
        f"The domain {domain} has brought {count.hosts:,} hosts; at most {most:,} are followed.",
    )


def key(domain: str) -> bytes:
    return b"domain " + domain.encode("utf-8", "surrogatepass")
