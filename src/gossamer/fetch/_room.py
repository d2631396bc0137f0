"""Memory for large bodies: so many bytes a process, asked for before they are there, given in the order of asking.

One body is bounded by its cap, but a hundred at a time would still be a gigabyte, and a hundred hosts that send bodies without end
are one hostile name server away. So a body that grows beyond `SMALL` takes a share of the room as large as it may become. When there is
none, its transfer stands still (the server feels it as a full window) until another body is done with. The time that it
waits is not held against it. Small bodies, nearly all there are, never ask.

A share belongs to the answer: it is given back when nobody holds the answer any more.
"""

from asyncio import Future, get_running_loop
from collections import deque
from collections.abc import Callable

__all__ = ["SMALL", "SMALL_DECODED", "Room", "Share"]

SMALL = 256 * 1024
SMALL_DECODED = 512 * 1024
"""Bytes up to which a body is unpacked without asking."""


class Share:
    """A part of the room, granted or still asked for."""

    __slots__ = ("_granted", "_room", "given", "size")

    def __init__(self, room: "Room", size: int, granted: Callable[[], None]) -> None:
        self.size = size
        self.given = False
        self._room = room
        self._granted = granted

    def give_back(self) -> None:
        """Return the share, or stop waiting for it; a second time does nothing."""
        self._room.returned(self)

    def grant(self) -> None:
        self.given = True
        self._granted()


class Room:
    """`size` bytes for all large bodies of a process together."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.free = size
        self._out: set[Share] = set()
        self._waiting: deque[Share] = deque()

    def ask(self, size: int, granted: Callable[[], None]) -> Share:
        """A share: `given` at once where there is room, else `granted` is called when there is."""
        share = Share(self, min(size, self.size), granted)
        if not self._waiting and share.size <= self.free:
            self._hand_out(share)
        else:
            self._waiting.append(share)
        return share

    async def reserve(self, size: int) -> Share:
        """A share, once there is room for it."""
        future: Future[None] = get_running_loop().create_future()
        share = self.ask(size, lambda: None if future.done() else future.set_result(None))
        try:
            if not share.given:
                await future
        except BaseException:
            share.give_back()
            raise
        return share

    def returned(self, share: Share) -> None:
        if share in self._out:
            self._out.discard(share)
            self.free += share.size
        elif share in self._waiting:
            self._waiting.remove(share)
        while self._waiting and self._waiting[0].size <= self.free:
            following = self._waiting.popleft()
            self._hand_out(following)
            following.grant()

    def _hand_out(self, share: Share) -> None:
        share.given = True
        self.free -= share.size
        self._out.add(share)
