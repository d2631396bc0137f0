"""What each order has captured of a graph, and how much of it an attacker had."""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

from bench.order.crawl import BestFirst, breadth_first, clairvoyant, omniscient, polite_breadth_first
from bench.order.graph import Graph, farm, pagerank

__all__ = ["ATTACKS", "BARRED", "BREADTH", "FARM_MOST", "OURS", "POINTS", "Figures", "compare", "missed"]

POINTS = (0.01, 0.05, 0.10, 0.25)
FARM_MOST = 0.05
ENOUGH = 500
"""Fetches from which polite breadth-first has to be behind too: fewer say more about the seeds than about the order."""
OURS = "best-first"
BREADTH = ("breadth-first", "breadth-first, polite")


def _few(good: Graph) -> int:
    """Links that lead into a farm by accident: one for 10,000 pages."""
    return max(2, good.pages // 10_000)


def _bought(good: Graph) -> int:
    return max(10, good.pages // 2_000)


# What the attacker does; the first three are the bar, the others are shown. At 100,000 pages "a few" links are 10, "bought" ones 50.
ATTACKS: Mapping[str, Callable[[Graph, int], Graph]] = {
    "a farm of 20 domains with 10 hosts each, a few links into it": lambda good, seed: farm(
        good, seed, share=0.2, domains=20, hosts=10, links=_few(good)
    ),
    "a farm with a quarter as many domains as the web, a few links into it": lambda good, seed: farm(
        good, seed, share=0.2, domains=max(1, len(good.domain) // 4), links=_few(good)
    ),
    "one domain with 200 machine-made hosts, a few links into it": lambda good, seed: farm(
        good, seed, share=0.2, domains=1, hosts=200, links=_few(good)
    ),
    "20 domains, links bought on pages of good hosts": lambda good, seed: farm(
        good, seed, share=0.2, domains=20, hosts=10, links=_bought(good), sold_by="good hosts"
    ),
    "20 domains, links bought on the front pages of good hosts": lambda good, seed: farm(
        good, seed, share=0.2, domains=20, hosts=10, links=_bought(good), sold_by="front pages"
    ),
    "one domain of near-copies, links from front pages": lambda good, seed: farm(
        good, seed, share=0.2, domains=1, links=_bought(good), sold_by="front pages", copies=0.95
    ),
}
BARRED = tuple(ATTACKS)[:3]


class Figures(msgspec.Struct, frozen=True):
    """Of one order, at each of POINTS: the share of the good pages' PageRank captured, and the attacker's share of fetches."""

    captured: tuple[float, ...]
    farm: tuple[float, ...]
    curve: NDArray[np.float64]
    """Captured, after each per mille of the pages."""


def compare(graph: Graph, *, once: bool = False, bounds: bool = True) -> dict[str, Figures]:
    """Every order on one graph. `once`: links inside a domain are reported the first time only."""
    value = pagerank(graph)
    good = np.where(graph.farm, 0.0, value)
    budget = int(graph.pages * POINTS[-1])
    orders = {}
    if bounds:
        orders["omniscient"] = omniscient(good, budget)
        orders["omniscient among the found"] = clairvoyant(graph, good, budget)
    orders[OURS] = BestFirst(graph, once=once).run(budget)
    orders[BREADTH[0]] = breadth_first(graph, budget)
    orders[BREADTH[1]] = polite_breadth_first(graph, budget)
    return {name: _figures(graph, good, order) for name, order in orders.items()}


def _figures(graph: Graph, good: NDArray[np.float64], order: list[int]) -> Figures:
    pages = np.array(order, dtype=np.int64)
    total = np.concatenate(([0.0], np.cumsum(good[pages]) / good.sum()))
    taken = np.concatenate(([0], np.cumsum(graph.farm[pages])))
    at = [min(int(point * graph.pages), len(pages)) for point in POINTS]
    mille = np.arange(int(1000 * POINTS[-1]) + 1) * graph.pages // 1000
    return Figures(
        tuple(float(total[n]) for n in at),
        tuple(float(taken[n]) / max(n, 1) for n in at),
        total[np.minimum(mille, len(pages))],
    )


def missed(figures: Mapping[str, Figures], name: str, pages: int) -> list[str]:
    """The bars that the figures of a graph of so many pages miss, in words."""
    found = []
    ours = figures[OURS]
    for at, point in enumerate(POINTS):
        rivals = BREADTH if point * pages >= ENOUGH else BREADTH[:1]
        ahead = [rival for rival in rivals if ours.captured[at] <= figures[rival].captured[at]]
        found += [
            f"{name}: {rival} is not behind at {point:.0%}: "
            f"{ours.captured[at]:.2%} against {figures[rival].captured[at]:.2%}"
            for rival in ahead
        ]
        if ours.farm[at] > FARM_MOST:
            found.append(f"{name}: the attacker has {ours.farm[at]:.1%} of the fetches at {point:.0%}")
    return found
