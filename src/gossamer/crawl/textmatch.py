"""Which tokens two sequences have in common, in bounded time.

A diff is quadratic where tokens repeat, and strangers wrote the texts, so nothing here is left to a library's worst case: equal ends
are cut off, what occurs once on both sides pins the rest, and only what lies between the pins is searched for the best match, from a
budget. When that is used up, or a text is too long, a stretch counts as replaced: a worse diff, never a wrong one.
"""

import bisect
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

__all__ = ["BUDGET", "Block", "Gap", "Purse", "gaps", "matches"]

BUDGET = 3_000_000
"""Steps that one comparison may take: some tenths of a second."""
MOST_TOKENS = 200_000

Block = tuple[int, int, int]
"""Start in the one, start in the other, length."""
Gap = tuple[int, int, int, int]
"""From and to in the one, from and to in the other."""


class Purse:
    """Steps that may still be taken."""

    __slots__ = ("empty", "left")

    def __init__(self, steps: int) -> None:
        self.left = steps
        self.empty = False

    def pays(self, steps: int) -> bool:
        if steps > self.left:
            self.empty = True
            return False
        self.left -= steps
        return True


def matches(a: Sequence[str], b: Sequence[str], purse: Purse | None = None) -> list[Block]:
    """Blocks (start in a, start in b, length) of equal tokens, in order and apart from each other."""
    purse = purse or Purse(BUDGET)
    found: list[Block] = []
    waiting = [(0, len(a), 0, len(b))]
    while waiting:
        alo, ahi, blo, bhi = waiting.pop()
        start = alo
        while alo < ahi and blo < bhi and a[alo] == b[blo]:
            alo, blo = alo + 1, blo + 1
        if alo > start:
            found.append((start, blo - (alo - start), alo - start))
        end = ahi
        while alo < ahi and blo < bhi and a[ahi - 1] == b[bhi - 1]:
            ahi, bhi = ahi - 1, bhi - 1
        if end > ahi:
            found.append((ahi, bhi, end - ahi))
        if alo == ahi or blo == bhi:
            continue
        if ahi - alo > MOST_TOKENS or bhi - blo > MOST_TOKENS:
            purse.empty = True
            continue
        if not purse.pays(ahi - alo + bhi - blo):
            continue
        pins = _pins(a[alo:ahi], b[blo:bhi])
        if not pins:
            found += _searched(a[alo:ahi], b[blo:bhi], alo, blo, purse)
            continue
        corners = [(alo - 1, blo - 1), *((alo + i, blo + j) for i, j in pins), (ahi, bhi)]
        found += [(alo + i, blo + j, 1) for i, j in pins]
        waiting += [(i + 1, k, j + 1, n) for (i, j), (k, n) in itertools.pairwise(corners) if k > i + 1 and n > j + 1]
    return _joined(sorted(found))


def _pins(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of tokens that occur once on each side, in the longest run that is in order on both."""
    once_a, once_b = ({token for token, n in Counter(side).items() if n == 1} for side in (a, b))
    once = once_a & once_b
    if not once:
        return []
    place = {token: j for j, token in enumerate(b) if token in once}
    pairs = [(i, place[token]) for i, token in enumerate(a) if token in once]
    tails: list[int] = []
    ends: list[int] = []
    previous = [-1] * len(pairs)
    for n, (_, j) in enumerate(pairs):
        at = bisect.bisect_left(tails, j)
        previous[n] = ends[at - 1] if at else -1
        if at == len(tails):
            tails.append(j)
            ends.append(n)
        else:
            tails[at], ends[at] = j, n
    chain, n = [], ends[-1]
    while n >= 0:
        chain.append(pairs[n])
        n = previous[n]
    return chain[::-1]


def _searched(a: Sequence[str], b: Sequence[str], alo: int, blo: int, purse: Purse) -> list[Block]:
    """The longest common run of a stretch in which nothing is unique (Myers' O(ND)); none when half of what is left does not pay for it."""
    names: dict[str, int] = {}
    old, new = ([names.setdefault(token, len(names)) for token in side] for side in (a, b))
    if set(old).isdisjoint(new):
        return []
    n, m, steps = len(old), len(new), purse.left // 2
    reach: dict[int, int] = {1: 0}
    trace: list[list[int]] = []
    for d in range(n + m + 1):
        trace.append([reach.get(k, -1) for k in range(-d - 1, d + 2, 2)])
        steps -= 2 * d + 2
        for k in range(-d, d + 1, 2):
            x = reach[k + 1] if k == -d or (k != d and reach[k - 1] < reach[k + 1]) else reach[k - 1] + 1
            start = x
            while x < n and x - k < m and old[x] == new[x - k]:
                x += 1
            reach[k] = x
            steps -= x - start
            if x >= n and x - k >= m:
                purse.left = purse.left // 2 + max(steps, 0)
                return [(alo + i, blo + j, 1) for i, j in _walked(trace, n, m)]
            if steps < 0:
                purse.left //= 2
                purse.empty = True
                return []
    return []


def _walked(trace: list[list[int]], x: int, y: int) -> Iterator[tuple[int, int]]:
    """The pairs of equal tokens on the way that `trace` found, from its end."""
    for d in range(len(trace) - 1, -1, -1):
        k = x - y
        left, right = trace[d][(k + d) // 2], trace[d][(k + d) // 2 + 1]
        down = k == -d or (k != d and left < right)
        i, j = ((right, right - k - 1) if down else (left, left - k + 1)) if d else (0, 0)
        while x > i and y > j:
            x, y = x - 1, y - 1
            yield x, y
        x, y = i, j


def _joined(blocks: list[Block]) -> list[Block]:
    joined: list[Block] = []
    for i, j, size in blocks:
        if joined and joined[-1][0] + joined[-1][2] == i and joined[-1][1] + joined[-1][2] == j:
            joined[-1] = (joined[-1][0], joined[-1][1], joined[-1][2] + size)
        else:
            joined.append((i, j, size))
    return joined


def gaps(blocks: Sequence[Block], a: int, b: int) -> Iterator[tuple[int, int, int, int]]:
    """What lies between the blocks: (from, to) on one side, (from, to) on the other."""
    i = j = 0
    for k, n, size in (*blocks, (a, b, 0)):
        if k > i or n > j:
            yield i, k, j, n
        i, j = k + size, n + size
