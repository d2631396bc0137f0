"""Turns at the parser: one slow page must not hold up all that came after it, nor many slow ones in a row the whole worker.

Reading a page is one step of the event loop, and the worst page that its bounds let through takes a second. While it is read no
socket is served: many such pages, one after the other, would make healthy hosts look silent and this worker dead. So after a
slow page the loop goes round once before the next page is read, and a *large* page waits until others have had as much time as
the slow one took: hostile pages get at most half of a worker, whatever their number.
"""

import asyncio
import time

__all__ = ["Turns"]

SLOW = 0.05
LARGE = 128 * 1024


class Turns:
    """Who may read next; ordinary pages never wait."""

    def __init__(self) -> None:
        self._round: asyncio.Future[None] | None = None
        self._rest: asyncio.Future[None] | None = None

    async def take(self, size: int) -> float:
        """Wait for a turn to read so many bytes; when it began."""
        while (pause := (self._rest if size > LARGE else None) or self._round) is not None:
            await asyncio.shield(pause)
        return time.monotonic()

    def taken(self, began: float) -> None:
        """The page has been read."""
        seconds = time.monotonic() - began
        if seconds < SLOW:
            return
        loop = asyncio.get_running_loop()
        self._round = self._round or loop.create_future()
        loop.call_later(0.001, self._go_round)
        if self._rest is None:
            self._rest = loop.create_future()
            loop.call_later(seconds, self._go_on)

    def _go_round(self) -> None:
        if self._round is not None:
            self._round.set_result(None)
            self._round = None

    def _go_on(self) -> None:
        if self._rest is not None:
            self._rest.set_result(None)
            self._rest = None
