"""Best-first: cash is conserved, authority cannot be made up, every number can be explained."""

import gzip
import itertools
import math
import statistics
from pathlib import Path

import msgspec
import pytest
from bench.order.crawl import BestFirst
from bench.order.graph import pagerank, read_graph, web
from bench.order.measure import ATTACKS, BARRED, OURS, compare, missed
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from gossamer.importance import (
    CLASSES,
    LAST_RANK,
    Economy,
    Standing,
    Weights,
    allowance,
    authority,
    distinct,
    endow,
    explain,
    front_class,
    hear,
    merged,
    noted,
    purity,
    rank,
    refer,
    spend,
    sprawl,
    turn_class,
)

W = Weights()


def name(text: str) -> int:
    return xxh3_64_intdigest(text.encode())


def sketch_of(count: int, prefix: str = "") -> bytes:
    sketch = b""
    for n in range(count):
        sketch = noted(sketch, name(f"{prefix}{n}.example"))
    return sketch


def known(referrers: int, each: float = 1.0, economy: Economy | None = None, **more: int) -> Standing:
    """A domain that so many others have vouched for."""
    standing = msgspec.structs.replace(Standing(), **more)
    for n in range(referrers):
        refer(standing, name(f"{n}.example"), each, economy if economy is not None else Economy())
    return standing


# --- the sketch -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 5, 10, 30, 100, 1_000, 20_000])
def test_a_sketch_counts_within_its_error(count: int) -> None:
    errors = [distinct(sketch_of(count, f"{n}-")) / count - 1.0 for n in range(12)]
    assert abs(statistics.fmean(errors)) < 0.12
    assert max(map(abs, errors)) < 0.45  # three and a half deviations of 13 %


def test_a_sketch_is_small_and_a_name_counts_once() -> None:
    sketch = sketch_of(3)
    assert len(sketch) <= 6
    assert all(noted(sketch, name(f"{n}.example")) is sketch for n in range(3))
    assert len(sketch_of(100_000)) == 64
    assert distinct(b"") == 0.0


@given(st.lists(st.integers(0, 2**64 - 1)), st.lists(st.integers(0, 2**64 - 1)))
def test_merging_sketches_is_seeing_both(one: list[int], other: list[int]) -> None:
    def of(names: list[int]) -> bytes:
        sketch = b""
        for each in names:
            sketch = noted(sketch, each)
        return sketch

    both = merged(of(one), of(other))
    assert distinct(both) == pytest.approx(distinct(of(one + other)))
    assert distinct(both) >= max(distinct(of(one)), distinct(of(other)))


# --- cash -------------------------------------------------------------------------------------------------------------


@given(
    st.floats(0, 1e6),
    st.integers(0, 200),
    st.integers(0, 200),
    st.integers(0, 10_000),
    st.floats(0, 100),
    st.booleans(),
    st.booleans(),
)
def test_what_is_spent_is_passed_on_or_returned(
    cash: float, inward: int, outward: int, fetched: int, pot: float, seed: bool, again: bool
) -> None:
    economy = Economy()
    standing = Standing(fetched=fetched, pot=pot, seed=seed)
    paid = spend(standing, cash, inward, outward, economy, W, again=again)
    handed = paid.inward * inward + paid.outward * outward
    assert cash + pot + economy.issued == pytest.approx(handed + economy.returned + standing.pot)
    assert min(paid.inward, paid.outward, economy.returned, economy.issued) >= 0.0
    assert paid.vouch <= paid.outward
    assert standing.fetched == fetched + (not again)
    assert economy.issued <= 1.0


def test_over_a_whole_crawl_no_cash_is_made_or_lost() -> None:
    crawl = BestFirst(ATTACKS[BARRED[0]](web(2_000, 40, 1), 1))
    crawl.run(800)
    economy = crawl.economy
    held = sum(crawl.cash) + sum(standing.pot for standing in crawl.standings)
    assert held > 1.0
    assert economy.issued == pytest.approx(economy.returned + held)


def test_a_domains_links_to_itself_do_not_outweigh_those_to_others() -> None:
    paid = spend(Standing(), 1.0, 99, 1, Economy(), W)
    assert paid.outward == pytest.approx(99 * paid.inward)


def test_a_seed_is_trusted_and_has_cash() -> None:
    economy, standing = Economy(), Standing()
    assert endow(standing, economy) == economy.issued == 1.0
    assert authority(standing, economy, W) == W.seed


# --- authority and budgets --------------------------------------------------------------------------------------------


def test_authority_is_the_smaller_of_opinions_and_of_what_they_are_worth() -> None:
    economy = Economy()
    ordinary = known(30, 1.0, economy)
    crowd = known(1_000, 1e-6, economy)
    patron = Standing()
    refer(patron, name("famous.example"), 1_000.0, Economy())
    assert authority(ordinary, economy, W) > 20.0
    assert authority(crowd, economy, W) < 0.1
    assert authority(patron, economy, W) < 1.1


def test_worthless_links_do_not_cheapen_what_a_link_is_worth() -> None:
    economy = Economy()
    known(100, 1.0, economy)
    before = economy.link_worth
    known(100_000, 1e-9, economy)
    assert economy.link_worth == pytest.approx(before, rel=0.01)


def test_a_closed_group_does_not_lift_itself() -> None:
    """A hundred domains that link to each other only, each with twenty pages, after a weak link from outside."""
    economy = Economy()
    known(50, 0.1, economy)
    ring = [Standing() for _ in range(100)]
    refer(ring[0], name("good.example"), 0.01, economy)
    cash = [0.0] * len(ring)
    cash[0] = 0.01
    for _ in range(20):
        for n, standing in enumerate(ring):
            paid = spend(standing, cash[n], 0, len(ring) - 1, economy, W)
            cash[n] = 0.0
            for m, other in enumerate(ring):
                if m != n:
                    cash[m] += paid.outward
                    refer(other, name(f"ring-{n}.example"), paid.vouch, economy)
    assert min(standing.referrers for standing in ring) > 60.0
    assert max(authority(standing, economy, W) for standing in ring) < 0.5


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 1_000), st.integers(1, 400))
def test_the_allowance_grows_with_authority_alone(few: int, many: int, fetched: int, hosts: int) -> None:
    few, many = sorted((few, many))
    small, large = Standing(fetched=fetched, hosts=hosts), Standing(fetched=fetched, hosts=hosts)
    assert allowance(small, few, W) <= allowance(large, many, W)
    assert allowance(small, few, W) > 0.0


def test_copies_and_machine_made_hosts_cost_a_domain_its_allowance() -> None:
    plain = allowance(Standing(fetched=100, hosts=2), 1.0, W)
    assert allowance(Standing(fetched=100, hosts=2, copies=90), 1.0, W) < plain / 10
    assert allowance(Standing(fetched=100, hosts=800), 1.0, W) < plain / 50
    assert allowance(Standing(fetched=100, hosts=800), 1_000.0, W) > plain  # a hoster of blogs that the world links to
    assert purity(Standing()) == sprawl(Standing(), 0.0, W) == 1.0


# --- places -----------------------------------------------------------------------------------------------------------


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.integers(0, 500), st.integers(0, 500))
def test_more_cash_and_less_depth_never_hurt(one: float, other: float, near: int, far: int) -> None:
    (low, high), (near, far) = sorted((one, other)), sorted((near, far))
    here, economy = Standing(), Economy()
    assert 1 <= rank(high, near, here, economy, W) <= rank(low, near, here, economy, W) <= LAST_RANK
    assert rank(high, near, here, economy, W) <= rank(high, far, here, economy, W)


def test_a_rank_moves_when_cash_has_grown_by_a_fifth_and_not_before() -> None:
    ranks = [rank(1.01**n, 0, Standing(), Economy(), W) for n in range(700)]
    moves = sum(a != b for a, b in itertools.pairwise(ranks))
    assert moves == pytest.approx(4 * math.log2(1.01**699), abs=1)


def test_a_rank_does_not_depend_on_the_standing_of_its_domain() -> None:
    economy = Economy()
    poor, rich = Standing(fetched=10_000), known(50, 1.0, economy)
    assert rank(0.3, 2, poor, economy, W) == rank(0.3, 2, rich, economy, W)
    best = rank(0.3, 2, poor, economy, W)
    assert front_class(best, rich, economy, W) < front_class(best, poor, economy, W)


@given(st.integers(1, LAST_RANK), st.integers(1, LAST_RANK), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_host_comes_later_the_more_was_fetched_of_its_domain(one: int, other: int, less: int, more: int) -> None:
    (better, worse), (less, more) = sorted((one, other)), sorted((less, more))
    economy = Economy()
    front = front_class(better, Standing(fetched=less), economy, W)
    assert 0 <= front <= front_class(better, Standing(fetched=more), economy, W) < CLASSES
    assert front <= front_class(worse, Standing(fetched=less), economy, W)


def test_priorities_are_held_against_the_domains_own_and_believed_as_it_is_trusted() -> None:
    economy = Economy()
    trusted, stranger, boaster = known(60, 1.0, economy), Standing(), known(60, 1.0, economy)
    for n in range(10):
        hear(trusted, n / 10)
        hear(stranger, n / 10)
        hear(boaster, 1.0)

    def moved(standing: Standing, priority: float) -> int:
        return rank(1.0, 0, standing, economy, W) - rank(1.0, 0, standing, economy, W, priority)

    assert moved(trusted, 1.0) > 0 > moved(trusted, 0.0)
    assert moved(stranger, 1.0) == moved(boaster, 1.0) == 0


def test_the_best_class_has_seven_turns_of_eight_and_none_is_without() -> None:
    turns = [turn_class(turn) for turn in range(1, 8**4)]
    assert turns.count(0) == 7 * 8**3
    assert set(turns) == {0, 1, 2, 3}


@given(
    st.floats(0, 1e6), st.integers(0, 40), st.integers(0, 40), st.integers(0, 5_000), st.none() | st.floats(0, 1)
)  # fmt: skip
def test_an_explanation_adds_up(cash: float, depth: int, referrers: int, fetched: int, priority: float | None) -> None:
    economy = Economy()
    standing = known(referrers, 0.7, economy, fetched=fetched, hosts=3, copies=fetched // 3)
    hear(standing, 0.5)
    told = explain(cash, depth, standing, economy, W, priority)
    assert told.octaves == pytest.approx(sum(term.octaves for term in told.terms))
    assert told.rank == rank(cash, depth, standing, economy, W, priority)
    assert told.front == front_class(told.rank, standing, economy, W)
    if 0 < told.front < CLASSES - 1:
        assert told.octaves == pytest.approx(16 - told.front + 0.5, abs=0.5 + 1e-6)
    assert told.authority == authority(standing, economy, W)
    assert told.allowance == allowance(standing, told.authority, W)
    named = {term.name: term for term in told.terms}
    assert abs(named["rounding"].octaves) <= 0.25 or told.rank in (1, LAST_RANK)


# --- a crawl ----------------------------------------------------------------------------------------------------------


def test_a_graph_is_read_from_a_file(tmp_path: Path) -> None:
    lines = [
        "# source target",
        "http://a.example/ http://b.a.example/x",
        "http://b.a.example/x http://c.example/",
        "b/1 b/2",
    ]
    path = tmp_path / "edges.gz"
    path.write_bytes(gzip.compress("\n".join([*lines, lines[1]]).encode()))
    graph = read_graph(path)
    assert graph.pages == 5
    assert [graph.links()(page) for page in range(5)] == [[1], [2], [], [4], []]
    assert [int(graph.domain[host]) for host in graph.host] == [0, 0, 1, 2, 2]
    value = pagerank(graph)
    assert value.sum() == pytest.approx(1.0)
    assert value[0] < value[1] < value[2]


def test_crawls_are_repeatable() -> None:
    graph = web(1_000, 30, 3)
    assert BestFirst(graph).run(400) == BestFirst(graph).run(400)


@pytest.mark.parametrize("attack", [None, *BARRED])
def test_best_first_is_ahead_and_farms_get_little(attack: str | None) -> None:
    good = web(20_000, 400, 2)
    graph = good if attack is None else ATTACKS[attack](good, 2)
    figures = compare(graph, bounds=False)
    assert missed(figures, attack or "no attacker", graph.pages) == []
    assert figures[OURS].captured[-1] > 0.5
