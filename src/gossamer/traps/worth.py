"""What pages have been worth: how a group of URLs earns the right to be fetched, and loses it.

Each page that was fetched is compared with others of its host and found to be one of these:

    new      its text is its own
    a copy   exactly or nearly the text of another page, wherever that was
    alike    at least some two thirds of its text is that of another page of its group (`alike_bits`)
    adrift   new, but found on a page of its group, and hardly anything it leads to within its section had been heard of. A few such pages are
             a site being discovered; when there are many, it is a maze: pages made up on demand, each of which nothing else knows

A group's `worth` is the share of new ones among its last pages, those long past counting less and less. Its memory (`patience`) grows with
the new pages it has brought: a calendar of empty months is given up after some eight of them, a forum of a thousand threads only after dozens in a
row. Under `least_worth` its URLs are refused when their turn comes, without a request, but for samples at longer and longer distances;
a sample that is new opens the group again.

For parameters it is not pages that are judged but pairs of them: two URLs of one path that differ in the parameter. When their text is the
same the parameter is noise, and a URL that has it is asked for without it.
"""

from typing import Literal

import msgspec

from gossamer.traps.rules import TrapRules

__all__ = ["Group", "PageRead"]

UNLIKE = 24  # two texts that have nothing in common are 32 ± 4 bits apart
FEW_KNOWN = 0.15
PROVEN = 32
MIXED = 16  # where new and old alternate, as around the present of a calendar, a few old ones in a row say little


class PageRead(msgspec.Struct, frozen=True, gc=False):
    """What is known of a page that was fetched, as far as traps are concerned."""

    url: str
    via: str | None = None
    copy_of: str | None = None
    likeness: int | None = None
    """SimHash of its text, whatever its length; None when it has none."""
    parent: int | None = None
    """That of the page it was found on, where that is of the same host."""
    kin: int = 0
    """Links to its own section."""
    known: int = 0
    """Of them, those found before."""
    outward: int = 0
    """Links that had not been found before and lead out of its section."""


class Group(msgspec.Struct, array_like=True, gc=False):
    """What has come of the pages of one group."""

    fresh: int = 0
    copies: int = 0
    alike: int = 0
    adrift: int = 0
    worth: float = 1.0
    passed: int = 0
    """URLs refused since the group lost its worth."""
    sample: int = 0
    """How many of them until the next sample; 0 while the group has worth."""
    pages: list[tuple[int, str]] = []
    """The last pages that were new: likeness, and path with query."""

    @property
    def read(self) -> int:
        return self.fresh + self.copies + self.alike + self.adrift

    def judged(
        self, as_what: Literal["fresh", "copies", "alike", "adrift"], rules: TrapRules, leads: bool = False
    ) -> None:
        """Another page, or comparison, spoke for the group or against it: a quarter as loud where the page led to something new."""
        new = as_what == "fresh"
        if new:
            self.fresh += 1
        else:
            setattr(self, as_what, getattr(self, as_what) + 1)
        memory = min(rules.patience + self.fresh // 4, 8 * rules.patience)
        self.worth += (new - self.worth) / (4 * memory if leads and not new else memory)
        if new:
            self.worth = max(self.worth, rules.least_worth)
        if self.worth >= rules.least_worth:
            self.passed = self.sample = 0

    @property
    def proven(self) -> bool:
        """Whether so many of its pages were new that not each needs to be compared with the page it was found on."""
        return self.fresh >= PROVEN and self.worth > 0.9 and self.fresh % 8 != 0

    def spent(self, rules: TrapRules) -> bool:
        """Whether the last pages brought too little; not before there were a few more of those than new ones."""
        if self.worth >= rules.least_worth:
            return False
        return self.copies + self.alike + 3 * self.adrift >= min(self.fresh, MIXED) + rules.patience

    def passes(self, rules: TrapRules) -> bool:
        """Whether the next URL of a spent group is a sample; counts it."""
        self.sample = self.sample or rules.sample
        self.passed += 1
        if self.passed < self.sample:
            return False
        self.sample *= 4
        return True

    def nearest(self, likeness: int, own: str) -> tuple[int, str]:
        """The remembered page most like this one (fetched again, it is not its own copy), and how far it is."""
        best, at = 64, ""
        for other, target in self.pages:
            away = (likeness ^ other).bit_count()
            if away < best and target != own:
                best, at = away, target
        return best, at

    def remember(self, likeness: int, target: str, most: int) -> None:
        self.pages.append((likeness, target))
        del self.pages[:-most]

    def drifts(self, page: PageRead, rules: TrapRules) -> bool:
        """Whether a new page, found on another of its group, leads to nothing that anyone else knows."""
        return self.read >= rules.maze_pages and page.kin > 1 and page.known < FEW_KNOWN * page.kin
