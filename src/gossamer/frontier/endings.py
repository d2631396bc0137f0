"""How leases end: completed, given back, or taken back. Each verb is one transition."""

from collections.abc import Sequence

import msgspec
from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.contract import Done, Kept, Kind, State
from gossamer.frontier.hosts import HostSlot
from gossamer.frontier.leases import Held
from gossamer.frontier.planning import FOR_GOOD
from gossamer.frontier.records import TRIES, Try, UrlRecord, Watch, encode
from gossamer.frontier.reviving import Reviving
from gossamer.outcome import Action, ErrorClass, for_error, settled
from gossamer.politeness import Failed, Fetched, RobotsRead, after, delay_of
from gossamer.recrawl import History
from gossamer.traps import PageRead, template_of

__all__ = ["Endings"]

_FINISHED = {
    Action.DONE: State.DONE,
    Action.NOT_MODIFIED: State.DONE,
    Action.REDIRECT: State.REDIRECTED,
    Action.GONE: State.GONE,
    Action.REFUSED: State.REFUSED,
    Action.DEAD: State.FAILED,
}
_AWAY = frozenset({Action.REDIRECT, Action.REFUSED})


def _read(record: UrlRecord, done: Done, parent: int | None) -> PageRead:
    return PageRead(
        record.url, record.via, done.copy_of, done.likeness, parent, done.kin, done.known, done.outward
    )  # fmt: skip


class Endings(Reviving):
    """The verbs `complete`, `kept`, `release`, `reclaim`, `expire` and `extend`."""

    async def complete(self, worker: str, done: Sequence[Done], now: float) -> int:
        batch = self._disk.batch()
        held = 0
        for each in done:
            lease = self._leases.held_by(worker, each.lease)
            if lease is None:
                continue
            held += 1
            self._let_go(each.lease, batch, now)
            slot = lease.slot
            if each.requested:
                self._pace(slot, each, now)
            if each.address is not None:
                slot.record.address = each.address
            if lease.kind is Kind.ROBOTS:
                self._robots_read(slot, lease, each, batch, now)
            elif lease.kind is not Kind.ERRAND:
                self._page_read(slot, lease.record, each, batch, now)
            self._pull(slot, batch, now)
            self._hosts.changed(slot)
            self._hosts.settle(slot, batch, now)
        self._write(batch)
        return held

    def _pace(self, slot: HostSlot, done: Done, now: float) -> None:
        event = (
            Fetched(done.status, done.seconds, done.retry_after)
            if done.status
            else Failed(done.error or ErrorClass.UNEXPECTED, done.seconds)
        )
        slot.record.state = after(slot.record.state, event, now, self._polite, self._jitter())

    def _robots_read(self, slot: HostSlot, lease: Held, done: Done, batch: WriteBatch, now: float) -> None:
        slot.pending = False
        if done.action is Action.DONE and done.robots is not None:
            batch.put(keys.host_id(lease.origin), encode(done.robots), self._to["robots"])
            # By the clock of this process: the worker's may have been set meanwhile, and what has expired is read again at once.
            slot.record.robots[lease.origin] = now + (done.robots.expires - done.robots.fetched)
            slot.record.tries, slot.record.dead = 0, None
            slot.record.state = after(slot.record.state, RobotsRead(done.crawl_delay), now, self._polite)
            if done.links:
                self._discover(done.links, now, lease.origin + "/robots.txt", batch)
            return
        slot.record.tries += 1
        if done.action is Action.DEAD:
            reason = done.detail or str(done.error or done.status)
            slot.record.gone[lease.origin] = reason
            slot.record.tries = 0
            slot.record.dead = None if slot.record.robots else reason

    def _page_read(self, slot: HostSlot, record: UrlRecord, done: Done, batch: WriteBatch, now: float) -> None:
        entry = slot.id + record.entry
        key = keys.url_key(slot.id, record.url)
        page = record.kind is Kind.PAGE
        first = not record.fetched
        if page and first:
            self._pages_out -= 1
        record.attempts += 1
        before = record.status
        record.status, record.error, record.detail = done.status, done.error, done.detail
        if record.tries or not done.status or done.action is Action.DEFER_HOST or done.action is Action.RETRY:
            record.tries = (*record.tries[1 - TRIES :], Try(now, done.status, done.error))
        if done.action is Action.DEFER_HOST or done.action is Action.RETRY:
            record.place = done.place
            if page and first:
                slot.record.taken -= 1
            if done.action is Action.DEFER_HOST:
                batch.put(entry, encode(record), self._to["queue"])
                self._hosts.returned(slot, entry, record)
                return
            record.state, record.again = State.WAITING, now + done.wait
            due = keys.waiting(record.again, key)
            self._waiting_from = min(self._waiting_from, due)
            batch.put(due, b"", self._to["waiting"])
            batch.put(key, encode(record), self._to["urls"])
            batch.delete(entry, self._to["queue"])
            self._hosts.removed(slot, entry)
            self._next_due = min(self._next_due, record.again)
            self._count(State.QUEUED, -1)
            self._count(State.WAITING, 1)
            return
        if done.status:
            slot.record.fetched += 1
            slot.record.size += done.size
            self._stats.size += done.size
            self._stats.revisits += page and not first
        if not first and done.action is Action.DEAD and done.error not in FOR_GOOD:
            record.status = before
            self._finish(slot, entry, record, State.FAILED, batch, now, detail=done.detail)
            return
        if done.status:
            record.fetched = now
            if page and first:
                self._stats.fetched += 1
                self._learn(slot, record, done)
        elif page and first:
            slot.record.taken -= 1
        changed = record.digest != done.digest if done.changed is None else done.changed
        if done.action is Action.NOT_MODIFIED and record.watch is not None:
            changed, record.redirect = False, None
            etag, last_modified = done.etag or record.etag, done.last_modified or record.last_modified
            # What we had may have been lost while we asked: then the next visit has to bring all of it.
            record.etag, record.last_modified = (
                (etag, last_modified) if record.watch.place is not None else (None, None)
            )
            self._as_it_was(record, record.watch, State.DONE)
        else:
            self._as_it_is(record, done)
        if done.place is not None and done.place != record.place:
            record.place = done.place
            self._segments.add(done.place, key, batch)
        self._finish(slot, entry, record, _FINISHED[done.action], batch, now, detail=done.detail, changed=changed)
        if done.links:
            self._discover(done.links, now, record.url, batch)

    def _learn(self, slot: HostSlot, record: UrlRecord, done: Done) -> None:
        """What a page that is read for the first time teaches of its host's traps."""
        if slot.shape.templates:
            slot.shape.learned(template_of(record.url), duplicate=done.copy_of is not None)
            slot.changes += 1
        if done.action is Action.DONE and slot.shape.urls >= self._settings.traps.learn_after:
            parent = self._likeness(slot, record.via) if slot.shape.unsure(record.url) else None
            slot.shape.read(_read(record, done, parent), self._settings.traps)
            slot.changes += 1

    def _as_it_is(self, record: UrlRecord, done: Done) -> None:
        """What a visit found takes the place of what was known; a page that is not shown any more may be shown again as it was."""
        stats, watch = self._stats, record.watch
        stats.stored += done.stored - record.stored
        record.stored, record.redirect = done.stored, done.redirect
        if watch is not None and watch.history.visits and done.action in _AWAY:
            return
        stats.copies += (done.copy_of is not None) - (record.copy_of is not None)
        record.etag, record.last_modified = done.etag, done.last_modified
        record.digest, record.copy_of, record.likeness = done.digest, done.copy_of, done.likeness
        if watch is not None:
            record.watch = msgspec.structs.replace(watch, body=done.body)
        elif done.body is not None:
            record.watch = Watch(History(), body=done.body)

    def _likeness(self, slot: HostSlot, via: str | None) -> int | None:
        """What is remembered of the text of a page of the same host."""
        found = self._disk.url(keys.url_key(slot.id, via)) if via is not None else None
        return found.likeness if found is not None else None

    async def kept(self, worker: str, kept: Kept, now: float) -> bool:
        lease = self._leases.held_by(worker, kept.lease)
        if lease is None or lease.kind >= Kind.ROBOTS:
            return False
        slot, record = lease.slot, lease.record
        if record.place != kept.place:
            record.place, record.status = kept.place, kept.status
            slot.record.size += kept.size
            self._stats.size += kept.size
            batch = self._disk.batch()
            batch.put(slot.id + record.entry, encode(record), self._to["queue"])
            self._hosts.changed(slot)
            self._write(batch)
        return True

    async def release(self, worker: str, leases: Sequence[int], now: float) -> None:
        batch = self._disk.batch()
        for lease in leases:
            if self._leases.held_by(worker, lease) is not None:
                self._put_back(self._let_go(lease, batch, now), batch, now)
        self._write(batch)

    def _put_back(self, held: Held, batch: WriteBatch, now: float) -> None:
        """A lease was given up unused: its URL is where it was."""
        slot = held.slot
        if held.kind is Kind.ROBOTS:
            slot.pending = False
        elif held.kind is not Kind.ERRAND:
            if held.kind is Kind.PAGE and not held.record.fetched:
                slot.record.taken -= 1
                self._pages_out -= 1
            self._hosts.returned(slot, slot.id + held.record.entry, held.record)
        self._hosts.settle(slot, batch, now)

    async def reclaim(self, worker: str, now: float, blamed: Sequence[int] = ()) -> int:
        self._leases.left(worker)
        taken = self._take_back(self._leases.of(worker), now, set(blamed))
        self._hosts.disown(worker)
        return taken

    async def expire(self, now: float) -> int:
        gone = self._leases.past(now)
        return self._take_back(gone, now, set(gone))

    def _take_back(self, leases: list[int], now: float, blamed: set[int]) -> int:
        batch = self._disk.batch()
        for lease in leases:
            held = self._let_go(lease, batch, now)
            slot = held.slot
            # It may have been fetching: the host gets the pause that it would have had.
            pause = max(slot.record.state.next_allowed, now + delay_of(slot.record.state, self._polite))
            slot.record.state = msgspec.structs.replace(slot.record.state, next_allowed=pause)
            slot.owner = None
            self._hosts.changed(slot)
            if lease in blamed and held.kind < Kind.ROBOTS:
                self._blame(lease, held, batch, now)
            else:
                self._put_back(held, batch, now)
        self._write(batch)
        return len(leases)

    def _blame(self, lease: int, held: Held, batch: WriteBatch, now: float) -> None:
        record = held.record
        record.deaths += 1
        outcome = for_error(ErrorClass.WORKER_DIED)
        action = settled(outcome, record.deaths)
        failed = Done(
            lease,
            Action.DEFER_HOST if action is Action.RETRY else action,
            record.status if record.place is not None else 0,
            ErrorClass.WORKER_DIED,
            outcome.reason,
            place=record.place,
        )
        self._page_read(held.slot, held.record, failed, batch, now)
        self._hosts.settle(held.slot, batch, now)

    async def extend(self, worker: str, now: float) -> None:
        self._leases.extend(worker, now)
