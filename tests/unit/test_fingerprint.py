"""Digests, SimHash and the near index: what they promise, on any text."""

import base64
import hashlib
import random
import time
import tracemalloc
import unicodedata

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gossamer.fingerprint import (
    MIN_WORDS,
    NearIndex,
    NearRules,
    blocks,
    comparable,
    digest,
    distance,
    simhash,
    text_print,
    warc_digest,
)

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)  # lone surrogates too
PRINT = st.integers(0, 2**64 - 1)
STEMS = ("bra", "kel", "mont", "sil", "tor", "ven")
ENDINGS = ("den", "ia", "per", "ing", "ment", "ous")
SMALL = ("the", "of", "and", "to", "a", "in", "is", "it", "on", "as", "at", "by", "for", "we", "he", "she", "was")
VOCABULARY = [*SMALL, "with", "from", "this", "that", *(stem + end for stem in STEMS for end in ENDINGS)]


def prose(words: int, seed: int) -> list[str]:
    return random.Random(seed).choices(VOCABULARY, k=words)


# Digests


def test_a_digest_is_sha256() -> None:
    assert digest(b"abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@given(st.binary(max_size=64))
def test_a_warc_digest_names_its_algorithm_and_decodes_to_the_digest(payload: bytes) -> None:
    algorithm, _, value = warc_digest(payload).partition(":")
    assert algorithm == "sha256"
    assert base64.b32decode(value) == hashlib.sha256(payload).digest()


# SimHash: what it must not move


@pytest.mark.parametrize(
    ("text", "value", "words"),
    [
        ("", 0x0000000000000000, 0),
        ("word", 0x00B447DD784914D4, 1),
        ("2024", 0x217A2303137E2540, 1),
        ("The quick brown fox jumps over the lazy dog", 0x28FECE43FB92AF9C, 9),
        ("In 2024 the price was 12.50 euros, 3 more than in 2023.", 0x07E66A04A346363F, 13),
        ("Быстрая коричневая лиса прыгает через ленивую собаку", 0xCD4C01E99B0D0884, 7),
        ("速い茶色の狐がのろまな犬を飛び越える", 0x87F6D3D739386C0E, 18),
        ("Çà et là, l'été, Ångström et Straße", 0x95859933AA86356F, 8),
        ("สวัสดีชาวโลก 😀 नमस्ते दुनिया", 0x26CD61AF2D036D9F, 15),
        (" ".join(prose(2_000, 1)), 0x3CF9B03D82732A77, 2_000),
        (" ".join(prose(30_000, 2)), 0xC6850A1F3B4396CA, 30_000),
    ],
)
def test_a_stored_fingerprint_keeps_its_value_for_ever(text: str, value: int, words: int) -> None:
    assert text_print(text) == text_print(text)
    assert (hex(simhash(text)), text_print(text).words) == (hex(value), words)


@given(ANY_TEXT)
@example("\ud800")
@example("\udfff a \ud800\udc00 b")
@example("\x00" * 10)
def test_any_text_has_a_64_bit_fingerprint_that_repeats(text: str) -> None:
    value = simhash(text)
    assert 0 <= value < 2**64
    assert simhash(text) == value


@given(
    st.lists(st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1), min_size=1, max_size=30),
    st.sampled_from([" ", "\n", "\t  \t", ", ", "\u00a0", " \u2014 ", "...\n\n", "\u201d \u201c"]),
)
def test_white_space_and_punctuation_between_words_change_nothing(words: list[str], between: str) -> None:
    assert simhash(f"{between}{between.join(words)}{between}") == simhash(" ".join(words))


def cased(char: str) -> bool:
    """Both cases are one character each and known to Unicode 3.2, whose tables the fold is frozen to."""
    forms = char.lower(), char.upper()
    return all(len(form) == 1 and unicodedata.ucd_3_2_0.category(form) != "Cn" for form in forms)


@given(st.text(st.characters(codec="utf-8", max_codepoint=0xFFFF).filter(cased)))
@example("Ἀρχὴ ΣΟΦΟΣ İstanbul ılık Ǆ ſ µ")
def test_case_changes_nothing(text: str) -> None:
    lower = "".join(map(str.lower, text))
    upper = "".join(map(str.upper, text))
    assert simhash(text) == simhash(lower) == simhash(upper)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("café déjà vu", "cafe\u0301 de\u0301ja\u0300 vu"),  # composed and decomposed
        ("café déjà vu", "CAFE DEJA VU"),
        ("co\u00adop\u00ader\u00adation soft hyphens", "cooperation soft hyphens"),
        ("\ufeffＡＢＣ １２３ fullwidth", "abc 123 fullwidth"),
        ("٢٠٢٤ سنة جديدة", "2024 سنة جديدة"),
        ("don’t “quote” me", 'don\'t "quote" me'),
        ("ΟΔΟΣ της πόλης", "οδος της πολης"),
        ("a ⚠\ufe0f sign 🙂", "a sign 🙂"),
    ],
)
def test_spellings_of_the_same_words_are_one(one: str, other: str) -> None:
    assert distance(simhash(one), simhash(other)) == 0


@pytest.mark.parametrize("word", ["a", "word", "twelveletter", "internationalisation", "x" * 70])
def test_each_character_of_a_word_of_up_to_twelve_counts_and_the_length_of_any(word: str) -> None:
    others = {word[:i] + "q" + word[i + 1 :] for i in range(min(len(word), 12))} | {word + "s", word[:-1] + "é"}
    if len(word) <= 12:
        assert len({simhash(other) for other in others | {word}}) == len(others) + 1
    assert simhash(word) != simhash(word + "s")


def test_a_character_of_an_unspaced_script_is_a_word() -> None:
    assert text_print("漢字かな交じり文").words == 8
    assert text_print("漢字 and ไทย").words == 6
    assert text_print("한국어는 띄어쓰기가 있다").words == 3


# SimHash: what it must tell


@given(st.integers(0, 2**32))
@settings(max_examples=20)
def test_unrelated_texts_are_far_apart(seed: int) -> None:
    one, other = prose(400, seed), prose(400, seed + 1)
    assert distance(simhash(" ".join(one)), simhash(" ".join(other))) > 10


def test_the_distance_is_proportional_to_the_change() -> None:
    """32 × the share of shingles that only one has: 0.64 bits for one word in 300 (3 of 298 shingles in each)."""
    apart = []
    for seed in range(200):
        words = prose(300, seed)
        changed = list(words)
        changed[seed % 300] = "replacement"
        apart.append(distance(simhash(" ".join(words)), simhash(" ".join(changed))))
    assert sum(apart) / len(apart) < 1.2
    assert sum(d <= 3 for d in apart) >= 190


@given(st.integers(0, 2**32), st.integers(0, 1_999))
@settings(max_examples=30)
def test_a_word_more_in_a_long_text_is_near(seed: int, place: int) -> None:
    words = prose(2_000, seed)
    longer = [*words[:place], "inserted", *words[place:]]
    assert distance(simhash(" ".join(words)), simhash(" ".join(longer))) <= 3


def test_pages_of_one_template_that_differ_in_numbers_are_near() -> None:
    """Two numbers in 120 words, say the order and the day. (In 60 words, 88 of 100 such pairs are within 3 bits.)"""
    apart = []
    for seed in range(25):
        page = prose(120, seed)
        page[20], page[70] = "{0}", "{1}"
        values = [simhash(" ".join(page).format(10_000 + 37 * i, 1 + i)) for i in range(10)]
        apart += [distance(a, b) for i, a in enumerate(values) for b in values[:i]]
    assert sum(d <= 3 for d in apart) >= 0.95 * len(apart)
    assert max(apart) > 0, "a number counts for little, not for nothing"


def test_pages_of_numbers_alone_are_told_apart() -> None:
    rng = random.Random(5)
    tables = [" ".join(str(rng.randrange(10_000)) for _ in range(200)) for _ in range(30)]
    values = [simhash(table) for table in tables]
    assert min(distance(a, b) for i, a in enumerate(values) for b in values[:i]) > 6


def test_a_text_of_a_few_words_is_not_comparable() -> None:
    assert not comparable("Please enable JavaScript to view this page")
    assert not comparable("word " * (MIN_WORDS - 1))
    assert comparable("word " * MIN_WORDS)
    assert comparable("漢" * MIN_WORDS)
    assert text_print("one two three").comparable(3)


# Bad input: bounded time and memory

FLOODS = {
    "one word": "a" * 5_000_000,
    "one letter words": "a " * 2_500_000,
    "spaces": " " * 5_000_000,
    "NULs": "\0" * 5_000_000,
    "lone surrogates": "x\ud800" * 2_500_000,
    "Han": "漢" * 5_000_000,
    "beyond the BMP": "😀 x" * 1_500_000,
    "ignored": "\u00ad" * 5_000_000,
    "accents": "e" + "\u0301" * 5_000_000,
    "numbers": "1 " * 2_500_000,
}


@pytest.mark.parametrize("name", FLOODS)
def test_five_megabytes_of_anything_take_under_a_second_and_little_memory(name: str) -> None:
    simhash("the table is built once")
    text = FLOODS[name]
    start = time.process_time()
    value = simhash(text)
    assert time.process_time() - start < 1.0
    assert 0 <= value < 2**64
    tracemalloc.start()
    try:
        simhash(text)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


def test_a_text_of_many_pieces_has_every_shingle_of_the_whole() -> None:
    """Pieces end at a separator and shingles run over the border: moving the borders changes nothing."""
    text = " ".join(prose(40_000, 7))
    assert len(text) > 3 * 65_536
    assert {simhash(" " * pad + text) for pad in (1, 7, 500, 40_000)} == {simhash(text)}
    assert text_print(text).words == 40_000


# Distance


@given(PRINT, PRINT, PRINT)
def test_distance_is_a_metric(a: int, b: int, c: int) -> None:
    assert distance(a, a) == 0
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)
    assert distance(a, b) <= 64


# The near index


def flipped(value: int, bits: frozenset[int]) -> int:
    for bit in bits:
        value ^= 1 << bit
    return value


CLUSTERS = st.lists(
    st.tuples(PRINT, st.lists(st.frozensets(st.integers(0, 63), max_size=9), min_size=1, max_size=6)), max_size=6
).map(lambda clusters: [flipped(value, bits) for value, changes in clusters for bits in changes])


@given(CLUSTERS, st.integers(0, 6), st.integers(1, 3), st.data())
def test_find_gives_exactly_what_a_scan_gives(stored: list[int], k: int, more: int, data: st.DataObject) -> None:
    index: NearIndex[int] = NearIndex(k, k + more)
    for number, value in enumerate(stored):
        index.add(value, number)
    for number in data.draw(st.sets(st.sampled_from(range(len(stored))))) if stored else ():
        assert index.remove(stored[number], number)
        stored[number] = -1
    kept = [(number, value) for number, value in enumerate(stored) if value >= 0]
    assert len(index) == len(kept)
    near = data.draw(st.sampled_from([v for _, v in kept])) if kept else 0
    for probe in (near, flipped(near, data.draw(st.frozensets(st.integers(0, 63), max_size=8)))):
        found = index.find(probe)
        assert sorted(found) == [(n, distance(v, probe)) for n, v in kept if distance(v, probe) <= k]
        assert [d for _, d in found] == sorted(d for _, d in found)


@given(PRINT, st.frozensets(st.integers(0, 63), max_size=6), st.integers(0, 6), st.integers(1, 4))
def test_values_within_k_bits_share_a_block_key(value: int, bits: frozenset[int], k: int, more: int) -> None:
    keys, others = blocks(value, k, k + more), blocks(flipped(value, frozenset(sorted(bits)[:k])), k, k + more)
    assert any(key == other for key, other in zip(keys, others, strict=True))


def test_block_keys_are_pinned_because_engines_store_them() -> None:
    assert blocks(0x0123456789ABCDEF, 3) == (0xCDEF, 0x89AB, 0x4567, 0x0123)
    assert blocks(0x0123456789ABCDEF, 0) == (0x0123456789ABCDEF,)
    assert blocks(0x0123456789ABCDEF, 2, 4)[:2] == (0x89ABCDEF, 0x4567CDEF)
    assert len(blocks(0, 3, 6)) == 20
    assert {key.bit_length() for key in blocks(2**64 - 1, 3, 6)} <= {31, 32, 33}


def test_storing_a_pair_twice_changes_nothing_and_removing_it_empties_the_index() -> None:
    index: NearIndex[str | None] = NearIndex()
    for key in ("a", "a", "b", None):
        index.add(5, key)
    assert len(index) == 3
    assert index.find(4) == [("a", 1), ("b", 1), (None, 1)]
    assert not index.remove(5, "c")
    assert not index.remove(6, "a")
    assert [index.remove(5, key) for key in ("a", "b", None, "a")] == [True, True, True, False]
    assert len(index) == 0
    assert index.find(5) == []


def test_a_flood_of_equal_fingerprints_is_stored_in_linear_time() -> None:
    index: NearIndex[int] = NearIndex()
    start = time.process_time()
    for number in range(50_000):
        index.add(77, number)
    assert time.process_time() - start < 1.0
    assert len(index.find(77)) == len(index) == 50_000


@pytest.mark.parametrize("value", [-1, 2**64])
def test_a_value_that_is_no_fingerprint_is_refused_and_leaves_nothing(value: int) -> None:
    index: NearIndex[str] = NearIndex()
    with pytest.raises(ValueError, match="64 bits"):
        index.add(value, "x")
    assert len(index) == 0
    assert index.find(2**64 - 1) == index.find(0) == []


@pytest.mark.parametrize(("k", "count"), [(3, 3), (-1, 4), (3, 65)])
def test_blocks_that_cannot_serve_k_are_refused(k: int, count: int) -> None:
    with pytest.raises(ValueError, match="blocks cannot serve"):
        NearIndex(k, count)


def test_the_rules_are_checked_when_they_are_read() -> None:
    assert msgspec.convert({}, NearRules) == NearRules(k=3, min_words=MIN_WORDS)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"k": 17}, NearRules)
