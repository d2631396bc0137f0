"""The compiled part says what the rules in Python say: references written out plainly, and compared on all kinds of input."""

import base64
import unicodedata
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from gossamer import _native
from gossamer.fingerprint import text_print
from gossamer.fingerprint._words import folded
from gossamer.parse import _readable, html, text
from gossamer.parse.bounds import guard
from gossamer.parse.elements import NATIVE, ROLES
from gossamer.parse.text import KINDS

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


EDGES = bytes.fromhex("41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")


def decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(st.lists(st.sampled_from(EDGES), max_size=12).map(bytes) | st.text(max_size=20).map(str.encode))
def test_bytes_are_utf8_when_they_decode(data: bytes) -> None:
    for body in (data, b"0123456789abcdef" + data, data + b"0123456789abcdef"):
        assert _native.is_utf8(body) == decodes(body)


@given(st.lists(st.sampled_from([b"&", b"nGt", b"&nLt", b"nL", b"t;", b";", b"&nGt;", b"x"])))
def test_swelling_references_are_found(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    assert _native.swells(body) == (b"&nGt;" in body or b"&nLt;" in body)


# --- the walk over a tree --------------------------------------------------------------------------------------------

PROSE = "The river had been rising since Tuesday and nobody in the valley believed it would stop. "
PIECES = [
    "<p>", "</p>", '<a href="x#y">', "</a>", "<a name=n>", "text ", "\n ", "<!-- c -->", "<b>", "</b>", "<table>", "<td>", "</table>",
    '<script>var a="<b>"</script>', "<svg><title>s</title><a xlink:href=q>z</a></svg>", "\u00a0", "\u200b", "&nbsp;", "&#1;",
    "\x01", "<br>", "<span></span>", '<iframe src=f title=" a  b ">', "</iframe>", "<title> T  x</title>", "<base href=/b/>",
    '<area href=ar alt="x">', '<a href=l rel="nofollow x"> q  r </a>', "<custom-el>", "<template><p>in</p></template>",
    "<meta name=robots content=noindex>", "<link rel=canonical href=c>", "<select><option>o", "<frameset>", "<frame src=k>",
    "<a href>", '<a href="">e</a>', "<math><mi>x</mi></math>", "\u3000", "<i>", "<div>", "</div>", "</div>", "<!DOCTYPE html>",
    "<a href=u>" + "w " * 150 + "</a>", "<a href=é>é  é</a>", "\ufffe", "<aside>", "</aside>", "<h1>", "</h1>", "<figure>", "</figure>",
    "<span>", "</span>", "<body class=nav>", "<form>", "</form>", "\x1c \x85", "é漢😀" * 9, PROSE, PROSE * 2, PROSE * 4,
]  # fmt: skip
NAMES = ["comments", "post-comments", "sidebar x", "share", "article social", "story", "é caption", "x" * 190 + " share", "x" * 200 + " share"]  # fmt: skip
ELEMENTS = st.builds(
    '<{} {}="{}">'.format,
    st.sampled_from(["div", "p", "section", "ul", "td", "table", "header", "span", "footer", "article"]),
    st.sampled_from(["class", "id", "CLASS", "data-class"]),
    st.sampled_from(NAMES),
)


def tree_of(markup: bytes) -> LexborHTMLParser:
    return LexborHTMLParser(_readable(markup))


def both_walks(tree: LexborHTMLParser, whole: bool = True) -> tuple[html._Found, html._Found]:
    assert tree.root is not None
    return (
        html._compiled(tree, tree.root, whole, 200, True, True),
        html._walk(tree, tree.root, whole, 200, True, True),
    )


def test_the_walk_is_compiled_here() -> None:
    assert NATIVE, "lexbor's functions are not where they are looked for: crawls are right, and slower"


@given(st.lists(st.sampled_from(PIECES) | ELEMENTS, max_size=60), st.booleans(), st.binary(max_size=4), st.integers(0))
def test_both_walks_find_the_same(pieces: list[str], whole: bool, junk: bytes, place: int) -> None:
    encoded = [piece.encode() for piece in pieces]
    encoded.insert(place % (len(pieces) + 1), junk)
    compiled, plain = both_walks(tree_of(b"".join(encoded)), whole)
    assert compiled == plain
    assert list(compiled.anchors) == list(plain.anchors)


HOSTILE = {
    "deep": ("<div class=share>" * 500 + f"<p>{PROSE * 20}") * 20,
    "deep links": "<table><td><a href=x>" * 150 + PROSE * 2_000,
    "paragraphs": f"<p>{PROSE}" * 30_000,
    "breaks": f"<div>{PROSE}<br>" * 300 + "short<br>" * 60_000,
    "texts": f"<div>{PROSE[:30]}</div>" * 30_000,
    "long names": f'<div class="{"share " * 100_000}" id="{"é" * 300_000}"><p>{PROSE * 5}</div>' * 3,
    "many names": "".join(f'<div class="share{n}" id="{n}"><p>{PROSE}</div>' for n in range(25_000)),
    "links": f"<div>{PROSE * 12_000}" + "<a href=x>link</a> and " * 45_000,
    "blank": "<p>" + " \n" * 500_000 + "<b> </b>" * 30_000,
    "removed": f"<aside>{PROSE}</aside><h1>x</h1>" * 15_000,
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_hostile_shapes_cost_no_more_than_their_size(shape: str) -> None:
    markup, _ = guard(HOSTILE[shape].encode())
    tree = tree_of(markup)
    assert tree.root is not None
    before = process_time()
    compiled = html._compiled(tree, tree.root, True, 200, True, True)
    assert process_time() - before < 1  # measured: under 0.03 s
    assert compiled == html._walk(tree, tree.root, True, 200, True, True)


def test_names_are_remembered_up_to_a_number() -> None:
    markup = "".join(f"<div class=x{n}>{PROSE}</div>" for n in range(1_000))
    for page in range(25):
        tree = tree_of(markup.replace("class=x", f"class=x{page}-").encode())
        assert tree.root is not None
        html._compiled(tree, tree.root, True, 200, True, False)
        assert len(text._JUDGED) <= text._MOST_JUDGED
    assert text._JUDGED["x24-999"] == 0


def test_an_error_of_who_is_asked_comes_through() -> None:
    def broken(name: str) -> int:
        raise LookupError(name)

    tree = tree_of(f"<div class=new-name><p>{PROSE * 5}</div>".encode())
    assert tree.root is not None
    known: dict[str, object] = {}
    rules = (*text.RULES[:-2], known, broken)
    with pytest.raises(LookupError):
        _native.read_tree(tree.root, tree.body, ROLES, KINDS, True, 20, 120, html._collapsed, rules, True)
    known["new-name"] = "no number"
    with pytest.raises(TypeError):
        _native.read_tree(tree.root, tree.body, ROLES, KINDS, True, 20, 120, html._collapsed, rules, True)


def test_the_budget_for_the_text_of_links_is_kept() -> None:
    tree = tree_of("".join(f"<a href={n}>{'é' * 50}</a>" for n in range(10)).encode())
    assert tree.root is not None
    found = html._Found(
        *_native.read_tree(tree.root, tree.body, ROLES, KINDS, True, 20, 120, html._collapsed, None, False)
    )
    assert [len(shown) for shown in found.anchors.values()] == [20, 20, 20, 0, 0, 0, 0, 0, 0, 0]
    assert found.budget == -30
    assert found.main_text is found.full_text is None


def test_tables_and_rules_of_the_wrong_size_are_refused() -> None:
    tree = tree_of(b"<p>")
    assert tree.root is not None
    with pytest.raises(ValueError, match="256 bytes"):
        _native.read_tree(tree.root, None, b"", KINDS, True, 20, 120, html._collapsed, None, True)
    with pytest.raises(TypeError):
        _native.read_tree(tree.root, tree.body, ROLES, KINDS, True, 20, 120, html._collapsed, (), True)
    rules = (0, *text.RULES[1:])
    with pytest.raises(ValueError, match="one voter"):
        _native.read_tree(tree.root, tree.body, ROLES, KINDS, True, 20, 120, html._collapsed, rules, True)
