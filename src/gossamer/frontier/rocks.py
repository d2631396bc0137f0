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
    HostView,
    Kind,
    Lease,
    Link,
    RobotsFile,
    State,
    Stats,
    Stored,
    UrlView,
)
from gossamer.frontier.disk import Disk
from gossamer.frontier.hosts import HostSlot, Play
from gossamer.frontier.leases import Held, LeaseBook
from gossamer.frontier.order import rank
from gossamer.frontier.records import FrontierSettings, UrlRecord, encode
from gossamer.frontier.seen import SeenFilter
from gossamer.frontier.segments import OpenSegments
from gossamer.frontier.window import HostWindow
from gossamer.outcome import Action, ErrorClass, for_error, settled
from gossamer.politeness import Failed, Fetched, RobotsRead, after, delay_of, rebased
from gossamer.traps import template_of
from gossamer.url import host_of, origin_of

__all__ = ["RocksFrontier"]

BURIED_AT_ONCE = 1_000
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
        self._disk = Disk(folder)
        self._to = self._disk.to
        self._urls = self._disk.of["urls"]
        saved = self._disk.of["meta"].get(b"stats")
        self._stats = _decode_stats(saved) if saved is not None else Stats()
        self._hosts = HostWindow(self._disk, settings, self._stats)
        self._bench = self._hosts.bench
        self._content = ContentIndex(self._disk, settings.near_bits)
        self._seen = SeenFilter((key for key, _ in self._disk.items("urls")), self._stats.seen)
        self._new: set[bytes] = set()  # URLs of the transition under way: not on disk yet
        self._pages_out = 0
        self._serial = self._stats.seen
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

    async def close(self) -> None:
        batch = self._disk.batch()
        if not self._cut_off:
            batch.delete(b"open", self._to["meta"])
        self._hosts.write_shapes(batch)
        self._write(batch)
        self._disk.sync()
        self.discard()

    def discard(self) -> None:
        """Let go of the files without writing what is only in memory."""
        del self._urls
        self._disk.close()

    def sync(self) -> None:
        """Every transition so far survives a loss of power."""
        self._disk.sync()

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
                slot = self._hosts.find(host) or self._hosts.add(host, name)
                if page and slot.shape.admit(url, now, rules) is not None:
                    stats.trapped += 1
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
        if busy or slot.record.state.next_allowed > now or slot.record.dead is not None:
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
        if slot.record.dead is not None:
            self._bury(slot, slot.record.dead, ErrorClass.ROBOTS_UNREACHABLE, batch, now)
            return None
        most = self._settings.max_pages_per_host
        while self._hosts.has_next(slot):
            entry, record = slot.head[0]
            if self._settings.robots:
                origin = origin_of(record.url)
                if slot.record.robots.get(origin, 0.0) <= now:
                    slot.pending = True
                    return self._leases.give(slot, worker, record, now, Kind.ROBOTS, origin)
            if record.kind is Kind.PAGE:
                if self._budget_spent():
                    return None
                if most is not None and slot.record.taken >= most:
                    heapq.heappop(slot.head)
                    detail = f"the host's budget of {most} pages is spent"
                    self._finish(slot, entry, record, State.REFUSED, batch, now, detail=detail)
                    continue
                slot.record.taken += 1
                self._pages_out += 1
            heapq.heappop(slot.head)
            slot.out.add(entry)
            return self._leases.give(slot, worker, record, now, record.kind)
        return None

    def _bury(self, slot: HostSlot, reason: str, error: ErrorClass, batch: WriteBatch, now: float) -> None:
        """Give up the queued URLs of a host that is dead, some at a time."""
        for _ in range(BURIED_AT_ONCE):
            if not self._hosts.has_next(slot):
                return
            entry, record = heapq.heappop(slot.head)
            record.error = error
            self._finish(slot, entry, record, State.FAILED, batch, now, detail=reason)

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
            slot.record.robots[lease.origin] = done.robots.expires
            slot.record.tries = 0
            slot.record.state = after(slot.record.state, RobotsRead(done.crawl_delay), now, self._polite)
            if done.links:
                self._discover(done.links, now, lease.origin + "/robots.txt", batch)
            return
        slot.record.tries += 1
        if done.action is Action.DEAD:
            slot.record.dead = done.detail or str(done.error or done.status)

    def _page_read(self, slot: HostSlot, record: UrlRecord, done: Done, batch: WriteBatch, now: float) -> None:
        entry = slot.id + record.entry
        key = keys.url_key(slot.id, record.url)
        page = record.kind is Kind.PAGE
        if page:
            self._pages_out -= 1
        record.attempts += 1
        record.status, record.error, record.detail = done.status, done.error, done.detail
        if done.action is Action.DEFER_HOST or done.action is Action.RETRY:
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
        elif page:
            slot.record.taken -= 1
        record.etag, record.last_modified = (
            done.etag or record.etag,
            done.last_modified or record.last_modified,
        )
        record.digest, record.copy_of, record.redirect = done.digest, done.copy_of, done.redirect
        if done.copy_of is not None:
            self._stats.copies += 1
        record.stored = done.stored
        self._stats.stored += done.stored
        if done.place is not None:
            record.place = done.place
            self._segments.add(done.place, key, batch)
        self._finish(slot, entry, record, _FINISHED[done.action], batch, now, detail=done.detail)
        if done.links:
            self._discover(done.links, now, record.url, batch)

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
            batch.put(key, str(record.error or record.status).encode(), self._to["failures"])
        batch.put(key, encode(record), self._to["urls"])
        batch.delete(entry, self._to["queue"])
        self._hosts.removed(slot, entry)
        self._hosts.changed(slot)

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
        outcome = for_error(ErrorClass.WORKER_DIED)
        action = settled(outcome, held.record.attempts + 1)
        failed = Done(
            lease,
            Action.DEFER_HOST if action is Action.RETRY else action,
            error=ErrorClass.WORKER_DIED,
            detail=outcome.reason,
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
            slot = self._hosts.find(key[:8])
            if slot is not None and record.kind is Kind.PAGE:
                slot.record.taken -= 1
                self._stats.fetched -= 1
            if record.copy_of is not None:
                self._stats.copies -= 1
            self._stats.stored -= record.stored
            self._count(record.state, -1)
            record.state, record.place, record.attempts = State.QUEUED, None, 0
            record.copy_of, record.stored = None, False
            self._requeue(record, key, batch, now)
            again += 1
        self._write(batch)
        return again

    async def unsealed(self) -> dict[str, list[Stored]]:
        return self._segments.all()

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
        self._content.write(batch)
        self._new.clear()
        if len(batch):
            batch.put(b"stats", encode(self._stats), self._to["meta"])
            self._disk.write(batch)
