"""The compiled part says what the rules in Python say: references written out plainly, and compared on all kinds of input."""

import base64
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer import _native
from gossamer.fingerprint import text_print
from gossamer.fingerprint._words import folded
from gossamer.parse import html
from gossamer.parse.elements import FLOW, NATIVE, ROLES
from gossamer.parse.text import full_text

LOW = (1 << 64) - 1
LETTERS = "ab c1 2é\u00ad\u0301漢字かなไทย \ud800x😀\u200d. -Ａß\u0130"
UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x31FF), (0x3400, 0x9FFF), (0xA000, 0xA4CF), (0xF900, 0xFAFF))  # fmt: skip


# --- the fingerprint -------------------------------------------------------------------------------------------------


def units_of(text: str) -> list[int]:
    raw = text.encode("utf-8", "replace").decode("utf-8").encode("utf-16-le")
    return [folded(int.from_bytes(raw[i : i + 2], "little")) for i in range(0, len(raw), 2)]


def words_of(text: str) -> list[list[int]]:
    words: list[list[int]] = [[]]
    for unit in units_of(text):
        if unit == 1:  # ignored
            continue
        alone = any(first <= unit <= last for first, last in UNSPACED)
        if unit == 0 or alone:
            words.append([])
        if alone:
            words[-1].append(unit)
            words.append([])
        elif unit:
            words[-1].append(unit)
    return [word for word in words if word]


def mixed(start: int, parts: list[tuple[int, int, int]]) -> int:
    value = start
    for added, multiplier, shift in parts:
        value = (value + added) * multiplier & LOW
        value ^= value >> shift
    return value


def hash_of(word: list[int]) -> int:
    length = len(word)

    def window(at: int) -> int:
        return sum(unit << 16 * i for i, unit in enumerate(word[max(at, 0) :][:4][:length]))

    middle = max((length >> 1) - 2, 0)
    return mixed(
        0,
        [
            (window(0) + length, 0x6A09E667F3BCC909, 32),
            (window(middle), 0xBB67AE8584CAA73B, 29),
            (window(length - 4), 0x3C6EF372FE94F82B, 32),
        ],
    )


def reference(text: str) -> tuple[int, int]:
    """SimHash as `_similarity.py` describes it, one step after the other."""
    words = words_of(text)
    if not words:
        return 0, 0
    marked = [(hash_of(word), (len(word) <= 3) + 8 * (0x30 <= word[0] <= 0x39)) for word in words]
    marked += [(0, 0)] * (3 - len(marked))
    for limit in (1 << 56, 1 << 58):
        lowest: dict[int, int] = {}
        for (a, x), (b, y), (c, z) in zip(marked, marked[1:], marked[2:], strict=False):
            value = mixed(0, [(a, 0x9B05688C2B3E6C1F, 32), (b, 0x1F83D9ABFB41BD6B, 29), (c, 0x5BE0CD19137E2179, 32)])
            kinds = x + y + z
            rank = (value & (1 << 58) - 1) >> (2 + kinds if kinds < 8 else 0)
            if rank < limit:
                lowest[value >> 58] = min(rank, lowest.get(value >> 58, rank))
        if lowest:
            break
    result = 0
    for place in range(64):
        winner = next(lowest[i % 64] for i in range(place, place + 64) if i % 64 in lowest)
        result |= (winner * pick(place) & LOW) >> 63 << place
    return result, len(words)


def pick(place: int) -> int:
    x = (place + 1) * 0x9E3779B97F4A7C15 & LOW
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & LOW
    x = (x ^ x >> 27) * 0x94D049BB133111EB & LOW
    return x ^ x >> 31 | 1


@given(st.text(alphabet=LETTERS, max_size=400) | st.text(max_size=100))
def test_the_fingerprint_is_the_one_described(text: str) -> None:
    found = text_print(text)
    assert (found.simhash, found.words) == reference(text)


def test_a_text_of_many_pieces_is_read_to_its_end() -> None:
    text = "alpha beta gamma delta " * 20_000
    assert text_print(text) == text_print(text.upper())
    assert text_print(text).words == 80_000
    assert text_print("x" * 200_000).words == 4  # a run without a gap is cut at the end of each piece


def test_what_a_character_counts_as_is_asked_of_python_and_its_errors_come_through() -> None:
    def broken(unit: int) -> int:
        raise LookupError(unit)

    with pytest.raises(LookupError):
        _native.text_print("\uabcd" + chr(0xABCE), broken)
    assert unicodedata.ucd_3_2_0.category("\uabcd") == "Cn"
    assert text_print("\uabcd").words == 1


@given(st.binary(max_size=100))
def test_base32_is_base32(data: bytes) -> None:
    assert _native.base32(data) == base64.b32encode(data).decode("ascii")


@given(st.text(alphabet="the andof\n\u2003и ", max_size=60), st.integers(0, 80))
def test_words_are_found_among_the_first_characters(text: str, most: int) -> None:
    words = ("the", "and", "of", "и")
    there = text[:most].split()
    assert _native.spoken(text, most, words) == sum(1 << i for i, word in enumerate(words) if word in there)


# --- the walk over a tree --------------------------------------------------------------------------------------------

PIECES = [
    "<p>", "</p>", '<a href="x#y">', "</a>", "text ", "\n ", "<!-- c -->", "<b>", "</b>", "<table>", "<td>",
    '<script>var a="<b>"</script>', "<svg><title>s</title><a xlink:href=q>z</a></svg>", "\u00a0", "\u200b", "&nbsp;", "&#1;",
    "\x01", "<br>", "<span></span>", '<iframe src=f title=" a  b ">', "</iframe>", "<title> T  x</title>", "<base href=/b/>",
    '<area href=ar alt="x">', '<a href=l rel="nofollow x"> q  r </a>', "<custom-el>", "<template><p>in</p></template>",
    "<meta name=robots content=noindex>", "<link rel=canonical href=c>", "<select><option>o", "<frameset>", "<frame src=k>",
    "<a href>", '<a href="">e</a>', "<math><mi>x</mi></math>", "\u3000", "<i>", "<div>", "</div>", "<!DOCTYPE html>",
    "<a href=u>" + "w " * 150 + "</a>", "<a href=é>é  é</a>", "\ufffe",
]  # fmt: skip


def test_the_walk_is_compiled_here() -> None:
    assert NATIVE, "lexbor's functions are not where they are looked for: crawls are right, and slower"


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.booleans(), st.binary(max_size=4))
def test_both_walks_find_the_same(pieces: list[str], whole: bool, junk: bytes) -> None:
    tree = LexborHTMLParser("".join(pieces).encode() + junk)
    assert tree.root is not None
    compiled = html._Found(
        *_native.read_tree(tree.root, tree.body, ROLES, FLOW, whole, 200, html._ANCHOR_BUDGET, html._collapsed)
    )
    plain = html._walk(tree.root, whole, 200)
    assert list(compiled.anchors.items()) == list(plain.anchors.items())
    assert (compiled.metas, compiled.heads, compiled.others) == (plain.metas, plain.heads, plain.others)
    assert (compiled.title, compiled.base, compiled.budget) == (plain.title, plain.base, plain.budget)
    assert (compiled.text or "") == full_text(tree)


def test_the_budget_for_the_text_of_links_is_kept() -> None:
    tree = LexborHTMLParser("".join(f"<a href={n}>{'é' * 50}</a>" for n in range(10)))
    assert tree.root is not None
    found = html._Found(*_native.read_tree(tree.root, None, ROLES, FLOW, True, 20, 120, html._collapsed))
    assert [len(text) for text in found.anchors.values()] == [20, 20, 20, 0, 0, 0, 0, 0, 0, 0]
    assert found.budget == -30
    assert found.text is None


def test_tables_of_the_wrong_size_are_refused() -> None:
    tree = LexborHTMLParser("<p>")
    assert tree.root is not None
    with pytest.raises(ValueError, match="256 bytes"):
        _native.read_tree(tree.root, None, b"", FLOW, True, 20, 120, html._collapsed)
