"""A proof that few elements stay open, for large honest pages and those full of `<code class=…>`.

Reading such a page tag by tag in Python costs more than parsing it. A *tidy* body is read in compiled code (`native/markup.c`), which shows that every `<` in it
begins a whole tag, comment or declaration, and that nothing is hidden in one (values are plain or quoted and have no `<` in them, nor
have comments). Raw text (script, style, title …) has to be free of `<` too. Without any of these rules a `</b>` could stand inside a
value or a comment, be counted here and mean nothing to the tree builder.

In a tidy body the order of start and end tags is the order of the bytes, so unclosed elements can be counted from the names alone.
At most 64 attributes a tag; without a value only the usual ones, so all other names are followed by an equals sign. Formatting: an end tag counts only within the same cell, object or template as its start tag, because
across one it is ignored by the tree builder. Depth: an end tag counts only when it ends the element begun last; whatever the tree
builder closes besides (a paragraph at the next paragraph) only makes the true depth smaller than the one counted here.
"""

import re

import msgspec

from gossamer import _native

__all__ = ["Tidy", "tidiness"]

_NAMED = re.compile(rb"[\t\n\f\r ]([a-zA-Z0-9_:.-]+)=")


class Tidy(msgspec.Struct, frozen=True):
    """What holds for a tidy body."""

    unclosed: int
    """Formatting elements open at once, at most."""
    depth: int
    """Elements nested in one another, at most."""
    names: int
    """Different names of attributes, at most; 0 when nobody asked."""


def tidiness(body: bytes, *, names: bool) -> Tidy | None:
    """What a tidy body is bound by; None when the body is not tidy enough to tell."""
    found = _native.tidiness(body)
    if found is None:
        return None
    return Tidy(*found, names=len(set(_NAMED.findall(body))) if names else 0)
