"""Text to words: what a character counts as.

A word is a run of letters and digits; everything else separates. One table over the 65,536 UTF-16 units does
the case folding, the removal of accents, the width forms and the separators in one look-up a character:

- `é`, `É` and `e` + combining acute are one letter; `Ａ` is `a`; every decimal digit is its ASCII one;
- soft hyphens, joiners, direction marks and variation selectors are not there at all;
- scripts written without spaces (Han, kana, Thai, Lao, Khmer, Burmese) give one word a character, so that
  shingles of words become character n-grams.

The table is filled from the Unicode 3.2 database that Python carries unchanged (`unicodedata.ucd_3_2_0`), a unit when it is first
met: a newer Python must not move a stored fingerprint. What 3.2 did not know counts as a letter, except in the
symbol blocks.

A word is hashed (`native/simhash.c`) from three windows of four characters (start, middle, end) and its length: exact up to twelve
characters, and for longer ones blind only to what lies between the windows. So a word costs three loads,
however long, where a rolling hash would pay for each character.
"""

import unicodedata
from typing import Final

__all__ = ["folded"]

SEPARATOR: Final = 0
IGNORED: Final = 1  # U+0001 is a separator itself, so its number is free

SOFT_HYPHEN: Final = 0x00AD  # a dash in Unicode 3.2, a format character since
MARKS: Final = ((0x0300, 0x036F), (0xFE00, 0xFE0F))  # combining accents, variation selectors
# Where a character that Unicode 3.2 did not have is a symbol or punctuation, not a letter.
SYMBOL_BLOCKS: Final = ((0x2000, 0x2BFF), (0x2E00, 0x2E7F), (0xFE10, 0xFE1F), (0xFFF0, 0xFFFF))


def _inside(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def folded(code: int) -> int:
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
