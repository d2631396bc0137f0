"""The embedded engine: the frontier in one process, on RocksDB.

Everything that must survive is one batch a verb; everything else is memory that a restart rebuilds. Leases are memory only:
a leased URL's queue entry stays on disk until it is completed, so a crash returns every lease by forgetting it. What is in
memory of hosts, and which hosts, is `window`'s business; leases are `leases`', the keys are built in `keys`. This file is long because it is all
the verbs of one engine, and each is one transition.
"""

import heapq
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.content import ContentIndex
from gossamer.frontier.contract import (
    Content,
    Copy,
    Done,
    FailurePage,
    HostView,
    Kept,
    Kind,
    Lease,
    Link,
    Place,
    Requeued,
    RobotsFile,
    State,
    Stats,
    Stored,
    UrlView,
)
from gossamer.frontier.disk import Disk
from gossamer.frontier.domains import DomainBook
from gossamer.frontier.failures import entry_of, unread_place, view_of, walk
from gossamer.frontier.hosts import HostSlot, Play
from gossamer.frontier.leases import Held, LeaseBook
from gossamer.frontier.order import rank
from gossamer.frontier.records import TRIES, FrontierSettings, Try, UrlRecord, encode
from gossamer.frontier.seen import SeenFilter
from gossamer.frontier.segments import OpenSegments
from gossamer.frontier.window import HostWindow
from gossamer.outcome import Action, ErrorClass, for_error, settled
from gossamer.politeness import Failed, Fetched, RobotsRead, after, delay_of, forgiven, rebased
from gossamer.traps import PageRead, Trap, template_of
from gossamer.url import host_of, origin_of

__all__ = ["RocksFrontier"]

MOST_ORIGINS = 16
REFUSED_AT_ONCE = 1_000
A_MOMENT = 0.01
DUE_AT_ONCE = 1_000

_decode_robots = msgspec.msgpack.Decoder(RobotsFile).decode
_decode_stats = msgspec.msgpack.Decoder(Stats).decode

_FINISHED = {
    Action.DONE: State.DONE,
    Action.NOT_MODIFIED: State.DONE,
    Action.REDIRECT: State.REDIRECTED,
    Action.GONE: State.GONE,
    Action.REFUSED: State.REFUSED,
    Action.DEAD: State.FAILED,
}
_COUNTER = {
    State.QUEUED: "queued",
    State.WAITING: "waiting",
    State.DONE: "done",
    State.REDIRECTED: "redirected",
    State.GONE: "gone",
    State.REFUSED: "refused",
    State.FAILED: "failed",
}


def _read(record: UrlRecord, done: Done, parent: int | None) -> PageRead:
    return PageRead(
        record.url, record.via, done.copy_of, done.likeness, parent, done.kin, done.known, done.outward
    )  # fmt: skip


class RocksFrontier:
    """A `Frontier` in a folder."""

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
        # Repair may have counted fewer URLs than there were numbers given.
        self._serial = max(self._stats.seen, int.from_bytes(self._disk.of["meta"].get(b"serial") or b"", "big"))
        self._next_due = 0.0
        self._waiting_from = b""
        """No URL that waits lies before this key."""
        self._segments = OpenSegments(self._disk)
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

    # --- discover -------------------------------------------------------------------------------------------------

    async def discover(self, links: Sequence[Link], now: float, via: str | None = None) -> int:
        batch = self._disk.batch()
        new = self._discover(links, now, via, batch)
        if new:
            self._write(batch)
        return new

    def _discover(self, links: Iterable[Link], now: float, via: str | None, batch: WriteBatch) -> int:
        new = 0
        order, rules, stats = self._settings.order, self._settings.traps, self._stats
        for link in links:
            url = link.url
            name = host_of(url)
            host = keys.host_id(name)
            key = keys.url_key(host, url)
            if key in self._seen and (key in self._new or self._urls.get(key) is not None):
                continue
            serial = self._serial + 1
            page = link.kind is Kind.PAGE
            entry = keys.queued(host, *(rank(order, link.depth, link.priority, serial) if page else (0, serial)))
            slot = None
            if not self._hosts.waits_on_disk(host, entry):
                slot = self._hosts.find(host)
                if slot is None:
                    if self._domains.admit(name, seed=via is None) is not None:
                        stats.trapped += 1
                        continue
                    slot = self._hosts.add(host, name)
                if page and slot.shape.admit(url, now, rules) is not None:
                    stats.trapped += 1
                    self._hosts.refused(slot)
                    continue
            self._serial = serial
            record = UrlRecord(url, State.QUEUED, link.kind, link.depth, link.hops, link.priority, now, via, entry[8:])
            batch.put(key, record.entry, self._to["urls"])
            batch.put(entry, encode(record), self._to["queue"])
            self._seen.add(key)
            self._new.add(key)
            new += 1
            if slot is not None:
                slot.changes += 1
                self._hosts.enqueued(slot, entry, record, batch, now)
        stats.seen += new
        stats.queued += new
        return new

    # --- lease ----------------------------------------------------------------------------------------------------

    async def lease(self, worker: str, most: int, now: float) -> list[Lease]:
        batch = self._disk.batch()
        while self._cut_off:
            host = self._cut_off.pop()
            self._hosts.put_off(host, now + delay_of(host.record.state, self._polite))
        self._wake_waiting(batch, now)
        self._bench.wake(now)
        self._hosts.refill(batch, now)
        self._leases.joined(worker)
        leases: list[Lease] = []
        passed: list[HostSlot] = []
        while len(leases) < most and not self._budget_spent():  # nor robots.txt of hosts that will not be visited
            slot = self._bench.take(worker, now, steal=self._polite.connections > 1)
            if slot is None:
                break
            if not self._leases.may_connect(slot, worker):
                passed.append(slot)
                continue
            if self._leases.waits_at_gate(slot):
                continue
            busy = slot.pending or slot.leased >= self._polite.connections  # an errand is under way
            lease = None if busy else self._lease_of(slot, worker, batch, now)
            if lease is not None:
                slot.owner = worker
                slot.served += 1
                leases.append(lease)
            elif not busy and self._budget_spent():
                self._bench.put(slot, now)
                break
            self._hosts.settle(slot, batch, now)
        for slot in passed:
            slot.owner = None
            self._bench.put(slot, now)
        self._write(batch)
        return leases

    async def newcomers(self, most: int) -> list[str]:
        waiting = self._hosts.newcomers
        return [waiting.popleft() for _ in range(min(most, len(waiting)))]

    async def errand(self, worker: str, url: str, now: float) -> Lease | None:
        name = host_of(url)
        host = keys.host_id(name)
        slot = self._hosts.find(host) or self._hosts.add(host, name)
        busy = slot.pending or slot.leased >= self._polite.connections
        if busy or slot.record.state.next_allowed > now:
            return None
        if slot.play is Play.READY:
            self._bench.withdraw(slot)
        record = UrlRecord(url, State.QUEUED, Kind.ERRAND, 0, 0, 0.0, now, None, b"")
        lease = self._leases.give(slot, worker, record, now, Kind.ERRAND)
        batch = self._disk.batch()
        self._hosts.visit(slot, batch)
        self._hosts.changed(slot)
        self._hosts.settle(slot, batch, now)
        self._write(batch)
        return lease

    def _let_go(self, lease: int, batch: WriteBatch, now: float) -> Held:
        """Forget a lease, and let the next host through the gate of its address."""
        held, through = self._leases.take_back(lease)
        if through is not None:
            self._hosts.settle(through, batch, now)
        return held

    def _budget_spent(self) -> bool:
        most = self._settings.max_pages
        return most is not None and self._stats.fetched + self._pages_out >= most

    def _lease_of(self, slot: HostSlot, worker: str, batch: WriteBatch, now: float) -> Lease | None:
        """The next lease of a host that was just taken; None when it has none to give after all."""
        most = self._settings.max_pages_per_host
        refused = 0
        while self._hosts.has_next(slot):
            entry, record = slot.head[0]
            if self._settings.robots and record.place is None:
                origin = origin_of(record.url)
                if (reason := self._given_up(slot, origin)) is not None:
                    heapq.heappop(slot.head)
                    record.error = ErrorClass.ROBOTS_UNREACHABLE
                    self._finish(slot, entry, record, State.FAILED, batch, now, detail=reason)
                    refused += 1
                    if refused >= REFUSED_AT_ONCE:
                        self._hosts.put_off(slot, now + A_MOMENT)
                        return None
                    continue
                if slot.record.robots.get(origin, 0.0) <= now:
                    slot.pending = True
                    return self._leases.give(slot, worker, record, now, Kind.ROBOTS, origin)
            if record.kind is Kind.PAGE:
                if self._budget_spent():
                    return None
                trap = self._trap_of(slot, record)
                if trap is not None:
                    self._refuse(slot, entry, record, trap, batch, now)
                    refused += 1
                    if refused == REFUSED_AT_ONCE:
                        self._hosts.put_off(slot, now + A_MOMENT)
                        return None
                    continue
                if most is not None and slot.record.taken >= most:
                    heapq.heappop(slot.head)
                    detail = f"the host's budget of {most} pages is spent"
                    self._finish(slot, entry, record, State.REFUSED, batch, now, detail=detail)
                    refused += 1
                    if refused >= REFUSED_AT_ONCE:
                        self._hosts.put_off(slot, now + A_MOMENT)
                        return None
                    continue
                slot.record.taken += 1
                self._pages_out += 1
            heapq.heappop(slot.head)
            slot.out.add(entry)
            return self._leases.give(slot, worker, record, now, record.kind)
        return None

    def _trap_of(self, slot: HostSlot, record: UrlRecord) -> Trap | None:
        """Why a URL whose turn has come is not asked for after all: what its host's pages have taught since it was found."""
        if not slot.shape.groups or record.via is None:
            return None
        if record.attempts or record.place is not None or record.likeness is not None:
            return None  # it was asked for before, and is owed an ending
        return slot.shape.refuse(record.url, self._settings.traps)

    def _refuse(
        self, slot: HostSlot, entry: bytes, record: UrlRecord, trap: Trap, batch: WriteBatch, now: float
    ) -> None:
        heapq.heappop(slot.head)
        self._finish(slot, entry, record, State.REFUSED, batch, now, detail=f"{trap.rule}: {trap.reason}")
        self._stats.trapped += 1
        self._hosts.refused(slot)
        bare = slot.shape.stripped(record.url, self._settings.traps)
        if bare is not None:
            self._discover([Link(bare, record.depth, record.priority)], now, record.via, batch)

    def _given_up(self, slot: HostSlot, origin: str) -> str | None:
        """Why nothing is asked of this origin. A host has few of them: each port would cost it a request for robots.txt."""
        known, gone = slot.record.robots, slot.record.gone
        if gone and (reason := gone.get(origin)) is not None:
            return reason
        if origin not in known and len(known) + len(gone) >= MOST_ORIGINS:
            return f"The host was asked at {MOST_ORIGINS} ports already, and this is another."
        return None

    def _wake_waiting(self, batch: WriteBatch, now: float) -> None:
        """Queue again the URLs whose time has come."""
        if not self._stats.waiting or now < self._next_due:
            return
        limit = keys.millis(now)
        self._next_due = float("inf")
        for key, _ in self._disk.first("waiting", b"", DUE_AT_ONCE, self._waiting_from):
            if key[:8] > limit:
                self._next_due = int.from_bytes(key[:8], "big") / 1000
                break
            self._waiting_from = key
            batch.delete(key, self._to["waiting"])
            record = self._disk.url(key[8:])
            if record is None:
                continue
            self._count(record.state, -1)
            record.state, record.again = State.QUEUED, 0.0
            self._requeue(record, key[8:], batch, now)
        else:
            self._next_due = now  # perhaps there are more

    def _requeue(self, record: UrlRecord, key: bytes, batch: WriteBatch, now: float) -> None:
        """Write a record into its host's queue, at the place it had."""
        slot = self._hosts.find(key[:8])
        assert slot is not None
        entry = key[:8] + record.entry
        batch.put(key, record.entry, self._to["urls"])
        batch.put(entry, encode(record), self._to["queue"])
        self._count(State.QUEUED, 1)
        self._hosts.enqueued(slot, entry, record, batch, now)

    # --- complete, release, reclaim -------------------------------------------------------------------------------

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
        if page:
            self._pages_out -= 1
        record.attempts += 1
        record.status, record.error, record.detail = done.status, done.error, done.detail
        if record.tries or not done.status or done.action is Action.DEFER_HOST or done.action is Action.RETRY:
            record.tries = (*record.tries[1 - TRIES :], Try(now, done.status, done.error))
        if done.action is Action.DEFER_HOST or done.action is Action.RETRY:
            record.place = done.place
            if page:
                slot.record.taken -= 1
            if done.action is Action.DEFER_HOST:
                batch.put(entry, encode(record), self._to["queue"])
                slot.out.discard(entry)
                heapq.heappush(slot.head, (entry, record))
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
            record.fetched = now
            slot.record.fetched += 1
            slot.record.size += done.size
            self._stats.size += done.size
            if page:
                self._stats.fetched += 1
                if slot.shape.templates:
                    slot.shape.learned(template_of(record.url), duplicate=done.copy_of is not None)
                    slot.changes += 1
                if done.action is Action.DONE and slot.shape.urls >= self._settings.traps.learn_after:
                    parent = self._likeness(slot, record.via) if slot.shape.unsure(record.url) else None
                    slot.shape.read(_read(record, done, parent), self._settings.traps)
                    slot.changes += 1
        elif page:
            slot.record.taken -= 1
        record.etag, record.last_modified = (
            done.etag or record.etag,
            done.last_modified or record.last_modified,
        )
        record.digest, record.copy_of, record.redirect = done.digest, done.copy_of, done.redirect
        if done.copy_of is not None:
            self._stats.copies += 1
        record.stored, record.likeness = done.stored, done.likeness
        self._stats.stored += done.stored
        if done.place is not None and done.place != record.place:
            record.place = done.place
            self._segments.add(done.place, key, batch)
        self._finish(slot, entry, record, _FINISHED[done.action], batch, now, detail=done.detail)
        if done.links:
            self._discover(done.links, now, record.url, batch)

    def _likeness(self, slot: HostSlot, via: str | None) -> int | None:
        """What is remembered of the text of a page of the same host."""
        found = self._disk.url(keys.url_key(slot.id, via)) if via is not None else None
        return found.likeness if found is not None else None

    def _finish(
        self,
        slot: HostSlot,
        entry: bytes,
        record: UrlRecord,
        state: State,
        batch: WriteBatch,
        now: float,
        *,
        detail: str | None,
    ) -> None:
        key = keys.url_key(slot.id, record.url)
        self._count(record.state, -1)
        record.state, record.detail, record.again = state, detail, 0.0
        self._count(state, 1)
        if state is State.FAILED:
            slot.record.failed += 1
            batch.put(key, entry_of(record, now), self._to["failures"])
        batch.put(key, encode(record), self._to["urls"])
        batch.delete(entry, self._to["queue"])
        self._hosts.removed(slot, entry)
        self._hosts.changed(slot)

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
            if held.kind is Kind.PAGE:
                slot.record.taken -= 1
                self._pages_out -= 1
            entry = slot.id + held.record.entry
            slot.out.discard(entry)
            heapq.heappush(slot.head, (entry, held.record))
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

    # --- content and segments -------------------------------------------------------------------------------------

    async def seen_content(self, contents: Sequence[Content], now: float) -> list[Copy | None]:
        return self._content.check(contents, now)

    async def seal(self, segment: str) -> None:
        batch = self._disk.batch()
        self._segments.close(segment, batch)
        self._disk.write(batch)

    async def abandon(self, segment: str, now: float, lost: Sequence[str] | None = None) -> int:
        batch = self._disk.batch()
        wanted = None if lost is None else set(lost)
        again = 0
        for key in self._segments.close(segment, batch):
            record = self._disk.url(key)
            if record is None or record.state is State.QUEUED or record.state is State.WAITING:
                continue
            if wanted is not None and record.url not in wanted:
                continue
            self._revive(record, key, None, batch, now)
            again += 1
        self._write(batch)
        return again

    def _revive(self, record: UrlRecord, key: bytes, place: Place | None, batch: WriteBatch, now: float) -> None:
        """Queue a finished URL again as if it had never been asked for: the books forget what it came to."""
        slot = self._hosts.find(key[:8])
        assert slot is not None
        if record.fetched:
            slot.record.fetched -= 1
            if record.kind is Kind.PAGE:
                slot.record.taken -= 1
                self._stats.fetched -= 1
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

    async def unsealed(self) -> dict[str, list[Stored]]:
        return self._segments.all()

    # --- the dead-letter list -------------------------------------------------------------------------------------

    async def failures(
        self, *, host: str | None = None, reason: str | None = None, most: int = 1_000, after: str = ""
    ) -> FailurePage:
        entries, mark = walk(self._failed_from, host, reason, most, after)
        records = ((self._disk.url(key), entry) for key, entry in entries)
        return FailurePage([view_of(record, entry) for record, entry in records if record is not None], mark)

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

    # --- questions ------------------------------------------------------------------------------------------------

    async def robots(self, origin: str) -> RobotsFile | None:
        raw = self._disk.of["robots"].get(keys.host_id(origin))
        return None if raw is None else _decode_robots(raw)

    async def host(self, name: str) -> HostView | None:
        slot = self._hosts.find(keys.host_id(name))
        if slot is None:
            return None
        r = slot.record
        return HostView(r.name, r.state, r.fetched, r.failed, r.size, slot.leased, r.address, r.dead)

    async def block_until(self, name: str, until: float, now: float) -> None:
        host = keys.host_id(name)
        slot = self._hosts.find(host) or self._hosts.add(host, name)
        state = rebased(slot.record.state, now)
        slot.record.state = msgspec.structs.replace(state, next_allowed=max(state.next_allowed, until), last_event=now)
        batch = self._disk.batch()
        self._hosts.changed(slot)
        if slot.play is Play.READY:
            self._bench.withdraw(slot)
            self._bench.put(slot, now)
        self._write(batch)

    async def explain(self, url: str) -> UrlView | None:
        host = keys.host_id(host_of(url))
        r = self._disk.url(keys.url_key(host, url))
        if r is None:
            return None
        leased = self._leases.has(url)
        return UrlView(
            r.url, r.state, r.kind, r.depth, r.hops, r.found, r.via, r.attempts, r.status, r.error, r.detail, r.fetched,
            r.again, r.place, r.copy_of, r.redirect, leased,
        )  # fmt: skip

    async def next_ready(self, now: float) -> float | None:
        if self._budget_spent():
            return None
        times = []
        if self._bench.ready:
            times.append(now)
        if (timed := self._bench.next_time()) is not None:
            times.append(timed)
        if self._stats.waiting:
            times.append(self._next_due)
        if self._stats.parked and self._hosts.in_play < self._settings.hosts_in_memory:
            times.extend(self._hosts.next_parked())
        return max(now, min(times)) if times else None

    async def stats(self) -> Stats:
        self._stats.leased = len(self._leases)
        self._stats.in_play = self._hosts.in_play
        return msgspec.structs.replace(self._stats)

    # --- writing --------------------------------------------------------------------------------------------------

    def _count(self, state: State, by: int) -> None:
        name = _COUNTER[state]
        setattr(self._stats, name, getattr(self._stats, name) + by)

    def _write(self, batch: WriteBatch) -> None:
        """One transition: what the verb put, the hosts it changed, and the books."""
        self._hosts.write(batch)
        self._domains.write(batch)
        self._content.write(batch)
        self._new.clear()
        if len(batch):
            batch.put(b"stats", encode(self._stats), self._to["meta"])
            self._disk.write(batch)
