"""Leases that are out: who has them, until when, and what they take up.

They live in memory only. A lease takes up one of its host's connections, one of its address's, and one of its worker's connections to the host:
each of these has its limit, and each is given back with the lease.
"""

from collections import Counter, deque
from collections.abc import Iterator

import msgspec

from gossamer.frontier.contract import Kind, Lease
from gossamer.frontier.hosts import HostSlot
from gossamer.frontier.records import FrontierSettings, UrlRecord

__all__ = ["Held", "LeaseBook"]


class Held(msgspec.Struct):
    """A lease that is out."""

    worker: str
    deadline: float
    slot: HostSlot
    record: UrlRecord
    kind: Kind
    origin: str = ""
    address: str | None = None
    """Whose gate it went through."""


class LeaseBook:
    """All leases of one process; ids count from `first`."""

    def __init__(self, settings: FrontierSettings, first: int) -> None:
        polite = settings.politeness
        self._seconds = settings.lease_seconds
        self._most = polite.connections
        self._most_of_address = max(polite.address_connections, polite.connections)
        self._last = first
        self._held: dict[int, Held] = {}
        self._workers: set[str] = set()
        self._gates: Counter[str] = Counter()
        """Leases out for each address."""
        self._at_gate: dict[str, deque[HostSlot]] = {}
        """Hosts that were taken while their address was full."""

    def __len__(self) -> int:
        return len(self._held)

    def joined(self, worker: str) -> None:
        self._workers.add(worker)

    def left(self, worker: str) -> None:
        self._workers.discard(worker)

    def may_connect(self, slot: HostSlot, worker: str) -> bool:
        """Whether the worker may have one more lease of the host.

        Connections stay open between fetches, so what counts is the most leases each worker ever had out: over all workers they never
        add up to more than the host allows, and while there is room each takes no more than its share.
        """
        peak = slot.peaks.get(worker, 0)
        if self._most == 1 or slot.by.get(worker, 0) < peak:
            return True
        share = -(-self._most // len(self._workers))
        return peak < share and sum(slot.peaks.values()) < self._most

    def waits_at_gate(self, slot: HostSlot) -> bool:
        """Whether the address of a host that was just taken is full; then the host waits until a lease of it comes back."""
        address = slot.record.address
        if address is None or self._gates[address] < self._most_of_address:
            return False
        self._at_gate.setdefault(address, deque()).append(slot)
        return True

    def give(self, slot: HostSlot, worker: str, record: UrlRecord, now: float, kind: Kind, origin: str = "") -> Lease:
        self._last += 1
        deadline = now + self._seconds
        address = slot.record.address
        self._held[self._last] = Held(worker, deadline, slot, record, kind, origin, address)
        if address is not None:
            self._gates[address] += 1
        slot.leased += 1
        slot.by[worker] = out = slot.by.get(worker, 0) + 1
        slot.peaks[worker] = max(slot.peaks.get(worker, 0), out)
        if kind is Kind.ROBOTS:
            return Lease(self._last, origin + "/robots.txt", kind, 0, 0, slot.record.tries + 1, deadline)
        watch = record.watch
        if watch is None:
            return Lease(
                self._last, record.url, kind, record.depth, record.hops, record.attempts + 1, deadline,
                record.etag, record.last_modified, record.via, record.place, record.deaths,
            )  # fmt: skip
        return Lease(
            self._last, record.url, kind, record.depth, record.hops, record.attempts + 1, deadline,
            record.etag, record.last_modified, record.via, record.place, record.deaths,
            watch.history.visits, record.digest, record.likeness, watch.body,
        )  # fmt: skip

    def held_by(self, worker: str, lease: int) -> Held | None:
        """The lease, if the worker still has it."""
        held = self._held.get(lease)
        return held if held is not None and held.worker == worker else None

    def take_back(self, lease: int) -> tuple[Held, HostSlot | None]:
        """The lease, which is out no more, and a host that may now come through the gate of its address."""
        held = self._held.pop(lease)
        held.slot.leased -= 1
        held.slot.by[held.worker] -= 1
        address = held.address
        if address is None:
            return held, None
        self._gates[address] -= 1
        if not self._gates[address]:
            del self._gates[address]
        waiting = self._at_gate.get(address)
        if not waiting:
            return held, None
        through = waiting.popleft()
        if not waiting:
            del self._at_gate[address]
        return held, through

    def of(self, worker: str) -> list[int]:
        return [lease for lease, held in self._held.items() if held.worker == worker]

    def past(self, now: float) -> list[int]:
        return [lease for lease, held in self._held.items() if held.deadline <= now]

    def extend(self, worker: str, now: float) -> None:
        for held in self._held.values():
            if held.worker == worker:
                held.deadline = now + self._seconds

    def has(self, url: str) -> bool:
        return any(held.record.url == url for held in self._held.values())

    def record_of(self, url: str) -> UrlRecord | None:
        """The record of a URL that is leased."""
        return next(
            (held.record for held in self._held.values() if held.record.url == url and held.kind < Kind.ROBOTS), None
        )

    def hosts(self) -> Iterator[HostSlot]:
        """The host of each lease."""
        return (held.slot for held in self._held.values())
