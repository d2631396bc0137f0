"""The threshold at which all planned visits together ask for what the budget allows.

Counting the visits that come due and moving the threshold until they match the budget does not work: a threshold acts on
a page only when it is next planned, which may be weeks away, so the count answers late and the threshold swings by factors of
a hundred. What is known at once is what the plans ask for, the sum of 1 / interval over all pages. It is kept up to date with
one subtraction and one addition a visit. Intervals grow with the square root of the threshold while a page stays
fresh for most of its interval, so the threshold at which the plans would meet the budget is a closed form; where that law
is inexact, each page planned anew corrects it. Pages at the ceiling ask the same at any threshold and are set aside.
"""

import math

import msgspec

from gossamer.recrawl._belief import DAY
from gossamer.recrawl._visits import RecrawlPolicy

__all__ = ["Pace", "adjust_threshold", "replanned"]

_LEAST, _MOST = 1.0, 1e9
_STEP = 2.0
# However much the pages at the ceiling ask for, this part of the budget is left for the choice of the others.
_RESERVE = 0.02
_HASTE_TIME, _MOST_HASTE = 10 * DAY, 2.0
# A queue of so many seconds' visits is the play between plans and their turn; only a longer one is too much planned.
_PATIENCE = 0.25 * DAY


class Pace(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a crawl remembers to keep its revisits within their budget; rates are visits a second."""

    threshold: float = 0.25 * DAY
    """What a visit has to be worth, for `next_visit`."""
    bound: float = 0.0
    """What the pages at the ceiling ask for."""
    free: float = 0.0
    """What all others ask for."""
    root: float = 0.0
    """Mean square root of the thresholds at which those were planned."""
    haste: float = 1.0
    """How many times the budget is planned for: more than once while visits planned for later leave some of it unspent."""


def replanned(pace: Pace, before: float, after: float, policy: RecrawlPolicy) -> Pace:
    """The pace when a page planned `before` seconds after its last visit is now planned `after` seconds after this one.

    0 stands for a page that had no plan, or has none any more.
    """
    bound, free, total = pace.bound, pace.free, pace.free * pace.root
    if before > 0.0:
        if before >= policy.ceiling:
            bound = max(bound - 1.0 / before, 0.0)
        elif free > 0.0:
            left = max(free - 1.0 / before, 0.0)
            total *= left / free
            free = left
    if after > 0.0:
        if after >= policy.ceiling:
            bound += 1.0 / after
        else:
            free += 1.0 / after
            total += math.sqrt(pace.threshold) / after
    return Pace(pace.threshold, bound, free, total / free if free > 0.0 else 0.0, pace.haste)


def adjust_threshold(pace: Pace, budget: float, visits: float, waiting: float, seconds: float) -> Pace:
    """The pace for the next period, after one of so many seconds that made `visits` and left `waiting` pages due.

    The budget is in visits a second. The threshold never more than halves or doubles. In the first weeks of a crawl many plans lie beyond what has
    passed, and part of the budget would go unspent: then more is planned, slowly; while pages wait for more than a quarter of a day, less.
    """
    if budget <= 0.0 or seconds <= 0.0:
        return Pace(min(pace.threshold * _STEP, _MOST), pace.bound, pace.free, pace.root, 1.0)
    late = max(waiting - budget * _PATIENCE, 0.0)
    unspent = max(1.0 - (visits + late) / (budget * seconds), -DAY / seconds)
    haste = min(max(pace.haste * (1.0 + unspent * min(seconds / _HASTE_TIME, 1.0)), 1.0), _MOST_HASTE)
    available = max(budget * haste - pace.bound, budget * _RESERVE)
    goal = (pace.free * pace.root / available) ** 2
    threshold = min(max(goal, pace.threshold / _STEP), pace.threshold * _STEP)
    return Pace(min(max(threshold, _LEAST), _MOST), pace.bound, pace.free, pace.root, haste)
