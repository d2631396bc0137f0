"""The desk: who waits for leases can be told to stop at any moment."""

import asyncio
from pathlib import Path

import pytest

from gossamer.crawl import Desk
from gossamer.frontier import Link, RocksFrontier
from gossamer.settings import Settings


async def test_a_call_for_leases_that_is_cancelled_as_news_come_is_cancelled(tmp_path: Path) -> None:
    frontier = RocksFrontier(tmp_path)
    desk = Desk(frontier, Settings(max_wait=1e12))
    try:
        await frontier.discover([Link("https://a.example/")], 1_800_000_000.0)
        await frontier.block_until("a.example", 4e9, 1_800_000_000.0)
        asking = asyncio.create_task(desk.lease("w", 1, 0.0))
        while not desk.asleep_until:  # noqa: ASYNC110 - nothing else tells that it waits
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        desk._wake()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asking, 5)
    finally:
        await frontier.close()
