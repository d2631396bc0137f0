"""Hostile bodies: every shape known to hurt a tree builder ends within a second of CPU time, and says what was cut."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.parse import DEFAULT, Bounds, parse_page
from gossamer.parse.bounds import guard
from gossamer.parse.tags import has_flood, prune

URL = "https://example.com/"
SIZE = 400_000
SECOND = 1.0
MEGABYTES = 300  # that a body of 400 KB may cost on top of what the process has


def numbered(pattern: bytes, count: int) -> bytes:
    return b"".join(pattern % n for n in range(count))


def flood(count: int) -> bytes:
    return numbered(b"a%d ", count)


SHAPES: dict[str, Callable[[int], bytes]] = {
    "nested div": lambda n: b"<div>" * (n // 5),
    "nested span": lambda n: b"<span>" * (n // 6),
    "nested lists": lambda n: b"<ul><li>" * (n // 8),
    "nested definition lists": lambda n: b"<dl><dd>" * (n // 8),
    "nested tables": lambda n: b"<table><tr><td>" * (n // 15),
    "nested forms": lambda n: b"<form><div>" * (n // 11),
    "nested select": lambda n: b"<select>" + b"<option>" * (n // 8),
    "nested svg": lambda n: b"<svg><foreignObject>" * (n // 20),
    "nested anchors": lambda n: b"<a href=x><applet>" * (n // 36) + b"x" * (n // 2),
    "nested paragraphs": lambda n: b"<p><button>" * (n // 22) + b"x" * (n // 2),
    "nesting behind wrong end tags": lambda n: b"<div></x>" * (n // 9),
    "nesting behind table scope": lambda n: b"<div><table></div>" * (n // 18),
    "nesting behind the adoption agency": lambda n: b"<b><div></b>" * (n // 12),
    "nesting behind an equals sign": lambda n: b'<a ="> ' + b"<div>" * (n // 5) + b'">',
    "nesting behind a title in select": lambda n: b"<select><title>" + b"<div>" * (n // 5),
    "end tags that search": lambda n: b"<div><table>" + b"<span>" * 500 + b"</div>" * (n // 6),
    "formatting": lambda n: numbered(b"<font size=%d>", n // 15),
    "formatting reopened": lambda n: b"<p>" + numbered(b"<b id=%d>", n // 40) + b"<p>x" * (n // 8),
    "formatting with hidden ends": lambda n: b"<p>" + numbered(b'<b x=">" id=%d>', n // 60) + b"<p>x" * (n // 8),
    "formatting behind markers": lambda n: (
        b"".join(b"<table><tr><td>" + numbered(b"<b id=%d>", 60) + b"</b>" * 60 for _ in range(n // 2000))
        + b"</table>" * (n // 2000)
        + b"<p>x" * (n // 8)
    ),
    "attributes": lambda n: b"<div " + flood(n // 8) + b">",
    "attributes on a tag that never ends": lambda n: b"<div " + flood(n // 8),
    "attributes with hidden ends": lambda n: (
        b"<div " + b"".join(b'x%d="</p> <p>" ' % n + numbered(b"b%%d%d " % n, 60) for n in range(n // 600)) + b">"
    ),
    "attributes in an svg title": lambda n: b"<svg><title></svg></title><script><div " + flood(n // 8) + b">",
    "attributes over many html tags": lambda n: numbered(b"<html a%d=1>", n // 14),
    "attributes over many body tags": lambda n: numbered(b"<BoDy a%d=1>", n // 14),
    "attribute names all different": lambda n: numbered(b"<p x%d>", n // 10),
    "attribute names all different, many a tag": lambda n: b"".join(
        b"<p " + numbered(b"%d-%%d " % at, 200) + b">" for at in range(n // 1600)
    ),
    "attributes over many tags": lambda n: (b"<a " + flood(100) + b"href=x>x</a>") * (n // 600),
    "tag names all different": lambda n: numbered(b"<x%d>", n // 8),
    "line breaks": lambda n: b"<br>" * (n // 4),
    "links": lambda n: numbered(b"<a href=/%d>x</a>", n // 20),
    "metas": lambda n: b"<meta name=robots content=none>" * (n // 31),
    "open comment": lambda n: b"<!--" + b"x-" * (n // 2),
    "open title": lambda n: b"<title>" + b"x" * n,
    "open script": lambda n: b"<script>" + b"<!--<script>" * (n // 12),
    "open quote": lambda n: b'<a href="' + b"x" * n,
    "entities": lambda n: b"&notin;&amp" * (n // 11),
    "one word": lambda n: b"x" * n,
    "less-than signs": lambda n: b"<" * n,
    "NULs": lambda n: b"\0<\0p>" * (n // 5),
    "spaces": lambda n: b"<p>" + b"x  \t" * (n // 4),
    "text in small blocks": lambda n: b"<div>forty characters of text in an element</div>" * (n // 50),
    "discredited blocks": lambda n: b"<div class=comment><p>forty characters of text in it</p>" * (n // 60),
    "boilerplate in boilerplate": lambda n: (b"<div class=share>" * 200 + b"x" * 500) * (n // 4000),
    "wrong Big5": lambda n: b"<meta charset=big5>" + b"\xa3\xe1\xff" * (n // 3),
    "wrong ISO-2022-JP": lambda n: b"<meta charset=iso-2022-jp>" + b"\x1b$B\x1b(B" * (n // 6),
}


def forget_peak() -> float:
    """Let the kernel begin a new record of this process's highest memory use; the megabytes it starts from."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_megabytes()


def peak_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]


def cpu_of(body: bytes) -> tuple[float, tuple[str, ...]]:
    start = time.process_time()
    page = parse_page(body, URL, "text/html")
    spent = time.process_time() - start
    for text in (page.title, page.text, page.full_text):
        text.encode("utf-8")
    return spent, page.cuts


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_body_costs_less_than_a_second(shape: str) -> None:
    body = SHAPES[shape](SIZE)
    before = forget_peak()
    spent, _ = cpu_of(body)
    assert spent < SECOND
    assert peak_megabytes() - before < MEGABYTES


@pytest.mark.parametrize(
    "shape",
    [
        "nested div",
        "attributes",
        "formatting reopened",
        "attribute names all different",
        "attributes over many tags",
        "links",
    ],
)
def test_ten_megabytes_of_it_cost_less_than_a_second_too(shape: str) -> None:
    spent, cuts = cpu_of(SHAPES[shape](10 * 1024 * 1024))
    assert spent < SECOND
    assert cuts, "something was left out, and it was not said"


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("nested div", "start tags nested deeper than 512 were left out."),
        ("attributes", "1 tags lost their attributes past number 256, or 400,000 of the whole."),
        ("attributes over many html tags", "html and body tags past number 8 were left out."),
        ("formatting reopened", "unclosed ones were left out."),
        ("attribute names all different", "tags lost attributes whose names came after 20,000 others."),
        ("attributes on a tag that never ends", "A tag that never ends was cut"),
    ],
)
def test_what_was_cut_is_named(shape: str, said: str) -> None:
    _, cuts = cpu_of(SHAPES[shape](SIZE))
    assert any(said in sentence for sentence in cuts)


def test_text_and_links_around_a_cut_are_kept() -> None:
    bomb = b"<div>" * 30_000
    page = parse_page(
        b"<title>T</title><a href=/1>One</a>" + bomb + b"<a href=/2>Two</a><p>After</p>", URL, "text/html"
    )
    assert page.title == "T"
    assert [link.text for link in page.links] == ["One", "Two"]
    assert "After" in page.full_text
    assert len(page.cuts) == 1


def test_a_flooded_tag_keeps_its_first_attributes() -> None:
    body = b"<a href=/kept " + flood(20_000) + b">Link</a>" + b" " * 70_000
    page = parse_page(body, URL, "text/html")
    assert [(link.url, link.text) for link in page.links] == [("https://example.com/kept", "Link")]


def test_an_ordinary_page_passes_untouched() -> None:
    markup = b"<!doctype html><html><body>" + b'<p class="a b">Words <b class=x>and</b> <i>more</i></p>\n' * 2000
    assert guard(markup, DEFAULT) == (markup, [])


def test_scripts_with_signs_in_them_are_not_pruned() -> None:
    script = b"<script>for(i=0;i<n;i++){s+='<div a=\"'+x+'\">'}</script><style>a>b{}</style>"
    markup = script * 30 + b"<p>x</p>" * 11_000
    assert prune(markup, 512, 256, 64) == (markup, [])
    assert not has_flood(markup, 256)


def test_closed_nesting_is_not_cut() -> None:
    markup = (b"<div>" * 100 + b"x" + b"</div>" * 100) * 60
    assert guard(markup, DEFAULT) == (markup, [])


@pytest.mark.parametrize("bound", [Bounds(max_tags=100), Bounds(max_bytes=2000)])
def test_a_bound_on_the_whole_body_cuts_its_end(bound: Bounds) -> None:
    body, cuts = guard(b"<p>x</p>" * 1000, bound)
    assert body.startswith(b"<p>x</p><p>x</p>")
    assert len(body) <= 2000
    assert len(cuts) == 1
