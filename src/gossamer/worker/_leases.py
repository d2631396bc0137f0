"""What a worker asks of whoever hands out its leases: the frontier's verbs, with an end."""

from collections.abc import Sequence
from typing import Protocol

from gossamer.frontier import Content, Copy, Done, Lease, Link, RobotsFile

__all__ = ["Leases"]


class Leases(Protocol):
    """The side of a frontier that workers see; `lease` waits for work and answers None when there will be no more."""

    async def lease(self, worker: str, most: int, now: float) -> list[Lease] | None: ...

    async def newcomers(self, most: int) -> list[str]: ...

    async def complete(self, worker: str, done: Sequence[Done], now: float) -> int: ...

    async def release(self, worker: str, leases: Sequence[int], now: float) -> None: ...

    async def errand(self, worker: str, url: str, now: float) -> Lease | None: ...

    async def discover(self, links: Sequence[Link], now: float, via: str | None = None) -> int: ...

    async def seen_content(self, contents: Sequence[Content], now: float) -> list[Copy | None]: ...

    async def seal(self, segment: str) -> None: ...

    async def robots(self, origin: str) -> RobotsFile | None: ...
