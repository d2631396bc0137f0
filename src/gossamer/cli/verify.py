"""`gossamer verify`: is a crawl whole? With --repair, what is not is cured."""

import argparse
import sys
import time
from pathlib import Path

import msgspec

from gossamer.cli.commands import Help
from gossamer.cli.wording import plain, size
from gossamer.crawl.kinds import KINDS
from gossamer.crawl.verify import Problem, Verdict, verify
from gossamer.errors import ConfigError

__all__ = ["parser", "run"]

SHOWN = 3
"""Examples of each kind; --json has more."""
EVERY = 2.0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer verify",
        usage="gossamer verify DIR [--quick] [--repair] [--json]",
        description="Whether the crawl in DIR is whole: every WARC record and digest, every row of the page table against its record, "
        "the frontier's own books, and all three against each other. The crawl must be stopped. Without --repair nothing is "
        "changed. Exit code 0: nothing is wrong (any more); 1: something is.",
        epilog="examples:\n"
        "  gossamer verify crawls/example.com\n"
        "  gossamer verify crawls/example.com --quick\n"
        "  gossamer verify crawls/example.com --repair",
        formatter_class=Help,
        allow_abbrev=False,
    )
    made.add_argument("folder", metavar="DIR", type=Path, help="folder of a crawl")
    made.add_argument(
        "--quick", action="store_true", help="without digests and sums: records, lengths and pointers only"
    )
    made.add_argument(
        "--repair",
        action="store_true",
        help="cure what can be cured: damaged bytes are set aside in DIR/damaged, rows made anew, books corrected, "
        "URLs whose bytes are lost queued again",
    )
    made.add_argument("--json", action="store_true", help="one JSON object instead")
    return made


def run(given: argparse.Namespace) -> int:
    if given.repair and given.quick:
        raise ConfigError("--repair looks at everything: it cannot be --quick")
    told = _Progress()
    done: tuple[str, ...] = ()
    if given.repair:
        from gossamer.crawl.repair import repair

        repaired = repair(given.folder, progress=told)
        done, verdict = repaired.done, repaired.verdict
    else:
        verdict = verify(given.folder, quick=given.quick, progress=told)
    told.end()
    if given.json:
        out = msgspec.to_builtins(verdict) | {"clean": verdict.clean, "done": done}
        sys.stdout.write(msgspec.json.encode(out).decode() + "\n")
    else:
        sys.stdout.write("\n".join(_lines(given.folder, verdict, done, repaired=given.repair)) + "\n")
    return 0 if verdict.clean else 1


class _Progress:
    """A line on a terminal, every two seconds."""

    def __init__(self) -> None:
        self._next = time.monotonic() + EVERY
        self._shown = False
        self._terminal = sys.stderr.isatty()

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self._terminal or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + EVERY
        share = f", {done / total:.0%} of {size(total)}" if total else ""
        sys.stderr.write(f"\r\033[Kreading the {what}{share}")
        sys.stderr.flush()
        self._shown = True

    def end(self) -> None:
        if self._shown:
            sys.stderr.write("\r\033[K")


def _lines(folder: Path, verdict: Verdict, done: tuple[str, ...], *, repaired: bool) -> list[str]:
    lines = [plain(sentence) for sentence in done]
    if done:
        lines.append("")
    looked = (
        f"{verdict.records:,} exchanges, {verdict.rows:,} rows, {verdict.urls:,} URLs, {size(verdict.bytes)} of WARC"
    )
    if verdict.clean:
        how = " (lengths and pointers only)" if verdict.quick else ""
        lines.append(f"{folder}: nothing is wrong{how}. {looked}.")
    else:
        total = sum(verdict.counts.values())
        lines.append(f"{folder}: {total:,} problem{'' if total == 1 else 's'} in {looked}.")
    for kind, number in verdict.counts.items():
        examples = [problem for problem in verdict.problems if problem.kind == kind]
        lines += ["", f"{number:>7,}  {kind}: {KINDS[kind].sentence}"]
        lines += [f"{'':>9}{_example(each)}" for each in examples[:SHOWN]]
        if number > SHOWN:
            lines.append(f"{'':>9}and {number - SHOWN:,} more")
        cure = KINDS[kind].repair
        if repaired or not cure:
            lines.append(
                f"{'':>9}This could not be repaired." if repaired else f"{'':>9}--repair can do nothing about it."
            )
        else:
            lines.append(f"{'':>9}--repair {cure}.")
    if verdict.notes:
        lines += ["", *verdict.notes]
    return lines


def _example(problem: Problem) -> str:
    detail = problem.sentence.removeprefix(KINDS[problem.kind].sentence)
    return plain(problem.where + detail)
