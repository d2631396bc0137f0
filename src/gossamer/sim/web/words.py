"""Words: deterministic English-looking text, a few microseconds a paragraph.

Text is drawn from tables of half sentences by the bytes of an extendable hash, so it depends on its key alone, the same
in every process and on every version of Python. Texts of two keys share hardly any run of words: their SimHashes are as far
apart as those of unrelated pages. A number also has a name of words and the name gives the number back, so that a path can
carry a page number without looking like a counter.
"""

import hashlib
import struct

import xxhash

from gossamer.sim.web import vocabulary

__all__ = ["hash64", "heading", "paragraphs", "slug", "unit", "unslug"]


def hash64(*parts: object) -> int:
    """64 bits of the parts: the only source of chance in the whole web."""
    return xxhash.xxh3_64_intdigest("\x1f".join(map(str, parts)).encode())


def unit(*parts: object) -> float:
    """A number in [0, 1) from the parts."""
    return hash64(*parts) / 2**64


NOUNS, ADJECTIVES, VERBS = (words.split() for words in (vocabulary.NOUNS, vocabulary.ADJECTIVES, vocabulary.VERBS))
PREPOSITIONS, DETERMINERS = vocabulary.PREPOSITIONS.split(), vocabulary.DETERMINERS.split()
ADVERBS = vocabulary.ADVERBS.split()

SLUG_NOUNS, SLUG_ADJECTIVES = sorted(set(NOUNS))[:256], sorted(set(ADJECTIVES))[:256]
assert len(SLUG_NOUNS) == len(SLUG_ADJECTIVES) == 256
_NOUN_AT = {word: at for at, word in enumerate(SLUG_NOUNS)}
_ADJECTIVE_AT = {word: at for at, word in enumerate(SLUG_ADJECTIVES)}
_SPREAD = 40503  # odd, so multiplication permutes 16 bits: neighbouring pages have unlike names
_GATHER = pow(_SPREAD, -1, 1 << 16)


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "sh", "ch", "x")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in "aeiou" else verb + "s"


def _noun_phrase(at: int) -> str:
    h = hash64("np", at)
    noun, adjective = NOUNS[h % len(NOUNS)], ADJECTIVES[(h >> 16) % len(ADJECTIVES)]
    determiner = DETERMINERS[(h >> 32) % len(DETERMINERS)]
    words = [adjective, noun] if h >> 40 & 3 else [noun]
    if determiner == "a" and words[0][0] in "aeiou":
        determiner = "an"
    return " ".join([determiner, *words])


def _verb_phrase(at: int) -> str:
    h = hash64("vp", at)
    verb = _third_person(VERBS[h % len(VERBS)])
    return f"{ADVERBS[(h >> 16) % len(ADVERBS)]} {verb}" if h >> 32 & 1 else verb


NOUN_PHRASES = [_noun_phrase(at) for at in range(4096)]
VERB_PHRASES = [_verb_phrase(at) for at in range(4096)]


def _opening(at: int) -> str:
    h = hash64("opening", at)
    return f"{NOUN_PHRASES[h & 4095].capitalize()} {VERB_PHRASES[h >> 12 & 4095]} "


def _object(at: int) -> str:
    h = hash64("object", at)
    return f"{NOUN_PHRASES[h & 4095]} {PREPOSITIONS[h >> 24 & 15]} {NOUN_PHRASES[h >> 12 & 4095]}"


# Half sentences: two look-ups a sentence. Two pages of a hundred sentences share one or two halves by chance.
OPENINGS = [_opening(at) for at in range(8192)]
OBJECTS = [_object(at) for at in range(8192)]


def paragraphs(size: int, *key: object) -> list[str]:
    """Text of about `size` characters as paragraphs of three to seven sentences."""
    picks = max(1, size // 66)  # a sentence is about 66 characters and takes three picks of 16 bits
    stream = hashlib.shake_128("\x1f".join(map(str, key)).encode()).digest(6 * picks)
    found: list[str] = []
    sentences: list[str] = []
    length = 3
    for a, b, c in struct.iter_unpack("<3H", stream):
        if c & 3:
            sentences.append(f"{OPENINGS[a & 8191]}{OBJECTS[b & 8191]}.")
        else:
            tail = f"{NOUN_PHRASES[c >> 4]} {VERB_PHRASES[(a ^ b ^ c) & 4095]}"
            sentences.append(f"{OPENINGS[a & 8191]}{OBJECTS[b & 8191]}, and {tail} it.")
        if len(sentences) >= length:
            found.append(" ".join(sentences))
            sentences = []
            length = 3 + (a >> 13) % 5
    if sentences:
        found.append(" ".join(sentences))
    return found


def heading(*key: object) -> str:
    """A title: few words, nearly always different for different keys."""
    h = hash64("heading", *key)
    first, second = NOUN_PHRASES[h & 4095], NOUN_PHRASES[h >> 12 & 4095]
    return f"{first.capitalize()} {PREPOSITIONS[h >> 24 & 15]} {second}"


def slug(number: int, mask: int = 0) -> str:
    """A name of words for a number: `calm-harbour`; `unslug` reads it. The mask differs per host, so hosts have different names."""
    low = (number & 0xFFFF ^ mask & 0xFFFF) * _SPREAD & 0xFFFF
    number = number & ~0xFFFF | low
    words = [SLUG_ADJECTIVES[number >> 8 & 255], SLUG_NOUNS[number & 255]]
    number >>= 16
    while number:
        words.append(SLUG_NOUNS[number & 255])
        number >>= 8
    return "-".join(words)


def unslug(text: str, mask: int = 0) -> int | None:
    """The number whose `slug` is `text`, or None where there is none."""
    words = text.split("-")
    if len(words) < 2 or words[0] not in _ADJECTIVE_AT:
        return None
    digits = [_NOUN_AT.get(word) for word in words[1:]]
    if None in digits or (len(digits) > 1 and digits[-1] == 0):
        return None
    number = _ADJECTIVE_AT[words[0]] << 8 | (digits[0] or 0)
    for place, digit in enumerate(digits[1:]):
        number |= (digit or 0) << (16 + 8 * place)
    low = (number & 0xFFFF) * _GATHER & 0xFFFF
    return (number & ~0xFFFF | low) ^ (mask & 0xFFFF)
