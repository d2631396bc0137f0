"""SimHash: 64 bits that stay nearly the same while a text does.

The features of a text are its three-word shingles, as a set. Charikar's SimHash lets all shingles vote on
every bit. Its distance grows with the *square root* of the change: one shingle in a hundred already turns
three bits of 64, which is all that a search by tables can afford. Here each bit is decided by one shingle,
drawn by the shingles' own hashes (one-bit minwise hashing, one permutation in 64 bins), so the expected
distance is *proportional* to the change:

    distance ≈ 32 × (share of the two texts' shingles that only one of them has)

Unrelated texts still lie 32 bits apart, give or take 4, as with votes; a tenth of the shingles changed costs
half the bits, a hundredth a fifth.

Not every shingle is equally likely to be drawn:

- one that contains a number counts for a quarter: pages that differ in a date, a counter or a price are near;
- each short word (three characters at most) doubles it: sentences are full of them in most languages, menus
  and lists are not, so that what stands around the text weighs less than the text.

How: a shingle's 64-bit hash gives its bin (6 bits) and its rank (58 bits, shifted right by the logarithm of
its weight); the lowest rank of a bin wins, and one bit of the winner's hash, another in each bin, is the bit
of the fingerprint. An empty bin takes the winner of the next one that has any. A rank that no shingle without a number can reach never
wins, so a number counts for a quarter even where a text is too short for a bin to have two shingles to choose from. All of it is one pass
over the words, in compiled code (`native/simhash.c`).
"""

from typing import Final

import msgspec

from gossamer import _native
from gossamer.fingerprint._words import folded

__all__ = ["MIN_WORDS", "TextPrint", "comparable", "distance", "simhash", "text_print"]

MIN_WORDS: Final = 32


class TextPrint(msgspec.Struct, frozen=True):
    """The fingerprint of a text, and how many words it rests on."""

    simhash: int
    words: int

    def comparable(self, min_words: int = MIN_WORDS) -> bool:
        """Whether there is text enough for nearness to mean anything: a short text is mostly template."""
        return self.words >= min_words


def text_print(text: str) -> TextPrint:
    """SimHash and number of words of a text. A text without words has SimHash 0; no text raises."""
    return TextPrint(*_native.text_print(text, folded))


def simhash(text: str) -> int:
    """The 64-bit similarity fingerprint of a text: close texts, few differing bits. Stable for ever."""
    return text_print(text).simhash


def comparable(text: str, min_words: int = MIN_WORDS) -> bool:
    """Whether a text has words enough to be called a near-copy of another. Costs as much as `simhash`."""
    return text_print(text).comparable(min_words)


def distance(a: int, b: int) -> int:
    """How many bits two fingerprints differ in: 0 to 64."""
    return (a ^ b).bit_count()
