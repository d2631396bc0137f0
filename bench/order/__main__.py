"""Run the comparison, print it, draw it, and fail where a bar is missed."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.harness import title
from bench.order.chart import draw
from bench.order.graph import Graph, read_graph, web
from bench.order.measure import ATTACKS, BARRED, BREADTH, OURS, POINTS, Figures, compare, missed

CLEAN = "no attacker"
SMALLEST = 5_000
"""Pages a web must have for an attack on it to mean anything."""


def show(name: str, runs: Sequence[dict[str, Figures]]) -> None:
    """Mean and worst over the seeds."""
    title(f"{name} ({len(runs)} web{'s' * (len(runs) > 1)})")
    print(f"  {'captured, mean (worst)':<30}" + "".join(f"{point:>18.0%}" for point in POINTS))
    for order in runs[0]:
        cells = [[run[order].captured[at] for run in runs] for at in range(len(POINTS))]
        print(f"  {order:<30}" + "".join(f"{sum(c) / len(c):>10.2%} {f'({min(c):.2%})':>7}" for c in cells))
    leads = [
        [run[OURS].captured[at] - max(run[name].captured[at] for name in BREADTH) for run in runs]
        for at in range(len(POINTS))
    ]
    print(
        f"  {'lead over the better breadth':<30}"
        + "".join(f"{sum(c) / len(c):>+10.2%} {f'({min(c):+.2%})':>7}" for c in leads)
    )
    if any(run[OURS].farm[-1] or run[BREADTH[0]].farm[-1] for run in runs):
        for order in (OURS, *BREADTH):
            cells = [[run[order].farm[at] for run in runs] for at in range(len(POINTS))]
            print(
                f"  {'attacker: ' + order:<30}"
                + "".join(f"{sum(c) / len(c):>10.1%} {f'({max(c):.1%})':>7}" for c in cells)
            )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.order", description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--domains", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=5, help="webs to generate")
    parser.add_argument("--first-seed", type=int, default=1, help="number of the first web")
    parser.add_argument("--graph", type=Path, help='a link graph instead: lines "source target", .gz or not')
    parser.add_argument("--once", action="store_true", help="links inside a domain are reported the first time only")
    parser.add_argument("--quick", action="store_true", help="two webs of 20,000 pages, and the attackers of the bar")
    parser.add_argument("--chart", type=Path, default=Path("build/order.png"))
    given = parser.parse_args()
    webs: list[Graph] = (
        [read_graph(given.graph)]
        if given.graph
        else [web(20_000, 400, seed) for seed in (1, 2)]
        if given.quick
        else [web(given.pages, given.domains, seed) for seed in range(given.first_seed, given.first_seed + given.seeds)]
    )
    attacks = BARRED if given.quick else tuple(ATTACKS)
    if min(graph.pages for graph in webs) < SMALLEST:
        attacks = ()
    panels: dict[str, list[dict[str, Figures]]] = {}
    failures: list[str] = []
    for name in (CLEAN, *attacks):
        runs = []
        for seed, good in enumerate(webs, given.first_seed):
            graph = good if name == CLEAN else ATTACKS[name](good, seed)
            runs.append(compare(graph, once=given.once))
            if name == CLEAN or name in BARRED:
                failures += missed(runs[-1], f"{name}, web {seed}", graph.pages)
        panels[name] = runs
        show(name, runs)
    draw(panels, given.chart)
    print(f"\nchart: {given.chart}")
    for failure in failures:
        print(f"MISSED  {failure}")
    print("every bar is met" if not failures else f"{len(failures)} bars missed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
