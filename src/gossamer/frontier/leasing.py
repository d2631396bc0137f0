"""Out of the queues: which URL may be fetched now.

Leases are memory only: a leased URL's queue entry stays on disk until it is completed, so a crash returns every lease by
forgetting it.
"""

import heapq

from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.contract import Kind, Lease, Link, State
from gossamer.frontier.failures import entry_of
from gossamer.frontier.hosts import HostSlot, Play
from gossamer.frontier.leases import Held
from gossamer.frontier.records import UrlRecord, encode
from gossamer.frontier.revisiting import Revisiting
from gossamer.outcome import ErrorClass
from gossamer.politeness import delay_of
from gossamer.traps import Trap
from gossamer.url import host_of, origin_of

__all__ = ["Leasing"]

MOST_ORIGINS = 16
REFUSED_AT_ONCE = 1_000
A_MOMENT = 0.01
NOTHING_NEW = 5.0
"""Seconds for which a host is passed over that has only new pages, when there is no budget for them."""


class Leasing(Revisiting):
    """The verbs `lease` and `errand`."""

    async def lease(self, worker: str, most: int, now: float) -> list[Lease]:
        batch = self._disk.batch()
        while self._cut_off:
            host = self._cut_off.pop()
            self._hosts.put_off(host, now + delay_of(host.record.state, self._polite))
        self._wake_waiting(batch, now)
        if self._visiting:
            self._wake_due(batch, now)
        self._bench.wake(now)
        self._hosts.refill(batch, now)
        self._leases.joined(worker)
        leases: list[Lease] = []
        passed: list[HostSlot] = []
        later: list[HostSlot] = []
        # When the budget is spent, there is no need for robots.txt of hosts that will not be visited either.
        while len(leases) < most and (self._visiting or not self._budget_spent()):
            slot = self._bench.take(worker, now, steal=self._polite.connections > 1)
            if slot is None:
                if not later:
                    break
                slot = later.pop(0)
            elif not self._leases.may_connect(slot, worker):
                passed.append(slot)
                continue
            elif len(later) < most and self._had_its_share(slot):
                later.append(slot)
                continue
            if self._hosts.had_its_turn(slot):
                self._hosts.settle(slot, batch, now)
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
                if not self._visiting:
                    self._bench.put(slot, now)
                    break
                self._hosts.put_off(slot, now + NOTHING_NEW)
            self._pull(slot, batch, now)
            self._hosts.settle(slot, batch, now)
        for slot in later:
            self._bench.put(slot, now)
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

    def _lease_of(self, slot: HostSlot, worker: str, batch: WriteBatch, now: float) -> Lease | None:
        """The next lease of a host that was just taken; None when it has none to give after all."""
        most = self._settings.max_pages_per_host
        refused = 0
        while self._hosts.has_next(slot):
            entry, record = slot.head[0]
            new = record.kind is Kind.PAGE and not record.fetched
            if new and self._budget_spent():
                return None
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
            if new:
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
            self._leased(slot, record)
            return self._leases.give(slot, worker, record, now, record.kind)
        return None

    def _trap_of(self, slot: HostSlot, record: UrlRecord) -> Trap | None:
        """Why a URL whose turn has come is not asked for after all: what its host's pages have taught since it was found."""
        if not slot.shape.groups or record.via is None:
            return None
        if record.attempts or record.place is not None or record.likeness is not None or record.fetched:
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
        changed: bool = False,
    ) -> None:
        key = keys.url_key(slot.id, record.url)
        self._count(record.state, -1)
        if record.watch is not None and record.watch.planned:
            self._stats.revisiting -= 1
        state = self._plan(slot, key, record, state, changed, batch, now)
        record.state, record.detail, record.again = state, detail, 0.0
        self._count(state, 1)
        if state is State.FAILED:
            slot.record.failed += 1
            batch.put(key, entry_of(record, now), self._to["failures"])
        batch.put(key, encode(record), self._to["urls"])
        batch.delete(entry, self._to["queue"])
        self._hosts.removed(slot, entry)
        self._hosts.changed(slot)
