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
of the fingerprint. An empty bin takes the winner of the next one that has any. Cost: one pass of array
operations over the words, none over bits.
"""

from typing import Final

import msgspec
import numpy as np

from gossamer.fingerprint._words import NUMBER, SHORT, Hashes, Kinds, pieces

__all__ = ["MIN_WORDS", "TextPrint", "comparable", "distance", "simhash", "text_print"]

MIN_WORDS: Final = 32
SHINGLE: Final = 3
BITS: Final = 64

# Logarithm of a shingle's weight, by the sum of its words' kinds.
PLAIN_WEIGHT: Final = 2
WEIGHT: Final = np.array(
    [PLAIN_WEIGHT + kinds // SHORT if kinds < NUMBER else 0 for kinds in range(SHINGLE * (NUMBER + SHORT) + 1)],
    np.uint64,
)

# Odd 64-bit constants of the shingle hash (fractional parts of square roots of 13, 17, 19). Stored values
# depend on them.
K1: Final = np.uint64(0x9B05688C2B3E6C1F)
K2: Final = np.uint64(0x1F83D9ABFB41BD6B)
K3: Final = np.uint64(0x5BE0CD19137E2179)
S29: Final = np.uint64(29)
S32: Final = np.uint64(32)
BIN_SHIFT: Final = np.uint64(58)
RANK: Final = np.uint64((1 << 58) - 1)
TOP_BIT: Final = np.uint64(1 << 63)
# A rank from here on cannot win. All shingles without a number rank below it, a quarter of the others do: so
# a number counts for a quarter even where a text is too short for a bin to have two shingles to choose from.
LIMIT: Final = np.uint64(1 << (58 - PLAIN_WEIGHT))
NO_LIMIT: Final = np.uint64(1 << 58)
BINS: Final = np.arange(BITS)


def _multipliers() -> Hashes:
    """One odd multiplier a bin: the top bit of winner × multiplier is the bin's bit.

    A winner that serves several bins has to give them unrelated bits, so the multipliers are scrambled (SplitMix64):
    those of an arithmetic series would make a pattern of them.
    """
    values = np.arange(1, BITS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31) | np.uint64(1)


PICK: Final = _multipliers()


class TextPrint(msgspec.Struct, frozen=True):
    """The fingerprint of a text, and how many words it rests on."""

    simhash: int
    words: int

    def comparable(self, min_words: int = MIN_WORDS) -> bool:
        """Whether there is text enough for nearness to mean anything: a short text is mostly template."""
        return self.words >= min_words


def _draw(winners: Hashes, hashes: Hashes, kinds: Kinds) -> None:
    """Let the shingles of these words compete for the bins; `winners` holds the lowest rank of each so far."""
    shingles = hashes[:-2] * K1
    shingles ^= shingles >> S32
    shingles += hashes[1:-1]
    shingles *= K2
    shingles ^= shingles >> S29
    shingles += hashes[2:]
    shingles *= K3
    shingles ^= shingles >> S32
    bins = (shingles >> BIN_SHIFT).view(np.int64)
    shingles &= RANK
    shingles >>= WEIGHT.take(kinds[:-2] + kinds[1:-1] + kinds[2:], mode="clip")
    np.minimum.at(winners, bins, shingles)


def _contest(text: str, limit: np.uint64) -> tuple[Hashes, int]:
    """The lowest rank below `limit` in each bin (`limit` where there is none), and the number of words."""
    winners: Hashes = np.full(BITS, limit)
    words = 0
    tail: tuple[Hashes, Kinds] | None = None
    for hashes, kinds in pieces(text):
        words += len(hashes)
        if tail is not None:  # shingles run on over the border of two pieces
            hashes = np.concatenate((tail[0], hashes))
            kinds = np.concatenate((tail[1], kinds))
        if len(hashes) >= SHINGLE:
            _draw(winners, hashes, kinds)
        tail = hashes[-(SHINGLE - 1) :], kinds[-(SHINGLE - 1) :]
    if tail is not None and 0 < words < SHINGLE:  # one shingle, made up with empty words
        missing = SHINGLE - words
        _draw(winners, np.pad(tail[0], (0, missing)), np.pad(tail[1], (0, missing)))
    return winners, words


def text_print(text: str) -> TextPrint:
    """SimHash and number of words of a text. A text without words has SimHash 0; no text raises."""
    winners, words = _contest(text, LIMIT)
    if words == 0:
        return TextPrint(0, 0)
    filled = (winners < LIMIT).nonzero()[0]
    if len(filled) == 0:  # a few words, each shingle with a number in it, none of them drawn
        winners, _ = _contest(text, NO_LIMIT)
        filled = (winners < NO_LIMIT).nonzero()[0]
    if len(filled) < BITS:
        winners = winners[filled.take(filled.searchsorted(BINS), mode="wrap")]
    bits = np.packbits(winners * PICK >= TOP_BIT, bitorder="little")
    return TextPrint(int.from_bytes(bits.tobytes(), "little"), words)


def simhash(text: str) -> int:
    """The 64-bit similarity fingerprint of a text: close texts, few differing bits. Stable for ever."""
    return text_print(text).simhash


def comparable(text: str, min_words: int = MIN_WORDS) -> bool:
    """Whether a text has words enough to be called a near-copy of another. Costs as much as `simhash`."""
    return text_print(text).comparable(min_words)


def distance(a: int, b: int) -> int:
    """How many bits two fingerprints differ in: 0 to 64."""
    return (a ^ b).bit_count()
