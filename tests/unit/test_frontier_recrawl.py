"""The embedded engine's own side of recrawl: formats that it migrates or refuses, and the threshold that keeps visits within their budget."""

from pathlib import Path

import msgspec
import pytest
from rocksdict import Options, Rdict

from gossamer.errors import FrontierError
from gossamer.frontier import Done, FrontierSettings, Link, Recrawl, RocksFrontier, State
from gossamer.frontier.audit import Flaw, audit
from gossamer.frontier.disk import ENTRY, Disk
from gossamer.frontier.inspect import Ledger
from gossamer.frontier.mend import mend, recount
from gossamer.outcome import Action
from gossamer.politeness import Politeness
from gossamer.recrawl import RecrawlPolicy

T0 = 1_800_000_000.0
EAGER = Politeness(delay=0.0, answer_multiple=0.0)
OLD_FIELDS = 25
"""Fields of a URL's record in format 1."""


def rules(**changes: object) -> FrontierSettings:
    policy = RecrawlPolicy(name="fixed", interval=100.0, floor=1.0, ceiling=10_000.0)
    recrawl = msgspec.structs.replace(Recrawl(policy=policy, continuous=True), **changes)
    return FrontierSettings(politeness=EAGER, robots=False, recrawl=recrawl)


def links(count: int, hosts: int = 3) -> list[Link]:
    return [Link(f"https://h{n % hosts}.example/p{n}") for n in range(count)]


async def visit(frontier: RocksFrontier, now: float, **more: object) -> int:
    """Visit whatever can be visited now."""
    count = 0
    while leases := await frontier.lease("w", 100, now):
        answers = [Done(lease.id, Action.DONE, 200, digest=b"-", **more) for lease in leases]  # type: ignore[arg-type]
        count += await frontier.complete("w", answers, now)
    return count


# --- formats --------------------------------------------------------------------------------------------------------


def to_format_1(folder: Path) -> None:
    """What the version before recrawl would have written: no times, no watches, two families fewer."""
    families = {name: Options(raw_mode=True) for name in Rdict.list_cf(str(folder))}
    db = Rdict(str(folder), options=Options(raw_mode=True), column_families=families)
    for name in ("urls", "queue"):
        family = db.get_column_family(name)
        for key, raw in list(family.items()):
            if len(raw) != ENTRY:
                family.put(key, msgspec.msgpack.encode(msgspec.msgpack.decode(raw)[:OLD_FIELDS]))
        family.close()
    meta = db.get_column_family("meta")
    stats = msgspec.msgpack.decode(meta.get(b"stats") or b"")
    new = ("due", "overdue", "revisiting", "retired", "revisits", "unchanged", "changed", "back")
    meta.put(b"stats", msgspec.msgpack.encode({name: value for name, value in stats.items() if name not in new}))
    meta.delete(b"pace")
    meta.put(b"schema", (1).to_bytes(2, "big"))
    meta.close()
    db.drop_column_family("due")
    db.drop_column_family("overdue")
    db.close()


async def older(folder: Path) -> None:
    """A folder of the version before: pages that are done, one that is gone, some that are queued."""
    frontier = RocksFrontier(folder, rules())
    await frontier.discover(links(25), T0)
    for _ in range(20):
        [lease, *rest] = await frontier.lease("w", 10, T0)
        await frontier.release("w", [each.id for each in rest], T0)
        gone = lease.url.endswith("/p4")
        done = Done(lease.id, Action.GONE if gone else Action.DONE, 404 if gone else 200, digest=b"-", stored=not gone)
        await frontier.complete("w", [done], T0)
    await frontier.close()
    to_format_1(folder)


async def test_an_older_frontier_gets_its_times_when_they_are_wanted(tmp_path: Path) -> None:
    await older(tmp_path / "f")
    with Ledger(tmp_path / "f") as ledger:
        assert (ledger.stats().fetched, ledger.next_due(), ledger.planned) == (20, None, False)
        flaws: list[Flaw] = []
        audit(ledger.families, flaws.append)
        assert flaws == [], "it is whole, and can be looked at as it is"
    frontier = RocksFrontier(tmp_path / "f", rules())
    assert await frontier.next_due() is None
    while await frontier.plan_older(T0 + 50):
        pass
    stats = await frontier.stats()
    assert (stats.due, stats.done + stats.gone, stats.queued) == (20, 20, 5)
    assert await frontier.next_due() == T0 + 100, "from when it was fetched"
    assert await visit(frontier, T0 + 50) == 5, "what was queued still is"
    assert await visit(frontier, T0 + 201) == 25
    assert not await frontier.plan_older(T0 + 50), "once is enough"
    await frontier.close()
    with Ledger(tmp_path / "f") as ledger:
        assert ledger.planned
        audit(ledger.families, flaws.append)
    assert flaws == []


async def test_an_older_frontier_goes_on_without_any_times(tmp_path: Path) -> None:
    await older(tmp_path / "f")
    frontier = RocksFrontier(tmp_path / "f", rules(continuous=False))
    assert await visit(frontier, T0) == 5
    assert (await frontier.stats()).due == 5, "what is fetched from now on has one"
    await frontier.close()
    flaws: list[Flaw] = []
    with Ledger(tmp_path / "f") as ledger:
        audit(ledger.families, flaws.append)
    assert flaws == []


@pytest.mark.parametrize("what", ["format", "family"])
async def test_a_newer_frontier_is_refused_in_one_sentence_and_left_alone(tmp_path: Path, what: str) -> None:
    frontier = RocksFrontier(tmp_path / "f", rules())
    await frontier.discover(links(3), T0)
    await frontier.close()
    families = {name: Options(raw_mode=True) for name in Rdict.list_cf(str(tmp_path / "f"))}
    db = Rdict(str(tmp_path / "f"), options=Options(raw_mode=True), column_families=families)
    if what == "format":
        meta = db.get_column_family("meta")
        meta.put(b"schema", (3).to_bytes(2, "big"))
        meta.close()
    else:
        db.create_column_family("telepathy", Options(raw_mode=True)).close()
    db.close()
    with pytest.raises(
        FrontierError, match=r"has format 3, this version reads 1 to 2|telepathy.*newer version wrote it"
    ):
        RocksFrontier(tmp_path / "f", rules())
    if what == "format":
        with pytest.raises(FrontierError, match="has format 3"):
            Ledger(tmp_path / "f")


# --- threshold ------------------------------------------------------------------------------------------------------


def optimal(per_day: float) -> FrontierSettings:
    policy = RecrawlPolicy(floor=600.0, ceiling=30 * 86_400.0)
    return FrontierSettings(
        politeness=EAGER, robots=False, recrawl=Recrawl(policy=policy, continuous=True, visits_per_day=per_day)
    )


async def pages_visited(folder: Path, per_day: float, days: int) -> tuple[int, float, float]:
    """Visits on the last day, and the least and greatest threshold there was; the pages change at different rates."""
    frontier = RocksFrontier(folder, optimal(per_day))
    found = links(200, hosts=200)
    await frontier.discover(found, T0)
    step, visits, thresholds = 600.0, 0, []
    for tick in range(int(days * 86_400 / step)):
        now = T0 + tick * step
        leases = await frontier.lease("w", 1_000, now)
        answers = []
        for lease in leases:
            rate = 2.0 ** (hash(lease.url) % 7 - 3) / 86_400
            version = int((now - T0) * rate)
            answers.append(Done(lease.id, Action.DONE, 200, digest=version.to_bytes(8, "big")))
        await frontier.complete("w", answers, now)
        thresholds.append(frontier._due.pace.threshold)
        visits += len(leases) if now >= T0 + (days - 1) * 86_400 else 0
    await frontier.close()
    return visits, min(thresholds), max(thresholds)


async def test_visits_follow_the_budget_and_the_threshold_stays_within_bounds(tmp_path: Path) -> None:
    little, *bounds = await pages_visited(tmp_path / "little", 0.5, 8)
    much, *others = await pages_visited(tmp_path / "much", 4.0, 8)
    assert 0.3 * 100 <= little <= 2.0 * 100
    assert 0.3 * 800 <= much <= 2.0 * 800
    assert all(1.0 <= threshold <= 1e9 for threshold in (*bounds, *others))


async def test_pages_that_pile_up_raise_the_threshold(tmp_path: Path) -> None:
    frontier = RocksFrontier(tmp_path / "f", optimal(24.0))
    await frontier.discover(links(300, hosts=1), T0)
    now = T0
    for _ in range(300):
        [lease] = await frontier.lease("w", 1, now)
        await frontier.complete("w", [Done(lease.id, Action.DONE, 200, digest=b"-")], now)
    before, number = frontier._due.pace.threshold, 0
    for _ in range(24 * 20):
        now += 3_600.0
        for _ in range(3):  # three visits an hour where the budget would have three hundred
            for lease in await frontier.lease("w", 1, now):
                number += 1
                await frontier.complete("w", [Done(lease.id, Action.DONE, 200, digest=number.to_bytes(8, "big"))], now)
    assert (await frontier.stats()).overdue > 0
    assert frontier._due.pace.threshold > before
    await frontier.close()


# --- repair ---------------------------------------------------------------------------------------------------------


async def test_repair_enters_lost_times_and_removes_those_that_are_nobodys(tmp_path: Path) -> None:
    frontier = RocksFrontier(tmp_path / "f", rules())
    await frontier.discover(links(10), T0)
    await visit(frontier, T0)
    await frontier.close()
    disk = Disk(tmp_path / "f")
    entries = [key for key, _ in disk.items("due")]
    assert len(entries) == 10
    batch = disk.batch()
    batch.delete(entries[0], disk.to["due"])
    batch.put(entries[1][:7] + b"\0" + entries[1][8:], b"", disk.to["due"])
    batch.put(entries[2][8:16] + entries[2][:8] + b"\xff" * 8, b"", disk.to["overdue"])
    disk.write(batch)
    flaws: list[Flaw] = []
    audit(disk.of, flaws.append)
    assert sorted(flaw.kind for flaw in flaws) == ["books-wrong", "due-missing", "due-stray", "overdue-stray"]
    mend(disk, flaws, lambda record: True, lambda name, key, raw: None)
    recount(disk)
    flaws.clear()
    audit(disk.of, flaws.append)
    assert flaws == []
    assert [key for key, _ in disk.items("due")] == entries
    disk.close()
    frontier = RocksFrontier(tmp_path / "f", rules())
    assert await visit(frontier, T0 + 150) == 10
    view = await frontier.explain(links(1)[0].url)
    assert view is not None
    assert (view.state, view.visits) == (State.DONE, 2)
    await frontier.close()
