"""Into the queues: URLs that are new, and URLs whose time to be tried again has come."""

from collections.abc import Iterable, Sequence

from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.contract import Kind, Link, State
from gossamer.frontier.disk import ENTRY
from gossamer.frontier.opened import Opened
from gossamer.frontier.order import rank
from gossamer.frontier.records import UrlRecord, encode
from gossamer.url import host_of

__all__ = ["Queueing"]

DUE_AT_ONCE = 1_000


def _state_in(raw: bytes, url: str) -> int:
    """The state in an encoded record of which the URL is known: decoding all of it would cost more than the rest of a known link."""
    length = len(url.encode("utf-8", "surrogatepass"))
    return raw[3 + (1 if length < 32 else 2 if length < 256 else 3) + length]


class Queueing(Opened):
    """The verb `discover`, and what comes back into a queue."""

    def _heard_again(self, key: bytes, raw: bytes, link: Link, now: float, batch: WriteBatch) -> None:
        raise NotImplementedError  # `revisiting` knows

    async def discover(self, links: Sequence[Link], now: float, via: str | None = None) -> int:
        batch = self._disk.batch()
        new = self._discover(links, now, via, batch)
        if new or len(batch):
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
            if key in self._seen:
                if key in self._new:
                    continue
                known = self._urls.get(key)
                if known is not None:
                    if self._until and len(known) != ENTRY and (link.lastmod or _state_in(known, url) == State.GONE):
                        self._heard_again(key, known, link, now, batch)
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
            if link.changefreq is not None:
                record.changefreq = link.changefreq
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
