"""What a target is, and the promise that all of them share: the CPU time of an input is bounded by its length."""

import time
import zlib
from collections.abc import Callable

import msgspec

__all__ = ["Target", "TooSlow", "run"]

AMPLIFIED = 200_000
ONE_IN = 64
"""Of so many inputs one is repeated."""


class TooSlow(AssertionError):
    """An input took more CPU time than its length allows."""


class Target(msgspec.Struct, frozen=True):
    """A promise about bytes."""

    name: str
    check: Callable[[bytes], None]
    """Raises when the promise is broken; what it raises says how."""
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()
    """What such inputs are made of: mutations put these in."""
    scales: bool = True
    """Whether the input repeated many times is an input too: that is how quadratic costs are found."""
    cpu_base: float = 1.0
    cpu_byte: float = 20e-6
    """Seconds of CPU that an input, and each byte of it, may cost."""
    weight: float = 1.0
    """Its share of a run's time."""


def run(target: Target, data: bytes, slack: float = 1.0, one_in: int = ONE_IN) -> None:
    """Check one input, its cost included; now and then also the input repeated up to 200 KB."""
    _timed(target, data, slack)
    if target.scales and data and zlib.crc32(data) % one_in == 0:
        _timed(target, data * (AMPLIFIED // len(data)), slack)


def _timed(target: Target, data: bytes, slack: float) -> None:
    before = time.process_time()
    target.check(data)
    took = time.process_time() - before
    most = slack * (target.cpu_base + target.cpu_byte * len(data))
    if took > most:
        raise TooSlow(f"{target.name}: {len(data)} bytes took {took:.2f} s of CPU, more than {most:.2f}")
