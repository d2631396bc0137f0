"""How many visits a crawl made and what they found, by stretches of time; `gossamer.crawl.changes` judges them."""

from collections.abc import Sequence

import msgspec

from gossamer.crawl.changes import Changes

__all__ = ["Visits", "by_stretch", "together"]


class Visits(msgspec.Struct, frozen=True):
    """Visits that were answered."""

    first: int = 0
    """To URLs that had never been visited."""
    again: int = 0
    """To the others: changed, unchanged, and what is neither."""
    changed: int = 0
    unchanged: int = 0
    """304, or the same bytes."""
    other: int = 0
    """Gone, moved, back, or still not there."""


def by_stretch(changes: Changes, seconds: float, stretches: int) -> list[Visits]:
    """The visits in each stretch of so many seconds before the end of what is asked for; the last stretch comes last."""
    found = [[0] * len(Visits.__struct_fields__) for _ in range(stretches)]
    for stretch, kind, again, count in changes.over_time(seconds):
        if not 0 <= stretch < stretches:
            continue
        sums = found[stretches - 1 - stretch]
        sums[1 if again else 0] += count
        if again:
            sums[{"changed": 2, "unchanged": 3}.get(kind, 4)] += count
    return [Visits(*sums) for sums in found]


def together(parts: Sequence[Visits]) -> Visits:
    return Visits(*map(sum, zip(*map(msgspec.structs.astuple, parts), strict=True)))
