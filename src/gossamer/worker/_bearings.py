"""Where a page stands in its site: what the frontier needs to tell a maze, or a filter, from a site being discovered."""

from collections.abc import Sequence

import msgspec

from gossamer.fingerprint import text_print
from gossamer.frontier import Link
from gossamer.parse import Page
from gossamer.settings import NearDuplicates, Settings
from gossamer.traps import groups_of

__all__ = ["Bearings", "bearings", "likeness_of"]

FEWEST_WORDS = 4


class Bearings(msgspec.Struct, frozen=True, gc=False):
    """Links of a page into its own section (`kin`), how many of them were known before, and new ones out of it."""

    kin: int = 0
    known: int = 0
    outward: int = 0


def bearings(url: str, page: Page, found: Sequence[Link]) -> Bearings:
    """`found` are those links of the page that were not found before."""
    section = _section(url)
    kin = {link.url for link in page.links if link.url.startswith(section)}
    kin.discard(url)
    new = [link.url for link in found]
    news = sum(one in kin for one in new)
    host, own = url[: url.find("/", 8) + 1], groups_of(url)[0]
    away = [one for one in new if one not in kin and one.startswith(host)]
    return Bearings(len(kin), len(kin) - news, sum(groups_of(one)[0] != own for one in away))


def _section(url: str) -> str:
    """What URLs of the same section begin with: the path of a query, or the first folder."""
    path, mark, _ = url.partition("?")
    if mark:
        return path
    start = path.find("/", 8) + 1
    folder = path.find("/", start)
    return path[: folder + 1] if folder > 0 else path[:start]


def likeness_of(page: Page, simhash: int | None, settings: Settings) -> int | None:
    """The fingerprint by which pages of a site are compared: also that of a text too short to be called a copy of another."""
    if simhash is not None or settings.near_duplicates is NearDuplicates.OFF:
        return simhash
    found = text_print(f"{page.title or ''} {page.text or page.full_text or ''}")
    return found.simhash if found.words >= FEWEST_WORDS else None
