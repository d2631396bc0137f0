"""The same rules over arrays of pages, and the best that is possible when every rate is known.

Apart from the rest of the package because it needs numpy, which a crawl does not load.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ages_at", "freshness", "optimal_frequencies"]

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
