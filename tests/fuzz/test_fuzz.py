"""The bounded form of the fuzzing: the kept cases, and mutations that are the same in every run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.mutation import mutations
from tests.fuzz.target import Target, TooSlow, run
from tests.fuzz.targets import TARGETS
from tests.fuzz.wires import put_away

CASES = Path(__file__).parent / "cases"
COUNTS = {
    "robots": 300, "sitemap": 1_000, "page": 500, "url": 400, "headers": 1_500, "codings": 3_000, "config": 60, "warc": 200,
    "torn": 500, "mend": 60, "parts": 40, "heads": 700, "state": 500, "http": 150, "frames": 2_000,
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def sockets() -> Iterator[None]:
    yield
    put_away()


@pytest.mark.parametrize("name", TARGETS)
def test_honest_inputs_and_their_mutations_keep_the_promise(name: str) -> None:
    target = TARGETS[name]
    for data in (*target.seeds, *mutations(target.seeds, target.words, COUNTS[name], number=1)):
        try:
            run(target, data)
        except Exception as broken:
            broken.add_note(f"input of {name}: {data!r}")
            raise


@pytest.mark.parametrize("path", sorted(CASES.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_once_broke_a_promise_does_so_no_more(path: Path) -> None:
    run(TARGETS[path.parent.name], path.read_bytes())


def test_every_target_has_cases_of_its_name_only() -> None:
    assert {path.name for path in CASES.iterdir()} <= TARGETS.keys()
    assert COUNTS.keys() == TARGETS.keys()


def test_a_cost_that_grows_with_the_square_is_found() -> None:
    def squared(data: bytes) -> None:
        for end in range(0, len(data), 20):
            data[:end].count(b"x")

    quick = Target("squared", squared, (b"@",), cpu_base=0.02, cpu_byte=1e-8)
    with pytest.raises(TooSlow, match="squared: 200000 bytes took"):
        run(quick, b"@", one_in=1)


def test_mutations_are_the_same_in_every_run() -> None:
    target = TARGETS["robots"]
    first = list(mutations(target.seeds, target.words, 50, 7))
    assert first == list(mutations(target.seeds, target.words, 50, 7))
    assert len(set(first)) > 40
