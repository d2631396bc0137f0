"""`make bench-freshness`: how fresh each recrawl policy keeps a simulated web, beside what perfect knowledge could reach.

10,000 pages change as Poisson processes whose rates are log-normal: the median page once in ten days, a standard deviation of 2 in the
logarithm (two pages in three lie between 1.3 changes a day and one in 74 days). Importance is Zipf's: the n-th page weighs 1/n of the
first. It is independent of the rate in one web; in the other important pages change more often (correlation 0.6 of the logarithm of
the rate and the rank as a normal score). Each page is found and fetched once in the first day; from then on there are revisits only, of a budget.
Nothing is known of a page but what its visits find: changed or not. No dates, no sitemaps.

The policy code is the crawler's: `observe`, `next_visit` and `replanned` at the end of each visit, `adjust_threshold` every hour.
A queue of due pages is served at the pace of the budget, one at a time, what is worth most before what is worth less (`optimal`)
or in the order they came due (the others, which know no worth).

    clairvoyant    the same code and the same queue, with every rate known exactly
    optimum        the same by calculation: frequencies that solve (w/λ)(1 − e^−x − x·e^−x) = μ within the same bounds, in a steady state
    proportional   interval = constant / estimated rate, the constant kept to the budget (here only: the crawler has no such policy)
    fixed          every page in turn, as often as the budget allows
    adaptive       the best of four forms: served in turn or the most important first, the first interval that of the budget or a tenth of it

The others do not weigh importance, except adaptive in two of its forms. All may spend the whole budget from the second day: fixed asks for ten
times as much as it gets, so that the queue is a round of all pages.

Bounds are the crawler's own, 1 hour and 30 days, for every policy and the optimum alike. Where seeing every page in 30 days would take more
than a third of the budget (below 10 % a day) the ceiling is longer for all, so that it takes a third.

The figure is the time average, over the second half, of the weighted share of pages whose copy is up to date. It is summed as its expectation
given the visits made, (1 − e^−λt)/λ for each interval t: the same mean as that of the changes drawn, with less noise.
"""

import argparse
import heapq
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench.harness import title
from gossamer.recrawl import (
    History,
    Pace,
    RecrawlPolicy,
    adjust_threshold,
    next_visit,
    observe,
    rate,
    replanned,
    value_of,
)
from gossamer.recrawl.arrays import ages_at, freshness

HOUR, DAY = 3_600.0, 86_400.0
MEDIAN, SIGMA = 0.1 / DAY, 2.0
CORRELATED = 0.6
BUDGETS = (0.02, 0.10, 0.50, 2.00)
"""Visits a day, as a share of the pages."""
CHART = Path("build/freshness.png")


class Web(msgspec.Struct, frozen=True):
    """Pages: how often each changes, and how much it matters (1 on average)."""

    rates: list[float]
    weights: list[float]


def make_web(pages: int, correlation: float, seed: int) -> Web:
    chance = np.random.default_rng(seed)
    normal = chance.normal(size=pages)
    rank = np.argsort(-(correlation * normal + math.sqrt(1.0 - correlation**2) * chance.normal(size=pages)))
    weights = np.empty(pages)
    weights[rank] = 1.0 / np.arange(1, pages + 1)
    return Web((MEDIAN * np.exp(SIGMA * normal)).tolist(), (weights * pages / weights.sum()).tolist())


def optimum(web: Web, budget: float, policy: RecrawlPolicy) -> float:
    """Weighted freshness of the best frequencies within the policy's bounds, in a steady state."""
    lam, w = np.array(web.rates), np.array(web.weights)

    def intervals(log_threshold: float) -> NDArray[np.float64]:
        return np.clip(ages_at(lam, w, math.exp(log_threshold)), policy.floor, policy.ceiling)

    low, high = math.log(1e-3), math.log(1e10)
    for _ in range(60):
        middle = (low + high) / 2.0
        if float((1.0 / intervals(middle)).sum()) > budget:
            low = middle
        else:
            high = middle
    return float((w * freshness(lam, 1.0 / intervals(high))).sum() / w.sum())


class Planner:
    """One policy as the crawler runs it: told of each visit, it says when the next is due and what comes before what."""

    def __init__(self, web: Web, budget: float, policy: RecrawlPolicy) -> None:
        self.web, self.budget, self.policy = web, budget, policy
        self.histories = [History()] * len(web.rates)

    def visited(self, page: int, changed: bool, now: float) -> tuple[float, float]:
        """(When the next visit is due, its rank in the queue: lower first.)"""
        self.histories[page] = observe(self.histories[page], changed, now)
        return self.plan(page, self.histories[page], now)

    def plan(self, page: int, history: History, now: float) -> tuple[float, float]:
        return next_visit(history, 1.0, 0.0, now, self.policy), 0.0

    def hour_passed(self, visits: int, waiting: int) -> None:
        """So many visits were made in the last hour, and so many pages are due."""


class ImportantFirst(Planner):
    def plan(self, page: int, history: History, now: float) -> tuple[float, float]:
        return next_visit(history, 1.0, 0.0, now, self.policy), -self.web.weights[page]


class Optimal(Planner):
    def __init__(self, web: Web, budget: float, policy: RecrawlPolicy) -> None:
        super().__init__(web, budget, policy)
        self.pace = Pace()
        self.intervals = [0.0] * len(web.rates)

    def plan(self, page: int, history: History, now: float) -> tuple[float, float]:
        weight, threshold = self.web.weights[page], self.pace.threshold
        due = next_visit(history, weight, threshold, now, self.policy)
        interval = due - history.last_visit
        self.pace = replanned(self.pace, self.intervals[page], interval, self.policy)
        self.intervals[page] = interval
        return due, -round(value_of(rate(history), weight, interval) / threshold, 1)

    def hour_passed(self, visits: int, waiting: int) -> None:
        self.pace = adjust_threshold(self.pace, self.budget, visits, waiting, HOUR)


class Clairvoyant(Optimal):
    """Believes the true rate, beyond doubt."""

    def visited(self, page: int, changed: bool, now: float) -> tuple[float, float]:
        known = History(1_000, 1_000, 1e12 * self.web.rates[page], 1e12, int(now), int(now), 1)
        return self.plan(page, known, now)


class Proportional(Planner):
    def __init__(self, web: Web, budget: float, policy: RecrawlPolicy) -> None:
        super().__init__(web, budget, policy)
        self.estimates = [0.0] * len(web.rates)
        self.total = 0.0

    def plan(self, page: int, history: History, now: float) -> tuple[float, float]:
        estimate = rate(history)
        self.total += estimate - self.estimates[page]
        self.estimates[page] = estimate
        interval = self.total / self.budget / estimate
        return now + min(max(interval, self.policy.floor), self.policy.ceiling), 0.0


Planners = dict[str, tuple[tuple[Callable[[Web, float, RecrawlPolicy], Planner], str, float], ...]]
"""By name the forms of a policy: how it is run, its name in the crawler, and its first interval as a share of the budget's."""
PLANNERS: Planners = {
    "clairvoyant": ((Clairvoyant, "optimal", 1.0),),
    "optimal": ((Optimal, "optimal", 1.0),),
    "adaptive": tuple((form, "adaptive", first) for form in (Planner, ImportantFirst) for first in (1.0, 0.1)),
    "proportional": ((Proportional, "fixed", 1.0),),
    "fixed": ((Planner, "fixed", 0.1),),
}


class Figure(msgspec.Struct, frozen=True):
    """Weighted freshness over the second half of a run, and the share of the budget that was spent in it."""

    fresh: float
    spent: float


def simulate(web: Web, budget: float, planner: Planner, days: float, seed: int) -> Figure:
    """A day in which every page is found, then revisits at the pace of the budget until the end."""
    chance, rates, weights = Random(seed), web.rates, web.weights
    end, measured = days * DAY, days * DAY / 2.0
    found = sorted((chance.random() * DAY, page) for page in range(len(rates)))
    last = [0.0] * len(rates)
    due: list[tuple[float, float, int]] = []
    waiting: list[tuple[float, float, int]] = []
    fresh, spent, hourly = 0.0, 0, 0
    pause, now, hour, next_found = 1.0 / budget, 0.0, HOUR, 0
    while now < end:
        while next_found < len(found) and found[next_found][0] <= now:
            last[found[next_found][1]], page = found[next_found]
            heapq.heappush(due, (*planner.visited(page, False, last[page]), page))
            next_found += 1
        while due and due[0][0] <= now:
            when, rank, page = heapq.heappop(due)
            heapq.heappush(waiting, (rank, when, page))
        while now >= hour:
            planner.hour_passed(hourly, len(waiting))
            hour, hourly = hour + HOUR, 0
        if waiting:
            page = heapq.heappop(waiting)[2]
            hourly += 1
            if now >= measured:
                spent += 1
                fresh += weights[page] * _fresh_time(rates[page], last[page], measured, now)
            changed = chance.random() < -math.expm1(-rates[page] * (now - last[page]))
            last[page] = now
            heapq.heappush(due, (*planner.visited(page, changed, now), page))
        now += pause
    fresh += sum(w * _fresh_time(lam, at, measured, end) for lam, w, at in zip(rates, weights, last, strict=True))
    return Figure(fresh / (sum(weights) * (end - measured)), spent / (budget * (end - measured)))


def _fresh_time(rate: float, visit: float, start: float, end: float) -> float:
    """Expected time between start and end during which a copy made at `visit` is up to date."""
    return (math.exp(-rate * max(start - visit, 0.0)) - math.exp(-rate * (end - visit))) / rate


def policy_for(name: str, share: float, first: float = 1.0) -> RecrawlPolicy:
    """The bounds of every policy at a budget; the interval is a share of the one that spends it."""
    settings = {"name": name, "ceiling": max(30.0, 3.0 / share) * DAY, "interval": first * DAY / share}
    return msgspec.convert(settings, RecrawlPolicy)


def measure(web: Web, share: float, days: float, seed: int) -> dict[str, Figure]:
    """The figure of each policy at a budget, and of the optimum."""
    budget = share * len(web.rates) / DAY
    figures = {"optimum": Figure(optimum(web, budget, policy_for("optimal", share)), 1.0)}
    for name, forms in PLANNERS.items():
        runs = []
        for form, policy, first in forms:
            planner = form(web, budget, policy_for(policy, share, first))
            runs.append(simulate(web, budget, planner, days, seed))
        figures[name] = max(runs, key=lambda figure: figure.fresh)
    return figures


def draw(results: dict[str, dict[float, dict[str, Figure]]], file: Path) -> None:
    """Freshness by budget, a panel a web."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    looks = {
        "optimum": ("black", "--", ""),
        "clairvoyant": ("dimgrey", "-", "s"),
        "optimal": ("tab:blue", "-", "o"),
        "adaptive": ("tab:orange", "-", "^"),
        "fixed": ("tab:green", "-", "v"),
        "proportional": ("tab:red", "-", "D"),
    }
    figure, panels = pyplot.subplots(1, len(results), figsize=(5.5 * len(results), 4.5), sharey=True, squeeze=False)
    for panel, (web, by_budget) in zip(panels[0], results.items(), strict=True):
        shares = [100 * share for share in by_budget]
        for name, (colour, line, mark) in looks.items():
            fresh = [100 * figures[name].fresh for figures in by_budget.values()]
            panel.plot(shares, fresh, line, color=colour, marker=mark, markersize=5, label=name)
        panel.set_xscale("log")
        panel.set_xticks(shares, [f"{share:g} %" for share in shares])
        panel.minorticks_off()
        panel.set_ylim(0, 100)
        panel.grid(alpha=0.3)
        panel.set_title(web)
        panel.set_xlabel("visits a day, share of the pages")
    panels[0][0].set_ylabel("up to date, % of importance")
    panels[0][-1].legend(loc="lower right")
    figure.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def run(pages: int, days: float, seed: int, chart: Path | None) -> bool:
    """Prints every table; whether `optimal` reached 97 % of the clairvoyant and led at every budget, where importance is independent."""
    reached = True
    results: dict[str, dict[float, dict[str, Figure]]] = {}
    for number, (name, correlation) in enumerate(
        (("importance independent of the rate", 0.0), ("important pages change more often", CORRELATED))
    ):
        web = make_web(pages, correlation, seed + number)
        results[name] = {}
        title(f"{pages:,} pages, {days:g} days, the second half measured: {name}")
        print(
            f"  {'budget a day':<14}{'optimum':>9}" + "".join(f"{planner:>14}" for planner in PLANNERS) + "   optimal /"
        )
        print(f"  {'':<14}{'':>9}" + " " * 14 * len(PLANNERS) + "   clairvoyant   optimum   budget spent")
        for share in BUDGETS:
            figures = measure(web, share, days, seed)
            results[name][share] = figures
            mine = figures["optimal"]
            to_clairvoyant, to_optimum = (
                mine.fresh / figures["clairvoyant"].fresh,
                mine.fresh / figures["optimum"].fresh,
            )
            print(
                f"  {f'{100 * share:g} %':<14}{100 * figures['optimum'].fresh:>8.1f}%"
                + "".join(f"{100 * figures[planner].fresh:>13.1f}%" for planner in PLANNERS)
                + f"   {100 * to_clairvoyant:>9.1f} %{100 * to_optimum:>8.1f} %{100 * mine.spent:>11.0f} %",
                flush=True,
            )
            others = max(figures[planner].fresh for planner in ("adaptive", "proportional", "fixed"))
            reached &= mine.fresh > others and (correlation > 0.0 or to_clairvoyant >= 0.97)
    if chart is not None:
        draw(results, chart)
        print(f"\nChart: {chart}")
    return reached


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.freshness", description="Freshness of the recrawl policies.")
    parser.add_argument("--quick", action="store_true", help="1,000 pages and 20 days")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    start = time.process_time()
    pages, days = (1_000, 20.0) if options.quick else (10_000, 60.0)
    reached = run(pages, days, options.seed, None if options.quick else CHART)
    print(f"CPU: {time.process_time() - start:.0f} s")
    return 0 if reached or options.quick else 1


if __name__ == "__main__":
    sys.exit(main())
