"""The freshness benchmark in small: the policy is near what perfect knowledge reaches, and ahead of the simpler ones."""

import math
from random import Random

import pytest
from bench.freshness import BUDGETS, Planner, Web, make_web, measure, policy_for, simulate

DAY = 86_400.0


@pytest.mark.parametrize("share", BUDGETS)
def test_optimal_is_near_perfect_knowledge_and_ahead_of_the_others(share: float) -> None:
    figures = measure(make_web(1_000, 0.0, 1), share, 20.0, 1)
    optimal = figures["optimal"].fresh
    assert optimal >= 0.93 * figures["clairvoyant"].fresh
    assert optimal >= 0.93 * figures["optimum"].fresh
    assert optimal > 1.03 * max(figures["proportional"].fresh, figures["fixed"].fresh)
    if share > 0.02:  # 20 visits a day for 20 days is no warm-up: adaptive, most important first, is still ahead there
        assert optimal > 1.03 * figures["adaptive"].fresh
    assert all(figure.spent <= 1.001 for figure in figures.values())


def test_optimal_leads_also_where_important_pages_change_more_often() -> None:
    figures = measure(make_web(1_000, 0.6, 2), 0.1, 20.0, 1)
    assert figures["optimal"].fresh >= 0.93 * figures["clairvoyant"].fresh
    assert figures["optimal"].fresh > 1.03 * max(figures[name].fresh for name in ("adaptive", "proportional", "fixed"))


def test_the_web_is_the_one_described() -> None:
    web = make_web(10_000, 0.6, 3)
    logs = sorted(math.log(rate * DAY) for rate in web.rates)
    assert logs[5_000] == pytest.approx(math.log(0.1), abs=0.1)
    assert logs[8_413] - logs[1_587] == pytest.approx(4.0, abs=0.2)
    weights = sorted(web.weights, reverse=True)
    assert sum(weights) == pytest.approx(10_000)
    assert weights[0] / weights[99] == pytest.approx(100)
    important = [rate for rate, weight in zip(web.rates, web.weights, strict=True) if weight >= weights[99]]
    assert sum(map(math.log, important)) / 100 > math.log(0.1 / DAY) + 2.0


def test_the_figure_is_that_of_the_formula_and_of_the_changes_themselves() -> None:
    rate, share, days = 0.8 / DAY, 0.5, 400.0
    web = Web([rate] * 20, [1.0] * 20)
    figure = simulate(web, share * 20 / DAY, Planner(web, share * 20 / DAY, policy_for("fixed", share)), days, 1)
    assert figure.fresh == pytest.approx(share / 0.8 * -math.expm1(-0.8 / share), rel=0.02)
    chance = Random(1)
    drawn = sum(min(chance.expovariate(rate), 2 * DAY) for _ in range(20_000)) / (20_000 * 2 * DAY)
    assert figure.fresh == pytest.approx(drawn, rel=0.03)
