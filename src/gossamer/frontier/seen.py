"""The Bloom filter before the exact check: for a URL never seen it saves the look-up on disk.

It may say "maybe" of a new URL (one in a hundred), never "no" of a known one; the record decides. It grows by adding a
filter four times as large when the last one is full, so that a small crawl pays for a small one: 1.2 bytes a URL and a quarter
more at worst. It is not stored (so Python's own hash, different in each process, will do): at start it is filled again from the keys on disk (half a microsecond a URL).
"""

from collections.abc import Iterable

from rbloom import Bloom

__all__ = ["SeenFilter"]

FIRST = 1 << 18
GROWTH = 4
ERROR = 0.01


class SeenFilter:
    """A Bloom filter of URL keys that grows."""

    __slots__ = ("_filters", "_left", "_size")

    def __init__(self, keys: Iterable[bytes] = (), expected: int = 0) -> None:
        self._size = max(FIRST, expected)
        self._filters = [Bloom(self._size, ERROR)]
        self._left = self._size
        for key in keys:
            self.add(key)

    def __contains__(self, key: bytes) -> bool:
        for part in self._filters:  # noqa: SIM110 - any() with a generator costs three times as much
            if key in part:
                return True
        return False

    def add(self, key: bytes) -> None:
        if self._left == 0:
            self._size *= GROWTH
            self._filters.append(Bloom(self._size, ERROR))
            self._left = self._size
        self._filters[-1].add(key)
        self._left -= 1
