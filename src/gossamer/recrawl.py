"""When has a page changed, and when is it worth looking again?

**How often a page changes.** Changes are taken as a Poisson process of unknown rate λ. Visits come at irregular times, and a
visit tells only whether something changed since the last, not how often. An interval τ without change has likelihood
e^(−λτ); one with a change has 1 − e^(−λτ), or λe^(−λa) when the page says that its last change was a seconds ago. The belief
about λ is kept as a gamma distribution of two numbers, `shape` (changes) over `exposure` (seconds watched). An unchanged or
dated interval updates it exactly. A changed one leads out of the family, so the gamma with the same mean and variance takes
its place. The estimate `shape / exposure` then stays within a few percent of the exact posterior mean, at one
update a visit and no list of intervals. The prior gives a page never visited a finite rate; sitemap hints only move the prior.

**When to look.** Visiting in proportion to the rate of change is wrong: a page that changes every minute is stale a minute
after any visit, and its share is better spent on pages that stay fresh. Freshness under a budget is largest where every
page's next visit is worth the same. A visit at age t is worth (w/λ)(1 − e^−x − x·e^−x) with x = λt, in seconds of freshness
times the weight w. A page is due when that reaches a threshold μ, common to all; `adjust_threshold` moves μ until spending
meets the budget. Where w/λ is below μ no age is enough: such a page is seen at the ceiling, as are unimportant and dead
ones (weight 0). None is visited more often than the floor or less often than the ceiling.
"""

import math
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "History",
    "Prior",
    "RecrawlPolicy",
    "adjust_threshold",
    "ages_at",
    "freshness",
    "next_visit",
    "observe",
    "optimal_frequencies",
    "prior_from",
    "rate",
    "value_of",
]

HOUR = 3_600.0
DAY = 86_400.0


class RecrawlPolicy(msgspec.Struct, frozen=True):
    """How pages are visited again; every time is in seconds."""

    name: Annotated[
        Literal["optimal", "adaptive", "fixed"],
        Meta(
            description="How the next visit is chosen: by equal marginal freshness (optimal), sooner after a change and "
            "later after none (adaptive), or always after the same time (fixed)."
        ),
    ] = "optimal"
    floor: Annotated[float, Meta(description="Shortest time between two visits.", ge=60, le=31_536_000)] = HOUR
    ceiling: Annotated[float, Meta(description="Longest time between two visits.", ge=60, le=315_360_000)] = 30 * DAY
    interval: Annotated[
        float,
        Meta(description="Time between visits of fixed, and the first one of adaptive.", ge=60, le=315_360_000),
    ] = 7 * DAY
    shorten: Annotated[float, Meta(description="Adaptive: factor on the interval after a change.", gt=0, le=1)] = 0.5
    lengthen: Annotated[float, Meta(description="Adaptive: factor on the interval after no change.", ge=1, le=100)] = (
        1.5
    )


class Prior(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is believed of a page's rate before it was watched, as if so many changes had been seen in so many seconds."""

    changes: float = 0.2
    seconds: float = 2 * DAY


class History(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is remembered of a page's visits: about 40 bytes."""

    visits: int = 0
    changes: int = 0
    """Visits that found a change."""
    shape: float = 0.0
    exposure: float = 0.0
    """The belief about the rate; both 0 before the first interval."""
    last_visit: int = 0
    last_change: int = 0
    """The visit that last found a change, or the first visit."""
    interval: int = 0
    """Seconds between the last two visits."""


ANY_PAGE = Prior()
DEFAULT = RecrawlPolicy()

# The weight of history: beyond so many visits old ones fade, so that a page that wakes up or falls asleep is noticed.
_MEMORY = 256
_LEAST_SHAPE = 1e-6
# "Last modified just now" is what generated pages always say; it dates the request, not the change.
_JUST_NOW = 60.0
_SLOWEST, _FASTEST = 1e-12, 1.0


def observe(
    history: History, changed: bool, now: float, prior: Prior = ANY_PAGE, modified: float | None = None
) -> History:
    """The history after a visit at `now` that found the page changed or not; `modified` is when it says it changed."""
    if not history.visits:
        return History(1, 0, 0.0, 0.0, int(now), int(now), 0)
    interval = now - history.last_visit
    shape, exposure = history.shape, history.exposure
    if not exposure:
        shape, exposure = max(prior.changes, _LEAST_SHAPE), max(prior.seconds, 1.0)
    if history.visits > _MEMORY:
        shape = max(shape * (1.0 - 1.0 / _MEMORY), _LEAST_SHAPE)
        exposure *= 1.0 - 1.0 / _MEMORY
    if interval > 0.0:  # a clock set back tells nothing of the page
        if not changed:
            exposure += interval
        elif modified is not None and history.last_visit < modified <= now - _JUST_NOW:
            shape, exposure = shape + 1.0, exposure + (now - modified)
        else:
            shape, exposure = _after_change(shape, exposure, interval)
    return History(
        history.visits + 1,
        history.changes + changed,
        shape,
        exposure,
        int(now),
        int(now) if changed else history.last_change,
        max(int(interval), 0),
    )


def _after_change(shape: float, exposure: float, interval: float) -> tuple[float, float]:
    """The gamma distribution with the mean and variance of the posterior, given at least one change in the interval.

    With q = (exposure / (exposure + interval))^shape, the probability of no change, the posterior is the prior gamma minus
    q times the gamma of longer exposure, over 1 − q; its first two moments are closed forms. Differences from 1 go
    through expm1 and log1p, since intervals may be tiny beside the exposure.
    """
    step = math.log1p(interval / exposure)
    none = -math.expm1(-shape * step)
    first = -math.expm1(-(shape + 1.0) * step)
    second = -math.expm1(-(shape + 2.0) * step)
    mean = shape / exposure * first / none
    spread = (shape + 1.0) / shape * (second / first) * (none / first) - 1.0  # variance over squared mean
    return 1.0 / spread, 1.0 / (spread * mean)


def rate(history: History, prior: Prior = ANY_PAGE) -> float:
    """Changes a second, by all that is known."""
    if history.exposure:
        estimate = history.shape / history.exposure
    else:
        estimate = prior.changes / max(prior.seconds, 1.0)
    return min(max(estimate, _SLOWEST), _FASTEST)


_CHANGEFREQ = {
    "always": HOUR,
    "hourly": HOUR,
    "daily": DAY,
    "weekly": 7 * DAY,
    "monthly": 30 * DAY,
    "yearly": 365 * DAY,
    "never": 3_650 * DAY,
}
# What a site says of itself weighs no more than this: a few visits overrule it.
_HINT_CHANGES, _HINT_SECONDS = 0.5, 7 * DAY


def prior_from(changefreq: str | None = None, lastmod_age: float | None = None, base: Prior = ANY_PAGE) -> Prior:
    """The prior that a sitemap's hints suggest: how often the page is said to change, and how long ago it last did."""
    changes, seconds = base.changes, base.seconds
    if period := _CHANGEFREQ.get((changefreq or "").strip().lower()):
        changes, seconds = _HINT_CHANGES, _HINT_CHANGES * period
    if lastmod_age is not None and 0.0 < lastmod_age < math.inf:
        changes, seconds = changes + _HINT_CHANGES, seconds + _HINT_CHANGES * lastmod_age
    weight = min(1.0, _HINT_SECONDS / seconds)
    return Prior(changes * weight, min(seconds, _HINT_SECONDS))


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
        interval = _optimal_age(rate(history, prior), weight, threshold, policy)
    elif policy.name == "adaptive":
        found_change = history.changes and history.last_change == history.last_visit
        factor = policy.shorten if found_change else policy.lengthen
        interval = history.interval * factor if history.interval else policy.interval
    else:
        interval = policy.interval
    interval = min(max(interval, policy.floor), policy.ceiling)
    return max(min(history.last_visit, now) + interval, now)


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


def adjust_threshold(
    threshold: float, spent: float, budget: float, gain: float = 0.5, least: float = 1.0, most: float = 1e9
) -> float:
    """The threshold for the next period, after `spent` visits where `budget` were wanted.

    Spending falls as the threshold rises, roughly by its square root while no page is at a bound, so a gain of a half
    approaches the budget without swinging; a step never more than halves or doubles.
    """
    ratio = spent / budget if budget > 0.0 else math.inf
    factor = math.pow(min(max(ratio, 1e-6), 1e6), gain)
    return min(max(threshold * min(max(factor, 0.5), 2.0), least), most)


Floats = NDArray[np.float64]


def ages_at(rates: ArrayLike, weights: ArrayLike, threshold: float) -> Floats:
    """For each page the age at which a visit is worth the threshold; infinite where it never is. Unbounded, vectorised."""
    lam, w = np.broadcast_arrays(np.asarray(rates, np.float64), np.asarray(weights, np.float64))
    ages = np.full(lam.shape, np.inf)
    reached = (lam > 0.0) & (threshold * lam < w)
    lam, w = lam[reached], w[reached]
    goal = -np.log1p(-threshold * lam / w)
    p = np.sqrt(2.0 * goal)
    x = np.where(goal < 2.0, p + p * p / 3.0 + p**3 / 36.0, goal + np.log1p(goal + np.log1p(goal)))
    for _ in range(3):
        x -= (x - np.log1p(x) - goal) * (1.0 + x) / x
    ages[reached] = x / lam
    return ages


def freshness(rates: ArrayLike, frequencies: ArrayLike) -> Floats:
    """The share of time that each page's copy is up to date when it is visited so often at even intervals."""
    lam, f = np.broadcast_arrays(np.asarray(rates, np.float64), np.asarray(frequencies, np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = f / lam * -np.expm1(-lam / f)
    return np.where(lam <= 0.0, 1.0, np.where(f <= 0.0, 0.0, share))


def optimal_frequencies(rates: ArrayLike, weights: ArrayLike, budget: float) -> Floats:
    """How often to visit each page, all rates known, so that weighted freshness is largest and the visits add up to budget."""
    lam, w = np.broadcast_arrays(np.asarray(rates, np.float64), np.asarray(weights, np.float64))
    active = (lam > 0.0) & (w > 0.0)
    if budget <= 0.0 or not active.any():
        return np.zeros(lam.shape)
    # Spending falls from infinity to nothing as the threshold rises to the largest w/λ; 100 halvings of its logarithm.
    high = math.log(float(np.max(w[active] / lam[active]))) + 1e-9
    low = high - 1.0
    while float(np.sum(1.0 / ages_at(lam, w, math.exp(low)))) < budget:
        low -= high - low
    for _ in range(100):
        middle = (low + high) / 2.0
        if float(np.sum(1.0 / ages_at(lam, w, math.exp(middle)))) > budget:
            low = middle
        else:
            high = middle
    more, less = 1.0 / ages_at(lam, w, math.exp(low)), 1.0 / ages_at(lam, w, math.exp(high))
    # A page visited far less often than it changes has a value of w/λ to the last digit: between two neighbouring
    # thresholds its frequency jumps, and what is left of the budget decides where in the jump it lies.
    gap = float(more.sum() - less.sum())
    share = (budget - float(less.sum())) / gap if gap > 0.0 else 0.0
    return np.asarray(less + share * (more - less))
