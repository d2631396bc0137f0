"""Elements by number: comparing lexbor's tag ids (0.04 µs) is cheaper than asking for names.

The numbers belong to the lexbor that selectolax was built with, so they are asked for once, at import.
"""

from collections.abc import Iterable

from selectolax import lexbor
from selectolax.lexbor import LexborHTMLParser

from gossamer import _native

__all__ = ["BLOCKS", "COMMENT", "FLOW", "HIDDEN", "INLINE", "NATIVE", "ROLES", "ids"]

_TREE = LexborHTMLParser("")


def ids(names: str) -> frozenset[int]:
    """The tag ids of the elements in `names`, a list separated by spaces."""
    return frozenset(number for _, number in _numbered(names.split()))


def _numbered(names: Iterable[str]) -> list[tuple[str, int]]:
    return [(name, _TREE.create_node(name).tag_id) for name in names]


INLINE = ids(
    "a span b strong i em u font small sub sup abbr cite code time mark ins del label big q s kbd var bdi bdo wbr tt"
    " strike acronym dfn samp nobr data ruby"
)
"""Elements that do not interrupt a line of text."""

HIDDEN = ids(
    "script style noscript template svg iframe object video audio select textarea input button canvas math datalist head"
    " noframes noembed map"
)
"""Elements whose content is no text of the page."""

BLOCKS = ids("div section ul ol p dl table header")
"""Elements whose class or id may call them boilerplate."""

_COMMENTED = LexborHTMLParser("<body><!-- -->").body
assert _COMMENTED is not None
assert _COMMENTED.child is not None
COMMENT = _COMMENTED.child.tag_id

NATIVE = _native.attach(lexbor.__file__)
"""Whether the walks over a tree are compiled: where lexbor's functions are not to be found, they are done in Python."""


def _table(groups: Iterable[tuple[str, int]]) -> bytes:
    table = bytearray(256)
    for names, value in groups:
        for number in ids(names):
            table[number] = value
    return bytes(table)


# As native/tree.c numbers them.
ROLES = _table((("a", 1), ("meta", 2), ("link", 3), ("title", 4), ("base", 5), ("area", 6), ("iframe frame", 7)))
FLOW = bytes(1 if number in INLINE else 2 if number in HIDDEN else 0 for number in range(256))
