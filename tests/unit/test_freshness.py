"""The sums behind `gossamer freshness`, against a plain reading of all pages at once."""

import math
import random
import statistics
import tracemalloc
from typing import Any

import pytest

from gossamer.crawl.freshness import Sums, copy_of, standing
from gossamer.crawl.spread import DAY, EDGES, HOUR, Spread
from gossamer.crawl.stale import stalest
from gossamer.frontier import Kind, State
from gossamer.frontier.records import UrlRecord, Watch
from gossamer.recrawl import History, Prior, observe, prior_from, rate

NOW = 1_800_000_000.0


def record(url: str = "https://a.example/", state: State = State.DONE, **more: Any) -> UrlRecord:
    given = {"kind": Kind.PAGE, "depth": 0, "hops": 0, "priority": 0.5, "found": NOW, "via": None, "entry": b""}
    return UrlRecord(url, state, **(given | more))


def history(*visits: tuple[float, bool]) -> History:
    """Visits so many seconds ago, and whether they found a change."""
    made = History()
    for ago, changed in visits:
        made = observe(made, changed, NOW - ago)
    return made


def many(dice: random.Random, count: int, hosts: int = 5) -> list[UrlRecord]:
    """Held pages of all ages, rates and weights, those of a host together."""
    found = []
    for number in range(count):
        made, at = History(), NOW - dice.uniform(0.0, 60.0) * DAY
        for _ in range(dice.randrange(1, 12)):
            made = observe(made, dice.random() < 0.4, at)
            at += dice.expovariate(1.0) * dice.choice((60.0, HOUR, DAY, 9 * DAY))
            if at > NOW:
                break
        due = NOW + dice.uniform(-3.0, 3.0) * DAY
        url = f"https://h{number * hosts // count}.example/{number}"
        found.append(record(url, priority=dice.random(), watch=Watch(made, due=due, planned=DAY)))
    return found


# --- estimates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_the_shares_are_those_of_a_plain_reading(seed: int) -> None:
    dice = random.Random(seed)
    pages = many(dice, 400)
    sums = Sums(NOW)
    for page in pages:
        sums.add(page, 1.0)
    for later in (0.0, 60.0, HOUR, DAY, 7 * DAY, 90 * DAY):
        chances = []
        for page in pages:
            assert page.watch is not None
            seen = page.watch.history
            chances.append(math.exp(-rate(seen) * (NOW + later - seen.last_visit)))
        weights = [2.0 * page.priority for page in pages]
        share = sums.share(later)
        assert share.plain == pytest.approx(statistics.fmean(chances), abs=1e-4)
        assert share.weighted == pytest.approx(statistics.fmean(chances, weights), abs=1e-4)
    assert sums.share(0.0).plain == pytest.approx(
        statistics.fmean(copy_of(page, 1.0, NOW).fresh for page in pages), abs=1e-12
    )


def test_less_is_up_to_date_the_longer_nothing_is_visited() -> None:
    sums = Sums(NOW)
    for page in many(random.Random(9), 200):
        sums.add(page, 1.0)
    shares = [sums.share(hours * HOUR).plain for hours in range(200)]
    assert shares == sorted(shares, reverse=True)
    assert 0.0 < shares[-1] < shares[0] <= 1.0
    assert sums.share(1e15).plain == pytest.approx(0.0, abs=1e-9)


def test_a_page_visited_now_is_fresh_and_a_restless_one_soon_is_not() -> None:
    sums = Sums(NOW)
    sums.add(record(watch=Watch(history((0.0, False)))), 1.0)
    assert sums.share().plain == 1.0
    hourly = [DAY + n * HOUR for n in reversed(range(200))]
    restless = copy_of(record(watch=Watch(history(*((ago, True) for ago in hourly)))), 1.0, NOW)
    steady = copy_of(record(watch=Watch(history(*((ago, False) for ago in hourly)))), 1.0, NOW)
    assert restless.age == steady.age == DAY
    assert restless.fresh < 1e-9 < 0.9 < steady.fresh


def test_a_page_visited_once_has_the_rate_of_any_page() -> None:
    once = record(watch=Watch(history((DAY, True))))
    assert copy_of(once, 1.0, NOW).rate == rate(History(), Prior())
    assert copy_of(once, 1.0, NOW).fresh == pytest.approx(math.exp(-0.175))
    older = record(fetched=NOW - DAY)
    assert copy_of(older, 1.0, NOW) == copy_of(once, 1.0, NOW), "a store of a version without plans says the same"


def test_a_sitemap_is_believed_of_a_page_visited_once_while_its_host_is_trusted() -> None:
    page = record(changefreq="hourly", watch=Watch(history((DAY, True))))
    assert copy_of(page, 1.0, NOW).rate == rate(History(), prior_from("hourly")) > rate(History())
    assert copy_of(page, 0.0, NOW).rate == rate(History())
    page.watch = Watch(history((2 * DAY, True), (DAY, False)))
    assert copy_of(page, 1.0, NOW).rate == copy_of(page, 0.0, NOW).rate


def test_a_clock_that_was_set_back_makes_no_page_younger_than_new() -> None:
    assert copy_of(record(watch=Watch(history((-500.0, True)))), 1.0, NOW).fresh == 1.0


# --- kinds of pages ---------------------------------------------------------------------------------------------------

SEEN = history((DAY, True))


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        (record(state=State.QUEUED), "unseen"),
        (record(state=State.REFUSED), "unseen"),
        (record(state=State.FAILED), "unseen"),
        (record(state=State.REDIRECTED, redirect="https://b.example/"), "unseen"),
        (record(), "held"),
        (record(watch=Watch(SEEN, due=NOW)), "held"),
        (record(state=State.QUEUED, watch=Watch(SEEN)), "held"),
        (record(state=State.WAITING, watch=Watch(SEEN)), "held"),
        (record(state=State.FAILED, watch=Watch(SEEN)), "held"),
        (record(state=State.REFUSED, watch=Watch(SEEN, due=NOW)), "held"),
        (record(state=State.GONE), "gone"),
        (record(state=State.GONE, watch=Watch(SEEN, due=NOW, gone=1)), "gone"),
        (record(state=State.QUEUED, watch=Watch(SEEN, gone=1)), "gone"),
        (record(state=State.GONE, watch=Watch(SEEN, gone=4)), "retired"),
        (record(state=State.GONE, watch=Watch(History(), gone=4)), "retired"),
        (record(state=State.REDIRECTED, redirect="https://b.example/", watch=Watch(SEEN, due=NOW)), "moved"),
    ],
)
def test_every_page_is_of_one_kind(page: UrlRecord, kind: str) -> None:
    assert standing(page) == kind
    sums = Sums(NOW)
    copy = sums.add(page, 1.0)
    assert (copy is not None) == (kind == "held")
    found = {name: getattr(sums.pages, name) for name in ("held", "gone", "retired", "moved")}
    assert sums.pages.known == 1
    assert found == {name: int(name == kind) for name in found}


def test_sitemaps_are_no_pages() -> None:
    sums = Sums(NOW)
    assert sums.add(record(kind=Kind.SITEMAP, watch=Watch(SEEN, due=NOW)), 1.0) is None
    assert (sums.pages.known, sums.due().planned) == (0, 0)


def test_what_is_due() -> None:
    sums = Sums(NOW)
    for number, (state, due, gone) in enumerate(
        [
            (State.DONE, NOW - 50.0, 0),
            (State.DONE, NOW - 90.0, 0),
            (State.DONE, NOW + 70.0, 0),
            (State.GONE, NOW + 30.0, 1),
            (State.QUEUED, 0.0, 0),
            (State.GONE, 0.0, 4),
        ]
    ):
        sums.add(record(f"https://a.example/{number}", state, watch=Watch(SEEN, due=due, gone=gone)), 1.0)
    found = sums.due()
    assert (found.planned, found.now, found.under_way) == (5, 2, 1)
    assert found.most_overdue is not None
    assert found.next is not None
    assert (found.most_overdue.url, found.next.url) == ("https://a.example/1", "https://a.example/3")


# --- distributions and hosts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_distribution_is_that_of_the_sorted_times(seed: int) -> None:
    dice = random.Random(seed)
    times = sorted(dice.lognormvariate(10.0, 3.0) + 1.0 for _ in range(1_001))
    spread = Spread()
    for time in dice.sample(times, len(times)):
        spread.add(time)
    told = spread.told()
    assert told.median == pytest.approx(times[500], rel=0.011)
    assert told.nine_tenths == pytest.approx(times[900], rel=0.011)
    assert (told.longest, told.pages) == (times[-1], 1_001)
    assert [each.pages for each in told.bins] == [
        sum(least <= time < (below or math.inf) for time in times)
        for least, below in zip((0.0, *EDGES), (*EDGES, None), strict=True)
    ]


def test_a_distribution_of_nothing_and_of_zeros() -> None:
    spread = Spread()
    assert (spread.told().pages, spread.told().median) == (0, 0.0)
    spread.add(0.0)
    assert (spread.told().median, spread.told().bins[0].pages) == (0.0, 1)


def test_the_stalest_hosts_come_first_and_only_as_many_as_are_wanted() -> None:
    pages = many(random.Random(4), 300, hosts=12)
    every = stalest(((page, 1.0) for page in pages), Sums(NOW), NOW, 0)
    assert len(every) == 12
    assert [host.stale for host in every] == sorted((host.stale for host in every), reverse=True)
    for host in every:
        own = [copy_of(page, 1.0, NOW) for page in pages if page.url.startswith(f"https://{host.host}/")]
        assert host.held == len(own)
        assert host.stale == pytest.approx(sum(1.0 - copy.fresh for copy in own))
        assert host.fresh == pytest.approx(1.0 - host.stale / host.held)
        assert host.mean_age == pytest.approx(statistics.fmean(copy.age for copy in own))
        assert host.oldest == max(copy.age for copy in own)
        assert host.due == sum(copy.due <= NOW for copy in own)
        assert host.revisits == sum(copy.visits - 1 for copy in own)
        assert host.changes == sum(copy.changes for copy in own)
    sums, plain = Sums(NOW), Sums(NOW)
    assert stalest(((page, 1.0) for page in pages), sums, NOW, 4) == every[:4]
    for page in pages:
        plain.add(page, 1.0)
    assert sums.share() == plain.share(), "asking by host changes nothing of the whole"


def test_memory_does_not_grow_with_the_pages() -> None:
    pages = many(random.Random(5), 500)

    def peak(times: int) -> int:
        sums = Sums(NOW)
        tracemalloc.start()
        stalest(((page, 1.0) for page in pages for _ in range(times)), sums, NOW, 5)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(10) < peak(1) + 20_000
