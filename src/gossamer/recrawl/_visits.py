"""When to look again: the policies, and the value of a visit that the default one is built on."""

import math
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer.recrawl._belief import ANY_PAGE, DAY, HOUR, History, Prior, rate

__all__ = ["DEFAULT", "RecrawlPolicy", "next_visit", "value_of"]


class RecrawlPolicy(msgspec.Struct, frozen=True):
    """How pages are visited again; every time is in seconds."""

    name: Annotated[
        Literal["optimal", "adaptive", "fixed"],
        Meta(
            description="How the next visit is chosen: by equal marginal freshness (optimal), sooner after a change and "
            "later after none (adaptive), or always after the same time (fixed)."
        ),
    ] = "optimal"
    floor: Annotated[float, Meta(description="Shortest time between two visits.", ge=1, le=31_536_000)] = HOUR
    ceiling: Annotated[float, Meta(description="Longest time between two visits.", ge=1, le=315_360_000)] = 30 * DAY
    interval: Annotated[
        float,
        Meta(description="Time between visits of fixed, and the first one of adaptive.", ge=1, le=315_360_000),
    ] = 7 * DAY
    shorten: Annotated[float, Meta(description="Adaptive: factor on the interval after a change.", gt=0, le=1)] = 0.5
    lengthen: Annotated[float, Meta(description="Adaptive: factor on the interval after no change.", ge=1, le=100)] = (
        1.5
    )


DEFAULT = RecrawlPolicy()


def value_of(rate: float, weight: float, age: float) -> float:
    """What a visit to a page of this age is worth: weighted seconds of freshness. Grows with age, up to weight / rate."""
    x = rate * age
    if x < 1e-4:  # the difference below would cancel; two terms of its series are exact to 1e-9
        return weight * age * x * (0.5 - x / 3.0)
    decay = math.exp(-x)
    return weight / rate * (1.0 - decay - x * decay)


def next_visit(
    history: History,
    weight: float,
    threshold: float,
    now: float,
    policy: RecrawlPolicy = DEFAULT,
    prior: Prior = ANY_PAGE,
) -> float:
    """When to look again, never before `now`."""
    if not history.visits:
        return now
    if policy.name == "optimal":
        interval = _doubtful_age(history, weight, threshold, policy, prior)
    elif policy.name == "adaptive":
        found_change = history.changes and history.last_change == history.last_visit
        factor = policy.shorten if found_change else policy.lengthen
        interval = history.interval * factor if history.interval else policy.interval
    else:
        interval = policy.interval
    interval = min(max(interval, policy.floor), policy.ceiling)
    return max(min(history.last_visit, now) + interval, now)


# A page seen so often is known well enough: doubt would move its next visit by less than a thirtieth.
_KNOWN = 16
# For a weight of 1 and a threshold of 1, pages of this rate are due soonest: x²·e^−x where e^x = 1 + x + x².
_DUE_SOONEST = 0.535161


def _doubtful_age(history: History, weight: float, threshold: float, policy: RecrawlPolicy, prior: Prior) -> float:
    """The earliest of the best ages for the rates a page may have: a factor of two either way after one visit, less with each.

    Too late a visit is a mistake that lasts: a page wrongly given up for changing too fast would be seen at the ceiling
    and no sooner. Too early a one costs a visit and brings knowledge.
    """
    likely = rate(history, prior)
    if history.visits < _KNOWN and threshold > 0.0:
        doubt = 1.0 + 1.0 / history.visits
        likely = min(max(_DUE_SOONEST * weight / threshold, likely / doubt), likely * doubt)
    return _optimal_age(likely, weight, threshold, policy)


def _optimal_age(rate: float, weight: float, threshold: float, policy: RecrawlPolicy) -> float:
    if value_of(rate, weight, policy.ceiling) <= threshold:
        return policy.ceiling
    if value_of(rate, weight, policy.floor) >= threshold:
        return policy.floor
    return _inverse(threshold * rate / weight) / rate


def _inverse(y: float) -> float:
    """The x with 1 − e^−x − x·e^−x = y, for 0 < y < 1.

    Taking logarithms, x − log(1 + x) = −log(1 − y): convex, so Newton's steps converge from either start, and three are
    enough for a relative error in y below 1e-8 (it is the branch −1 of Lambert's W).
    """
    goal = -math.log1p(-y)
    if goal < 2.0:
        p = math.sqrt(2.0 * goal)
        x = p + p * p / 3.0 + p * p * p / 36.0
    else:
        x = goal + math.log1p(goal + math.log1p(goal))
    for _ in range(3):
        x -= (x - math.log1p(x) - goal) * (1.0 + x) / x
    return x
