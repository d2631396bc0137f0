"""The window: which hosts are in memory, and what is in memory of each.

Memory is bounded by hosts in play, not by hosts or URLs known. A host comes into play when a URL of it is queued and there is
room, and leaves when its queue is empty (idle) or when it has had its turn and others wait on disk (parked, by front class
and next-allowed time, so that bringing hosts back is reading the head of a range). Where half the room is taken, a host that has long to wait
is parked too.

A host's queue is one key range on disk. Its head (a heap of at most twice `HEAD` entries) is in memory while it is in play; `bound` is
the last key of what was read, so an entry found later goes into the heap when it sorts before `bound`, and stays on disk
otherwise. The next read starts after `bound`, or for a host that was parked at its `cursor`: the deleted entries before it
(tombstones, which would be walked one by one) are never touched again.

What a transition has put or deleted is on disk only at its end. Until then `_fresh` and `_gone` know of it, so that a head read in
between is the head after the transition, not before it.

Hosts in play are listed in `active` on disk: that list, not a scan of a million hosts, is what a restart reads.
"""

import heapq
from collections import deque
from collections.abc import Iterable
from operator import itemgetter

import msgspec
from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.contract import Stats
from gossamer.frontier.disk import Disk
from gossamer.frontier.hosts import HostRecord, HostSlot, Play, Workbench
from gossamer.frontier.order import CLASSES, TURNS, front_class
from gossamer.frontier.records import FrontierSettings, UrlRecord, decode_url, encode
from gossamer.politeness import HostState, delay_of
from gossamer.traps import HostShape

__all__ = ["HostWindow"]

HEAD = 16
REFILL = 256
LONG_WAIT = 30.0
NEWCOMERS = 1_000
SHAPE_EVERY = 256
LEAST_SHAPE = 50

_decode_host = msgspec.msgpack.Decoder(HostRecord).decode
_decode_shape = msgspec.msgpack.Decoder(HostShape).decode


class HostWindow:
    """Hosts in memory, over a disk that has them all."""

    def __init__(self, disk: Disk, settings: FrontierSettings, stats: Stats) -> None:
        self._disk = disk
        self._settings = settings
        self._stats = stats
        self._slots: dict[bytes, HostSlot] = {}
        self._dirty: set[HostSlot] = set()
        self._fresh: dict[bytes, dict[bytes, UrlRecord]] = {}
        self._gone: set[bytes] = set()
        self.bench = Workbench()
        self.newcomers: deque[str] = deque(maxlen=NEWCOMERS)
        self.in_play = 0
        self._turn = 0
        self._refilled = 0
        self._parked_from = [front.to_bytes(1, "big") for front in range(CLASSES)]
        """No parked host of a front class lies before this key."""
        stats.parked = sum(1 for _ in disk.items("parked"))

    def restore(self, batch: WriteBatch) -> list[HostSlot]:
        """Bring back into play the hosts that were in play when the last process ended, and name them."""
        found = []
        for host, _ in list(self._disk.items("active")):
            slot = self.find(host)
            if slot is None or slot.play is not Play.IDLE:
                batch.delete(host, self._disk.to["active"])
            else:
                self._enter(slot, batch, now=0.0)
                found.append(slot)
        return found

    # --- slots ----------------------------------------------------------------------------------------------------

    def find(self, host: bytes) -> HostSlot | None:
        slot = self._slots.get(host)
        if slot is None:
            raw = self._disk.of["hosts"].get(host)
            if raw is None:
                return None
            record = _decode_host(raw)
            shape = self._disk.of["shapes"].get(host) if record.shaped else None
            slot = self._keep(HostSlot(host, record, _decode_shape(shape) if shape else HostShape()))
        return slot

    def waits_on_disk(self, host: bytes, entry: bytes) -> bool:
        """Whether a new entry of the host needs nothing but to be written.

        So it is with most links to other hosts of a large crawl: the host is parked, the entry does not come before what it has, and there
        is no shape to hold it against. Such a host is not brought into memory for the sake of a link.
        """
        if host in self._slots or (raw := self._disk.of["hosts"].get(host)) is None:
            return False
        record = _decode_host(raw)
        if record.parked is not None and not record.shaped and self._front(entry) >= record.parked[0]:
            return record.cursor is None or entry >= record.cursor
        return False

    def add(self, host: bytes, name: str) -> HostSlot:
        """A host never heard of."""
        slot = self._keep(HostSlot(host, HostRecord(name, HostState(), {}), HostShape()))
        self._stats.hosts += 1
        self._dirty.add(slot)
        return slot

    def _keep(self, slot: HostSlot) -> HostSlot:
        if len(self._slots) > 2 * self._settings.hosts_in_memory + 1_000:
            self._forget_some()
        self._slots[slot.id] = slot
        return slot

    def _forget_some(self) -> None:
        """Drop the hosts that are not in play; what is not written of them is written first."""
        batch = self._disk.batch()
        for slot in [
            s for s in self._slots.values() if s.play <= Play.PARKED and not s.leased and s not in self._dirty
        ]:
            self._write_shape(slot, batch)
            del self._slots[slot.id]
        self._disk.write(batch)

    def disown(self, worker: str) -> None:
        """The worker is gone, and its connections with it: its hosts are anyone's."""
        self.bench.disown(worker)
        for slot in self._slots.values():
            slot.peaks.pop(worker, None)
            if slot.owner == worker:
                slot.owner = None

    def changed(self, slot: HostSlot) -> None:
        """The slot's record is to be written with the transition under way."""
        self._dirty.add(slot)

    def refused(self, slot: HostSlot) -> None:
        """A URL of the host was refused as a trap: the first such shapes are written at once, for whoever asks meanwhile why."""
        slot.changes += SHAPE_EVERY if slot.shape.refused.bit_count() == 1 else 1
        self._dirty.add(slot)

    def write(self, batch: WriteBatch) -> None:
        """Put what changed into the transition's batch."""
        for slot in self._dirty:
            if slot.changes >= SHAPE_EVERY:
                self._write_shape(slot, batch)
            batch.put(slot.id, encode(slot.record), self._disk.to["hosts"])
        self._dirty.clear()
        self._fresh.clear()
        self._gone.clear()

    def write_shapes(self, batch: WriteBatch) -> None:
        for slot in self._slots.values():
            self._write_shape(slot, batch)

    def _write_shape(self, slot: HostSlot, batch: WriteBatch) -> None:
        """Keep what the host's URLs look like, unless they are too few for any rule to care."""
        if slot.changes and (slot.shape.urls >= LEAST_SHAPE or slot.shape.refused):
            slot.changes = 0
            batch.put(slot.id, encode(slot.shape), self._disk.to["shapes"])
            if not slot.record.shaped:
                slot.record.shaped = True
                batch.put(slot.id, encode(slot.record), self._disk.to["hosts"])

    # --- in and out of play ---------------------------------------------------------------------------------------

    def enqueued(self, slot: HostSlot, entry: bytes, record: UrlRecord, batch: WriteBatch, now: float) -> None:
        """An entry was put into the host's queue on disk: into memory with it, if that is where the head is."""
        self._fresh.setdefault(slot.id, {})[entry] = record
        self._gone.discard(entry)
        if slot.play is Play.PARKED:
            parked, cursor = slot.record.parked, slot.record.cursor
            if cursor is not None and entry < cursor:
                slot.record.cursor = entry
                self._dirty.add(slot)
            front = self._front(entry)
            if parked is not None and front < parked[0]:
                self._unpark(slot, batch)
                self._park(slot, front, batch, now)
        elif slot.play is Play.IDLE:
            slot.head, slot.more, slot.bound = [(entry, record)], False, b""
            if self.in_play < self._settings.hosts_in_memory and not self._takes_up_room(slot, now):
                self._enter(slot, batch, now)
            else:
                slot.record.cursor = entry
                self._park(slot, self._front(entry), batch, now)
        elif not slot.more or entry <= slot.bound:
            heapq.heappush(slot.head, (entry, record))
            if len(slot.head) > 2 * HEAD:
                slot.head.sort()
                del slot.head[HEAD:]
                slot.more, slot.bound = True, slot.head[-1][0]

    def returned(self, slot: HostSlot, entry: bytes, record: UrlRecord) -> None:
        """An entry that was leased is to be had again: into memory with it, unless it lies beyond what is there by now."""
        slot.out.discard(entry)
        self._fresh.setdefault(slot.id, {})[entry] = record
        if not slot.more or entry <= slot.bound:
            heapq.heappush(slot.head, (entry, record))

    def removed(self, slot: HostSlot, entry: bytes) -> None:
        """An entry was deleted from the host's queue on disk."""
        slot.out.discard(entry)
        self._gone.add(entry)

    def visit(self, slot: HostSlot, batch: WriteBatch) -> None:
        """A host with nothing queued is asked something all the same: it is in play until that is over."""
        if slot.play is Play.IDLE:
            slot.play = Play.BUSY
            self.in_play += 1
            batch.put(slot.id, b"", self._disk.to["active"])

    def has_next(self, slot: HostSlot) -> bool:
        """Whether the host has an entry that is not leased; reads on from disk when the head is used up."""
        return bool(slot.head) or (slot.more and self._read_head(slot))

    def _read_head(self, slot: HostSlot) -> bool:
        start = slot.bound + b"\0" if slot.bound else slot.record.cursor or slot.id
        head: list[tuple[bytes, UrlRecord]] = []
        fresh = self._fresh.get(slot.id, {})
        slot.more = False
        for entry, value in self._disk.items("queue", start):
            if not entry.startswith(slot.id):
                break
            if entry in slot.out or entry in self._gone or entry in fresh:
                continue
            if len(head) == HEAD:
                slot.more = True
                break
            head.append((entry, decode_url(value)))
        if fresh:
            head += [(e, r) for e, r in fresh.items() if e >= start and e not in slot.out and e not in self._gone]
            head.sort(key=itemgetter(0))
            slot.more = slot.more or len(head) > HEAD
            del head[HEAD:]
        if slot.more:
            slot.bound = head[-1][0]
        slot.head = head
        return bool(head)

    def refill(self, batch: WriteBatch, now: float) -> None:
        """Bring parked hosts whose time has come into play: each front class by its turns, then whatever is left."""
        room = min(self._settings.hosts_in_memory - self.in_play, REFILL)
        if room <= 0 or not self._stats.parked:
            return
        due = [self._due(front, room, keys.millis(now)) for front in range(CLASSES)]
        for queue in due:
            queue.reverse()
        while room > 0 and any(due):
            # Turns go on where they were: from the start each time, the best class would have every place that gets free.
            queue = due[TURNS[self._refilled % len(TURNS)]] or next(q for q in due if q)
            self._refilled += 1
            key = queue.pop()
            slot = self.find(key[13:])
            assert slot is not None
            self._parked_from[key[0]] = key
            self._unpark(slot, batch)
            self._enter(slot, batch, now)
            room -= 1

    def _due(self, front: int, most: int, now: bytes) -> list[bytes]:
        """The first parked hosts of a class whose time has come."""
        until = front.to_bytes(1, "big") + now
        found = [key for key, _ in self._first_parked(front, most, until)]
        if not found:  # and there is none before `until`: the next look starts there
            self._parked_from[front] = max(self._parked_from[front], until)
        return found

    def settle(self, slot: HostSlot, batch: WriteBatch, now: float) -> None:
        """Put a host where it belongs after a lease went out or came back."""
        if slot.play is Play.TIMED and self.had_its_turn(slot):
            slot.play = (
                Play.BUSY
            )  # with several connections a host is seldom so at the end of a lease, and would never make room
        elif slot.play in (Play.READY, Play.TIMED, Play.PARKED):
            return
        if slot.pending or slot.leased >= self._settings.politeness.connections:
            slot.play = Play.BUSY
        elif not self.has_next(slot):
            if slot.leased:
                slot.play = Play.BUSY
            elif slot.play is Play.BUSY:
                self._leave(slot, batch)
                slot.play = Play.IDLE
        elif slot.leased == 0 and (self.had_its_turn(slot) or self._takes_up_room(slot, now)):
            slot.record.cursor = slot.head[0][0]
            front = self._front(slot.record.cursor)
            self._leave(slot, batch)
            self._park(slot, front, batch, now)
        else:
            if slot.leased:  # several connections: the next start keeps its distance from the last
                pause = delay_of(slot.record.state, self._settings.politeness)
                self.put_off(slot, now + pause)
            self.bench.put(slot, now)

    def had_its_turn(self, slot: HostSlot) -> bool:
        """Whether the host has been asked so often that one of those on disk is to take its place."""
        return slot.leased == 0 and slot.served >= self._settings.host_turn and self._stats.parked > 0

    def _takes_up_room(self, slot: HostSlot, now: float) -> bool:
        """Whether the host has so long to wait that it had better do so on disk.

        Where room is short only: hosts that fail wait for hours, and a window full of them would let no other in.
        """
        return slot.record.state.next_allowed > now + LONG_WAIT and 2 * self.in_play > self._settings.hosts_in_memory

    def put_off(self, slot: HostSlot, until: float) -> None:
        """Nothing more of this host before `until`."""
        state = slot.record.state
        if until > state.next_allowed:
            slot.record.state = msgspec.structs.replace(state, next_allowed=until)
            self._dirty.add(slot)

    def next_parked(self) -> Iterable[float]:
        """For each front class, when its first parked host may be fetched from."""
        for front in range(CLASSES):
            for key, _ in self._first_parked(front, 1):
                yield int.from_bytes(key[1:9], "big") / 1000

    def _first_parked(self, front: int, most: int, until: bytes = b"") -> list[tuple[bytes, bytes]]:
        # From where the last one was taken: the deleted keys before it would be walked one by one.
        return self._disk.first("parked", front.to_bytes(1, "big"), most, self._parked_from[front], until)

    def _front(self, entry: bytes) -> int:
        return front_class(self._settings.order, int.from_bytes(entry[8:10], "big"))

    def _enter(self, slot: HostSlot, batch: WriteBatch, now: float) -> None:
        if not slot.head and not self._read_head(slot):
            slot.play = Play.IDLE
            batch.delete(slot.id, self._disk.to["active"])
            return
        if slot.record.cursor is not None:  # true while it was parked; from now on entries may come before it
            slot.record.cursor = None
            self._dirty.add(slot)
        if slot.record.address is None:
            self.newcomers.append(slot.record.name)
        slot.served = 0
        slot.front = self._front(slot.head[0][0])
        self.in_play += 1
        batch.put(slot.id, b"", self._disk.to["active"])
        self.bench.put(slot, now)

    def _leave(self, slot: HostSlot, batch: WriteBatch) -> None:
        slot.head, slot.more, slot.bound = [], False, b""
        self.in_play -= 1
        batch.delete(slot.id, self._disk.to["active"])

    def _park(self, slot: HostSlot, front: int, batch: WriteBatch, now: float) -> None:
        slot.head, slot.more, slot.bound = [], False, b""
        slot.play = Play.PARKED
        # Never before now: hosts that have waited for nothing yet come in the order they were found, and what was taken from the range
        # lies before all that is put into it.
        self._turn += 1
        slot.record.parked = keys.parked(front, max(slot.record.state.next_allowed, now), self._turn, slot.id)
        self._parked_from[front] = min(self._parked_from[front], slot.record.parked)
        batch.put(slot.record.parked, b"", self._disk.to["parked"])
        self._stats.parked += 1
        self._dirty.add(slot)

    def _unpark(self, slot: HostSlot, batch: WriteBatch) -> None:
        assert slot.record.parked is not None
        batch.delete(slot.record.parked, self._disk.to["parked"])
        slot.record.parked = None
        slot.play = Play.IDLE
        self._stats.parked -= 1
        self._dirty.add(slot)
