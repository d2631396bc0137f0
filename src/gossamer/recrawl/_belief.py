"""What is known of a page: when it was visited, how often it had changed, and how often it therefore changes."""

import math

import msgspec

__all__ = ["ANY_PAGE", "DAY", "HOUR", "History", "Prior", "observe", "prior_from", "rate"]

HOUR = 3_600.0
DAY = 86_400.0


class Prior(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is believed of a page's rate before it was watched, as if so many changes had been seen in so many seconds."""

    changes: float = 0.35
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
