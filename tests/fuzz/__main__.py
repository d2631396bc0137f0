"""`make fuzz`: every target in turn, each for its share of the time; a table of what was tried and what broke.

    python -m tests.fuzz [--minutes 10] [--only NAME,NAME] [--folder build/fuzz]

What was learned is kept in the folder and the next run goes on from it. An input that broke a promise is in FOLDER/broken/TARGET: mend what
it shows, then move it to tests/fuzz/cases/TARGET under a name that says what it is.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS
from tests.fuzz.texts import MEMORY, SCRATCH

GRACE = 300


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="for all targets together [default: 10]")
    parser.add_argument("--only", default="", help="some targets, with commas between")
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="[default: build/fuzz]")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(TARGETS)
    if unknown := set(names) - TARGETS.keys():
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    chosen = [TARGETS[name] for name in names]
    whole = sum(target.weight for target in chosen)
    given.folder.mkdir(parents=True, exist_ok=True)
    print(f"{'target':<10} {'seconds':>8} {'inputs':>10} {'a second':>9} {'kept':>6}  broken", flush=True)
    broken = 0
    for target in chosen:
        broken += _fuzz(target, given.minutes * 60 * target.weight / whole, given.folder)
    print(f"\n{broken or 'No'} input{'' if broken == 1 else 's'} broke a promise.")
    return 1 if broken else 0


def _fuzz(target: Target, seconds: float, folder: Path) -> int:
    """Run one target until its time is over; each broken promise ends a process, and another goes on. How many there were."""
    until, inputs, broken = time.monotonic() + seconds, 0, 0
    began = time.monotonic()
    log = folder / f"{target.name}.log"
    log.unlink(missing_ok=True)
    while (left := until - time.monotonic()) > 1 and broken < 5:
        command = [sys.executable, "-m", "tests.fuzz.guided", target.name, str(left), str(folder)]
        with log.open("ab") as words, tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as scratch:
            begins = words.tell()
            code = subprocess.run(
                command,
                stdout=words,
                stderr=words,
                check=False,
                timeout=seconds + GRACE,
                env=os.environ | {SCRATCH: scratch},
            ).returncode
        said = log.read_bytes()[begins:].decode("utf-8", "replace")
        counted = re.findall(r"^#(\d+)\s", said, re.MULTILINE) + re.findall(r"number_of_executed_units: (\d+)", said)
        inputs += max(map(int, counted), default=0)
        if code:
            broken += 1
            last = [
                line
                for line in said.splitlines()
                if re.match(r"\s*(\w+\.)*\w*(Error|Slow|Exception)\b|==\d+== ERROR", line)
            ]
            print(
                f"  {target.name}: {last[0].strip() if last else f'ended with code {code}'} (more in {log})", flush=True
            )
    took = time.monotonic() - began
    kept = len(list((folder / "corpus" / target.name).iterdir()))
    print(f"{target.name:<10} {took:>8.0f} {inputs:>10,} {inputs / took:>9,.0f} {kept:>6}  {broken or '-'}", flush=True)
    return broken


if __name__ == "__main__":
    sys.exit(main())
