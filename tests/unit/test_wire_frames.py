"""Frames over a real socket: whole, in pieces, and garbled."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gossamer.crawl import wire


class Heard:
    """One end of a connection, and what came to it."""

    def __init__(self) -> None:
        self.asks: list[wire.Ask] = []
        self.lost = asyncio.Event()
        self.frames = wire.Frames(lambda frame: self.asks.extend(wire.decode_asks(frame)), self.lost.set)


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Heard, socket.socket]]:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    heard = Heard()
    await asyncio.get_running_loop().create_connection(lambda: heard.frames, sock=ours)
    try:
        yield heard, theirs
    finally:
        heard.frames.close()
        theirs.close()
        await asyncio.wait_for(heard.lost.wait(), 10)


def framed(*asks: wire.Ask) -> bytes:
    packed = wire.encode(list(asks))
    return len(packed).to_bytes(4, "big") + packed


async def test_a_frame_is_heard_however_it_falls_into_pieces() -> None:
    async with connected() as (heard, theirs):
        for byte in framed(wire.LeaseAsk(1, 32)) + framed(wire.SealAsk(2, "s"), wire.RobotsAsk(3, "https://a.example")):
            theirs.send(bytes((byte,)))
            await asyncio.sleep(0)
        theirs.shutdown(socket.SHUT_WR)
        await asyncio.wait_for(heard.lost.wait(), 10)
        assert heard.asks == [wire.LeaseAsk(1, 32), wire.SealAsk(2, "s"), wire.RobotsAsk(3, "https://a.example")]


@pytest.mark.parametrize(
    "garbage",
    [
        b"\xff\xff\xff\xff",
        b"\0\0\0\x01\xc1",
        b"\0\0\0\x06\x91\x93\x05\x00\xa1\xff",
        b"\0\0\x40\x00" + b"\x91" * 0x4000,
    ],
    ids=["too long", "no MessagePack", "not UTF-8", "nested"],
)
async def test_who_sends_no_frame_counts_as_gone(garbage: bytes) -> None:
    async with connected() as (heard, theirs):
        theirs.send(framed(wire.SealAsk(1, "before")) + garbage + framed(wire.SealAsk(2, "after")))
        await asyncio.wait_for(heard.lost.wait(), 10)
        assert heard.asks == [wire.SealAsk(1, "before")]
