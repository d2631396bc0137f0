"""The times of next visits, on disk and in two orders, and the pace at which they are planned.

A finished URL's time stands in `due`, by time, until it has come; if its host has other URLs before it, then in `overdue`, by host. Both only
point to URLs: the record, which has the time too, is elsewhere and does not change when the one becomes the other.
"""

from collections.abc import Iterator

import msgspec
from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.contract import Stats
from gossamer.frontier.disk import Disk
from gossamer.frontier.records import Recrawl, encode
from gossamer.recrawl import Pace, adjust_threshold, replanned

__all__ = ["DueBook"]

DAY = 86_400.0
LONGEST_PERIOD = 3_600.0
DONE_AT_MOST = 0.9
"""The part of what was really visited that is planned for while pages pile up: the rest takes them down."""

_decode_pace = msgspec.msgpack.Decoder(Pace).decode


class DueBook:
    """Times of next visits; what is put and dropped goes into the batch of the transition under way."""

    def __init__(self, disk: Disk, rules: Recrawl, stats: Stats) -> None:
        self._disk = disk
        self._rules = rules
        self._stats = stats
        saved = disk.of["meta"].get(b"pace")
        self.pace = _decode_pace(saved) if saved is not None else Pace()
        self._changed = False
        self._from = b""
        """No time lies before this key."""
        self._next = 0.0
        """Nothing is due before this; it may be that nothing is due then either."""
        self._period_from = 0.0
        self._visits = 0

    # --- times ----------------------------------------------------------------------------------------------------

    def put(self, at: float, key: bytes, batch: WriteBatch) -> None:
        entry = keys.waiting(at, key)
        self._from = min(self._from, entry)
        self._next = min(self._next, at)
        batch.put(entry, b"", self._disk.to["due"])
        self._stats.due += 1

    def drop(self, at: float, key: bytes, batch: WriteBatch) -> None:
        """A URL is no longer to be visited at the time it had."""
        if (late := self._disk.of["overdue"].get(keys.overdue(at, key))) is not None:
            assert late == b""
            batch.delete(keys.overdue(at, key), self._disk.to["overdue"])
            self._stats.overdue -= 1
        else:
            batch.delete(keys.waiting(at, key), self._disk.to["due"])
            self._stats.due -= 1

    def come(self, now: float, until: float, most: int, batch: WriteBatch) -> Iterator[bytes]:
        """What has become due, taken from `due`: time and key of a URL."""
        now = min(now, until)
        if not self._stats.due or now < self._next:
            return
        limit = keys.millis(now)
        self._next = float("inf")
        for entry, _ in self._disk.first("due", b"", most, self._from):
            if entry[:8] > limit:
                self._next = int.from_bytes(entry[:8], "big") / 1000
                break
            self._from = entry + b"\0"
            batch.delete(entry, self._disk.to["due"])
            self._stats.due -= 1
            yield entry
        else:
            self._next = now  # perhaps there are more

    def next(self) -> float | None:
        """The earliest time in `due`."""
        for entry, _ in self._disk.first("due", b"", 1, self._from):
            self._next = int.from_bytes(entry[:8], "big") / 1000
            return self._next
        return None

    # --- pace -----------------------------------------------------------------------------------------------------

    def replan(self, before: float, after: float) -> None:
        """A page that was planned `before` seconds after its last visit is planned `after` seconds after this one; 0: not at all."""
        self.pace = replanned(self.pace, before, after, self._rules.policy)
        self._visits += before > 0.0
        self._changed = True

    def adjust(self, now: float) -> None:
        """Once a period: the threshold at which all plans together ask for what the budget allows."""
        period = min(self._rules.policy.floor, LONGEST_PERIOD)
        if not self._period_from:
            self._period_from = now
        seconds = now - self._period_from
        if seconds < period:
            return
        late = self._stats.overdue + self._stats.revisiting
        budget = self._rules.visits_per_day * (self._stats.due + late) / DAY
        if late > self._visits:  # they pile up: more than can be done is not worth planning for
            budget = min(budget, DONE_AT_MOST * self._visits / seconds)
        self.pace = adjust_threshold(self.pace, budget, self._visits, late, seconds)
        self._period_from, self._visits, self._changed = now, 0, True

    def write(self, batch: WriteBatch) -> None:
        if self._changed:
            batch.put(b"pace", encode(self.pace), self._disk.to["meta"])
            self._changed = False
