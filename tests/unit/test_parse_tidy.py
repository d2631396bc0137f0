"""The short proof that a body is harmless: what it calls tidy has no hidden tags, and its bounds are never too small."""

from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.parse.tidy import Tidy, tidiness


def tidy(body: bytes) -> Tidy | None:
    return tidiness(body, names=True)


def deepest(node: LexborNode) -> int:
    """How deep the tree really is."""
    level, most = [node], 0
    while level:
        level = [child for parent in level for child in parent.iter(include_text=False)]
        most += 1
    return most


def test_an_honest_page_is_bound_by_what_it_nests() -> None:
    page = b"<!DOCTYPE html>\n<!-- a comment --><html><head><title>t</title><script src=a.js></script></head><body>"
    page += (
        b'<p class="x">a <code class="y">b</code> <em title="it\'s">c <b>d</b></em><br/></p>' * 50 + b"</body></html>"
    )
    assert tidy(page) == Tidy(unclosed=2, depth=5, names=3)


def test_what_stays_open_is_counted() -> None:
    assert tidy(b"<p>" + b"<b id=1>x" * 7) == Tidy(unclosed=7, depth=8, names=1)
    assert tidy(b"<b><table><tr><td></b></td></tr></table>" * 5) == Tidy(unclosed=5, depth=8, names=0), (
        "no end tag reaches out of a cell"
    )


def test_names_that_only_begin_alike_do_not_close_each_other() -> None:
    for start, end in (
        (b"blockquote", b"blockquotx"),
        (b"basefontx", b"basefont"),
        (b"strike", b"strong"),
        (b"b", b"big"),
    ):
        bound = tidy((b"<%s></%s>" % (start, end)) * 9)
        assert bound is not None
        assert bound.depth == 9, (start, end)


def test_a_place_where_a_tag_could_hide_is_not_tidy() -> None:
    for hidden in (
        b'<b id="</b>">', b"<b id='</b>'>", b"<b x=a\" y=\">\" z=\"</b>\">", b'<b =">" </b>">', b"<!-- </b> -->", b"<!--><b>x-->", b"<![CDATA[ > </b> ]]>",
        b"<script></b></script>", b"<title></b></title>", b"<textarea></b>", b"<plaintext></b>", b"<b x=</b>>", b"<b", b"a < b", b'<b a="x"b="y">',
        b"<b x = '>'></b>", b"</ b>", b"<style>", b'<b="x">', b"<b" + b" a=1" * 65 + b">", b"<b odd>",
    ):  # fmt: skip
        assert tidy(hidden + b"<i>y</i>") is None, hidden


PIECES = st.sampled_from(
    [b"<b id=1>", b"<b id=2>", b"</b>", b"<i>", b"</i>", b"<p>", b"</p>", b"<div>", b"</div>", b"<td>", b"</td>", b"<table>", b"</table>", b"<tr>",
     b"</tr>", b"<object>", b"</object>", b"<a href=x>", b"</a>", b"<li>", b"</ul>", b"<ul>", b"<br>", b"<button>", b"</button>", b"x", b'"', b"'", b">",
     b"<!-- c -->", b"<!--", b"-->", b"<title>", b"</title>", b"<script>", b"</script>", b'<p title="', b"<svg>", b"</svg>", b"<h1>", b"</h1>",
     b"<select>", b"</select>", b"<template>", b"</template>", b"<code>", b"</code>", b"<nobr>", b"<font a=b>", b"</font>", b"<x-y>", b"</x-y>",
     b"<form>", b"</form>", b"<option>", b"<math>", b"</math>", b"<blockquote>", b"</blockquote>"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map(b"".join))
def test_the_tree_is_never_deeper_than_proven(body: bytes) -> None:
    bound = tidy(body)
    if bound is None:
        return
    root = LexborHTMLParser(body).root
    if root is None:
        return
    # html, head or body, and for each table a tbody, tr and colgroup come unasked; unclosed formatting is reopened.
    unasked = (
        3
        + 3 * body.count(b"<table")
        + 3 * body.count(b"<t")
        + bound.unclosed
        + body.count(b"<a ")
        + body.count(b"<nobr")
    )
    assert deepest(root) <= bound.depth + unasked
