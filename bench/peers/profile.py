"""Where a crawl's CPU time goes: py-spy over the whole process tree, told in microseconds a page.

py-spy says what share of the samples each function has; the CPU time that is shared out is that of a run without py-spy, so
the figures add up to what the table of the benchmark shows. Start-up is told apart: it is what runs before the first page can
be asked for (imports above all), and a small site feels it where a large one does not.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from bench.harness import title
from bench.peers import Peer
from bench.peers.measure import measured
from bench.sites import Site

__all__ = ["Sample", "profile", "read_samples", "shares"]

RATE = 400
TOP = 28
FRAMEWORK = 0.9
_IMPORTING = "_find_and_load"


class Sample(msgspec.Struct, frozen=True):
    """One stack, outermost function first, and how often it was seen."""

    process: str
    stack: tuple[str, ...]
    count: int


def read_samples(lines: Iterable[str]) -> list[Sample]:
    """py-spy's raw form: frames joined by semicolons, `process PID:...` frames first, then a space and a count."""
    samples = []
    for line in lines:
        frames, _, count = line.rstrip("\n").rpartition(" ")
        parts = frames.split(";")
        owners = [part for part in parts if part.startswith("process ")]
        stack = tuple(part for part in parts if not part.startswith("process "))
        samples.append(Sample("parent" if len(owners) <= 1 else "workers", stack, int(count)))
    return samples


def part_of(sample: Sample) -> str:
    if any(frame.startswith(_IMPORTING) for frame in sample.stack):
        return "imports"
    return sample.process


def shares(samples: Sequence[Sample], own: bool) -> Counter[str]:
    """How often each function was seen: at the top of the stack (`own`), or anywhere in it."""
    seen: Counter[str] = Counter()
    for sample in samples:
        for frame in sample.stack[-1:] if own else set(sample.stack):
            seen[frame] += sample.count
    return seen


def profile(peer: Peer, site: Site, url: str, folder: Path, pages: int) -> None:
    """Print what a page costs, by part of the program and by function."""
    spy = Path(sys.executable).with_name("py-spy")
    if not spy.exists():
        sys.exit("a profile needs py-spy: pip install py-spy")
    work = folder / site.name
    work.mkdir()
    bytecode = folder / "bytecode"
    for _ in range(2):  # the first fills the bytecode cache
        used = measured(peer.command(url, work), work, bytecode=bytecode)
        shutil.rmtree(work)
        work.mkdir()
    raw = folder / f"{site.name}.txt"
    spying = [str(spy), "record", "--subprocesses", "--function", "--rate", str(RATE), "--format", "raw"]
    measured([*spying, "--output", str(raw), "--", *peer.command(url, work)], work, bytecode=bytecode)
    samples = read_samples(raw.read_text().splitlines())
    total = sum(sample.count for sample in samples)
    page = used.cpu * 1e6 / pages / total
    title(f"profile: {peer.name}, {site.package}: {used.cpu:.2f} s of CPU, {used.cpu * 1e6 / pages:,.0f} µs a page")
    parts = {part: [s for s in samples if part_of(s) == part] for part in ("imports", "parent", "workers")}
    for part, found in parts.items():
        count = sum(sample.count for sample in found)
        print(f"\n  {part}: {count * page:,.0f} µs a page, {count / total:.0%}")
        anywhere, own = shares(found, own=False), shares(found, own=True)
        for frame in [name for name, seen in anywhere.items() if seen > FRAMEWORK * count]:
            del anywhere[frame]  # the way down to the work, the same for all of it
        print(f"    {'with what it calls':<64} {'itself':>64}")
        for (name, whole), (alone, itself) in zip(anywhere.most_common(TOP), own.most_common(TOP), strict=False):
            print(f"    {whole * page:>7,.0f} {name[:56]:<56} {itself * page:>7,.0f} {alone[:56]}")
