"""What differs between two texts, in bounded time and in bounded words.

Two strangers wrote the texts, and a diff is quadratic where lines repeat, so nothing here is left to a library's worst case: equal
ends are cut off, what occurs once on both sides pins the rest, and only what lies between the pins is searched for the best match,
from a budget. When that is used up, or a text is too long, a stretch counts as replaced: a worse diff, never a wrong one.

    lines    unified: whole lines that went (`-`) and came (`+`)
    words    lines that were rewritten are shown once, with the words that [-went-] and {+came+}
"""

import bisect
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

__all__ = ["LONGEST_RUN", "Diff", "Line", "Manner", "Piece", "compared", "matches"]

Manner = Literal["lines", "words"]

BUDGET = 3_000_000
"""Steps that one comparison may take: some tenths of a second."""
MOST_TOKENS = 200_000
MOST_LINES = 100
LONGEST_RUN = 30
LONGEST_LINE = 600
WORDS_AROUND = 8
LOOK_AHEAD = 5
"""Lines among which the rewriting of a line is looked for."""
LONGEST_READ = 20_000
"""Characters of a line by which it is told whether it is the rewriting of another."""

Block = tuple[int, int, int]


class Piece(msgspec.Struct, frozen=True):
    """Text that is in both (` `), only in the older (`-`) or only in the newer one (`+`)."""

    sign: Literal[" ", "-", "+"]
    text: str


class Line(msgspec.Struct, frozen=True):
    """One line of a diff; `~` is one that was rewritten, `@` says where the next lines are, `…` how many were left out."""

    sign: Literal[" ", "-", "+", "~", "@", "…"]
    pieces: tuple[Piece, ...]
    stands_for: int = 0
    """Lines that went or came, of which this one tells."""

    def __str__(self) -> str:
        if self.sign in "@…":
            return "".join(piece.text for piece in self.pieces)
        if self.sign == "~":
            return "~" + "".join(_MARKED[piece.sign].format(piece.text) for piece in self.pieces)
        return self.sign + "".join(piece.text for piece in self.pieces)


_MARKED = {" ": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}


class Diff(msgspec.Struct, frozen=True):
    """What differs; empty when nothing does."""

    lines: tuple[Line, ...] = ()
    removed: int = 0
    """Lines of the older text that are not in the newer one."""
    added: int = 0
    more: int = 0
    """Lines that went or came of which nothing is said."""
    note: str = ""
    """What a reader should know of it, as a sentence."""

    def __str__(self) -> str:
        left_out = [f"({self.more:,} more lines went or came)"] if self.more else []
        return "\n".join([*map(str, self.lines), *left_out])


def compared(
    before: str, after: str, manner: Manner = "lines", context: int = 1, run: int = LONGEST_RUN, most: int = MOST_LINES
) -> Diff:
    """The differences of two texts, in `most` lines at most, of which no more than `run` that went or came follow each other."""
    if before == after:
        return Diff()
    old, new = before.split("\n"), after.split("\n")
    purse = _Purse(BUDGET)
    blocks = matches(old, new, purse)
    shared = sum(size for _, _, size in blocks)
    told = _Told(old, new, manner, context, run, purse)
    lines = tuple(itertools.islice(told.hunks(_gaps(blocks, len(old), len(new))), most))
    removed, added = len(old) - shared, len(new) - shared
    more = removed + added - sum(line.stands_for for line in lines)
    note = "The texts differ too much to be aligned: longer stretches are shown as replaced." if purse.empty else ""
    return Diff(lines, removed, added, more, note)


class _Purse:
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


# --- which tokens are the same ----------------------------------------------------------------------------------------


def matches(a: Sequence[str], b: Sequence[str], purse: _Purse | None = None) -> list[Block]:
    """Blocks (start in a, start in b, length) of equal tokens, in order and apart from each other."""
    purse = purse or _Purse(BUDGET)
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


def _searched(a: Sequence[str], b: Sequence[str], alo: int, blo: int, purse: _Purse) -> list[Block]:
    """The longest common run of a stretch in which nothing is unique (Myers' O(ND)); none when half of what is left does not pay for it."""
    names: dict[str, int] = {}
    old, new = ([names.setdefault(token, len(names)) for token in side] for side in (a, b))
    if set(old).isdisjoint(new):
        return []
    n, m, steps = len(old), len(new), purse.left // 2
    reach, trace = {1: 0}, []
    for d in range(n + m + 1):
        trace.append({k: reach[k] for k in range(-d - 1, d + 2) if k in reach})
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


def _walked(trace: list[dict[int, int]], x: int, y: int) -> Iterator[tuple[int, int]]:
    """The pairs of equal tokens on the way that `trace` found, from its end."""
    for d in range(len(trace) - 1, -1, -1):
        reach, k = trace[d], x - y
        before = k + 1 if k == -d or (k != d and reach[k - 1] < reach[k + 1]) else k - 1
        i, j = (reach[before], reach[before] - before) if d else (0, 0)
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


def _gaps(blocks: Sequence[Block], a: int, b: int) -> Iterator[tuple[int, int, int, int]]:
    """What lies between the blocks: (from, to) on one side, (from, to) on the other."""
    i = j = 0
    for k, n, size in (*blocks, (a, b, 0)):
        if k > i or n > j:
            yield i, k, j, n
        i, j = k + size, n + size


# --- how it is told ---------------------------------------------------------------------------------------------------


Gap = tuple[int, int, int, int]


class _Told:
    """Two texts and how their differences are told."""

    def __init__(
        self, old: Sequence[str], new: Sequence[str], manner: Manner, context: int, run: int, purse: _Purse
    ) -> None:
        self.old, self.new, self.manner, self.context, self.run, self.purse = old, new, manner, context, run, purse

    def hunks(self, changes: Iterable[Gap]) -> Iterator[Line]:
        group: list[Gap] = []
        for change in changes:
            if group and change[0] - group[-1][1] > 2 * self.context:
                yield from self._hunk(group)
                group = []
            group.append(change)
        yield from self._hunk(group)

    def _hunk(self, group: Sequence[Gap]) -> Iterator[Line]:
        (first, _, first_new, _), (_, last, _, last_new) = group[0], group[-1]
        lead = min(self.context, first, first_new)
        trail = min(self.context, len(self.old) - last, len(self.new) - last_new)
        i, end = first - lead, last + trail
        yield Line("@", (Piece(" ", f"@@ -{_range(i, end)} +{_range(first_new - lead, last_new + trail)} @@"),))
        for alo, ahi, blo, bhi in group:
            yield from (_line(" ", text) for text in self.old[i:alo])
            yield from self._replaced(self.old[alo:ahi], self.new[blo:bhi])
            i = ahi
        yield from (_line(" ", text) for text in self.old[i:end])

    def _replaced(self, old: Sequence[str], new: Sequence[str]) -> Iterator[Line]:
        i = j = 0
        for k, n in _alike(old, new) if self.manner == "words" else ():
            yield from self._run("-", old[i:k])
            yield from self._run("+", new[j:n])
            yield from _rewritten(old[k], new[n], self.purse)
            i, j = k + 1, n + 1
        yield from self._run("-", old[i:])
        yield from self._run("+", new[j:])

    def _run(self, sign: Literal["-", "+"], texts: Sequence[str]) -> Iterator[Line]:
        shown = len(texts) if len(texts) <= self.run + 1 else self.run
        yield from (_line(sign, text) for text in texts[:shown])
        left = len(texts) - shown
        if left:
            yield Line("…", (Piece(sign, f"({left:,} more lines {'went' if sign == '-' else 'came'})"),), left)


def _range(start: int, end: int) -> str:
    return f"{start + 1 if end > start else start},{end - start}"


def _line(sign: Literal[" ", "-", "+"], text: str) -> Line:
    return Line(sign, (Piece(sign, _cut(text)),), int(sign != " "))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"


def _alike(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Lines that are each other's rewriting, as far as anyone will see them: half of the words are the same."""
    bags = [Counter(_words(text)) for text in new[:MOST_LINES]]
    j = 0
    for i, text in enumerate(old[:MOST_LINES]):
        words = Counter(_words(text))
        for n in range(j, min(j + LOOK_AHEAD, len(bags))):
            if 2 * (words & bags[n]).total() >= max(words.total(), bags[n].total()):
                yield i, n
                j = n + 1
                break


def _words(text: str) -> list[str]:
    return [word.rstrip() for word in _WORD.findall(text[:LONGEST_READ])]


# A word with the space after it; where words are written without spaces, each character.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]\s*|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+\s*|\s+")


def _rewritten(before: str, after: str, purse: _Purse) -> Iterator[Line]:
    """A line as it was and is, in one; in two when the words of both are in another order, or too many."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    a, b = [word.rstrip() for word in old], [word.rstrip() for word in new]
    blocks = matches(a, b, purse)
    if 3 * sum(size for _, _, size in blocks) < max(len(a), len(b)):
        yield _line("-", before)
        yield _line("+", after)
        return
    pieces: list[Piece] = []
    room, i = LONGEST_LINE, 0
    gaps = list(_gaps(blocks, len(a), len(b)))
    for alo, ahi, blo, bhi in gaps:
        if room <= 0:
            pieces.append(Piece(" ", "…"))
            break
        told = [
            Piece(" ", _between(old[i:alo], first=i == 0, last=False)),
            Piece("-", _cut("".join(old[alo:ahi]).rstrip())),
            Piece("+", _cut("".join(new[blo:bhi]).rstrip())),
        ]
        if ahi < len(old) or bhi < len(new):
            told.append(Piece(" ", " " if _spaced(old[alo:ahi]) or _spaced(new[blo:bhi]) else ""))
        pieces += [piece for piece in told if piece.text]
        room -= sum(len(piece.text) for piece in told)
        i = ahi
    else:
        rest = _between(old[i:], first=False, last=True)
        pieces += [Piece(" ", rest)] if rest else []
    yield Line("~", tuple(pieces), 2)


def _spaced(words: Sequence[str]) -> bool:
    return bool(words) and words[-1][-1:].isspace()


def _between(words: Sequence[str], *, first: bool, last: bool) -> str:
    """Words that did not change: those near a change, and what was left out as an ellipsis."""
    tail = 0 if last else WORDS_AROUND
    head = 0 if first else WORDS_AROUND
    if len(words) <= head + tail + 2:
        return "".join(words)
    left, right = "".join(words[:head]), "".join(words[len(words) - tail :]) if tail else ""
    return f"{left}… {right}" if right else f"{left}…"
