"""The embedded engine, opened: its disk, its books, and how a transition is written.

Everything that must survive is one batch a verb; everything else is memory that a restart rebuilds. The engine is built up in
steps, each a class on the one before: `Opened`, `Queueing`, `Revisiting`, `Leasing`, `Endings`, and `RocksFrontier`, which answers questions.
"""

import math
import random
from collections.abc import Callable
from pathlib import Path

import msgspec
from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.content import ContentIndex
from gossamer.frontier.contract import State, Stats
from gossamer.frontier.disk import Disk
from gossamer.frontier.domains import DomainBook
from gossamer.frontier.due import DueBook
from gossamer.frontier.leases import LeaseBook
from gossamer.frontier.records import FrontierSettings, encode
from gossamer.frontier.seen import SeenFilter
from gossamer.frontier.segments import OpenSegments
from gossamer.frontier.window import HostWindow

__all__ = ["Opened"]

_decode_stats = msgspec.msgpack.Decoder(Stats).decode

_COUNTER = {
    State.QUEUED: "queued",
    State.WAITING: "waiting",
    State.DONE: "done",
    State.REDIRECTED: "redirected",
    State.GONE: "gone",
    State.REFUSED: "refused",
    State.FAILED: "failed",
}


class Opened:
    """A frontier's folder, open, with what is in memory of it."""

    def __init__(
        self,
        folder: Path,
        settings: FrontierSettings = FrontierSettings(),  # noqa: B008 - frozen
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._settings = settings
        self._polite = settings.politeness
        self._jitter = jitter
        self._disk = Disk(folder, settings.cache)
        self._to = self._disk.to
        self._urls = self._disk.of["urls"]
        saved = self._disk.of["meta"].get(b"stats")
        self._stats = _decode_stats(saved) if saved is not None else Stats()
        self._hosts = HostWindow(self._disk, settings, self._stats)
        self._domains = DomainBook(self._disk, settings.traps)
        self._bench = self._hosts.bench
        self._content = ContentIndex(self._disk, settings.near_bits)
        self._seen = SeenFilter((key for key, _ in self._disk.items("urls")), self._stats.seen)
        self._new: set[bytes] = set()  # URLs of the transition under way: not on disk yet
        self._pages_out = 0
        # Each URL has a number, each revisit another; and repair may have counted fewer URLs than there were numbers given.
        self._serial = max(self._stats.seen, int.from_bytes(self._disk.of["meta"].get(b"serial") or b"", "big"))
        self._next_due = 0.0
        self._waiting_from = b""
        """No URL that waits lies before this key."""
        self._segments = OpenSegments(self._disk)
        self._due = DueBook(self._disk, settings.recrawl, self._stats)
        self._until = math.inf if settings.recrawl.continuous else 0.0
        """What is due before this is visited again."""
        self._recalled = False
        self._late: set[bytes] = set()
        """Hosts for which visits became overdue in the transition under way: that is not on disk yet."""
        self._credit = 0.0
        """Revisits that are owed for new pages leased, over all hosts."""
        batch = self._disk.batch()
        # Each process counts leases from a number of its own, so a late answer to an earlier one matches none.
        era = 1 + int.from_bytes(self._disk.of["meta"].get(b"era") or b"", "big")
        batch.put(b"era", era.to_bytes(4, "big"), self._to["meta"])
        self._leases = LeaseBook(settings, era << 32)
        in_play = self._hosts.restore(batch)
        # Of a process that did not close, requests may have been under way: those hosts get the pause they would have had.
        self._cut_off = in_play if self._disk.of["meta"].get(b"open") is not None else []
        batch.put(b"open", b"", self._to["meta"])
        self._write(batch)

    async def close(self, now: float = 0.0) -> None:
        try:
            batch = self._disk.batch()
            if not self._cut_off:
                batch.delete(b"open", self._to["meta"])
            self._hosts.write_shapes(batch)
            self._write(batch)
            self.sync(now)
        finally:
            self.discard()

    def discard(self) -> None:
        """Let go of the files without writing what is only in memory."""
        del self._urls
        self._disk.close()

    def sync(self, now: float = 0.0) -> None:
        """Every transition so far survives a loss of power; `now`, where it is given, is remembered as the time of it."""
        if now:
            self._disk.put_meta(b"clock", keys.millis(now))
        self._disk.sync()

    def written_at(self) -> float:
        """The time at which an earlier process last wrote; 0 when there was none."""
        return int.from_bytes(self._disk.of["meta"].get(b"clock") or b"", "big") / 1000

    def _count(self, state: State, by: int) -> None:
        name = _COUNTER[state]
        setattr(self._stats, name, getattr(self._stats, name) + by)

    def _budget_spent(self) -> bool:
        """Of pages, not of visits: what was fetched once may be fetched again."""
        most = self._settings.max_pages
        return most is not None and self._stats.fetched + self._pages_out >= most

    def _write(self, batch: WriteBatch) -> None:
        """One transition: what the verb put, the hosts it changed, and the books."""
        self._hosts.write(batch)
        self._domains.write(batch)
        self._content.write(batch)
        self._due.write(batch)
        self._new.clear()
        self._late.clear()
        if len(batch):
            if self._serial != self._stats.seen:
                batch.put(b"serial", self._serial.to_bytes(8, "big"), self._to["meta"])
            batch.put(b"stats", encode(self._stats), self._to["meta"])
            self._disk.write(batch)
