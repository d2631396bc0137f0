"""Text to word hashes, a whole array at a time.

A word is a run of letters and digits; everything else separates. One table over the 65,536 UTF-16 units does
the case folding, the removal of accents, the width forms and the separators in one look-up a character:

- `é`, `É` and `e` + combining acute are one letter; `Ａ` is `a`; every decimal digit is its ASCII one;
- soft hyphens, joiners, direction marks and variation selectors are not there at all;
- scripts written without spaces (Han, kana, Thai, Lao, Khmer, Burmese) give one word a character, so that
  shingles of words become character n-grams.

The table is built from the Unicode 3.2 database that Python carries unchanged (`unicodedata.ucd_3_2_0`): a
newer Python must not move a stored fingerprint. What 3.2 did not know counts as a letter, except in the
symbol blocks.

A word is hashed from three windows of four characters (start, middle, end) and its length: exact up to twelve
characters, and for longer ones blind only to what lies between the windows. So a word costs three loads,
however long, where a rolling hash would pay for each character.
"""

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["NUMBER", "SHORT", "Hashes", "Kinds", "pieces"]

Hashes = NDArray[np.uint64]
Kinds = NDArray[np.uint8]
Units = NDArray[np.uint16]

# Kinds of words, as bits that may be added up over the words of a shingle.
SHORT: Final = 1  # at most SHORT_LENGTH characters: in most languages the words that hold sentences together
NUMBER: Final = 8  # begins with a digit
SHORT_LENGTH: Final = 3

PIECE: Final = 1 << 16  # units hashed at once: the arrays stay in the second-level cache, and memory stays flat
TAIL: Final = 1 << 10  # how far back from its end a piece looks for a separator to end at

FOLD_SIZES: Final = (0x80, 0x3000, 0x10000)

SEPARATOR: Final = 0
IGNORED: Final = 1  # U+0001 is a separator itself, so its number is free

# Written without spaces: each character is a word. Ranges of whole blocks, first and last.
UNSPACED: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x31FF),  # radicals, kana, bopomofo (Hangul jamo among them fold the same way)
    (0x3400, 0x9FFF),  # Han
    (0xA000, 0xA4CF),  # Yi
    (0xF900, 0xFAFF),  # Han, compatibility
)
FIRST_UNSPACED: Final = UNSPACED[0][0]
SOFT_HYPHEN: Final = 0x00AD  # a dash in Unicode 3.2, a format character since
MARKS: Final = ((0x0300, 0x036F), (0xFE00, 0xFE0F))  # combining accents, variation selectors
# Where a character that Unicode 3.2 did not have is a symbol or punctuation, not a letter.
SYMBOL_BLOCKS: Final = ((0x2000, 0x2BFF), (0x2E00, 0x2E7F), (0xFE10, 0xFE1F), (0xFFF0, 0xFFFF))

# Odd 64-bit constants of the word hash (fractional parts of square roots of 2, 3, 5). Stored values depend on
# them.
K1: Final = np.uint64(0x6A09E667F3BCC909)
K2: Final = np.uint64(0xBB67AE8584CAA73B)
K3: Final = np.uint64(0x3C6EF372FE94F82B)
S29: Final = np.uint64(29)
S32: Final = np.uint64(32)
LOW_UNIT: Final = np.uint64(0xFFFF)
ZERO: Final = np.uint64(ord("0"))
TEN: Final = np.uint64(10)
# MASK[n] keeps the first n characters of a window (the units lie little-endian in it).
MASK: Final = np.array([0, 0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF], np.uint64)


def _inside(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    for first, last in ranges:  # noqa: SIM110 - asked 12,000 times at start, and any() costs four times as much
        if first <= code <= last:
            return True
    return False


def _folded(code: int) -> int:
    """What one UTF-16 unit counts as: SEPARATOR, IGNORED, or the letter or digit that stands for it."""
    old = unicodedata.ucd_3_2_0
    char = chr(code)
    category = old.category(char)
    if category == "Cs":
        return code  # half of a character beyond U+FFFF: a letter, so that such a character is one word
    if category == "Cf" or code == SOFT_HYPHEN or _inside(code, MARKS):
        return IGNORED
    if category == "Cn":
        return SEPARATOR if _inside(code, SYMBOL_BLOCKS) else code
    if category[0] not in "LMN":
        return SEPARATOR
    if category == "Nd":
        return ord("0") + old.decimal(char)
    bare = "".join(c for c in old.normalize("NFKD", char) if not "\u0300" <= c <= "\u036f")
    base = bare if len(bare) == 1 else char
    upper = base.upper()  # by way of upper case, so that the final sigma and the dotless i find their letter
    lower = (upper if len(upper) == 1 else base).lower()
    return ord(lower) if len(lower) == 1 and old.category(lower) != "Cn" else ord(base)


@cache
def _fold(size: int) -> Units:
    """The fold of the first `size` units. About a microsecond a unit, so no larger than the texts at hand need."""
    return np.fromiter(map(_folded, range(size)), np.dtype("<u2"), size)


def _fold_for(highest: int) -> Units:
    """A table that has the unit `highest`: ASCII, what alphabets and typography use, or all (70 ms, once)."""
    return _fold(next(size for size in FOLD_SIZES if highest < size))


@cache
def _alone() -> NDArray[np.bool_]:
    """Whether a folded unit is a word of its own."""
    alone = np.zeros(1 << 16, np.bool_)
    for first, last in UNSPACED:
        alone[first : last + 1] = True
    return alone


def _edges(units: Units, spaced: bool) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where words start and where they end, in folded units that have a separator before and after."""
    inside = units != SEPARATOR
    here, before = inside[1:], inside[:-1]
    if spaced:
        turns = (here != before).nonzero()[0]
        turns += 1
        return turns[::2], turns[1::2]
    alone = _alone().take(units)
    cut = alone[1:] | alone[:-1]
    starts = (here & (cut | ~before)).nonzero()[0]
    ends = (before & (cut | ~here)).nonzero()[0]
    starts += 1
    ends += 1
    return starts, ends


def _hash_piece(raw: Units, fold: Units, plain: bool) -> tuple[Hashes, Kinds]:
    """Hash and kind of each word of one piece, in order. `plain`: the text is ASCII, nothing is IGNORED."""
    size = len(raw)
    units = np.zeros(size + 5, np.dtype("<u2"))  # a separator before, and room for a window after the last start
    fold.take(raw, out=units[1 : size + 1], mode="clip")
    spaced = plain
    if not plain:
        ignored = units == IGNORED
        if np.count_nonzero(ignored):
            units = units[~ignored]
        spaced = bool(units.max() < FIRST_UNSPACED)
    starts, ends = _edges(units, spaced)
    lengths = ends - starts
    # Every window of four units, copied once: aligned loads by the three `take`s then cost a fifth of
    # unaligned ones.
    windows: Hashes = np.ndarray((len(units) - 3,), np.dtype("<u8"), units, 0, (2,)).astype(np.uint64)
    mask = MASK.take(lengths, mode="clip")
    first = windows.take(starts)
    first &= mask
    middle = windows.take(np.maximum((starts + ends >> 1) - 2, starts))
    middle &= mask
    last = windows.take(np.maximum(ends - 4, starts))
    last &= mask

    kinds = (lengths <= SHORT_LENGTH).view(np.uint8)
    kinds += ((first & LOW_UNIT) - ZERO < TEN).view(np.uint8) * np.uint8(NUMBER)

    hashes = first
    hashes += lengths.view(np.uint64)
    hashes *= K1
    hashes ^= hashes >> S32
    hashes += middle
    hashes *= K2
    hashes ^= hashes >> S29
    hashes += last
    hashes *= K3
    hashes ^= hashes >> S32
    return hashes, kinds


def pieces(text: str) -> Iterator[tuple[Hashes, Kinds]]:
    """Hashes and kinds of the words of a text, in order, a piece at a time. A lone surrogate separates."""
    try:
        encoded = text.encode("utf-16-le")
    except UnicodeEncodeError:
        # By way of UTF-8, whose encoder replaces in C: the UTF-16 one calls a handler for each, 0.8 s for 5
        # MB of them.
        encoded = text.encode("utf-8", "replace").decode("utf-8").encode("utf-16-le")
    units: Units = np.frombuffer(encoded, np.dtype("<u2"))
    plain = text.isascii()
    fold = _fold_for(0 if plain else int(units.max()))
    start = 0
    while start < len(units):
        end = min(start + PIECE, len(units))
        if end < len(units):
            # End at a separator, so that no word is cut; a run longer than TAIL without one is cut where it
            # is.
            gaps = (fold.take(units[end - TAIL : end]) == SEPARATOR).nonzero()[0]
            end = end - TAIL + int(gaps[-1]) + 1 if len(gaps) else end
        yield _hash_piece(units[start:end], fold, plain)
        start = end
