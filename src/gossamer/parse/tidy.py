"""A proof that few elements stay open, for large honest pages and those full of `<code class=…>`.

Reading such a page tag by tag costs more than parsing it. A *tidy* body needs no reading: one regular expression shows that every `<` in it
begins a whole tag, comment or declaration, and that nothing is hidden in one (values are plain or quoted and have no `<` in them, nor
have comments). Raw text (script, style, title …) has to be free of `<` too. Without any of these rules a `</b>` could stand inside a
value or a comment, be counted here and mean nothing to the tree builder.

In a tidy body the order of start and end tags is the order of the bytes, so unclosed elements can be counted from the names alone, which
are read eight bytes at a time. Formatting: an end tag counts only within the same cell, object or template as its start tag, because
across one it is ignored by the tree builder. Depth: an end tag counts only when it ends the element begun last; whatever the tree
builder closes besides (a paragraph at the next paragraph) only makes the true depth smaller than the one counted here.
"""

import re
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["Tidy", "tidiness"]

_WS = rb"[\t\n\f\r ]"
_VALUE = rb"(?:\"[^\"<]*+\"|'[^'<]*+'|[a-zA-Z0-9_.:#%?&;+/-]++)"
# At most 64 attributes a tag. Without a value only the usual ones: so all other names are followed by an equals sign.
_BARE = rb"(?:async|autofocus|checked|compact|controls|defer|disabled|hidden|itemscope|loop|multiple|muted|nomodule|noshade|novalidate|nowrap|open|readonly|required|reversed|selected)"
_ATTRIBUTE = _WS + rb"++(?:[a-zA-Z0-9_:.-]++=" + _VALUE + rb"|" + _BARE + rb"(?=[\t\n\f\r />]))"
_TAG = rb"/?+[a-zA-Z][a-zA-Z0-9-]*+(?:" + _ATTRIBUTE + rb"){0,64}+" + _WS + rb"*+/?+>"
_NAMED = re.compile(rb"[\t\n\f\r ]([a-zA-Z0-9_:.-]+)=")
_TIDY = re.compile(rb"[^<]*+(?:<(?:" + _TAG + rb"|!--[^<]*?-->|[!?][a-zA-Z][^<>]*+>)[^<]*+)*+")

_FORMATTING = (b"b", b"big", b"code", b"em", b"font", b"i", b"s", b"small", b"strike", b"strong", b"tt", b"u")
_MARKERS = (b"td", b"th", b"caption", b"applet", b"object", b"marquee", b"template")
_RAW = (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noframes", b"noembed")
_VOID = (
    b"area", b"base", b"basefont", b"bgsound", b"br", b"col", b"embed", b"frame", b"hr", b"image", b"img", b"input", b"keygen", b"link",
    b"meta", b"param", b"source", b"track", b"wbr",
)  # fmt: skip
_NEVER = b"plaintex"  # plaintext: nothing after it is a tag
_LONG_NAME = re.compile(rb"[a-zA-Z0-9-]+")
_ANY = (1 << 64) - 1

_WINDOW: Final = 8
_LOWER: Final = np.uint64(0x2020202020202020)
_SLASH: Final = 0x2F
_MASKS: Final = np.array([(1 << 8 * length) - 1 for length in range(_WINDOW + 1)], np.uint64)
_IN_NAME: Final = np.zeros(256, np.bool_)
_IN_NAME[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-")] = True

_FIRST_MARKER: Final = len(_FORMATTING) + 1
_FIRST_RAW: Final = _FIRST_MARKER + len(_MARKERS)
_FIRST_NEVER: Final = _FIRST_RAW + len(_RAW)


def _packed(name: bytes) -> int:
    return int.from_bytes(name.ljust(_WINDOW, b"\0"), "little")


_NUMBERS = {_packed(name): number for number, name in enumerate((*_FORMATTING, *_MARKERS, *_RAW, _NEVER), 1)}
_VOID_NAMES = frozenset(_packed(name) for name in _VOID) | {0}  # 0: a comment or declaration
_KEYS: Final = np.array(sorted(_NUMBERS), np.uint64)
_OF_KEY: Final = np.array([_NUMBERS[key] for key in sorted(_NUMBERS)], np.int64)


class Tidy(msgspec.Struct, frozen=True):
    """What holds for a tidy body."""

    unclosed: int
    """Formatting elements open at once, at most."""
    depth: int
    """Elements nested in one another, at most; 0 when nobody asked."""
    names: int
    """Different names of attributes, at most; 0 when nobody asked."""


def tidiness(body: bytes, opens: NDArray[np.intp], *, depth: bool, names: bool) -> Tidy | None:
    """What a tidy body is bound by; None when the body is not tidy enough to tell.

    `opens` is where the `<` of the body are; one in the last two bytes may be missing.
    """
    if not _TIDY.fullmatch(body):
        return None
    data = np.frombuffer(body + bytes(_WINDOW + 2), np.uint8)
    closing = data[opens + 1] == _SLASH
    elements = _names(body, data, opens + 1 + closing)
    found = np.minimum(_KEYS.searchsorted(elements), len(_KEYS) - 1)
    numbers = np.where(_KEYS[found] == elements, _OF_KEY[found], 0)
    if not _raw_text_is_plain(numbers, closing):
        return None
    of_interest = np.flatnonzero((numbers > 0) & (numbers < _FIRST_RAW))
    signs = np.where(closing[of_interest], -numbers[of_interest], numbers[of_interest])
    return Tidy(
        unclosed=_most_open(signs.tolist()),
        depth=_deepest(elements.tolist(), closing.tolist()) if depth else 0,
        names=len(set(_NAMED.findall(body))) if names else 0,
    )


def _names(body: bytes, data: NDArray[np.uint8], starts: NDArray[np.intp]) -> NDArray[np.uint64]:
    """A number for the name that begins at each place: its letters in lower case, or for more than eight a keyed hash of them."""
    windows: NDArray[np.uint64] = np.ndarray((len(data) - _WINDOW + 1,), np.dtype("<u8"), data, 0, (1,))[starts]
    inside = _IN_NAME[windows.view(np.uint8).reshape(-1, _WINDOW)]
    whole = inside.all(1)
    lengths = np.where(whole, _WINDOW, (~inside).argmax(1))
    names: NDArray[np.uint64] = (windows | _LOWER) & _MASKS[lengths]
    for row in np.flatnonzero(whole & _IN_NAME[data[starts + _WINDOW]]).tolist():
        found = _LONG_NAME.match(body, int(starts[row]))
        assert found is not None
        name = found[0].lower()
        names[row] = _packed(_NEVER) if name == b"plaintext" else hash(name) & _ANY
    return names


def _deepest(names: list[int], closing: list[bool]) -> int:
    stack: list[int] = []
    deepest = 0
    for name, ends in zip(names, closing, strict=True):
        if not ends:
            if name not in _VOID_NAMES:
                stack.append(name)
        else:
            deepest = max(deepest, len(stack))
            if stack and stack[-1] == name:
                stack.pop()
    return max(deepest, len(stack))


def _raw_text_is_plain(numbers: NDArray[np.int64], closing: NDArray[np.bool_]) -> bool:
    """Whether each script, style, title … is followed by its own end tag: then no `<` stood in between."""
    raw = np.flatnonzero((numbers >= _FIRST_RAW) & ~closing)
    if not len(raw):
        return True
    if int(raw[-1]) + 1 == len(numbers) or bool((numbers[raw] >= _FIRST_NEVER).any()):
        return False
    return bool((closing[raw + 1] & (numbers[raw + 1] == numbers[raw])).all())


def _most_open(tags: list[int]) -> int:
    open_now = [0] * _FIRST_MARKER
    left = here = most = 0
    for tag in tags:
        if 0 < tag < _FIRST_MARKER:
            open_now[tag] += 1
            here += 1
            most = max(most, left + here)
        elif -_FIRST_MARKER < tag < 0:
            if open_now[-tag]:
                open_now[-tag] -= 1
                here -= 1
        elif here:  # a cell, an object …: what is open outside cannot be closed inside
            left += here
            here = 0
            open_now = [0] * _FIRST_MARKER
    return most
