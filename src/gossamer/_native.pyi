"""The compiled part of Gossamer (`native/*.c`): what each function means is told by the module that calls it."""

from collections.abc import Callable

from selectolax.lexbor import LexborNode

def base32(data: bytes, /) -> str:
    """RFC 4648, with its padding."""

def text_print(text: str, fold: Callable[[int], int], /) -> tuple[int, int]:
    """SimHash and number of words. `fold` is asked once for each UTF-16 unit that is ever met."""

def spoken(text: str, most: int, words: tuple[str, ...], /) -> int:
    """Which of the words are among those of the first `most` characters: bit n stands for word n."""

def survey(body: bytes, most: int, /) -> tuple[int, int, int, int]:
    """Tags, formatting elements and roots among the first `most` tags, and where the next one begins (or the body ends)."""

def swells(body: bytes, /) -> bool:
    """Whether `&nGt;` or `&nLt;` is there."""

def tidiness(body: bytes, /) -> tuple[int, int] | None:
    """Formatting elements open at once and depth, at most; None for a body that is not tidy."""

def is_utf8(data: bytes, /) -> bool:
    """Whether `data.decode()` would raise nothing."""

def attach(library: str, /) -> bool:
    """Find lexbor's functions in a library that is loaded; whether they are all there."""

def read_tree(
    root: LexborNode,
    body: LexborNode | None,
    roles: bytes,
    kinds: bytes,
    whole: bool,
    most_anchor: int,
    budget: int,
    collapse: Callable[[str, int], str],
    rules: tuple[object, ...] | None,
    full: bool,
    /,
) -> tuple[
    dict[str | tuple[str, str], str],
    list[dict[str, str | None]],
    list[dict[str, str | None]],
    list[tuple[int, dict[str, str | None]]],
    str | None,
    str | None,
    int,
    str | None,
    str | None,
]:
    """Anchors, metas, heads, other links, title, base, what is left of the budget, main text (with rules) and full text."""
