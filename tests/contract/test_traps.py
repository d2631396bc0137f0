"""What every frontier does with what it has learned of a host: URLs whose turn comes are refused without a request, and say why."""

from collections.abc import Callable

import msgspec

from gossamer.frontier import Done, Frontier, Lease, Link, Place, State
from gossamer.outcome import Action
from gossamer.politeness import Politeness
from gossamer.traps import TrapRules
from tests.contract.engines import T0, Engine

EAGER = Politeness(delay=0.0, answer_multiple=0.0)
HOST = "https://a.example"
HOME = f"{HOST}/"

Answer = Callable[[Lease], Done]


async def fetch_all(frontier: Frontier, answer: Answer, most: int = 10_000) -> list[str]:
    asked: list[str] = []
    now = T0
    while len(asked) < most:
        leases = await frontier.lease("w", 1, now)
        if not leases:
            ready = await frontier.next_ready(now)
            if ready is None:
                break
            now = max(ready, now + 0.001)
            continue
        asked.append(leases[0].url)
        await frontier.complete("w", [answer(leases[0])], now)
    return asked


def same_text(lease: Lease) -> Done:
    return Done(lease.id, Action.DONE, 200, likeness=5)


def new_text(lease: Lease) -> Done:
    return Done(lease.id, Action.DONE, 200, likeness=hash(lease.url) & (1 << 63) - 1)


def days(first: int, last: int) -> list[Link]:
    return [Link(f"{HOST}/day/{number}", 1) for number in range(first, last)]


async def test_a_template_whose_pages_are_all_alike_loses_its_budget(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover(days(0, 3_000), T0, via=HOME)
    asked = await fetch_all(frontier, same_text)
    assert 5 < len(asked) < 20
    stats = await frontier.stats()
    assert (stats.queued, stats.done, stats.refused) == (0, len(asked), 3_000 - len(asked))
    assert stats.trapped == stats.refused
    view = await frontier.explain(f"{HOST}/day/2999")
    assert view is not None
    assert (view.state, view.attempts) == (State.REFUSED, 0)
    assert (view.detail or "").startswith("copies: Of ")
    await engine.stop()


async def test_a_template_whose_pages_are_new_keeps_it(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover(days(0, 3_000), T0, via=HOME)
    assert len(await fetch_all(frontier, new_text)) == 3_000
    await engine.stop()


async def test_a_parameter_that_is_noise_is_left_out(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    urls = [f"{HOST}/page-{number}?tok={token}" for token in range(3) for number in range(40)]
    await frontier.discover([Link(url, 1) for url in urls], T0, via=HOME)
    await frontier.discover([Link(f"{HOST}/other/page-{number}?tok=7", 2) for number in range(20)], T0, via=HOME)

    def answer(lease: Lease) -> Done:
        plain, _, token = lease.url.partition("?tok=")
        copied = None if token == "0" else f"{plain}?tok=0"
        return Done(lease.id, Action.DONE, 200, copy_of=copied if "/other/" not in plain else None)

    asked = await fetch_all(frontier, answer)
    others = [url for url in asked if "/other/" in url]
    assert others == [f"{HOST}/other/page-{number}" for number in range(20)], "each once, without the parameter"
    view = await frontier.explain(f"{HOST}/other/page-3?tok=7")
    assert view is not None
    assert (view.state, (view.detail or "").partition(":")[0]) == (State.REFUSED, "noise")
    await engine.stop()


async def test_what_was_learned_outlives_the_process(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover(days(0, 3_000), T0, via=HOME)
    await fetch_all(frontier, same_text)
    await engine.stop()
    frontier = engine.open(politeness=EAGER)
    await frontier.discover(days(3_000, 3_100), T0, via=HOME)
    assert len(await fetch_all(frontier, same_text)) < 3
    await engine.stop()


async def test_after_a_crash_no_url_is_lost_and_the_lesson_is_learned_again_at_worst(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover(days(0, 3_000), T0, via=HOME)
    before = await fetch_all(frontier, same_text, most=12)
    engine.crash()
    frontier = engine.open(politeness=EAGER)
    after = await fetch_all(frontier, same_text)
    stats = await frontier.stats()
    assert (stats.queued, stats.done + stats.refused) == (0, 3_000)
    assert set(before).isdisjoint(after)
    assert len(after) < 20
    await engine.stop()


async def test_a_seed_is_asked_for_whatever_was_learned(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover(days(0, 500), T0, via=HOME)
    await fetch_all(frontier, same_text)
    await frontier.discover([Link(f"{HOST}/day/777")], T0)
    assert await fetch_all(frontier, same_text) == [f"{HOST}/day/777"]
    await engine.stop()


async def test_hosts_learn_by_themselves_and_small_ones_not_at_all(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, traps=TrapRules(learn_after=50))
    await frontier.discover(days(0, 500), T0, via=HOME)
    small = [Link(f"https://b.example/day/{number}", 1) for number in range(49)]
    await frontier.discover(small, T0, via="https://b.example/")
    asked = await fetch_all(frontier, same_text)
    assert sum("b.example" in url for url in asked) == 49
    await engine.stop()


async def test_a_page_that_was_lost_with_its_segment_is_fetched_again_whatever_was_learned(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover(days(0, 500), T0, via=HOME)
    place = Place("s-1", "file", 0, 1)
    asked = await fetch_all(frontier, lambda lease: msgspec.structs.replace(same_text(lease), place=place))
    assert len(asked) < 20
    assert await frontier.abandon("s-1", T0) == len(asked)
    assert sorted(await fetch_all(frontier, same_text)) == sorted(asked)
    await engine.stop()
