"""A frontier whose files were damaged opens, or says in a sentence that it does not: it never crashes and never hangs.

The damage is done and looked at in a process of its own: should the database crash, the test says so and lives.
"""

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from gossamer.errors import FrontierError
from gossamer.frontier import FrontierSettings, Link, RocksFrontier

NOW = 1_800_000_000.0
SETTINGS = FrontierSettings(robots=False)
KINDS = ("CURRENT", "MANIFEST", ".sst", ".log")
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: b"",
    "halved": lambda data: data[: len(data) // 2],
    "changed": lambda data: bytes(byte ^ 0x55 if at % 97 == 0 else byte for at, byte in enumerate(data)),
    "zeroed": lambda data: bytes(len(data)),
}


async def make(folder: Path) -> None:
    for round_ in range(2):  # the second time, what the first wrote is in tables
        frontier = RocksFrontier(folder, SETTINGS)
        await frontier.discover([Link(f"https://h{n % 20}.example/{round_}/{n}") for n in range(500)], NOW)
        await frontier.close()


async def look(folder: Path) -> str:
    try:
        frontier = RocksFrontier(folder, SETTINGS)
    except FrontierError as error:
        return f"refused: {' '.join(str(error).split())}"
    try:
        leases = await frontier.lease("w", 10, NOW + 100)
        await frontier.close()
    except FrontierError as error:
        return f"refused later: {' '.join(str(error).split())}"
    return f"opened: {len(leases)} leases"


def main(scratch: Path) -> None:
    whole, damaged = scratch / "whole", scratch / "damaged"
    asyncio.run(make(whole))
    for kind in KINDS:
        name = next(path.name for path in sorted(whole.iterdir()) if kind in path.name)
        for damage, apply in DAMAGES.items():
            shutil.rmtree(damaged, ignore_errors=True)
            shutil.copytree(whole, damaged)
            (damaged / name).write_bytes(apply((whole / name).read_bytes()))
            print(kind, damage, asyncio.run(look(damaged)), flush=True)


def test_a_damaged_frontier_opens_or_says_that_it_does_not(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fuzz.test_frontier_damage", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    lines = ran.stdout.splitlines()
    assert len(lines) == len(KINDS) * len(DAMAGES)
    for line in lines:
        kind, damage, said = line.split(" ", 2)
        assert said.startswith(("opened: ", "refused: ", "refused later: ")), line
        if kind in ("CURRENT", "MANIFEST"):
            assert said.startswith("refused: "), f"{damage} {kind} passed for whole"
            assert str(tmp_path) in said


if __name__ == "__main__":
    main(Path(sys.argv[1]))
