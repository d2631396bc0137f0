"""What differs between two texts, in bounded time (`textmatch`) and in bounded words.

lines    unified: whole lines that went (`-`) and came (`+`)
words    lines that were rewritten are shown once, with the words that [-went-] and {+came+}
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from gossamer.crawl.textmatch import BUDGET, Gap, Purse, gaps, matches

__all__ = ["LONGEST_RUN", "Diff", "Line", "Manner", "Piece", "compared"]

Manner = Literal["lines", "words"]

MOST_LINES = 100
LONGEST_RUN = 30
LONGEST_LINE = 600
WORDS_AROUND = 8
LOOK_AHEAD = 5
"""Lines among which the rewriting of a line is looked for."""
LONGEST_READ = 20_000
"""Characters of a line by which it is told whether it is the rewriting of another."""


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
    purse = Purse(BUDGET)
    blocks = matches(old, new, purse)
    shared = sum(size for _, _, size in blocks)
    told = _Told(old, new, manner, context, run, purse)
    lines = tuple(itertools.islice(told.hunks(gaps(blocks, len(old), len(new))), most))
    removed, added = len(old) - shared, len(new) - shared
    more = removed + added - sum(line.stands_for for line in lines)
    note = "The texts differ too much to be aligned: longer stretches are shown as replaced." if purse.empty else ""
    return Diff(lines, removed, added, more, note)


# --- how it is told ---------------------------------------------------------------------------------------------------


class _Told:
    """Two texts and how their differences are told."""

    def __init__(
        self, old: Sequence[str], new: Sequence[str], manner: Manner, context: int, run: int, purse: Purse
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
        if self.manner == "lines" and len(old) == len(new) <= self.run:
            old, new = zip(*map(_from_difference, old, new), strict=True)
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


def _from_difference(one: str, other: str) -> tuple[str, str]:
    """Two long lines without most of their common beginning, so that what differs is not cut off."""
    least = min(len(one), len(other))
    shared = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), least)
    if max(len(one), len(other)) <= LONGEST_LINE or shared < LONGEST_LINE // 2:
        return one, other
    start = shared - LONGEST_LINE // 4
    return "…" + one[start:], "…" + other[start:]


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


def _rewritten(before: str, after: str, purse: Purse) -> Iterator[Line]:
    """A line as it was and is, in one; in two when the words of both are in another order, or too many."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    a, b = [word.rstrip() for word in old], [word.rstrip() for word in new]
    blocks = matches(a, b, purse)
    if 3 * sum(size for _, _, size in blocks) < max(len(a), len(b)):
        yield _line("-", before)
        yield _line("+", after)
        return
    pieces: list[Piece] = []
    room, i, j = LONGEST_LINE, 0, 0
    for alo, ahi, blo, bhi in gaps(blocks, len(a), len(b)):
        if room <= 0:
            pieces.append(Piece(" ", "…"))
            break
        told = [
            Piece(" ", _between(list(map(_longer, old[i:alo], new[j:blo])), first=i == 0, last=False)),
            Piece("-", _cut("".join(old[alo:ahi]).rstrip())),
            Piece("+", _cut("".join(new[blo:bhi]).rstrip())),
        ]
        if ahi < len(old) or bhi < len(new):
            told.append(Piece(" ", " " if _spaced(old[alo:ahi]) or _spaced(new[blo:bhi]) else ""))
        pieces += [piece for piece in told if piece.text]
        room -= sum(len(piece.text) for piece in told)
        i, j = ahi, bhi
    else:
        rest = _between(old[i:], first=False, last=True)
        pieces += [Piece(" ", rest)] if rest else []
    yield Line("~", tuple(pieces), 2)


def _longer(one: str, other: str) -> str:
    """Of a word that both have, the one with a space after it."""
    return one if len(one) >= len(other) else other


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
