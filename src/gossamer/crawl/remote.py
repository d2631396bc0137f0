"""The frontier as a worker process sees it: calls that travel to the parent."""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

from gossamer.crawl import wire
from gossamer.frontier import Content, Copy, Done, Kept, Lease, Link, RobotsFile
from gossamer.worker import Counts

__all__ = ["RemoteFrontier"]


class RemoteFrontier:
    """The verbs a worker uses, each a message. Times are the parent's: the `now` of the callers is not sent."""

    def __init__(self) -> None:
        self.frames = wire.Frames(self._answered, self._gone)
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._newcomers: list[str] = []
        self.lost = asyncio.Event()

    def _answered(self, frame: bytes) -> None:
        for reply in wire.decode_replies(frame):
            future = self._waiting.pop(reply.number, None)
            if future is not None and not future.done():
                future.set_result(reply)

    def _gone(self) -> None:
        self.lost.set()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(wire.Lost("the parent process is gone"))
        self._waiting.clear()

    async def _ask(self, kind: Any, *args: Any) -> Any:
        if self.lost.is_set():
            raise wire.Lost("the parent process is gone")
        number = next(self._numbers)
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.frames.send(kind(number, *args))
        return await future

    async def lease(self, worker: str, most: int, now: float) -> list[Lease] | None:
        reply: wire.LeasesReply = await self._ask(wire.LeaseAsk, most)
        self._newcomers += reply.newcomers
        return reply.leases

    async def newcomers(self, most: int) -> list[str]:
        """They come along with leases."""
        names, self._newcomers = self._newcomers, []
        return names

    async def complete(self, worker: str, done: Sequence[Done], now: float) -> int:
        """Told, not asked: nothing in a worker depends on the answer, and a lost parent makes the fetch void anyway."""
        self.frames.send(wire.CompleteAsk(0, list(done)))
        await self.frames.drained()
        return len(done)

    async def kept(self, worker: str, kept: Kept, now: float) -> bool:
        """Asked, not told: the worker may die of what it does next, and with it what is only on its way."""
        held: int = (await self._ask(wire.KeptAsk, kept)).held
        return bool(held)

    async def release(self, worker: str, leases: Sequence[int], now: float) -> None:
        self.frames.send(wire.ReleaseAsk(0, list(leases)))

    async def errand(self, worker: str, url: str, now: float) -> Lease | None:
        lease: Lease | None = (await self._ask(wire.ErrandAsk, url)).lease
        return lease

    async def discover(self, links: Sequence[Link], now: float, via: str | None = None) -> int:
        held: int = (await self._ask(wire.DiscoverAsk, list(links), via)).held
        return held

    async def seen_content(self, contents: Sequence[Content], now: float) -> list[Copy | None]:
        copies: list[Copy | None] = (await self._ask(wire.ContentAsk, list(contents))).copies
        return copies

    async def seal(self, segment: str) -> None:
        self.frames.send(wire.SealAsk(0, segment))

    async def robots(self, origin: str) -> RobotsFile | None:
        file: RobotsFile | None = (await self._ask(wire.RobotsAsk, origin)).file
        return file

    def alive(self, counts: Counts) -> None:
        self.frames.send(wire.AliveAsk(0, counts))

    def fault(self, sentence: str) -> None:
        """The worker cannot go on, and says why before it ends."""
        self.frames.send(wire.FaultAsk(0, sentence))
