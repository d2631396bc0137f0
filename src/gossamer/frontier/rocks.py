"""The embedded engine: the frontier in one process, on RocksDB.

What a verb writes is in `opened`, `queueing`, `revisiting`, `leasing`, `reviving` and `endings`; what is in memory of hosts, and which hosts, is `window`'s
business; leases are `leases`', the keys are built in `keys`. Here are the questions that change nothing.
"""

from collections.abc import Sequence

import msgspec

from gossamer.frontier import keys
from gossamer.frontier.contract import (
    Content,
    Copy,
    FailurePage,
    HostView,
    RobotsFile,
    Stats,
    Stored,
    UrlView,
)
from gossamer.frontier.endings import Endings
from gossamer.frontier.failures import view_of, walk
from gossamer.frontier.hosts import Play
from gossamer.frontier.records import visits_of
from gossamer.politeness import rebased
from gossamer.url import host_of

__all__ = ["RocksFrontier"]

_decode_robots = msgspec.msgpack.Decoder(RobotsFile).decode


class RocksFrontier(Endings):
    """A `Frontier` in a folder."""

    async def seen_content(self, contents: Sequence[Content], now: float) -> list[Copy | None]:
        return self._content.check(contents, now)

    async def unsealed(self) -> dict[str, list[Stored]]:
        return self._segments.all()

    async def failures(
        self, *, host: str | None = None, reason: str | None = None, most: int = 1_000, after: str = ""
    ) -> FailurePage:
        entries, mark = walk(self._failed_from, host, reason, most, after)
        records = ((self._disk.url(key), entry) for key, entry in entries)
        return FailurePage([view_of(record, entry) for record, entry in records if record is not None], mark)

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
            r.again, r.place, r.copy_of, r.redirect, leased, *visits_of(r),
        )  # fmt: skip

    async def next_ready(self, now: float) -> float | None:
        if self._budget_spent() and not self._visiting:
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
        if self._visiting and self._stats.due and (due := self._due.next()) is not None and due <= self._until:
            times.append(due)
        return max(now, min(times)) if times else None

    async def stats(self) -> Stats:
        self._stats.leased = len(self._leases)
        self._stats.in_play = self._hosts.in_play
        return msgspec.structs.replace(self._stats)
