"""Slow pages take turns: the loop goes round between them, and large ones leave half of the time to others."""

import asyncio
import time

from gossamer.worker._turns import LARGE, Turns
from tests.loopback import run

SMALL = 1_000


async def read(turns: Turns, size: int, seconds: float, order: list[str], name: str) -> None:
    began = await turns.take(size)
    time.sleep(seconds)  # noqa: ASYNC251 - a parser does not let go of the loop either
    order.append(name)
    turns.taken(began)


def test_quick_pages_never_wait() -> None:
    async def scenario() -> list[str]:
        turns, order = Turns(), list[str]()
        tasks = [asyncio.create_task(read(turns, LARGE + 1, 0.0, order, str(n))) for n in range(5)]
        await asyncio.sleep(0)
        assert order == ["0", "1", "2", "3", "4"], "all in one turn of the loop"
        await asyncio.gather(*tasks)
        return order

    run(scenario())


def test_the_loop_goes_round_between_slow_pages() -> None:
    async def scenario() -> None:
        turns, order = Turns(), list[str]()
        beats: list[int] = []

        async def beat() -> None:
            while True:
                beats.append(len(order))
                await asyncio.sleep(0.0005)

        beating = asyncio.create_task(beat())
        await asyncio.gather(*(read(turns, SMALL, 0.06, order, str(n)) for n in range(6)))
        beating.cancel()
        assert set(range(6)) <= set(beats), "something else had its turn after every one of them"

    run(scenario())


def test_a_small_page_need_not_wait_as_long_as_large_ones_do() -> None:
    async def scenario() -> list[str]:
        turns, order = Turns(), list[str]()
        first = asyncio.create_task(read(turns, LARGE + 1, 0.3, order, "slow"))
        await asyncio.sleep(0)
        large = asyncio.create_task(read(turns, LARGE + 1, 0.0, order, "large"))
        small = asyncio.create_task(read(turns, SMALL, 0.0, order, "small"))
        await asyncio.gather(first, large, small)
        return order

    assert run(scenario()) == ["slow", "small", "large"]


def test_one_that_is_cancelled_while_it_waits_takes_nothing_from_the_others() -> None:
    async def scenario() -> list[str]:
        turns, order = Turns(), list[str]()
        first = asyncio.create_task(read(turns, LARGE + 1, 0.1, order, "slow"))
        await asyncio.sleep(0)
        gone = asyncio.create_task(read(turns, LARGE + 1, 0.0, order, "gone"))
        stays = asyncio.create_task(read(turns, LARGE + 1, 0.0, order, "stays"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(first, stays)
        return order

    assert run(scenario()) == ["slow", "stays"]
