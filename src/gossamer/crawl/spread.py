"""How times are spread over pages: counts in bins, and quantiles, without keeping the times."""

import bisect
import math

import msgspec

__all__ = ["DAY", "EDGES", "HOUR", "Bin", "Distribution", "Spread"]

HOUR, DAY = 3_600.0, 86_400.0
EDGES = (10.0, 60.0, 600.0, HOUR, 6 * HOUR, DAY, 3 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 90 * DAY, 365 * DAY)
"""Where the bins of a distribution of times end."""


_FINE = 100.0  # bins of the logarithm of a time, each 1 % wide


class Bin(msgspec.Struct, frozen=True):
    """How many pages have a time from `least` up to `below` (None: any)."""

    least: float
    below: float | None
    pages: int


class Distribution(msgspec.Struct, frozen=True):
    """How times are spread: quantiles within 1 %, and counts."""

    pages: int
    median: float
    nine_tenths: float
    """Nine of ten are at most this."""
    longest: float
    bins: tuple[Bin, ...]


class Spread:
    """Times of pages, counted in bins."""

    def __init__(self) -> None:
        self.pages = 0
        self._longest = 0.0
        self._counts = [0] * (len(EDGES) + 1)
        self._fine: dict[int, int] = {}

    def add(self, seconds: float) -> None:
        self.pages += 1
        self._longest = max(self._longest, seconds)
        self._counts[bisect.bisect_right(EDGES, seconds)] += 1
        fine = int(math.log(seconds) * _FINE) if seconds > 1.0 else 0
        self._fine[fine] = self._fine.get(fine, 0) + 1

    def quantile(self, part: float) -> float:
        """The time that so large a part of the pages does not exceed, within 1 %."""
        left = part * self.pages
        for fine in sorted(self._fine):
            left -= self._fine[fine]
            if left <= 0:
                return min(math.exp((fine + 0.5) / _FINE), self._longest)
        return self._longest

    def told(self) -> Distribution:
        bins = tuple(map(Bin, (0.0, *EDGES), (*EDGES, None), self._counts))
        return Distribution(self.pages, self.quantile(0.5), self.quantile(0.9), self._longest, bins)
