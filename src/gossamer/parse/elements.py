"""Elements by number: comparing lexbor's tag ids (0.04 µs) is cheaper than asking for names.

The numbers belong to the lexbor that selectolax was built with, so they are asked for once, at import.
"""

from collections.abc import Iterable

from selectolax import lexbor
from selectolax.lexbor import LexborHTMLParser

from gossamer import _native

__all__ = ["BLOCKS", "COMMENT", "HIDDEN", "INLINE", "NATIVE", "ROLES", "ids"]

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

# As native/tree.h numbers them.
_NAMES = ("a", "meta", "link", "title", "base", "area", "iframe frame", "p", "br")
_ROLE_OF = {tag: place for place, names in enumerate(_NAMES, 1) for tag in ids(names)}
ROLES = bytes(_ROLE_OF.get(tag, 0) for tag in range(256))
"""What each element is to a walk over the page."""
