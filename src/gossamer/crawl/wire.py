"""What a worker process and the parent say to each other: frames on a socket, several calls in each.

A frame is four bytes of length and a MessagePack list. The worker sends calls, the parent answers them in order of completion; each
carries a number. Calls made within ten milliseconds travel in one frame, so that a page costs a fraction of a message; the wait is
lost in the tens of milliseconds that a fetch takes.
Page bodies never travel: only URLs, outcomes, links and fingerprints do.
"""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import msgspec

from gossamer.errors import GossamerError
from gossamer.frontier import Content, Copy, Done, Kept, Lease, Link, RobotsFile
from gossamer.settings import Settings
from gossamer.worker import Counts

__all__ = [
    "AliveAsk", "Ask", "CompleteAsk", "ContentAsk", "CopiesReply", "DiscoverAsk", "ErrandAsk", "ErrandReply", "FaultAsk",
    "Frames", "HeldReply", "KeptAsk", "LeaseAsk", "LeasesReply", "Lost", "ReleaseAsk", "Reply", "RobotsAsk", "RobotsReply", "SealAsk",
    "Start", "decode_asks", "decode_replies", "decode_start", "encode",
]  # fmt: skip

LONGEST = 256 << 20
GATHER = 0.010


class Lost(GossamerError):
    """The other side is gone."""


class Start(msgspec.Struct, array_like=True, frozen=True):
    """The parent's first frame: everything a worker has to know."""

    name: str
    settings: Settings
    seeds: tuple[str, ...]
    allowed: tuple[tuple[str, int], ...]
    folder: str
    log_level: int


class LeaseAsk(msgspec.Struct, array_like=True, frozen=True, tag=1):
    number: int
    most: int


class CompleteAsk(msgspec.Struct, array_like=True, frozen=True, tag=2):
    number: int
    done: list[Done]


class ContentAsk(msgspec.Struct, array_like=True, frozen=True, tag=3):
    number: int
    contents: list[Content]


class RobotsAsk(msgspec.Struct, array_like=True, frozen=True, tag=4):
    number: int
    origin: str


class SealAsk(msgspec.Struct, array_like=True, frozen=True, tag=5):
    number: int
    segment: str


class ReleaseAsk(msgspec.Struct, array_like=True, frozen=True, tag=6):
    number: int
    leases: list[int]


class ErrandAsk(msgspec.Struct, array_like=True, frozen=True, tag=7):
    number: int
    url: str


class DiscoverAsk(msgspec.Struct, array_like=True, frozen=True, tag=8):
    number: int
    links: list[Link]
    via: str | None


class AliveAsk(msgspec.Struct, array_like=True, frozen=True, tag=9):
    number: int
    counts: Counts


class FaultAsk(msgspec.Struct, array_like=True, frozen=True, tag=10):
    number: int
    sentence: str


class KeptAsk(msgspec.Struct, array_like=True, frozen=True, tag=11):
    number: int
    kept: Kept


Ask = (
    LeaseAsk | CompleteAsk | ContentAsk | RobotsAsk | SealAsk | ReleaseAsk | ErrandAsk | DiscoverAsk | AliveAsk | FaultAsk
    | KeptAsk
)  # fmt: skip


class LeasesReply(msgspec.Struct, array_like=True, frozen=True, tag=1):
    number: int
    leases: list[Lease] | None
    """None: there will be no more."""
    newcomers: list[str] = []


class HeldReply(msgspec.Struct, array_like=True, frozen=True, tag=2):
    number: int
    held: int


class CopiesReply(msgspec.Struct, array_like=True, frozen=True, tag=3):
    number: int
    copies: list[Copy | None]


class RobotsReply(msgspec.Struct, array_like=True, frozen=True, tag=4):
    number: int
    file: RobotsFile | None


class ErrandReply(msgspec.Struct, array_like=True, frozen=True, tag=5):
    number: int
    lease: Lease | None


Reply = LeasesReply | HeldReply | CopiesReply | RobotsReply | ErrandReply

encode = msgspec.msgpack.Encoder().encode
decode_asks = msgspec.msgpack.Decoder(list[Ask]).decode
decode_replies = msgspec.msgpack.Decoder(list[Reply]).decode
decode_start = msgspec.msgpack.Decoder(Start).decode


class Frames(asyncio.Protocol):
    """Frames over a stream socket; messages sent shortly after one another share a frame."""

    def __init__(self, received: Callable[[bytes], None], lost: Callable[[], None]) -> None:
        self._received = received
        self._lost = lost
        self._buffer = bytearray()
        self.garbled = False
        """Whether the other side said something that is no frame."""
        self._outgoing: list[Any] = []
        self._transport: asyncio.Transport | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=4 << 20)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        while len(buffer) >= 4 and not self.garbled:
            size = int.from_bytes(buffer[:4], "big")
            if size > LONGEST:
                self._hang_up()
                return
            if len(buffer) < 4 + size:
                return
            frame = bytes(buffer[4 : 4 + size])
            del buffer[: 4 + size]
            try:
                self._received(frame)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                self._hang_up()

    def _hang_up(self) -> None:
        """What comes is no frame of ours, so nothing that follows can be believed: the other side counts as gone."""
        self.garbled = True
        self._buffer.clear()
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._writable.set()
        self._lost()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def send(self, message: Any) -> None:
        """Queue a message; it leaves within `GATHER` seconds, together with what is said until then."""
        if not self._outgoing:
            asyncio.get_running_loop().call_later(GATHER, self._flush)
        self._outgoing.append(message)

    def send_alone(self, message: Any) -> None:
        """Send a frame that is not a list."""
        self._write(encode(message))

    async def drained(self) -> None:
        """Wait until the other side has taken most of what was sent: back-pressure."""
        await self._writable.wait()

    def _flush(self) -> None:
        messages, self._outgoing = self._outgoing, []
        if messages:
            self._write(encode(messages))

    def _write(self, frame: bytes) -> None:
        if self._transport is not None:
            self._transport.write(len(frame).to_bytes(4, "big") + frame)

    def close(self) -> None:
        """Send what is still queued, then end the connection."""
        if self._outgoing:
            self._flush()
        if self._transport is not None:
            self._transport.close()
