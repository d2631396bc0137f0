"""Captured PageRank by share of pages, as a picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.order.measure import Figures

__all__ = ["draw"]


def draw(panels: Mapping[str, Sequence[Mapping[str, Figures]]], path: Path) -> None:
    """A panel a situation: the mean over the seeds as a line, from the worst to the best of them as a band."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=(6.5 * columns, 4.2 * rows), squeeze=False)
    for axes, (title, runs) in zip(grid.flat, panels.items(), strict=False):
        for name in runs[0]:
            curves = np.stack([run[name].curve for run in runs]) * 100
            share = np.arange(curves.shape[1]) / 10
            (line,) = axes.plot(share, curves.mean(axis=0), label=name, linewidth=2.2 if name == "best-first" else 1.2)
            axes.fill_between(share, curves.min(axis=0), curves.max(axis=0), alpha=0.12, color=line.get_color())
        axes.set(title=title, xlabel="% of the pages fetched", ylabel="% of the good pages' PageRank", xlim=(0, 25))
        axes.set_ylim(0, None)
        axes.title.set_fontsize(9)
        axes.grid(alpha=0.3)
        axes.legend(loc="lower right", fontsize="small")
    for axes in list(grid.flat)[len(panels) :]:
        axes.axis("off")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
