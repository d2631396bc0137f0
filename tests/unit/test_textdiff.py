"""The diff of two texts: true, bounded in time, bounded in length."""

import random
import time
from collections.abc import Callable

import pytest

from gossamer.crawl.textdiff import Diff, Manner, compared
from gossamer.crawl.textmatch import matches

DICE = random.Random(20_260_101)
SIZE = 1_000_000


def texts(kinds: int, most: int) -> tuple[str, str]:
    """Two texts of lines of which many repeat; the second is the first with edits, or another one."""
    lines = [f"line {DICE.randrange(kinds)} of it" for _ in range(DICE.randrange(most))]
    other = list(lines)
    for _ in range(DICE.randrange(6)):
        at = DICE.randint(0, len(other))
        other[at : at + DICE.randrange(4)] = [f"line {DICE.randrange(kinds)} by it" for _ in range(DICE.randrange(3))]
    return "\n".join(lines), "\n".join(other if DICE.random() < 0.8 else DICE.sample(other, len(other)))


def sides(diff: Diff) -> tuple[str, str]:
    """The two texts that a diff with all its context was made of."""
    old: list[str] = []
    new: list[str] = []
    for line in diff.lines:
        if line.sign == "~":
            old.append("".join(piece.text for piece in line.pieces if piece.sign != "+"))
            new.append("".join(piece.text for piece in line.pieces if piece.sign != "-"))
        elif line.sign != "@":
            text = line.pieces[0].text
            old += [text] if line.sign in " -" else []
            new += [text] if line.sign in " +" else []
    return "\n".join(old), "\n".join(new)


def test_blocks_are_equal_stretches_in_order() -> None:
    for _ in range(500):
        kinds = DICE.choice((2, 5, 40))
        a, b = ([str(DICE.randrange(kinds)) for _ in range(DICE.randrange(20))] for _ in range(2))
        i = j = 0
        for x, y, size in matches(a, b):
            assert (x >= i, y >= j, size > 0) == (True, True, True)
            assert a[x : x + size] == b[y : y + size]
            i, j = x + size, y + size
        if not set(a).isdisjoint(b):
            assert i > 0


@pytest.mark.parametrize("manner", ["lines", "words"])
def test_both_texts_can_be_read_off_a_diff(manner: Manner) -> None:
    for _ in range(300):
        before, after = texts(DICE.choice((3, 50)), 30)
        diff = compared(before, after, manner, context=1_000, run=1_000, most=10_000)
        if before == after:
            assert diff == Diff()
        else:
            assert [" ".join(side.split()) for side in sides(diff)] == [
                " ".join(side.split()) for side in (before, after)
            ]
            assert diff.more == 0
            assert sum(line.stands_for for line in diff.lines) == diff.removed + diff.added


def test_an_edit_of_one_line_is_told_as_that() -> None:
    lines = [f"paragraph {n % 7} and more" for n in range(2_000)]
    after = [*lines[:1_000], "something else", *lines[1_000:]]
    diff = compared("\n".join(lines), "\n".join(after))
    assert str(diff) == "@@ -1000,2 +1000,3 @@\n paragraph 5 and more\n+something else\n paragraph 6 and more"
    assert (diff.removed, diff.added, diff.more, diff.note) == (0, 1, 0, "")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("It costs 10 euros a month.", "It costs 12 euros a month.", "~It costs [-10-]{+12+} euros a month."),
        ("a b c", "a b c d", "~a b c {+d+}"),
        ("今日は雨です", "今日は晴です", "~今日は[-雨-]{+晴+}です"),
        ("all of this", "none but that", "-all of this\n+none but that"),
    ],
)
def test_words_that_changed_are_shown_within_their_line(before: str, after: str, told: str) -> None:
    assert str(compared(before, after, "words")).partition("\n")[2] == told


def test_what_is_far_from_a_changed_word_is_left_out() -> None:
    words = [f"word{n}" for n in range(3_000)]
    told = str(compared(" ".join(words), " ".join([*words[:1_500], "new", *words[1_501:]]), "words"))
    assert "[-word1500-]{+new+} word1501" in told
    assert len(told) < 300


def test_what_differs_in_a_long_line_is_not_cut_off() -> None:
    same = "the same words again and again " * 100
    told = str(compared(f"{same}old end", f"{same}new end"))
    assert "old end" in told
    assert "new end" in told
    assert len(told) < 1_000


def test_a_diff_says_how_much_it_does_not_show() -> None:
    diff = compared("\n".join(f"old {n}" for n in range(500)), "\n".join(f"new {n * n}" for n in range(400)))
    assert len(diff.lines) <= 100
    assert "(470 more lines went)" in str(diff)
    assert "(370 more lines came)" in str(diff)
    scattered = [f"same {n}" if n % 5 else f"old {n}" for n in range(5_000)]
    diff = compared("\n".join(scattered), "\n".join(line.replace("old", "new") for line in scattered))
    assert len(diff.lines) == 100
    assert (diff.removed, diff.added) == (1_000, 1_000)
    assert diff.more == 2_000 - sum(line.stands_for for line in diff.lines) > 1_900
    assert len(str(compared("a" * SIZE, "b" * SIZE))) < 2_000


def _lines(kinds: int, form: str) -> Callable[[], str]:
    def make() -> str:
        width = len(form.format(0)) + 1
        return "\n".join(form.format(DICE.randrange(kinds)) for _ in range(SIZE // width))

    return make


HOSTILE: dict[str, Callable[[], str]] = {
    "two kinds of line": _lines(2, "{}"),
    "many lines of a few kinds": _lines(300, "{:03}"),
    "long lines of a few kinds": _lines(200, "{:050}"),
    "nearly all unique": _lines(90_000, "{:09}"),
    "one line of few words": lambda: " ".join(DICE.choices("abcdef", k=SIZE // 2)),
    "one line without spaces": lambda: "".join(DICE.choices("ab", k=SIZE)),
    "one line of characters that are words": lambda: "".join(DICE.choices("漢字仮名", k=SIZE)),
    "empty lines": lambda: "\n" * DICE.randrange(SIZE // 2, SIZE) + DICE.choice("xyz") + "\n" * 1_000,
    "lines that are rewritings of each other": lambda: "\n".join(
        " ".join(str(DICE.randrange(50)) for _ in range(3_300)) for _ in range(100)
    ),
}


@pytest.mark.parametrize("manner", ["lines", "words"])
@pytest.mark.parametrize("name", HOSTILE)
def test_the_worst_texts_take_no_longer_than_a_moment(name: str, manner: Manner) -> None:
    before, after = HOSTILE[name](), HOSTILE[name]()
    began = time.process_time()
    diff = compared(before, after, manner)
    assert time.process_time() - began < 3  # below 1 s where nothing else runs
    assert len(diff.lines) <= 100
    assert len(str(diff)) < 150_000
