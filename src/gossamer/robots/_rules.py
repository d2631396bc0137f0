"""The rules of one side (all Allow, or all Disallow), compiled so that the longest match is found without trying each.

The longest pattern that matches wins (RFC 9309 section 2.2.2), so a match is one number: the length of the pattern above
the line that holds it (earlier lines are larger). No match is 0.

- Patterns without `*` are prefixes. They are kept sorted. The largest one not above the path is found by bisection, and
  whatever prefix of the path there is, is that one or one of its own prefixes, which `up` links. So the cost grows with
  the logarithm of the number of rules.
- Patterns ending in `$` without `*` are looked up whole.
- Patterns with `*` hang on the literal text before the first `*`, which is one more sorted prefix; only those whose text
  begins the path are tried. Each is matched piece by piece with `str.find`: taking the first place where a piece fits
  leaves most room for the next, so nothing is ever tried twice and the cost is linear in the path.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

import msgspec

__all__ = ["LINE_BITS", "RuleSet", "compile_rules", "line_of"]

# 500 KiB hold fewer than 2**20 lines.
LINE_BITS: Final = 20
_LINE_MASK: Final = (1 << LINE_BITS) - 1

# What follows the first `*` of a pattern: the pieces between stars, and what must end the path (empty: nothing).
_Shape = tuple[tuple[str, ...], str]
_NOTHING: Final[_Shape] = ((), "")
# The patterns with `*` after one prefix, by their rarest character, then by their longest piece: a file full of `/*?sort=`
# is done with after one look for a `?` (20 ns), and most of the others after `piece in path` (45 ns).
_Wild = dict[str, dict[str, list[tuple[int, int, _Shape]]]]
# How often a character stands in the paths of real URLs, most often first; those not named are rarer still.
_RARITY: Final = {letter: rank for rank, letter in enumerate("/temlrahsionc.pdugfbw21x0-kyv3_495687j~?=SCPADTIMzERLq")}


def line_of(score: int) -> int:
    """The line of the rule that a score names."""
    return _LINE_MASK - (score & _LINE_MASK)


class RuleSet(msgspec.Struct, frozen=True, eq=False):
    """Compiled rules; the lists run parallel to `prefixes`, and -1 ends a chain of links."""

    prefixes: list[str]
    up: list[int]
    scores: list[int]
    wild: dict[int, _Wild]
    wild_up: list[int]
    whole: dict[str, int]

    def best(self, path: str) -> int:
        """The score of the longest rule that matches this path, or 0."""
        prefixes = self.prefixes
        at = bisect_right(prefixes, path) - 1
        while at >= 0 and not path.startswith(prefixes[at]):
            at = self.up[at]
        score = self.whole.get(path, 0)
        if at < 0:
            return score
        score = max(score, self.scores[at])
        if self.wild:
            at = self.wild_up[at]
            while at >= 0:
                for letter, by_piece in self.wild[at].items():
                    if letter in path:
                        score = _best_wild(path, by_piece, score)
                at = self.up[at]
                if at >= 0:
                    at = self.wild_up[at]
        return score


def _best_wild(path: str, by_piece: dict[str, list[tuple[int, int, _Shape]]], score: int) -> int:
    for piece, rules in by_piece.items():
        if piece in path:
            for mark, begin, shape in rules:
                if mark > score and _fits(path, begin, shape):
                    score = mark
    return score


def _fits(path: str, begin: int, shape: _Shape) -> bool:
    pieces, end = shape
    for piece in pieces:
        begin = path.find(piece, begin)
        if begin < 0:
            return False
        begin += len(piece)
    return path.endswith(end) and len(path) - len(end) >= begin


def compile_rules(rules: Iterable[tuple[int, int, str]]) -> RuleSet | None:
    """Compile (line, priority, pattern) triples; None when there is nothing that could ever match."""
    plain: dict[str, int] = {}
    whole: dict[str, int] = {}
    wild: dict[str, dict[_Shape, int]] = {}
    for line, priority, pattern in rules:
        score = priority << LINE_BITS | (_LINE_MASK - line)
        anchored = pattern.endswith("$")
        if "$" in pattern:
            # Before the end it is an ordinary character, which paths have escaped.
            pattern = pattern.removesuffix("$").replace("$", "%24")
        head, star, rest = pattern.partition("*")
        shape = _shape(rest, anchored) if star else _NOTHING
        if not head.startswith("/") and (head or not star):
            continue  # Every path begins with a slash, so this rule matches none.
        if shape is not _NOTHING:
            shapes = wild.setdefault(head, {})
            shapes[shape] = max(score, shapes.get(shape, 0))
        else:
            same = whole if anchored and not star else plain
            if score > same.get(head, 0):
                same[head] = score
    if not (plain or whole or wild):
        return None
    return _link(plain, whole, wild)


def _shape(rest: str, anchored: bool) -> _Shape:
    *pieces, end = rest.split("*")
    if not anchored:
        pieces.append(end)
        end = ""
    pieces = [piece for piece in pieces if piece]
    return (tuple(pieces), end) if pieces or end else _NOTHING


def _link(plain: dict[str, int], whole: dict[str, int], wild: dict[str, dict[_Shape, int]]) -> RuleSet:
    prefixes = sorted(plain.keys() | wild.keys())
    up: list[int] = []
    scores: list[int] = []
    wild_up: list[int] = []
    wild_at: dict[int, _Wild] = {}
    chain: list[int] = []
    for at, prefix in enumerate(prefixes):
        while chain and not prefix.startswith(prefixes[chain[-1]]):
            chain.pop()
        above = chain[-1] if chain else -1
        up.append(above)
        # With trailing stars (`/a***`) a shorter prefix can be the longer pattern, hence the maximum over the chain.
        score = plain.get(prefix, 0)
        scores.append(score if above < 0 else max(score, scores[above]))
        if prefix in wild:
            wild_up.append(at)
            wild_at[at] = _by_letter(wild[prefix], len(prefix))
        else:
            wild_up.append(wild_up[above] if above >= 0 else -1)
        chain.append(at)
    return RuleSet(prefixes, up, scores, wild_at, wild_up, whole)


def _by_letter(shapes: dict[_Shape, int], begin: int) -> _Wild:
    by_letter: _Wild = {}
    for shape, score in shapes.items():
        texts = (*shape[0], shape[1])
        letter = max("".join(texts), key=lambda letter: _RARITY.get(letter, len(_RARITY)))
        by_piece = by_letter.setdefault(letter, {})
        by_piece.setdefault(max(texts, key=len), []).append((score, begin, shape))
    return by_letter
