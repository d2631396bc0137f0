"""Known pages, again: when their time has come they go back into their host's queue, before all that is new there.

Between `due` and the queue a URL may have to wait for its host: while that has URLs that were never visited, each of them leased earns it
a part of a revisit (`credit`), so that the two kinds have their shares. A host that has nothing else to do gets its revisits at once.
"""

import math
from email.utils import parsedate_to_datetime

import msgspec
from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.contract import Kind, Link, Requeued, State
from gossamer.frontier.disk import ENTRY
from gossamer.frontier.hosts import HostSlot, Play
from gossamer.frontier.planning import BELIEVED, planned, trust_after
from gossamer.frontier.queueing import Queueing
from gossamer.frontier.records import UrlRecord, Watch, decode_url, encode

__all__ = ["Revisiting"]

DUE_AT_ONCE = 1_000
AT_ONCE = 16
"""Revisits that a host with nothing else to do takes into its queue at a time."""
SLACK = 4.0
"""How far, in leases, one kind may get ahead of its share while the other has nothing to fetch."""
LOOKS = 10_000

_PLANNED = frozenset({State.DONE, State.GONE})
_VISITED = frozenset({Kind.PAGE, Kind.SITEMAP})


class Revisiting(Queueing):
    """Plans, and what becomes of them: the verbs `revisit`, `bring_forward` and `next_due`."""

    async def revisit(self, until: float) -> None:
        self._until = until

    @property
    def revisits_until(self) -> float:
        """What is due before this is visited again."""
        return self._until

    async def next_due(self) -> float | None:
        return self._due.next()

    async def bring_forward(self, now: float, before: float, most: int = 1_000, after: str = "") -> Requeued:
        batch = self._disk.batch()
        count, mark = 0, None
        for number, (entry, _) in enumerate(self._disk.items("due", bytes.fromhex(after) or keys.millis(now + 0.001))):
            if count == most or number == LOOKS:
                mark = entry.hex()
                break
            record = self._disk.url(entry[8:])
            if record is not None and record.watch is not None and record.fetched < before:
                self._move(record, entry[8:], now, batch)
                count += 1
        self._write(batch)
        return Requeued(count, mark)

    def _move(self, record: UrlRecord, key: bytes, due: float, batch: WriteBatch) -> None:
        """Another time for a finished URL."""
        assert record.watch is not None
        if record.watch.due:
            self._due.drop(record.watch.due, key, batch)
        record.watch = msgspec.structs.replace(record.watch, due=due)
        self._due.put(due, key, batch)
        batch.put(key, encode(record), self._to["urls"])

    async def plan_older(self, now: float) -> bool:
        """Times for some of the URLs that a version without any has left; whether there may be more of them."""
        start = self._disk.of["meta"].get(b"unplanned")
        if start is None:
            return False
        batch = self._disk.batch()
        for number, (key, raw) in enumerate(self._disk.items("urls", start)):
            if number == LOOKS:
                batch.put(b"unplanned", key, self._to["meta"])
                self._write(batch)
                return True
            record = decode_url(raw) if len(raw) != ENTRY else None
            if (
                record is None
                or record.watch is not None
                or record.state not in _PLANNED
                or record.kind not in _VISITED
            ):
                continue
            slot = self._hosts.find(key[:8])
            assert slot is not None
            self._plan(slot, key, record, record.state, True, batch, record.fetched)
            batch.put(key, encode(record), self._to["urls"])
        batch.delete(b"unplanned", self._to["meta"])
        self._write(batch)
        return False

    # --- plans ----------------------------------------------------------------------------------------------------

    def _plan(
        self, slot: HostSlot, key: bytes, record: UrlRecord, state: State, changed: bool, batch: WriteBatch, now: float
    ) -> State:
        """The time of the next visit, after one that ends now; what the URL is now."""
        watch = record.watch
        if watch is None and (state not in _PLANNED or record.kind not in _VISITED):
            return state
        modified = _modified(record) if changed and watch is not None and watch.history.visits else None
        plan = planned(
            record, state, changed, now, self._settings.recrawl, self._due.pace.threshold, slot.record.trust, modified
        )
        record.watch = plan.watch
        if watch is not None and watch.hinted and state in _PLANNED:
            slot.record.trust = trust_after(slot.record.trust, true=changed or state is State.GONE)
        if plan.state is not state:  # a visit that failed
            self._as_it_was(record, plan.watch, plan.state)
        if plan.counted is not None and record.kind is Kind.PAGE:
            setattr(self._stats, plan.counted, getattr(self._stats, plan.counted) + 1)
        due = plan.watch.due
        self._due.replan(watch.planned if watch is not None else 0.0, plan.watch.planned if due else 0.0)
        if due:
            self._due.put(due, key, batch)
        elif plan.state is State.GONE:
            self._stats.retired += 1
        return plan.state

    def _as_it_was(self, record: UrlRecord, watch: Watch, state: State) -> None:
        """A visit brought nothing new, or nothing at all: our copy is the one we had."""
        place, kept = (watch.place, watch.kept) if state is State.DONE else (None, False)
        self._stats.stored += kept - record.stored
        record.place, record.stored, record.error, record.status = place, kept, None, watch.status

    def _heard_again(self, key: bytes, raw: bytes, link: Link, now: float, batch: WriteBatch) -> None:
        """A known URL is found once more: what a sitemap says of it, or that somebody links to what was given up as gone."""
        record = decode_url(raw)
        watch = record.watch
        if watch is None or record.state not in _PLANNED:
            return
        due = watch.due
        if not due:
            if record.state is not State.GONE:
                return
            due = max(now, record.fetched + watch.planned)
            self._stats.retired -= 1
            self._due.replan(0.0, watch.planned)
        if link.lastmod > max(record.fetched, watch.lastmod):
            slot = self._hosts.find(key[:8])
            record.watch = msgspec.structs.replace(watch, lastmod=link.lastmod, hinted=True)
            if slot is not None and slot.record.trust >= BELIEVED:
                due = min(due, now)
        elif due == watch.due:
            return
        self._new.add(key)  # it is not on disk yet: should the link come twice, once is enough
        self._move(record, key, due, batch)

    # --- from due to the queue ------------------------------------------------------------------------------------

    @property
    def _visiting(self) -> bool:
        return self._until > 0.0

    def _wake_due(self, batch: WriteBatch, now: float) -> None:
        """Whatever has become due goes into its host's queue, or waits for that host."""
        self._due.adjust(now)
        if not self._recalled:
            self._recalled = True
            self._recall(batch, now)
        taken: dict[bytes, int] = {}
        for moment in self._due.come(now, self._until, DUE_AT_ONCE, batch):
            key = moment[8:]
            slot = self._hosts.find(key[:8])
            if slot is None:
                continue
            before = taken.get(key[:8])
            if before is None:
                before = taken[key[:8]] = AT_ONCE - self._room_for(slot)
            if before < AT_ONCE and not slot.overdue:
                taken[key[:8]] = before + 1
                self._admit(slot, key, batch, now)
            else:
                entry = key[:8] + moment[:8] + key[8:]
                batch.put(entry, b"", self._to["overdue"])
                self._stats.overdue += 1
                slot.overdue = True
                self._late.add(slot.id)
                slot.overdue_from = min(slot.overdue_from, entry)

    def _recall(self, batch: WriteBatch, now: float) -> None:
        """After a start: hosts that have nothing but overdue visits get them, as they would have when their queue ran dry."""
        start = b""
        while found := self._disk.first("overdue", b"", 1, start):
            host = found[0][0][:8]
            slot = self._hosts.find(host)
            if slot is not None and slot.play is Play.IDLE:
                self._pull(slot, batch, now)
            start = host + b"\xff" * 17

    def _room_for(self, slot: HostSlot) -> int:
        """How many revisits the host takes into its queue now."""
        if slot.play is Play.PARKED:
            return min(int(slot.credit), AT_ONCE) if slot.credit < math.inf else AT_ONCE
        if not self._hosts.has_next(slot):
            return AT_ONCE
        if slot.head[0][1].fetched:
            return 0
        if self._budget_spent():  # what is new will not be asked for: nobody is put back by these
            return AT_ONCE
        if self._settings.recrawl.share == 1.0:
            return AT_ONCE
        return int(slot.credit)

    def _pull(self, slot: HostSlot, batch: WriteBatch, now: float) -> None:
        """Revisits that waited for their host go into its queue, as many as are its turn."""
        if not self._stats.overdue or not self._visiting:
            return
        if slot.overdue is None:
            slot.overdue_from = b""
            slot.overdue = bool(self._disk.first("overdue", slot.id, 1))
        room = self._room_for(slot) if slot.overdue else 0
        if room <= 0:
            return
        found = self._disk.first("overdue", slot.id, room, max(slot.overdue_from, slot.id))
        for entry, _ in found:
            slot.overdue_from = entry + b"\0"
            batch.delete(entry, self._to["overdue"])
            self._stats.overdue -= 1
            slot.credit = max(slot.credit - 1.0, 0.0)
            self._admit(slot, entry[:8] + entry[16:], batch, now)
        slot.overdue = len(found) == room or slot.id in self._late

    def _admit(self, slot: HostSlot, key: bytes, batch: WriteBatch, now: float) -> None:
        """Into the host's queue, before all that is new. What is known of the page stays: until the visit is over that is our copy."""
        record = self._disk.url(key)
        if record is None or record.watch is None or not record.watch.due:
            return
        watch = record.watch
        place, kept = (record.place, record.stored) if record.state is State.DONE else (watch.place, watch.kept)
        record.watch = msgspec.structs.replace(watch, due=0.0, place=place, kept=kept)
        self._count(record.state, -1)
        record.state, record.place, record.attempts, record.deaths, record.tries = State.QUEUED, None, 0, 0, ()
        self._stats.revisiting += 1
        self._serial += 1
        record.entry = keys.queued(b"", 0, self._serial)
        self._requeue(record, key, batch, now)

    def _leased(self, slot: HostSlot, record: UrlRecord) -> None:
        """A page was leased: each new one earns revisits their share, in its host and among all."""
        if record.kind is not Kind.PAGE or not self._visiting:
            return
        if record.fetched:
            self._credit = max(self._credit - 1.0, -SLACK)
        else:
            share = self._settings.recrawl.share
            earned = share / (1.0 - share) if share < 1.0 else math.inf
            most = max(1.0, earned)  # what was not used is not saved up
            slot.credit = min(slot.credit + earned, most)
            self._credit = min(self._credit + earned, SLACK * most)

    def _had_its_share(self, slot: HostSlot) -> bool:
        """Whether the host's next URL is of the kind, new or known, that the other one has to catch up with."""
        if not self._visiting or not self._hosts.has_next(slot):
            return False
        share, known = self._settings.recrawl.share, slot.head[0][1].fetched > 0.0
        if share in (0.0, 1.0):
            return known if share == 0.0 else not known
        return self._credit < 0.0 if known else self._credit > max(1.0, share / (1.0 - share))


def _modified(record: UrlRecord) -> float | None:
    """When the page says that it changed."""
    if record.last_modified is None:
        return None
    try:
        return parsedate_to_datetime(record.last_modified).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
