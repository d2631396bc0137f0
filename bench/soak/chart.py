"""A soak drawn over time: memory, handles, throughput, and what piles up on the disk."""

from collections.abc import Sequence
from pathlib import Path

from bench.soak.probe import Sample

__all__ = ["draw"]

SMOOTHED = 60.0


def draw(samples: Sequence[Sample], path: Path) -> None:
    """Write the chart as a PNG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, ((memory, handles), (speed, disk)) = pyplot.subplots(2, 2, figsize=(13, 8), sharex=True)
    minutes = [s.at / 60 for s in samples]
    for role in samples[-1].processes:
        there = [(s.at / 60, s.processes[role]) for s in samples if role in s.processes]
        times = [at for at, _ in there]
        memory.plot(times, [each.rss / 1e6 for _, each in there], label=role)
        handles.plot(times, [each.handles for _, each in there], label=role)
    memory.set(title="resident memory", ylabel="MB", ylim=(0, None))
    handles.set(title="open handles", ylabel="handles", ylim=(0, None))
    times, pages, efficiency = _rates(samples)
    speed.plot(times, pages, label="pages a second")
    speed.plot(times, efficiency, label="pages a CPU second")
    speed.set(title="throughput, over a minute", ylabel="pages", xlabel="minutes", ylim=(0, None))
    disk.plot(minutes, [s.warc / 1e9 for s in samples], label="WARC, GB")
    disk.plot(minutes, [s.table / 1e9 for s in samples], label="page table, GB")
    disk.plot(minutes, [s.frontier / 1e9 for s in samples], label="frontier, GB")
    disk.plot(minutes, [s.known / 1e6 for s in samples], "--", label="URLs known, millions")
    disk.plot(minutes, [s.queued / 1e6 for s in samples], "--", label="URLs queued, millions")
    disk.set(title="what piles up", xlabel="minutes", ylim=(0, None))
    for axes in (memory, handles, speed, disk):
        axes.legend(loc="lower right", fontsize="small")
        axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _rates(samples: Sequence[Sample]) -> tuple[list[float], list[float], list[float]]:
    times, pages, efficiency = [], [], []
    first = 0
    for at, sample in enumerate(samples):
        while sample.at - samples[first].at > SMOOTHED:
            first += 1
        before = samples[first]
        if at == first or sample.cpu <= before.cpu:
            continue
        times.append(sample.at / 60)
        pages.append((sample.pages - before.pages) / (sample.at - before.at))
        efficiency.append((sample.pages - before.pages) / (sample.cpu - before.cpu))
    return times, pages, efficiency
