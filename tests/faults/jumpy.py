"""`gossamer` with a wall clock that somebody keeps setting: `python -m tests.faults.jumpy OFFSETS crawl …`.

OFFSETS are seconds that the clock is wrong by, separated by commas; every quarter of a second the next one holds, in all processes
of the crawl alike, and after the last the first again. Only the wall clock is touched, before anything else has looked at it.
"""

import sys
import time

EVERY = 0.25


def set_about(offsets: list[float]) -> None:
    """From now on, in this process and those it forks."""
    real, begun = time.time, time.monotonic()

    def jumpy() -> float:
        return real() + offsets[int((time.monotonic() - begun) / EVERY) % len(offsets)]

    time.time = jumpy


if __name__ == "__main__":
    set_about([float(offset) for offset in sys.argv[1].split(",")])
    from gossamer.cli import main

    sys.exit(main(sys.argv[2:]))
