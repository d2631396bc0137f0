"""The estimate converges on Poisson pages, visits follow marginal freshness within their bounds, none is starved."""

import math
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from random import Random
from statistics import fmean, pstdev

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.recrawl import (
    History,
    Pace,
    Prior,
    RecrawlPolicy,
    adjust_threshold,
    next_visit,
    observe,
    prior_from,
    rate,
    replanned,
    value_of,
)
from gossamer.recrawl.arrays import ages_at, freshness, optimal_frequencies

HOUR, DAY = 3_600.0, 86_400.0
NOW = 1_700_000_000.0
POLICY = RecrawlPolicy()

rates = st.floats(1e-10, 1e-1)
weights = st.floats(1e-3, 1e3)
thresholds = st.floats(1.0, 1e8)
visits = st.lists(st.tuples(st.floats(1.0, 1e7), st.booleans(), st.none() | st.floats(0, 1)), max_size=60)

VISITING: dict[str, Callable[[Random], float]] = {
    "every day": lambda random: DAY,
    "at random": lambda random: random.expovariate(1 / (1.5 * DAY)),
    "hours and weeks": lambda random: math.exp(random.uniform(math.log(2 * HOUR), math.log(8 * DAY))),
}


def watched(per_day: float, count: int, interval: Callable[[Random], float], random: Random) -> float:
    """The estimated over the true rate of a simulated page after so many intervals."""
    history, now, true = observe(History(), False, NOW), NOW, per_day / DAY
    for _ in range(count):
        step = interval(random)
        now += step
        history = observe(history, random.random() < -math.expm1(-true * step), now)
    return rate(history) / true


def history_of(steps: list[tuple[float, bool, float | None]]) -> tuple[History, float]:
    history, now = observe(History(), False, NOW), NOW
    for step, changed, share in steps:
        modified = None if share is None else now + share * step
        now += step
        history = observe(history, changed, now, modified=modified)
    return history, now


@pytest.mark.parametrize("visiting", VISITING)
@pytest.mark.parametrize("per_day", [0.05, 0.2, 0.5, 1.0])
def test_the_estimate_converges_on_poisson_pages_visited_irregularly(per_day: float, visiting: str) -> None:
    random, spread = Random(7), {}
    for count, bias in ((50, 0.15), (200, 0.05)):
        ratios = [watched(per_day, count, VISITING[visiting], random) for _ in range(200)]
        spread[count] = pstdev(ratios)
        assert fmean(ratios) == pytest.approx(1.0, abs=bias)
    assert spread[200] < 0.65 * spread[50]
    assert spread[200] < 0.35


def test_the_estimate_stays_beside_the_exact_posterior_mean() -> None:
    random, grid = Random(3), np.exp(np.linspace(math.log(1e-9), math.log(1e-2), 3_000))
    for per_day in (0.05, 0.3, 1.0, 2.0):
        history, now = observe(History(), False, NOW), NOW
        log_posterior = Prior().changes * np.log(grid) - Prior().seconds * grid
        for _ in range(100):
            step = math.exp(random.uniform(math.log(HOUR), math.log(8 * DAY)))
            changed = random.random() < -math.expm1(-per_day / DAY * step)
            now += step
            history = observe(history, changed, now)
            log_posterior += np.log(-np.expm1(-grid * step)) if changed else -grid * step
        density = np.exp(log_posterior - log_posterior.max())
        assert rate(history) == pytest.approx(float((density * grid).sum() / density.sum()), rel=0.06)


def test_the_estimate_converges_where_the_policy_itself_chooses_the_visits() -> None:
    random, true = Random(11), 0.3 / DAY
    ratios = []
    for _ in range(100):
        history, now = observe(History(), False, NOW), NOW
        for _ in range(150):
            due = next_visit(history, 1.0, 0.5 * DAY, now)
            history = observe(history, random.random() < -math.expm1(-true * (due - now)), due)
            now = due
        ratios.append(rate(history) / true)
    assert fmean(ratios) == pytest.approx(1.0, abs=0.08)


def test_dates_of_change_tell_more_than_the_mere_fact() -> None:
    random, true = Random(5), 4 / DAY
    errors: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(100):
        histories, now = dict.fromkeys((True, False), observe(History(), False, NOW)), NOW
        for _ in range(40):
            now += DAY
            age = random.expovariate(true)
            for dated in (True, False):
                modified = now - age if dated else None
                histories[dated] = observe(histories[dated], age < DAY, now, modified=modified)
        for dated, history in histories.items():
            errors[dated].append(abs(rate(history) / true - 1))
    assert fmean(errors[True]) < 0.8 * fmean(errors[False])


def test_a_page_that_always_says_it_was_modified_just_now_gains_nothing_by_it() -> None:
    honest = boasting = observe(History(), False, NOW)
    for day in range(1, 30):
        now = NOW + day * DAY
        honest = observe(honest, True, now)
        boasting = observe(boasting, True, now, modified=now)
    assert boasting == honest


def test_a_page_that_wakes_up_is_noticed() -> None:
    history, now = observe(History(), False, NOW), NOW
    for _ in range(1_000):
        now += DAY
        history = observe(history, False, now)
    asleep = rate(history)
    for _ in range(100):
        now += DAY
        history = observe(history, True, now)
    assert asleep < 0.002 / DAY
    assert rate(history) > 0.25 / DAY


@given(visits)
def test_more_changes_mean_a_higher_rate_and_every_rate_is_finite(
    steps: list[tuple[float, bool, float | None]],
) -> None:
    history, now = history_of(steps)
    assert 0 < rate(history) <= 1.0
    assert rate(observe(history, True, now + DAY)) >= rate(history) * (1 - 1e-9)
    assert rate(observe(history, False, now + DAY)) <= max(rate(history), rate(History()))


@given(visits)
def test_a_history_survives_being_written_down_in_a_few_bytes(
    steps: list[tuple[float, bool, float | None]],
) -> None:
    history, _ = history_of(steps)
    packed = msgspec.msgpack.encode(history)
    assert msgspec.msgpack.decode(packed, type=History) == history
    assert len(packed) <= 40


def test_a_clock_set_back_teaches_nothing() -> None:
    history, now = history_of([(DAY, True, None), (DAY, False, None)])
    again = observe(history, True, now - 10 * DAY)
    assert rate(again) == rate(history)
    assert NOW - 10 * DAY <= next_visit(again, 1.0, DAY, now - 10 * DAY) <= now - 10 * DAY + 30 * DAY


@given(rates, weights, st.lists(st.floats(0, 1e8), min_size=2, max_size=6).map(sorted))
def test_a_visit_is_worth_more_the_older_the_copy_but_never_more_than_weight_over_rate(
    lam: float, w: float, ages: list[float]
) -> None:
    values = [value_of(lam, w, age) for age in ages]
    assert all(b >= a * (1 - 1e-6) for a, b in pairwise(values))
    assert all(0 <= value <= w / lam * (1 + 1e-9) for value in values)


def test_the_value_is_the_derivative_of_freshness() -> None:
    lam, f, step = 0.7, 0.4, 1e-6
    slope = (freshness(lam, f + step) - freshness(lam, f - step)) / (2 * step)
    assert value_of(lam, 1.0, 1 / f) == pytest.approx(float(slope), rel=1e-6)


@given(visits, weights, thresholds, st.sampled_from(["optimal", "adaptive", "fixed"]))
def test_the_next_visit_is_between_floor_and_ceiling(
    steps: list[tuple[float, bool, float | None]], w: float, mu: float, name: str
) -> None:
    history, now = history_of(steps)
    policy = msgspec.convert({"name": name}, RecrawlPolicy)
    due = next_visit(history, w, mu, now, policy)
    assert now + policy.floor - 1 <= due <= now + policy.ceiling


@given(visits, weights, thresholds)
def test_between_the_bounds_the_next_visit_is_worth_the_threshold_once_a_page_is_known(
    steps: list[tuple[float, bool, float | None]], w: float, mu: float
) -> None:
    history, now = history_of(steps)
    age = next_visit(history, w, mu, now) - history.last_visit
    if POLICY.floor + 2 < age < POLICY.ceiling - 2:
        worth = value_of(rate(history), w, age)
        assert worth <= mu * (1 + 1e-3)
        if history.visits >= 16:
            assert worth == pytest.approx(mu, rel=1e-3)


@pytest.mark.parametrize("per_day", [0.02, 0.3, 3.0, 5.0, 40.0])
def test_a_page_of_doubtful_rate_is_due_as_soon_as_the_earliest_of_the_rates_it_may_have(per_day: float) -> None:
    def interval(n: int, per_day: float) -> float:
        return next_visit(History(n, n, n, n * DAY / per_day, int(NOW), int(NOW), 1), 1.0, 0.25 * DAY, NOW) - NOW

    for n in (1, 3, 9, 15):
        plausible = np.geomspace(per_day / (1 + 1 / n), per_day * (1 + 1 / n), 500)
        earliest = min(interval(100, float(may_be)) for may_be in plausible)
        assert interval(n, per_day) == pytest.approx(earliest, rel=1e-4)
    assert interval(16, per_day) == pytest.approx(interval(100, per_day))


def test_a_page_is_not_given_up_after_one_change() -> None:
    def seen(n: int) -> float:
        return next_visit(History(n, n, n, n * DAY / 6.0, int(NOW), int(NOW), 1), 1.0, 0.25 * DAY, NOW) - NOW

    assert seen(100) == POLICY.ceiling
    assert seen(1) < 2 * DAY


@given(visits, weights, thresholds, st.floats(1, 100))
def test_what_matters_more_is_visited_no_later(
    steps: list[tuple[float, bool, float | None]], w: float, mu: float, more: float
) -> None:
    history, now = history_of(steps)
    assert next_visit(history, w * more, mu, now) <= next_visit(history, w, mu, now) + 1e-3


def test_a_page_never_visited_is_due_now_and_one_of_no_weight_at_the_ceiling() -> None:
    assert next_visit(History(), 1.0, DAY, NOW) == NOW
    assert next_visit(observe(History(), False, NOW), 0.0, DAY, NOW) == NOW + 30 * DAY


def test_a_page_that_changes_faster_than_it_can_be_followed_waits_for_the_ceiling() -> None:
    frantic = History(100, 99, 500.0, 500.0 * 60, int(NOW), int(NOW), int(DAY))
    calm = History(100, 20, 20.0, 20.0 * 5 * DAY, int(NOW), int(NOW), int(DAY))
    assert rate(frantic) > 1_000 * rate(calm)
    assert next_visit(frantic, 1.0, 0.1 * DAY, NOW) == NOW + 30 * DAY
    assert next_visit(calm, 1.0, 0.1 * DAY, NOW) < NOW + 2 * DAY


def test_visits_are_not_in_proportion_to_the_rate_of_change() -> None:
    intervals = [
        next_visit(History(9, 9, 9.0, 9.0 * DAY / per_day, int(NOW), int(NOW), 1), 1.0, 0.25 * DAY, NOW) - NOW
        for per_day in (0.01, 0.1, 1.0, 3.8, 3.95, 5.0)
    ]
    assert intervals[0] > intervals[1] > intervals[2] < intervals[3] < intervals[4] < intervals[5]
    assert intervals[5] == POLICY.ceiling


def test_adaptive_comes_sooner_after_a_change_and_later_after_none() -> None:
    policy = RecrawlPolicy(name="adaptive")
    first = observe(History(), False, NOW)
    assert next_visit(first, 1.0, DAY, NOW, policy) == NOW + 7 * DAY
    now = NOW + 4 * DAY
    assert next_visit(observe(first, True, now), 1.0, DAY, now, policy) == now + 2 * DAY
    assert next_visit(observe(first, False, now), 1.0, DAY, now, policy) == now + 6 * DAY


def test_fixed_comes_when_it_was_told_to() -> None:
    policy = RecrawlPolicy(name="fixed", interval=3 * DAY)
    assert next_visit(observe(History(), False, NOW), 1.0, DAY, NOW, policy) == NOW + 3 * DAY


def test_hints_of_a_sitemap_move_the_first_guess() -> None:
    guesses = [
        rate(History(), prior_from(word)) for word in ("never", "yearly", "monthly", "weekly", "daily", "Hourly ")
    ]
    assert guesses == sorted(guesses)
    assert rate(History(), prior_from("weekly")) == pytest.approx(1 / (7 * DAY))
    assert prior_from("sometimes") == prior_from(None) == Prior()
    assert rate(History(), prior_from(lastmod_age=400 * DAY)) < rate(History())
    assert rate(History(), prior_from(lastmod_age=DAY)) > rate(History())


@given(st.sampled_from(["always", "never", "daily", None]), st.none() | st.floats(allow_nan=True))
def test_hints_weigh_little_and_nothing_breaks_them(word: str | None, age: float | None) -> None:
    prior = prior_from(word, age)
    assert 0 < prior.changes <= 1.0
    assert 0 < prior.seconds <= 7 * DAY


def test_a_lie_in_the_sitemap_is_overruled_by_a_few_visits() -> None:
    history, now, prior = observe(History(), False, NOW), NOW, prior_from("always")
    for _ in range(5):
        now += 5 * DAY
        history = observe(history, False, now, prior)
    assert rate(history, prior) < 1 / (30 * DAY)


def test_the_clairvoyant_solution_of_five_pages_is_the_known_one() -> None:
    # The example of Cho and Garcia-Molina: the page that changes most is given up.
    frequencies = optimal_frequencies([1, 2, 3, 4, 5], 1.0, 5.0)
    assert frequencies == pytest.approx([1.15, 1.36, 1.35, 1.14, 0.0], abs=0.005)


@given(
    st.lists(st.tuples(st.floats(1e-3, 1e3), st.floats(1e-2, 1e2)), min_size=1, max_size=20),
    st.floats(1e-2, 1e3),
)
def test_the_clairvoyant_solution_spends_the_budget_and_beats_simple_ones(
    pages: list[tuple[float, float]], budget: float
) -> None:
    lam, w = np.array([p[0] for p in pages]), np.array([p[1] for p in pages])
    best = optimal_frequencies(lam, w, budget)
    assert best.sum() == pytest.approx(budget)
    for other in (np.full(len(pages), budget / len(pages)), budget * lam / lam.sum(), budget * w / w.sum()):
        assert (w * freshness(lam, best)).sum() >= (w * freshness(lam, other)).sum() * (1 - 1e-7)


def test_nothing_is_spent_without_a_budget_or_on_what_never_changes() -> None:
    assert optimal_frequencies([1.0, 2.0], 1.0, 0.0).tolist() == [0.0, 0.0]
    assert optimal_frequencies([0.0, 2.0], 1.0, 3.0) == pytest.approx([0.0, 3.0])
    assert freshness([0.0, 2.0], [0.0, 0.0]).tolist() == [1.0, 0.0]


@given(rates, weights, thresholds)
def test_one_page_and_many_pages_are_computed_alike(lam: float, w: float, mu: float) -> None:
    age = float(ages_at([lam], [w], mu)[0])
    if math.isinf(age):
        assert mu * lam >= w
    else:
        history = History(100, 50, lam * 1e6, 1e6, int(NOW), int(NOW), 1)
        bounded = min(max(age, POLICY.floor), POLICY.ceiling)
        assert next_visit(history, w, mu, NOW) - NOW == pytest.approx(bounded, rel=1e-4)


def asked(pace: Pace) -> float:
    return pace.bound + pace.free


@pytest.mark.parametrize("start", [1.0, 1e8])
@pytest.mark.parametrize("per_day", [120.0, 400.0, 8_000.0])
def test_the_plans_settle_on_the_budget_in_a_few_rounds_from_any_start(per_day: float, start: float) -> None:
    lam = np.exp(np.random.default_rng(1).normal(math.log(0.1 / DAY), 2.0, 2_000))
    w = np.random.default_rng(2).pareto(1.5, 2_000) + 0.1
    budget, pace, planned, shuffle = per_day / DAY, Pace(start), np.zeros(len(lam)), np.random.default_rng(3)
    for _ in range(11):
        for pages in np.array_split(shuffle.permutation(len(lam)), 24):
            ages = np.clip(ages_at(lam[pages], w[pages], pace.threshold), POLICY.floor, POLICY.ceiling)
            for before, after in zip(planned[pages].tolist(), ages.tolist(), strict=True):
                pace = replanned(pace, before, after, POLICY)
            planned[pages] = ages
            pace = adjust_threshold(pace, budget, budget * HOUR, 0, HOUR)
    assert asked(pace) == pytest.approx(float(np.sum(1 / planned)))
    assert asked(pace) == pytest.approx(budget, rel=0.01)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1e8), thresholds), max_size=60))
def test_the_pace_is_the_sum_of_the_plans_and_forgets_those_taken_back(steps: list[tuple[int, float, float]]) -> None:
    pace, plans = Pace(), dict.fromkeys(range(6), 0.0)
    for page, interval, threshold in steps:
        after = min(max(interval, POLICY.floor), POLICY.ceiling) if interval else 0.0
        pace = replanned(msgspec.structs.replace(pace, threshold=threshold), plans[page], after, POLICY)
        plans[page] = after
        assert asked(pace) == pytest.approx(sum(1 / plan for plan in plans.values() if plan), abs=1e-12)
        assert 0.0 <= pace.root <= 1e4 * (1 + 1e-9)
    for plan in plans.values():
        pace = replanned(pace, plan, 0.0, POLICY)
    assert asked(pace) == pytest.approx(0.0, abs=1e-12)


def test_the_threshold_moves_by_bounded_steps_within_bounds() -> None:
    much, little = Pace(100.0, 0.0, 1e6, 10.0), Pace(100.0, 0.0, 1e-6, 10.0)
    assert adjust_threshold(much, 10.0, 36_000, 0, HOUR).threshold == 200.0
    assert adjust_threshold(little, 10.0, 36_000, 0, HOUR).threshold == 50.0
    assert adjust_threshold(Pace(100.0, 0.0, 10.0, 10.0), 10.0, 36_000, 0, HOUR).threshold == 100.0
    assert adjust_threshold(much, 0.0, 5, 0, HOUR).threshold == 200.0
    assert adjust_threshold(Pace(1.0), 10.0, 0, 0, HOUR).threshold == 1.0
    assert adjust_threshold(Pace(1e9, 0.0, 1e6, 1e5), 1.0, 3_600, 0, HOUR).threshold == 1e9


def test_more_is_planned_while_the_budget_goes_unspent_and_less_while_pages_wait() -> None:
    pace = Pace(100.0, 0.0, 1.0, 10.0)
    for _ in range(48):
        pace = adjust_threshold(pace, 1.0, 1_800, 0, HOUR)
    assert 1.05 < pace.haste < 1.2
    for _ in range(100 * 24):
        pace = adjust_threshold(pace, 1.0, 0, 0, HOUR)
    assert pace.haste == 2.0
    for _ in range(48):
        pace = adjust_threshold(pace, 1.0, 3_600, 40_000, HOUR)
    assert pace.haste == 1.0


def test_pages_at_the_ceiling_do_not_stop_the_threshold_from_following_the_others() -> None:
    crowded = replanned(Pace(100.0, 50.0), 0.0, DAY, POLICY)
    settled = adjust_threshold(crowded, 1.0, 3_600, 0, HOUR)
    assert settled.threshold == 50.0
    assert adjust_threshold(replanned(crowded, 0.0, 1.0, POLICY), 1.0, 3_600, 0, HOUR).threshold == 200.0


def test_a_crawl_can_use_all_of_it_without_numpy() -> None:
    command = "import sys, gossamer.recrawl; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], timeout=60).returncode == 0
