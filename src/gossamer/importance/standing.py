"""What a registrable domain has earned, and how much of the crawl it may have for it."""

import math
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.importance.sketch import distinct, noted

__all__ = ["Economy", "Standing", "Weights", "allowance", "authority", "hear", "links", "purity", "refer", "sprawl"]

DOUBT = 8.0
"""Pages before a share of copies is believed."""
GRANTED = 0.1
"""Authority of a domain for which nobody vouches, as far as its allowance goes."""
STRONG = 3.0
"""Ordinary links in one that is worth the mean: counted by what they carry, strong links have the say."""


class Weights(msgspec.Struct, frozen=True):
    """How best-first weighs what it knows."""

    base: Annotated[float, Meta(description="Pages allowed to a domain of authority 1.", ge=1)] = 4.0
    growth: Annotated[float, Meta(description="Power of its authority with which that grows.", ge=0, le=2)] = 0.9
    seed: Annotated[float, Meta(description="Authority of a domain that the operator named.", ge=0)] = 4.0
    pressure: Annotated[
        float, Meta(description="Octaves by which a domain is put back further at twice its allowance.", ge=0)
    ] = 1.0
    hosts: Annotated[float, Meta(description="Hosts that a domain may have without authority.", ge=1)] = 4.0
    depth: Annotated[float, Meta(description="Octaves lost with each link away from the seeds.", ge=0, le=1)] = 0.125
    sitemap: Annotated[float, Meta(description="Octaves a sitemap's priority can add or take.", ge=0, le=4)] = 1.0


class Economy(msgspec.Struct, array_like=True, gc=False):
    """The books of the whole crawl: what the root has paid and taken in, and what a link between domains is worth."""

    issued: float = 0.0
    returned: float = 0.0
    vouched: float = 0.0
    """What links from domain to domain have carried."""
    vouched_log: float = 0.0
    """The same, each amount times its logarithm."""

    @property
    def link_worth(self) -> float:
        """What a link to another domain carries: the geometric mean, each link counted by what it carries.

        Counted so, a million links that carry nothing change nothing.
        """
        return math.exp(self.vouched_log / self.vouched) if self.vouched > 0.0 else 1.0


class Standing(msgspec.Struct, array_like=True, gc=False):
    """What is known of a registrable domain (of a host, where it has none): 30 to 110 bytes."""

    fetched: int = 0
    copies: int = 0
    """Of its pages, those that were copies or near-copies."""
    hosts: int = 0
    seed: bool = False
    vouched: float = 0.0
    """What links from other domains have brought."""
    pot: float = 0.0
    """What was paid to pages that are fetched already: the next ones pass it on."""
    referrers: float = 0.0
    """How many domains link here, by the sketch."""
    sketch: bytes = b""
    told: int = 0
    """Sitemap priorities heard."""
    priorities: float = 0.0
    """Their sum."""


def refer(standing: Standing, domain: int, vouch: float, economy: Economy) -> None:
    """A page of another domain (64 bits of hash of its name) links here, and vouches for it with so much."""
    if vouch > 0.0:
        standing.vouched += vouch
        economy.vouched += vouch
        economy.vouched_log += vouch * math.log(vouch)
    sketch = noted(standing.sketch, domain)
    if sketch is not standing.sketch:
        standing.sketch = sketch
        standing.referrers = distinct(sketch)


def hear(standing: Standing, priority: float) -> None:
    """A sitemap of the domain has named a page's priority."""
    standing.told += 1
    standing.priorities += min(max(priority, 0.0), 1.0)


def links(standing: Standing, economy: Economy) -> float:
    """What other domains have vouched with, in ordinary links."""
    return STRONG * standing.vouched / economy.link_worth


def authority(standing: Standing, economy: Economy, weights: Weights) -> float:
    """In how many domains' opinion it stands: the smaller of two counts, since each alone can be made up.

    Domains cost little, so the number of those that link here says little by itself. What their links carry is conserved: all domains of
    a closed group together have no more than came in from outside, some times over. But one link of a famous page carries much, and is
    one opinion all the same.
    """
    earned = min(standing.referrers, links(standing, economy))
    return earned + weights.seed if standing.seed else earned


def purity(standing: Standing) -> float:
    """The share of its pages that are its own; near 1 until it has shown some."""
    return 1.0 - standing.copies / (standing.fetched + DOUBT)


def sprawl(standing: Standing, trust: float, weights: Weights) -> float:
    """1 for an ordinary domain; less where there are more hosts than its authority explains: names made by a machine."""
    return min(1.0, weights.hosts * (1.0 + trust) / standing.hosts) if standing.hosts else 1.0


def allowance(standing: Standing, trust: float, weights: Weights) -> float:
    """Pages it may have before the next ones are put back."""
    own = purity(standing)
    return weights.base * math.pow(GRANTED + trust, weights.growth) * own * own * sprawl(standing, trust, weights)
