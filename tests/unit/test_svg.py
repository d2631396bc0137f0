"""The chart writer: whatever the figures and names, the file is well-formed, small, and runs nothing."""

import itertools
import random
import re
import xml.etree.ElementTree as ET

import pytest

from gossamer.crawl.svg import Bar, Curve, Panel, Stack, bars, curves, picture, stacks

SVG = "{http://www.w3.org/2000/svg}"
PANEL = Panel(20, 80, 480, 300, "A title", "a note")
NASTY = [
    "<script>alert(1)</script>",
    "a & b",
    '"quoted"',
    "]]>",
    "\x00\x1b[31m\x07",
    "\ud800\udfff\ufffe",
    "ä漢\u202e",
    "x" * 50_000,
]


def drawn(*parts: str, head: str = "head", summary: str = "summary") -> ET.Element:
    text = picture(1_000, 400, head, summary, parts)
    text.encode()
    return ET.fromstring(text)


def boxes(tree: ET.Element, kind: str) -> list[tuple[float, float, float, float]]:
    return [
        (float(r.get("x", 0)), float(r.get("y", 0)), float(r.get("width", 0)), float(r.get("height", 0)))
        for r in tree.iter(f"{SVG}rect")
        if r.get("class") == kind
    ]


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_foreign_text_stays_text(text: str) -> None:
    panel = Panel(20, 80, 480, 300, text, text)
    tree = drawn(
        bars(panel, [Bar(text[:99], 3, text[:99])], text[:99]),
        curves(panel, [Curve(text[:99], ((0.0, 1.0), (1.0, 0.5)))], [(0.0, text[:99])]),
        stacks(panel, [text[:99]], [Stack(text[:99], (1, 2), text[:99])], 2, text[:99]),
        head=text,
        summary=text[:99],
    )
    assert {element.tag.removeprefix(SVG) for element in tree.iter()} == {
        "svg", "title", "desc", "style", "rect", "text", "line", "polyline"
    }  # fmt: skip
    assert ("alert(1)" in "".join(tree.itertext())) == ("alert(1)" in text)
    assert len(ET.tostring(tree)) < 20_000


def test_it_runs_nothing_loads_nothing_and_knows_dark() -> None:
    text = picture(1_000, 400, "head", "summary", [bars(PANEL, [Bar("1 h", 3, "three")], "0")])
    assert not re.search(r"<script|\son\w+=|href|url\(|@import|<image|<foreignObject", text)
    assert text.count("http") == 1, "the name space, and no other address"
    assert "prefers-color-scheme:dark" in text
    light, dark = text.partition("@media")[::2]
    for name in (".paper{fill", ".a{fill", ".b{fill", ".la{stroke", ".grid{stroke"):
        assert name in light, name
        assert name in dark, name


@pytest.mark.parametrize("seed", range(20))
def test_bars_are_as_high_as_their_values_and_stay_in_their_panel(seed: int) -> None:
    dice = random.Random(seed)
    values = [dice.choice((0, 1, dice.randrange(10 ** dice.randrange(1, 10)))) for _ in range(dice.randrange(1, 14))]
    values[0] = max(values[0], 7)
    tree = drawn(bars(PANEL, [Bar(f"{n} h", value, "") for n, value in enumerate(values)], "0"))
    found = boxes(tree, "a")
    shown = [value for value in values if value]
    assert len(found) == len(shown)
    tallest = max(height for *_, height in found)
    for (x, y, width, height), value in zip(found, shown, strict=True):
        assert PANEL.x <= x
        assert x + width <= PANEL.x + PANEL.width + 0.1
        assert PANEL.y <= y
        assert y + height <= PANEL.y + PANEL.height
        assert height == pytest.approx(max(tallest * value / max(shown), 1.5), abs=0.2)


def test_labels_of_a_histogram_do_not_lie_on_each_other() -> None:
    ends = ["10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "3 d", "7 d", "14 d", "30 d", "90 d", "1 y", ""]
    tree = drawn(bars(PANEL, [Bar(end, 5, "") for end in ends], "0"))
    below = [
        (float(t.get("x", 0)), t.text or "")
        for t in tree.iter(f"{SVG}text")
        if t.text in {"0", *ends} and t.get("text-anchor") == "middle"
    ]
    assert len(below) >= 6
    for (x, text), (after, next_) in itertools.pairwise(below):
        assert after - x >= (len(text) + len(next_)) * 3.0


def test_parts_of_a_stack_stand_on_each_other() -> None:
    tree = drawn(stacks(PANEL, ("changed", "unchanged", "other"), [Stack("now", (10, 30, 20))], 50, "budget"))
    legend, bar = 11.0, []
    for kind in "bac":
        bar += [box for box in boxes(tree, kind) if box[2] != legend]
    assert len(bar) == 3
    for (_, y, _, height), (_, above, _, its) in itertools.pairwise(bar):
        assert above + its == pytest.approx(y, abs=1.2)
        assert height > 0
    limits = [line for line in tree.iter(f"{SVG}line") if line.get("class") == "limit"]
    assert len(limits) == 2, "one across, one in the legend"


@pytest.mark.parametrize("values", [[], [0, 0], [1], [10**12]])
def test_nothing_and_very_much(values: list[int]) -> None:
    tree = drawn(
        bars(PANEL, [Bar("1 h", value, "") for value in values], "0"),
        stacks(PANEL, ("a",), [Stack("now", (value,)) for value in values]),
        curves(PANEL, [], []),
    )
    assert len(boxes(tree, "a")) + len(boxes(tree, "b")) == 2 * sum(value > 0 for value in values) + 1
