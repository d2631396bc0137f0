"""What may reach the tree builder: a cheap look at the bytes first, because the tree builder itself cannot be interrupted.

lexbor is linear on honest pages and quadratic (or worse) on a few hostile shapes. Measured on bodies of at most 300 KB:
60,000 nested `<div>` 4 s, 37,000 attributes on one tag 2 s, the same spread over many `<html>` tags 1.3 s; 1,000 unclosed
`<b id=n>` followed by 2,000 `<p>x` make 2,000,000 nodes and 900 MB out of 18 KB (each paragraph reopens every `<b>`). And
140,000 different attribute names, one a tag, take 4 s: the table of names has few buckets.

`guard` proves most bodies harmless from counts, in compiled code: 8 µs for 14 KB, about 30 µs for 100 KB. What it cannot
prove harmless is read tag by tag (`tags.py`, about 0.5 µs a tag), and only the tags that go over a bound are left out: the
text and the links around them stay.
"""

import re
from typing import Annotated

import msgspec

from gossamer import _native
from gossamer.parse.tags import MOST_ATTRIBUTES, MOST_NAMES, REST_OF_TAG, formatting_kinds, has_flood, prune
from gossamer.parse.tidy import tidiness

__all__ = ["DEFAULT", "Bounds", "guard"]


def _number(default_meaning: str, least: int, most: int) -> msgspec.Meta:
    return msgspec.Meta(description=default_meaning, ge=least, le=most)


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a body is read. Everything past a bound is left out and named in `Page.cuts`."""

    max_bytes: Annotated[int, _number("Bytes of a body that are parsed.", 1024, 1 << 28)] = 10 * 1024 * 1024
    max_tags: Annotated[int, _number("Tags of a body that are parsed.", 100, 10_000_000)] = 100_000
    max_depth: Annotated[int, _number("Elements nested in one another.", 16, 5000)] = 512
    max_attributes: Annotated[int, _number("Attributes of one tag.", 8, 5000)] = 256
    max_formatting: Annotated[int, _number("Unclosed formatting elements, such as b and font.", 4, 500)] = 32
    max_links: Annotated[int, _number("Links kept of a page.", 1, 1_000_000)] = 10_000
    max_text: Annotated[int, _number("Characters kept of a text.", 100, 1 << 28)] = 1_000_000
    max_anchor: Annotated[int, _number("Characters kept of the text of a link.", 1, 10_000)] = 200
    max_title: Annotated[int, _number("Characters kept of a title or description.", 1, 100_000)] = 1000


DEFAULT = Bounds()

# Below these the worst shape known costs under 0.4 s, so nothing needs proving.
_SMALL = 65_536
_FEW_TAGS = 10_000
_SMALL_TAGS = 1_000  # half of them formatting elements left open and reopened by the other half: 250,000 nodes
_FEW_ROOTS = 16
_REOPENED = 200_000  # nodes that unclosed formatting elements may add: 90 MB
_LARGE = 1 << 20
_MANY_NAMES = 262_144
_WINDOW = 16_384
_SAMPLE = 512
_SHORT = 8  # bytes a word, at most, in a flood that hurts
_PLACES = 4
_VALUE_OPENS = re.compile(rb"=[\t\n\f\r ]*[\"']")


def guard(body: bytes, bounds: Bounds = DEFAULT) -> tuple[bytes, list[str]]:
    """`body` without what goes over the bounds, and a sentence for each thing left out."""
    cuts: list[str] = []
    if len(body) > bounds.max_bytes:
        cuts.append(f"The body was cut at {bounds.max_bytes:,} of its {len(body):,} bytes.")
        body = body[: bounds.max_bytes]
    tags, formatting, roots, end = _native.survey(body, bounds.max_tags)
    # A small page, as most are: with so few tags even the worst arrangement of them is within the bounds above.
    if tags <= min(_SMALL_TAGS, bounds.max_depth * 2) and len(body) <= _SMALL and end == len(body):
        return body, cuts
    if end < len(body):
        cuts.append(f"The body was cut at its tag number {bounds.max_tags:,}, byte {end:,} of {len(body):,}.")
        body = body[:end]
    nests = roots > _FEW_ROOTS or tags > _FEW_TAGS or formatting * tags > 2 * _REOPENED
    floods = len(body) > _SMALL and _looks_flooded(body)
    if not nests and not floods:
        return body, cuts
    if roots <= _FEW_ROOTS and _proven_harmless(body, tags, bounds, floods):
        return body, cuts
    if (nests and (tags > _FEW_TAGS or roots > _FEW_ROOTS or formatting_kinds(body) * 3 * tags > 2 * _REOPENED)) or (
        floods and has_flood(body, bounds.max_attributes, len(body) > _MANY_NAMES)
    ):
        body, said = prune(
            body,
            depth=bounds.max_depth,
            attributes=bounds.max_attributes,
            # Each may be reopened in every block that follows, so many tags allow few of them.
            formatting=max(2, min(bounds.max_formatting, _REOPENED // max(tags, 1))),
        )
        cuts.extend(said)
    return body, cuts


def _proven_harmless(body: bytes, tags: int, bounds: Bounds, floods: bool) -> bool:
    """Whether a tidy body, as most large ones are, is proven to nest little, leave little open and have few attributes."""
    if floods and tags * 64 > MOST_ATTRIBUTES and body.count(b"=") > MOST_ATTRIBUTES:
        return False
    tidy = tidiness(body, names=floods)
    return (
        tidy is not None
        and tidy.depth <= bounds.max_depth
        and tidy.unclosed * tags <= 2 * _REOPENED
        and tidy.names <= MOST_NAMES
        and bounds.max_attributes >= 64
    )


def _looks_flooded(body: bytes) -> bool:
    """Whether a tag of the body may carry a harmful number of attributes: a sample of each window, 3 µs a window.

    To cost half a second a flood needs 18,000 attributes, in tags of at least 5,000 each, so it fills whole windows with
    short words. Where a sample shows so many words, a tag that ends not far behind it proves it to be text after all. The
    place of the sample is not to be guessed from outside: Python's hash is keyed anew in each process.
    """
    if len(body) > _LARGE:
        return True
    shift = hash(body[:256])
    names = len(body) > _MANY_NAMES
    seen: set[bytes] = set()
    total = 0
    for start in range(0, len(body), _WINDOW):
        shift = (shift * 5 + 1) & 0x3FFF
        at = start + shift % (_WINDOW - _SAMPLE)
        sample = body[at : at + _SAMPLE]
        words = sample.split()
        if names:
            seen.update(words)
            total += len(words)
        marks = sample.count(b"/") + sample.count(b"=")
        if (len(words) + marks) * _SHORT > _SAMPLE and not _tag_ends_after(body, at):
            return True
    # Names that are all different, a flood over many tags: no prose is like that, and shorter bodies hold too few of them.
    return names and len(seen) > 0.6 * total and total * 10 * _WINDOW > len(body) * _SAMPLE


def _tag_ends_after(body: bytes, start: int) -> bool:
    """Whether any tag that `start` may be inside of ends within a window from there."""
    end = start + _WINDOW
    place = body.find(b"</", start, end)
    for _ in range(_PLACES):
        if place < 0:
            return False
        # Seen as inside a name, or inside either kind of quotes. A quoted value begins after an equals sign only, so a
        # stretch without that runs to the next `>`; one with it is read out.
        for opening in (b"<", b'"', b"'"):
            at = body.find(opening, place, end)
            if at < 0:
                continue
            close = body.find(b">", at, end)
            if close < 0 or (_VALUE_OPENS.search(body, at, close) and not REST_OF_TAG.match(body, at + 1, end)):
                break
        else:
            return True
        place = body.find(b"</", place + 64, end)
    return False
