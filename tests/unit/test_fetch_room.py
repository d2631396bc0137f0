"""Large bodies take turns in memory; small ones never wait, and no time of waiting is held against anyone."""

import asyncio
import gzip

from gossamer.fetch import Failure, Fetcher, FetchSettings, Request, Response
from gossamer.fetch._room import SMALL, Room
from tests.loopback import ok, run, serving

MIB = 1 << 20


def test_shares_are_given_in_the_order_of_asking() -> None:
    room, granted = Room(100), list[str]()
    first = room.ask(60, lambda: granted.append("first"))
    second = room.ask(60, lambda: granted.append("second"))
    third = room.ask(10, lambda: granted.append("third"))
    assert (first.given, second.given, third.given, room.free) == (True, False, False, 40)
    first.give_back()
    assert granted == ["second", "third"]
    assert (second.given, third.given, room.free) == (True, True, 30)
    first.give_back()
    assert room.free == 30, "a share comes back once"


def test_one_that_stops_waiting_lets_the_next_through() -> None:
    room, granted = Room(100), list[str]()
    first = room.ask(60, lambda: None)
    second = room.ask(60, lambda: granted.append("second"))
    room.ask(40, lambda: granted.append("third"))
    second.give_back()
    assert granted == ["third"]
    first.give_back()
    assert room.free == 60


def test_what_is_larger_than_the_room_gets_all_of_it() -> None:
    room = Room(100)
    share = room.ask(1000, lambda: None)
    assert (share.given, share.size, room.free) == (True, 100, 0)


def test_a_wait_that_is_cancelled_leaves_nothing_behind() -> None:
    async def scenario() -> None:
        room = Room(100)
        held = await room.reserve(100)
        waiting = asyncio.create_task(room.reserve(50))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        held.give_back()
        assert room.free == 100

    run(scenario())


def fetcher(port: int, **more: object) -> Fetcher:
    bounds: dict[str, object] = {"connect_to": f"127.0.0.1:{port}", "body_memory": 4 * MIB, "max_body": 3 * MIB}
    return Fetcher(FetchSettings(**(bounds | more)))  # type: ignore[arg-type]


def test_large_bodies_come_whole_one_after_the_other_and_small_ones_pass_them() -> None:
    large, small = b"x" * (2 * MIB), b"y" * (SMALL // 2)

    async def came(slow: Fetcher, host: str) -> tuple[int, str | None]:
        result = await slow.fetch(Request(f"http://{host}.test/"))
        assert isinstance(result, Response)
        return len(result.body), result.truncated

    async def scenario() -> None:
        async with serving(ok(large)) as server, serving(ok(small)) as quick, fetcher(server.port) as slow:
            held = [await slow.fetch(Request(f"http://h{n}.test/")) for n in range(2)]
            waiting = [asyncio.create_task(came(slow, f"w{n}")) for n in range(5)]
            async with fetcher(quick.port) as other:
                assert await came(other, "small") == (len(small), None)
            await asyncio.sleep(0.3)
            assert not any(task.done() for task in waiting), "both shares are out as long as the answers are held"
            assert slow._room.free == 0
            held.clear()
            assert await asyncio.gather(*waiting) == [(len(large), None)] * 5
            assert slow._room.free == 4 * MIB

    run(scenario())


def test_the_wait_for_room_is_not_held_against_a_transfer() -> None:
    async def scenario() -> None:
        body = ok(b"x" * (2 * MIB))
        async with serving(body) as server, fetcher(server.port, total_timeout=0.6, low_speed_seconds=0.3) as tight:
            held = [await tight.fetch(Request(f"http://h{n}.test/")) for n in range(2)]
            waiting = asyncio.create_task(tight.fetch(Request("http://late.test/")))
            await asyncio.sleep(1.2)
            assert not waiting.done()
            held.clear()
            result = await waiting
            assert isinstance(result, Response), result
            assert result.truncated is None
            again = await tight.fetch(Request("http://late.test/again"))
            assert isinstance(again, Response), "the handle keeps its time again"

    run(scenario())


def test_a_transfer_that_goes_on_still_has_an_end() -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (SMALL * 2))
        while True:
            await asyncio.sleep(0.05)
            writer.write(b"x" * 200)
            await writer.drain()

    async def scenario() -> None:
        async with serving(endless) as server, fetcher(server.port, total_timeout=1.0) as tight:
            share = await tight._room.reserve(4 * MIB)
            waiting = asyncio.create_task(tight.fetch(Request("http://late.test/")))
            await asyncio.sleep(0.5)
            share.give_back()
            result = await waiting
            assert isinstance(result, Response), result
            assert result.truncated == "time"

    run(scenario())


def test_a_cap_that_is_reached_as_soon_as_a_transfer_goes_on() -> None:
    async def scenario() -> None:
        body = ok(b"x" * (3 * MIB))
        for limit in (SMALL + 1, SMALL + 1000, SMALL + 70_000):
            async with serving(body) as server, fetcher(server.port, max_body=limit) as tight:
                share = await tight._room.reserve(4 * MIB)
                waiting = asyncio.create_task(tight.fetch(Request("http://late.test/")))
                await asyncio.sleep(0.2)
                share.give_back()
                result = await waiting
                assert isinstance(result, Response), result
                assert (len(result.body), result.truncated) == (limit, "length")
                assert tight._driver.running == {}

    run(scenario())


def test_a_body_that_unpacks_to_much_waits_for_its_share_too() -> None:
    packed = gzip.compress(b"z" * (3 * MIB))

    async def scenario() -> None:
        answer = ok(packed, "Content-Encoding: gzip")
        async with serving(answer) as server, fetcher(server.port, max_decoded=4 * MIB) as tight:
            held = await tight.fetch(Request("http://h.test/"))
            assert isinstance(held, Response)
            assert (len(held.content), held.decode_problem, tight._room.free) == (3 * MIB, None, 0)
            waiting = asyncio.create_task(tight.fetch(Request("http://w.test/")))
            await asyncio.sleep(0.3)
            assert not waiting.done()
            del held
            result = await waiting
            assert isinstance(result, Response)
            assert len(result.content) == 3 * MIB

    run(scenario())


def test_closing_ends_those_that_wait() -> None:
    async def scenario() -> None:
        async with serving(ok(b"x" * (2 * MIB))) as server:
            tight = fetcher(server.port)
            share = await tight._room.reserve(4 * MIB)
            waiting = asyncio.create_task(tight.fetch(Request("http://late.test/")))
            await asyncio.sleep(0.3)
            await tight.close()
            assert isinstance(await waiting, Failure)
            share.give_back()
            assert tight._room.free == 4 * MIB

    run(scenario())
