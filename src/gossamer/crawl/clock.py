"""The time that a crawl counts in.

Waits are written down as Unix times, so that they survive a restart; but a wall clock is set by people and by time servers, forward and
back, by seconds or by years. So it is read once, at the start; from then on the machine's own count of seconds is added, which nobody
sets and which goes on while a laptop sleeps. And it never begins before the time at which the frontier was last written: a clock that was
set back between two runs would otherwise make every host wait for as long as it was set back.

What is recorded of a page (when it was fetched) is the wall clock's business, right or wrong.
"""

import time
from collections.abc import Callable

__all__ = ["SteadyClock"]


def _seconds() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class SteadyClock:
    """Unix time that neither jumps nor goes back."""

    def __init__(self, wall: Callable[[], float] = time.time, seconds: Callable[[], float] = _seconds) -> None:
        self._seconds = seconds
        self._offset = wall() - seconds()

    def __call__(self) -> float:
        return self._seconds() + self._offset

    def begin_after(self, at: float) -> None:
        """Go on from `at`, if that is later than now."""
        self._offset += max(0.0, at - self())
