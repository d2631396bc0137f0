"""What `gossamer freshness` tells, as values: its JSON object."""

import msgspec

from gossamer.crawl.freshness import Due, Pages, Share
from gossamer.crawl.spread import Distribution
from gossamer.crawl.stale import HostFreshness
from gossamer.crawl.visits import Visits

__all__ = ["Budget", "Freshness"]


class Budget(msgspec.Struct, frozen=True):
    """What revisits may cost, and how much of it they did."""

    visits_per_day: float
    """To a page, as set."""
    per_day: float
    """To all pages that are visited again."""
    used_in_last_hour: float
    """A share; where the crawl is younger than that, of what its age allowed."""
    used_in_last_day: float


class Freshness(msgspec.Struct, frozen=True, kw_only=True):
    """All that there is to say of how fresh a crawl is."""

    folder: str
    at: float
    host: str | None
    pages: Pages
    now: Share
    in_a_day: Share
    """Without visits until then."""
    in_a_week: Share
    ages: Distribution
    change_intervals: Distribution
    """As estimated, of pages visited more than once."""
    due: Due
    last_hour: Visits
    last_day: Visits
    budget: Budget
    revisits: int | None
    """Over all runs, by the frontier's books, as the next two; None when one host is asked for."""
    changed: int | None
    unchanged: int | None
    hosts: tuple[HostFreshness, ...] | None
