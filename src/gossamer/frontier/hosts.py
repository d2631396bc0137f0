"""The workbench: hosts in play, in memory, each where its politeness puts it.

    ready    may be fetched now; by front class, and within it by the worker that last fetched from the host (its connection
             and robots.txt are still there), else first come first served
    timed    waiting for a time; a heap by next-allowed time
    busy     as many leases out as allowed; nowhere, until a lease comes back

Taking a host from `ready` removes it, so fetching from it twice cannot be expressed. A host that is nowhere to be found here
and has URLs queued is *parked* on disk; which hosts are in memory is the engine's business.

A host that allows one connection stays with the worker that has it. One that allows several may be shared: a worker that has nothing to do
takes such a host once it has been ready for `STEAL_AFTER` seconds.
"""

import heapq
from collections import deque
from collections.abc import Iterator
from enum import IntEnum

import msgspec

from gossamer.frontier.order import CLASSES, TURNS
from gossamer.frontier.records import UrlRecord
from gossamer.politeness import HostState
from gossamer.traps import HostShape

__all__ = ["STEAL_AFTER", "HostRecord", "HostSlot", "Play", "Workbench"]

STEAL_AFTER = 0.05


class Play(IntEnum):
    """Where a host known in memory is."""

    IDLE = 0
    PARKED = 1
    READY = 2
    TIMED = 3
    BUSY = 4


class HostRecord(msgspec.Struct, array_like=True):
    """What is written down of a host."""

    name: str
    state: HostState
    robots: dict[str, float]
    """When what is known of an origin's robots.txt expires."""
    tries: int = 0
    """Tries in a row to read robots.txt that failed."""
    taken: int = 0
    """Pages leased and not given back: what the per-host budget counts."""
    fetched: int = 0
    failed: int = 0
    size: int = 0
    address: str | None = None
    dead: str | None = None
    """Why nothing more is asked of this host: of no origin of it could robots.txt be had."""
    cursor: bytes | None = None
    """While it is parked: no queue entry lies before this key."""
    parked: bytes | None = None
    """Its key among the parked hosts."""
    shaped: bool = False
    """Whether its shape is written down."""
    gone: dict[str, str] = {}
    """Origins (a scheme, a port) that were given up, and why: those beside them are none the worse for it."""
    trust: float = 1.0
    """How far its sitemaps are believed: halved when a page that was said to have changed had not."""


class HostSlot:
    """A host in memory: its record, the head of its queue, and where it stands."""

    __slots__ = (
        "arrival", "bound", "by", "changes", "credit", "front", "head", "id", "leased", "more", "out", "overdue", "overdue_from", "owner", "peaks", "pending", "play", "ready_at", "record", "served", "shape",
    )  # fmt: skip

    def __init__(self, host_id: bytes, record: HostRecord, shape: HostShape) -> None:
        self.id = host_id
        self.record = record
        self.shape = shape
        self.changes = 0
        """Changes to the shape that are not written down yet."""
        self.play = Play.PARKED if record.parked else Play.IDLE
        self.head: list[tuple[bytes, UrlRecord]] = []
        """The best queue entries, as a heap of (key, record)."""
        self.more = False
        """Whether entries past `bound` lie on disk only."""
        self.bound = b""
        self.out: set[bytes] = set()
        """Entries that are leased: still on disk, and not to be read from there again."""
        self.front = 0
        self.leased = 0
        self.served = 0
        """Leases since the host came into memory."""
        self.owner: str | None = None
        """The worker that has its connection."""
        self.by: dict[str, int] = {}
        """Leases out, by worker."""
        self.peaks: dict[str, int] = {}
        """The most leases each worker had out: so many connections it may have."""
        self.pending = False
        """Whether its robots.txt is being read: until then nothing else is asked."""
        self.ready_at = 0.0
        self.arrival = 0
        self.credit = 0.0
        """Revisits that it owes for new pages it was asked for."""
        self.overdue: bool | None = None
        """Whether URLs of it wait to be visited again; None: nobody has looked."""
        self.overdue_from = b""
        """None of them lies before this key."""

    def __lt__(self, other: "HostSlot") -> bool:
        return self.id < other.id  # equal times in the heap


class Workbench:
    """Hosts in play."""

    def __init__(self) -> None:
        self._ready: list[dict[str | None, deque[HostSlot]]] = [{} for _ in range(CLASSES)]
        self._timed: list[tuple[float, HostSlot]] = []
        self._turn = 0
        self._arrivals = 0
        self.ready = 0

    def put(self, slot: HostSlot, now: float) -> None:
        """Place a host that may take another lease: ready, or timed."""
        if slot.record.state.next_allowed <= now:
            self._make_ready(slot, now)
        else:
            slot.play = Play.TIMED
            heapq.heappush(self._timed, (slot.record.state.next_allowed, slot))

    def _make_ready(self, slot: HostSlot, now: float) -> None:
        slot.play = Play.READY
        slot.ready_at = now
        slot.arrival = self._arrivals = self._arrivals + 1
        self.ready += 1
        queues = self._ready[slot.front]
        queue = queues.get(slot.owner)
        if queue is None:
            queue = queues[slot.owner] = deque()
        queue.append(slot)

    def wake(self, now: float) -> None:
        """Move hosts whose time has come to the ready ones."""
        timed = self._timed
        while timed and timed[0][0] <= now:
            slot = heapq.heappop(timed)[1]
            if slot.play is not Play.TIMED:
                continue  # it was placed anew since
            if slot.record.state.next_allowed > now:  # put off since
                heapq.heappush(timed, (slot.record.state.next_allowed, slot))
            else:
                self._make_ready(slot, now)

    def take(self, worker: str, now: float, *, steal: bool) -> HostSlot | None:
        """The next host for this worker, removed from the ready ones; None when there is none for it.

        `steal`: also a host of another worker, which will then have connections from both.
        """
        while self.ready and (slot := self._pick(worker, now, steal)) is not None:
            self._taken(slot)
            if slot.record.state.next_allowed <= now:
                return slot
            self.put(slot, now)  # put off since it was made ready: another connection, or an errand, was told to wait
        return None

    def _pick(self, worker: str, now: float, steal: bool) -> HostSlot | None:
        for front in (TURNS[self._turn], *range(CLASSES)):
            slot = self._from_class(front, worker)
            if slot is not None:
                self._turn = (self._turn + 1) % len(TURNS)
                return slot
        for queues in self._ready if steal else ():
            for queue in queues.values():
                if queue and queue[0].ready_at + STEAL_AFTER <= now:
                    return queue.popleft()
        return None

    def _from_class(self, front: int, worker: str) -> HostSlot | None:
        """Its own host or one that is nobody's, whichever has been ready longer."""
        queues = self._ready[front]
        own, free = queues.get(worker), queues.get(None)
        if own and (not free or own[0].arrival < free[0].arrival):
            return own.popleft()
        return free.popleft() if free else None

    def _taken(self, slot: HostSlot) -> None:
        self.ready -= 1
        slot.play = Play.BUSY

    def withdraw(self, slot: HostSlot) -> None:
        """Remove a host from the ready ones (rare: it is searched for)."""
        self._ready[slot.front][slot.owner].remove(slot)
        self.ready -= 1
        slot.play = Play.BUSY

    def disown(self, worker: str) -> None:
        """The worker is gone: its hosts are anyone's."""
        for queues in self._ready:
            orphans = queues.pop(worker, None)
            if orphans:
                for slot in orphans:
                    slot.owner = None
                queues.setdefault(None, deque()).extend(orphans)

    def next_time(self) -> float | None:
        """When the next timed host may become ready."""
        timed = self._timed
        while timed and timed[0][1].play is not Play.TIMED:
            heapq.heappop(timed)
        return timed[0][0] if timed else None

    def timed(self) -> Iterator[HostSlot]:
        return (slot for _, slot in self._timed if slot.play is Play.TIMED)
