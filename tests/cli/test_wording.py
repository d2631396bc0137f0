"""Figures and foreign text as people read them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cli.wording import duration, plain, size, table, width


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (12_345, "12.3 kB"), (999_960, "1.0 MB"), (123_456_789, "123 MB"), (10**15, "1.0 PB")],
)  # fmt: skip
def test_sizes(number: int, words: str) -> None:
    assert size(number) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.0 s"), (9.94, "9.9 s"), (59.4, "59 s"), (60, "1 min"), (125, "2 min 5 s"), (3_600, "1 h"), (90_000, "1 d 1 h")],
)  # fmt: skip
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_title_cannot_command_the_terminal() -> None:
    assert plain("a\x1b[2Jb\x07\u202ec\x9bd\n\te") == "a [2Jb c d e"


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    assert not [c for c in plain(text) if unicodedata.category(c) == "Cc" or c in "\u2028\u2029\u202e"]


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=5), st.integers(20, 90))
def test_a_table_fits_its_terminal(rows: list[tuple[str, str]], columns: int) -> None:
    lines = table(("first", "second"), rows, columns=columns)
    assert len(lines) == len(rows) + 1
    assert all(width(line) <= columns for line in lines)


def test_numbers_stand_to_the_right_and_wide_characters_count_twice() -> None:
    assert table(("name", "n"), [("ab", "5"), ("日本", "1,000")], frozenset({1})) == [
        "name      n",
        "ab        5",
        "日本  1,000",
    ]
