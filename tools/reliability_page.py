"""The section "Hostile servers and pages" of docs/reliability.md, from figures that were measured.

`python -m tools.reliability_page` writes the section from `docs/reliability-hostile.json`; with `--measure` it first runs every attack of
`tests/faults/attacks.py` alone, at its full size (some minutes), and writes that file. A test compares all three.
"""

import os
import platform
import sys
import tempfile
from pathlib import Path

import msgspec

__all__ = ["MEMORY", "Measured", "Row", "measured", "read_section", "section"]

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "reliability.md"
FIGURES = DOCS / "reliability-hostile.json"
TITLE = "## Hostile servers and pages"
MEMORY = 500_000_000
MEGABYTE = 1_000_000


class Row(msgspec.Struct, frozen=True):
    """One attack, as measured."""

    attack: str
    happens: str
    parent: int
    """Peak resident bytes."""
    worker: int
    late: float
    """Seconds by which the last page of the healthy web came later than without the attack."""
    longer: float
    """Seconds by which the whole crawl took longer."""


class Measured(msgspec.Struct, frozen=True):
    machine: str
    parent: int
    worker: int
    healthy: float
    whole: float
    """The crawl without any attack."""
    rows: list[Row]


def measured() -> Measured:
    """The figures of the last measured run."""
    return msgspec.json.decode(FIGURES.read_bytes(), type=Measured)


INTRODUCTION = """{title}

Each attack is made on a whole crawl (two workers, memory bounds as shipped, time-outs and waits shortened) that also crawls a healthy
synthetic web of 200 pages over 8 hosts. Every one of these crawls ended by itself, stored all 200 pages and lost no worker. The bar for the
memory of a process is {bar} MB. *Others late* is how much later the last healthy page came than without the attack;
*crawl longer* includes the retries that the hostile URLs are given. Without an attack the parent takes {parent} MB, a worker {worker} MB, and
the last healthy page comes after {healthy:.1f} s. Measured on {machine}, while it had other work to do too.

`tests/faults/test_hostile_crawl.py` asserts this: in CI with all attacks in one crawl, by `make test-faults` with each alone. The figures are
written by `python -m tools.reliability_page --measure`.

| attack | what happens | parent, worker (MB) | others late (s) | crawl longer (s) |
|---|---|---|---|---|
"""


def section(found: Measured) -> str:
    lines = [
        INTRODUCTION.format(
            title=TITLE,
            bar=MEMORY // MEGABYTE,
            parent=found.parent // MEGABYTE,
            worker=found.worker // MEGABYTE,
            healthy=found.healthy,
            machine=found.machine,
        )
    ]
    for row in found.rows:
        memory = f"{row.parent // MEGABYTE}, {row.worker // MEGABYTE}"
        late, longer = max(row.late, 0.0), max(row.longer, 0.0)
        attack = row.attack.replace("<", "&lt;")
        lines.append(f"| {attack} | {row.happens} | {memory} | {late:.1f} | {longer:.1f} |\n")
    return "".join(lines)


def read_section(page: str) -> str:
    """The section as it stands in the page."""
    start = page.index(TITLE)
    end = page.find("\n## ", start + 1)
    return page[start:].rstrip("\n") + "\n" if end < 0 else page[start:end].rstrip("\n") + "\n"


def write(text: str) -> None:
    """Put the section where it belongs; the rest of the page is as it was."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else "# Reliability\n"
    if TITLE in page:
        page = page.replace(read_section(page), text)
    else:
        page = page.rstrip("\n") + "\n\n" + text
    PAGE.write_text(page, encoding="utf-8")


def measure() -> Measured:
    """Every attack alone, beside a crawl without any."""
    os.environ["GOSSAMER_FAULTS"] = "long"
    from tests.faults.attacks import ATTACKS
    from tests.faults.hostile import besiege

    rows = []
    with tempfile.TemporaryDirectory(prefix="gossamer-siege-") as folder:
        calm = [besiege(Path(folder) / f"calm-{n}", []).figures for n in range(3)]
        healthy, whole = min(each.healthy for each in calm), min(each.whole for each in calm)
        for number, attack in enumerate(ATTACKS):
            found = besiege(Path(folder) / str(number), [attack], seconds=500)
            report = found.outcome.report
            assert (report.ending, len(found.stored), report.worker_deaths) == ("finished", 200, 0), attack.name
            figures = found.figures
            late, longer = figures.healthy - healthy, figures.whole - whole
            rows.append(
                Row(attack.name, attack.happens, figures.parent, figures.worker, round(late, 1), round(longer, 1))
            )
            print(rows[-1], flush=True)
    machine = f"{len(os.sched_getaffinity(0))} cores, {platform.system()} {platform.machine()}"
    calmest = max(each.parent for each in calm), max(each.worker for each in calm)
    return Measured(machine, *calmest, round(healthy, 1), round(whole, 1), rows)


if __name__ == "__main__":
    if "--measure" in sys.argv:
        FIGURES.write_bytes(msgspec.json.format(msgspec.json.encode(measure()), indent=1) + b"\n")
    write(section(measured()))
