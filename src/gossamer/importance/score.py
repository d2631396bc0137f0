"""Cash: how it moves when a page is fetched, and the places in the queue that follow from it."""

import math

import msgspec

from gossamer.importance.standing import Economy, Standing, Weights, allowance, authority, links, purity, sprawl

__all__ = [
    "CLASSES",
    "LAST_RANK",
    "Explanation",
    "Paid",
    "Term",
    "endow",
    "explain",
    "front_class",
    "rank",
    "spend",
    "turn_class",
]

DAMPING = 0.85
OUTWARD = 0.5
"""What of that goes to other domains, where a page has links of both kinds."""
MATCHED = 1.5
"""The root gives a page so many times what others have vouched for its domain, over the pages the domain has had."""
STAKE = 0.3
"""What is taken to have been vouched for a domain of which nothing is known."""
NEWCOMER = 0.03
"""The gift to a page for whose domain nobody vouches."""
FAITH = 3.0
"""A link of a domain with this authority vouches with half of what it carries. Below it goes with the cube: domains of little authority cannot
lift each other, however many they are."""
EARNED = 4.0
"""The authority with which half of a sitemap's priority is believed."""
POT = 0.5
"""What of its domain's pot a page passes on."""
WELCOME = 0.1
"""What of the gift to come counts when hosts are compared."""

STEPS = 4
"""Ranks an octave: a queue entry is rewritten when its cash has grown by a fifth."""
MIDDLE = 256
LAST_RANK = 511
LEAST = 2.0**-24
DEEPEST = 32
CLASSES = 32
_MIDDLE_CLASS = 16
_TURN_BITS = 3


class Paid(msgspec.Struct, frozen=True, gc=False):
    """What each link of a page receives."""

    inward: float
    """A link to the page's own domain."""
    outward: float
    """A link to another."""
    vouch: float
    """What a link to another domain counts for when authority is reckoned."""


class Term(msgspec.Struct, frozen=True):
    """One reason for a URL's place: the number it rests on, and the octaves it adds."""

    name: str
    value: float
    octaves: float


class Explanation(msgspec.Struct, frozen=True):
    """Why a URL is where it is: `octaves` is the sum of its terms, and each octave more is one front class better."""

    rank: int
    front: int
    octaves: float
    terms: tuple[Term, ...]
    authority: float
    referrers: float
    links: float
    """What has been vouched for the domain, in ordinary links."""
    allowance: float
    fetched: int
    purity: float
    sprawl: float


def endow(standing: Standing, economy: Economy) -> float:
    """A seed: its domain is the operator's choice, and this is the URL's first cash."""
    standing.seed = True
    economy.issued += 1.0
    return 1.0


def spend(
    standing: Standing,
    cash: float,
    inward: int,
    outward: int,
    economy: Economy,
    weights: Weights,
    *,
    copy: bool = False,
    again: bool = False,
) -> Paid:
    """A page was fetched that had collected `cash`, and has so many links to its own domain and to others: what each receives.

    The root adds its gift and the domain a part of its pot. What is not passed on goes to the root: the damping, and for a domain
    beyond its allowance all that is not covered by it. A page fetched `again` has no gift and counts no second time.
    """
    trust = authority(standing, economy, weights)
    kept = min(1.0, allowance(standing, trust, weights) / (standing.fetched + 1.0))
    drawn = standing.pot * POT
    total = cash + drawn
    standing.pot -= drawn
    if not again:
        gift = _gift(standing, trust, kept)
        economy.issued += gift
        total += gift
        standing.fetched += 1
        standing.copies += copy
    if not inward and not outward:
        economy.returned += total
        return Paid(0.0, 0.0, 0.0)
    passed = total * DAMPING * kept
    economy.returned += total - passed
    out = 0.0 if not outward else 1.0 if not inward else OUTWARD
    each = passed * out / outward if outward else 0.0
    cube = trust * trust * trust
    faith = cube / (FAITH * FAITH * FAITH + cube)
    return Paid(passed * (1.0 - out) / inward if inward else 0.0, each, each * faith)


def _gift(standing: Standing, trust: float, kept: float) -> float:
    """What the root gives a page of the domain: up to 1, as the domain is trusted, and as others have vouched for it."""
    matched = MATCHED * (standing.vouched + STAKE) / (standing.fetched + 1.0)
    cube = trust * trust * trust
    return kept if standing.seed else min((NEWCOMER + cube) / (1.0 + cube) * kept, matched)


def rank(
    cash: float, depth: int, standing: Standing, economy: Economy, weights: Weights, priority: float | None = None
) -> int:
    """The place of a URL in its host's queue: 1 to LAST_RANK, the smaller the better, four to an octave of cash."""
    octaves = math.log2(cash + LEAST) - weights.depth * min(depth, DEEPEST)
    if priority is not None and standing.told:
        octaves += _lift(priority, standing, authority(standing, economy, weights), weights)
    return max(1, min(LAST_RANK, MIDDLE - math.floor(STEPS * octaves)))


def _lift(priority: float, standing: Standing, trust: float, weights: Weights) -> float:
    """Against the mean of the domain's own priorities (one that says 1.0 of all its pages says nothing), believed as it is trusted."""
    above = min(max(priority, 0.0), 1.0) - standing.priorities / standing.told
    return weights.sitemap * above * trust / (trust + EARNED)


def front_class(best: int, standing: Standing, economy: Economy, weights: Weights) -> int:
    """The front class of a host whose best URL has this rank: 0 to CLASSES - 1, an octave each, the smaller the better."""
    trust = authority(standing, economy, weights)
    covered = allowance(standing, trust, weights) / (standing.fetched + 1.0)
    kept = min(1.0, covered)
    worth = 2.0 ** ((MIDDLE - best) / STEPS) + WELCOME * _gift(standing, trust, kept)
    return _class_of(math.log2(worth * covered) + weights.pressure * math.log2(kept))


def _class_of(octaves: float) -> int:
    return max(0, min(CLASSES - 1, _MIDDLE_CLASS - math.floor(octaves)))


def turn_class(turn: int) -> int:
    """Which of the classes that have a host ready is served at this turn (1, 2, 3 …): 0, the best, seven times of eight.

    The next is served at seven of the remaining eighth, and so on; the best instead where there are fewer classes than that.
    """
    return ((turn & -turn).bit_length() - 1) // _TURN_BITS


def explain(
    cash: float, depth: int, standing: Standing, economy: Economy, weights: Weights, priority: float | None = None
) -> Explanation:
    """The terms of a URL's place with their numbers, as if it were the best of its host."""
    trust = authority(standing, economy, weights)
    allowed = allowance(standing, trust, weights)
    covered = allowed / (standing.fetched + 1.0)
    kept = min(1.0, covered)
    place = rank(cash, depth, standing, economy, weights, priority)
    step = (MIDDLE - place) / STEPS
    gift = _gift(standing, trust, kept)
    lift = 0.0 if priority is None or not standing.told else _lift(priority, standing, trust, weights)
    terms = [
        Term("cash", cash, math.log2(cash + LEAST)),
        Term("depth", depth, -weights.depth * min(depth, DEEPEST)),
        Term("sitemap", 0.0 if priority is None else priority, lift),
    ]
    terms += [
        Term("rounding", place, step - sum(term.octaves for term in terms)),
        Term("gift", gift, math.log2(2.0**step + WELCOME * gift) - step),
        Term("allowance", covered, math.log2(covered)),
        Term("pressure", kept, weights.pressure * math.log2(kept)),
    ]
    octaves = sum(term.octaves for term in terms)
    return Explanation(
        place, front_class(place, standing, economy, weights), octaves, tuple(terms), trust, standing.referrers,
        links(standing, economy), allowed, standing.fetched, purity(standing),
        sprawl(standing, trust, weights),
    )  # fmt: skip
