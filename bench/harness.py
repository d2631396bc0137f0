"""Small runner: CPU time (not wall time) per unit, best of several rounds, printed as a row with its ratio to a peer.

CPU time is what a shared machine measures honestly, and the best round is the one least disturbed. Figures of different
runs are not compared: every peer runs in the same process, in rounds interleaved with ours.
"""

import time
from collections.abc import Callable, Mapping

__all__ = ["cpu_us", "row", "title"]

ROUNDS = 5


def cpu_us(jobs: Mapping[str, Callable[[], object]], units: int, rounds: int = ROUNDS) -> dict[str, float]:
    """CPU microseconds a unit for each job (a job does `units` units a call), rounds interleaved, best of them."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            best[name] = min(best[name], (time.process_time() - start) * 1e6 / units)
    return best


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def row(name: str, value: float, unit: str, note: str = "") -> None:
    print(f"  {name:<44} {value:>10.2f} {unit:<14} {note}")
