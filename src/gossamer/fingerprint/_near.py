"""Every stored fingerprint within k bits, without looking at them all.

Cut the 64 bits into `blocks` blocks. Two values that differ in at most k bits differ in at most k blocks, so
they agree on some choice of the `blocks - k` others. One table for each such choice, keyed by those blocks: a
value is filed in all of them, and whatever lies within k bits is found in at least one. What a table gives is
a candidate; the distance decides. So `find` is exact: no miss, no false hit.

More blocks, more tables and longer keys: fewer candidates to compare, more memory and more work to store.
With N values a find looks at about `tables × N / 2^key_bits` candidates (random values; true near-copies come
on top). Measured at a million values:

    k  blocks  tables  key bits  candidates    add     find   bytes a value
    3       4       4        16          61    4 µs     8 µs            170
    3       5      10        26           0   15 µs    13 µs          1,800
    3       6      20        32           0   35 µs    23 µs          3,500
    6       7       7         9      13,000    4 µs    30 µs            150
    6       8      28        16         430   39 µs    41 µs            760
   10      11      11         6     180,000    4 µs   250 µs            190

The default is k + 1 blocks: few long buckets, 8 bytes a value and table.
It serves some millions of values in memory. For billions, on disk or in a cluster, where each candidate is a
read, ask for longer keys: `blocks(value, 3, 6)` are the 20 tables of 32-bit keys that leave 5 candidates of a
billion.
"""

from array import array
from collections.abc import Hashable
from functools import cache
from itertools import combinations, pairwise
from typing import Annotated, Final, Generic, TypeVar

import msgspec

from gossamer.fingerprint._similarity import MIN_WORDS

__all__ = ["NearIndex", "NearRules", "blocks"]

BITS: Final = 64
MAX_K: Final = 16

Key = TypeVar("Key", bound=Hashable)


class NearRules(msgspec.Struct, frozen=True, kw_only=True):
    """When two texts are near-copies of each other."""

    k: Annotated[
        int,
        msgspec.Meta(description="Bits of 64 in which the fingerprints of near-copies may differ.", ge=0, le=MAX_K),
    ] = 3
    min_words: Annotated[int, msgspec.Meta(description="Texts of fewer words are never called near-copies.", ge=1)] = (
        MIN_WORDS
    )


@cache
def _cuts(count: int) -> tuple[tuple[int, int], ...]:
    """Shift and width of each of `count` blocks, as equal as they go."""
    edges = [BITS * i // count for i in range(count + 1)]
    return tuple((low, high - low) for low, high in pairwise(edges))


@cache
def _tables(k: int, count: int) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """For each table the (shift, mask, place) of its blocks in the value and in the key."""
    if not 0 <= k < count <= BITS:
        raise ValueError(f"{count} blocks cannot serve k = {k}: it takes more than k of them, and at most {BITS}")
    tables = []
    for chosen in combinations(_cuts(count), count - k):
        place = 0
        parts = []
        for shift, width in chosen:
            parts.append((shift, (1 << width) - 1, place))
            place += width
        tables.append(tuple(parts))
    return tuple(tables)


def blocks(value: int, k: int, count: int | None = None) -> tuple[int, ...]:
    """The key of a value in each table: two values within k bits agree in at least one place of the tuple.

    `count` is the number of blocks (k + 1 if not given); there are comb(count, k) tables. The keys depend
    on nothing else, so they may be stored.
    """
    keys = []
    for parts in _tables(k, k + 1 if count is None else count):
        key = 0
        for shift, mask, place in parts:
            key |= (value >> shift & mask) << place
        keys.append(key)
    return tuple(keys)


class _Several(dict[Key, None]):
    """Keys that share a value, in the order they came. A type of its own: no key can be mistaken for it."""

    __slots__ = ()


class NearIndex(Generic[Key]):
    """Fingerprints in memory, each with the keys (URLs, row numbers, ...) that have it.

    Copies with equal fingerprints, the usual flood, cost one more key and no further place in the tables.
    """

    __slots__ = ("_count", "_k", "_keys", "_size", "_tables")

    def __init__(self, k: int = 3, blocks: int | None = None) -> None:
        self._k = k
        self._count = k + 1 if blocks is None else blocks
        self._tables: tuple[dict[int, array[int]], ...] = tuple({} for _ in _tables(k, self._count))
        # Value → its only key, or its keys in the order they came: most values have one, and a dict costs 230
        # bytes.
        self._keys: dict[int, Key | _Several[Key]] = {}
        self._size = 0

    def __len__(self) -> int:
        """How many (value, key) pairs are stored."""
        return self._size

    def add(self, value: int, key: Key) -> None:
        """Store a pair; storing it again changes nothing. A value of more than 64 bits is a ValueError."""
        if value not in self._keys:
            self._file(value)
            self._keys[value] = key
        else:
            held = self._keys[value]
            if not isinstance(held, _Several):
                held = _Several({held: None})
            if key in held:
                return
            held[key] = None
            self._keys[value] = held
        self._size += 1

    def find(self, value: int) -> list[tuple[Key, int]]:
        """All (key, distance) within k bits, the nearest first; of equal values the first stored first."""
        slots = zip(self._tables, blocks(value, self._k, self._count), strict=True)
        buckets = [bucket for table, slot in slots if (bucket := table.get(slot)) is not None]
        if not buckets:
            return []
        near = {other for bucket in buckets for other in bucket if (value ^ other).bit_count() <= self._k}
        found: list[tuple[Key, int]] = []
        for apart, other in sorted(((value ^ other).bit_count(), other) for other in near):
            held = self._keys[other]
            found += [(key, apart) for key in held] if isinstance(held, _Several) else [(held, apart)]
        return found

    def remove(self, value: int, key: Key) -> bool:
        """Forget a pair; says whether it was there."""
        if value not in self._keys:
            return False
        held = self._keys[value]
        if isinstance(held, _Several):
            if key not in held:
                return False
            del held[key]
        elif held != key:
            return False
        if not isinstance(held, _Several) or not held:
            del self._keys[value]
            self._unfile(value)
        self._size -= 1
        return True

    def _file(self, value: int) -> None:
        if not 0 <= value < 1 << BITS:
            raise ValueError(f"a fingerprint has {BITS} bits: {value}")
        for table, slot in zip(self._tables, blocks(value, self._k, self._count), strict=True):
            bucket = table.get(slot)
            if bucket is None:
                table[slot] = array("Q", (value,))
            else:
                bucket.append(value)

    def _unfile(self, value: int) -> None:
        for table, slot in zip(self._tables, blocks(value, self._k, self._count), strict=True):
            bucket = table[slot]
            bucket.remove(value)
            if not bucket:
                del table[slot]
