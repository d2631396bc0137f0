"""One target under atheris, which watches which lines an input reaches and goes on from the inputs that reach new ones.

    python -m tests.fuzz.guided TARGET SECONDS FOLDER

FOLDER/corpus/TARGET keeps what was learned, FOLDER/broken/TARGET what broke a promise.
"""

import hashlib
import sys
from pathlib import Path

import atheris

SLACK = 10.0
"""Code that is watched runs some times slower."""
REPEATED = 1_000
"""Of so many inputs one is also tried repeated: that takes as long as hundreds of others."""
MEMORY = 2_000
LONGEST = 20_000
HANGS_AFTER = 120

with atheris.instrument_imports(include=["gossamer"], enable_loader_override=False):
    from tests.fuzz.target import run
    from tests.fuzz.targets import TARGETS


def main() -> None:
    name, seconds, folder = sys.argv[1], int(float(sys.argv[2])), Path(sys.argv[3])
    target = TARGETS[name]
    corpus, broken = folder / "corpus" / name, folder / "broken" / name
    for path in (corpus, broken):
        path.mkdir(parents=True, exist_ok=True)
    for seed in target.seeds:
        (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    words = folder / f"{name}.words"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
    options = [
        f"-max_total_time={seconds}", f"-max_len={LONGEST}", f"-timeout={HANGS_AFTER}", f"-rss_limit_mb={MEMORY}",
        f"-artifact_prefix={broken}/", f"-dict={words}", "-print_final_stats=1", f"-report_slow_units={HANGS_AFTER}",
    ]  # fmt: skip
    atheris.Setup([name, *options, str(corpus)], lambda data: run(target, data, SLACK, REPEATED))
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
