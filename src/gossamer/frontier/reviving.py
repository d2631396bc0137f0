"""Finished, and yet not: URLs whose bytes were lost with their segment, and failed ones that an operator wants tried again."""

from collections.abc import Iterable, Sequence

import msgspec
from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.contract import Kind, Place, Requeued, State
from gossamer.frontier.failures import unread_place, walk
from gossamer.frontier.hosts import HostSlot, Play
from gossamer.frontier.leasing import Leasing
from gossamer.frontier.records import UrlRecord, encode
from gossamer.frontier.segments import places
from gossamer.politeness import forgiven
from gossamer.url import host_of

__all__ = ["Reviving"]


class Reviving(Leasing):
    """The verbs `seal`, `abandon` and `requeue`."""

    async def seal(self, segment: str) -> None:
        batch = self._disk.batch()
        self._segments.close(segment, batch)
        self._disk.write(batch)

    async def abandon(self, segment: str, now: float, lost: Sequence[str] | None = None) -> int:
        batch = self._disk.batch()
        wanted = None if lost is None else set(lost)
        again = 0
        for key in self._segments.close(segment, batch):
            slot = self._hosts.find(key[:8])
            record = self._disk.url(key)
            if slot is None or record is None or (wanted is not None and record.url not in wanted):
                continue
            held = list(places(record, segment))
            if record.place is None or record.place not in held:
                if held:
                    self._without_copy(slot, record, key, batch)
            elif record.watch is not None and record.watch.place is not None and record.watch.place not in held:
                self._visit_again(slot, record, key, batch, now)
                again += 1
            else:
                self._revive(record, key, None, batch, now)
                again += 1
        self._write(batch)
        return again

    def _without_copy(self, slot: HostSlot, record: UrlRecord, key: bytes, batch: WriteBatch) -> None:
        """The earlier capture of a page is lost: nothing points to it any more, and the next visit asks for all of it."""
        entry = slot.id + record.entry
        queued = record.state is State.QUEUED
        if queued:  # what is in memory of it counts, and not what is on disk
            held = self._leases.record_of(record.url) if entry in slot.out else None
            record = held or next((each for place, each in slot.head if place == entry), record)
        assert record.watch is not None
        record.watch = msgspec.structs.replace(record.watch, place=None, kept=False, body=None)
        if queued or record.state is State.WAITING:
            self._stats.stored -= record.stored
            record.stored, record.etag, record.last_modified = False, None, None
        batch.put(entry if queued else key, encode(record), self._to["queue" if queued else "urls"])

    def _visit_again(self, slot: HostSlot, record: UrlRecord, key: bytes, batch: WriteBatch, now: float) -> None:
        """What the last visit brought is lost, what an earlier one brought is not: the page is as it was, and visited again."""
        watch = record.watch
        assert watch is not None
        self._unplan(record, key, batch)
        self._stats.revisiting += 1
        self._stats.stored += watch.kept - record.stored
        self._count(record.state, -1)
        record.state, record.place, record.stored, record.attempts, record.deaths = State.QUEUED, None, watch.kept, 0, 0
        # Without conditions: "not modified" would be no answer to a question for a body that we do not have.
        record.etag = record.last_modified = None
        record.watch = msgspec.structs.replace(watch, due=0.0, body=None)
        self._hosts.changed(slot)
        self._requeue(record, key, batch, now)

    def _unplan(self, record: UrlRecord, key: bytes, batch: WriteBatch) -> None:
        """A finished URL is queued: the time of its next visit is void."""
        watch = record.watch
        if watch is not None and watch.due:
            self._due.drop(watch.due, key, batch)
        elif watch is not None and record.state is State.GONE:
            self._stats.retired -= 1

    def _revive(self, record: UrlRecord, key: bytes, place: Place | None, batch: WriteBatch, now: float) -> None:
        """Queue a finished URL again as if it had never been asked for: the books forget what it came to."""
        slot = self._hosts.find(key[:8])
        assert slot is not None
        if record.fetched:
            slot.record.fetched -= 1
            if record.kind is Kind.PAGE:
                slot.record.taken -= 1
                self._stats.fetched -= 1
        self._unplan(record, key, batch)
        if record.watch is not None:
            if record.watch.due:
                self._due.replan(record.watch.planned, 0.0)
            record.watch = None
        if record.copy_of is not None:
            self._stats.copies -= 1
        self._stats.stored -= record.stored
        self._count(record.state, -1)
        if record.state is State.FAILED:
            slot.record.failed -= 1
            batch.delete(key, self._to["failures"])
        record.state, record.place, record.attempts, record.deaths = State.QUEUED, place, 0, 0
        record.fetched, record.copy_of, record.stored = 0.0, None, False
        # Without conditions: "not modified" would be no answer to a question for a body that we do not have.
        record.etag = record.last_modified = record.digest = record.redirect = None
        self._hosts.changed(slot)
        self._requeue(record, key, batch, now)

    async def requeue(
        self,
        now: float,
        *,
        urls: Sequence[str] | None = None,
        host: str | None = None,
        reason: str | None = None,
        most: int = 1_000,
        after: str = "",
        refetch: bool = False,
    ) -> Requeued:
        mark: str | None = None
        if urls is None:
            entries, mark = walk(self._failed_from, host, reason, most, after)
            chosen = [key for key, _ in entries]
        else:
            chosen = list(dict.fromkeys(keys.url_key(keys.host_id(host_of(url)), url) for url in urls))
        batch = self._disk.batch()
        count = 0
        for key in chosen:
            record = self._disk.url(key)
            if record is not None and record.state is State.FAILED:
                self._lift(key[:8], now)
                self._revive(record, key, None if refetch else unread_place(record), batch, now)
                count += 1
        self._write(batch)
        return Requeued(count, mark)

    def _failed_from(self, start: bytes) -> Iterable[tuple[bytes, bytes]]:
        return self._disk.items("failures", start)

    def _lift(self, host: bytes, now: float) -> None:
        """A host that was given up may be asked again, as one that was never in trouble; what it was promised is kept."""
        slot = self._hosts.find(host)
        if slot is not None and (slot.record.dead is not None or slot.record.gone):
            slot.record.dead, slot.record.tries = None, 0
            slot.record.gone.clear()
            slot.record.state = forgiven(slot.record.state, now, self._polite)
            self._hosts.changed(slot)
            if slot.play is Play.TIMED:
                self._bench.put(slot, now)
