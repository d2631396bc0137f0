"""The last word of a crawl: for people, for programs, and in the folder, where `gossamer status` finds it.

DIR/report.json    what the last run came to; absent while one is under way, and after one that was cut off
"""

import contextlib
import os
from pathlib import Path

import msgspec

from gossamer.cli.wording import duration, size
from gossamer.crawl import Ending, Report
from gossamer.errors import GossamerError
from gossamer.settings import Settings

__all__ = ["LastRun", "ending_words", "exit_code", "report_json", "summary"]

_CODES = {Ending.FINISHED: 0, Ending.INTERRUPTED: 130, Ending.FAULT: 1}
BUDGET = 3


def exit_code(report: Report) -> int:
    """0 finished, 1 fault, 3 a budget, 130 interrupted."""
    return _CODES.get(Ending(report.ending), BUDGET)


def report_json(report: Report, folder: Path, code: int) -> str:
    """One object for programs."""
    return msgspec.json.encode(msgspec.to_builtins(report) | {"into": str(folder), "exit_code": code}).decode()


class LastRun(msgspec.Struct, frozen=True):
    """What the last run in a folder came to."""

    ended: float
    report: Report

    @staticmethod
    def _path(folder: Path) -> Path:
        return folder / "report.json"

    @classmethod
    def load(cls, folder: Path) -> "LastRun | None":
        try:
            return msgspec.json.decode(cls._path(folder).read_bytes(), type=cls)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    @classmethod
    def forget(cls, folder: Path) -> None:
        """A run begins."""
        with contextlib.suppress(OSError):
            cls._path(folder).unlink()

    def save(self, folder: Path) -> None:
        path = self._path(folder)
        try:
            temporary = path.with_suffix(".tmp")
            temporary.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1))
            os.replace(temporary, path)
        except OSError as error:
            raise GossamerError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


def ending_words(report: Report) -> str:
    """Why it ended, in a few words."""
    match report.ending:
        case Ending.FINISHED:
            return "finished: everything within reach is fetched"
        case Ending.INTERRUPTED:
            return "interrupted: all state is kept"
        case Ending.FAULT:
            return f"ended by a fault: {report.reason}"
        case ending:
            return f"stopped by --{ending}: {report.reason}"


def summary(report: Report, pages: int, folder: Path, settings: Settings, *, colour: bool) -> str:
    """What was fetched, where it is, what to do next; `pages` are those of this run alone."""
    bold, off = ("\x1b[1m", "\x1b[0m") if colour else ("", "")
    rate = pages / report.seconds if report.seconds else 0.0
    earlier = f", {pages:,} of them in this run" if pages != report.fetched else ""
    got = f"{report.fetched:,} pages of {_counted(report.hosts, 'host')}, {size(report.bytes)}{earlier}"
    took = f"{duration(report.seconds)}, {rate:,.0f} pages/s, {report.cpu_seconds:,.1f} s of CPU"
    kept = (
        f"{report.stored:,} stored, {report.duplicates:,} copies, {report.failed:,} failed, {report.refused:,} refused"
    )
    trapped = f", {report.trapped:,} URLs in traps" if report.trapped else ""
    lines = [f"{bold}{ending_words(report)}{off}", f"  {got}", f"  in {took}", f"  {kept}{trapped}"]
    if report.revisits:
        lines.append(
            f"  {report.revisits:,} visits to known pages: {report.changed:,} changed, {report.unchanged:,} unchanged"
        )
    left = report.queued + report.waiting
    if left:
        lines.append(f"  {left:,} URLs are left, of {report.urls_seen:,} seen")
    lines.append(f"  {folder}/warc holds every answer, {folder}/pages the page table")
    next_ = [
        ("gossamer pages " + str(folder), "see the pages"),
        ("gossamer status " + str(folder), "see how it stands"),
    ]
    if left:
        next_.insert(0, (_resume(report, folder, settings), "go on"))
    if report.failed:
        next_.append((f"gossamer hosts {folder} --sort failed", "see who failed"))
    room = max(len(command) for command, _ in next_)
    return "\n".join([*lines, "", *(f"  {command:<{room}}   {why}" for command, why in next_), ""])


def _resume(report: Report, folder: Path, settings: Settings) -> str:
    command = f"gossamer crawl --into {folder}"
    match report.ending:
        case Ending.MAX_PAGES if settings.max_pages is not None:
            return f"{command} --max-pages {settings.max_pages * 2}"
        case Ending.MAX_BYTES if settings.max_bytes is not None:
            return f"{command} --max-bytes {settings.max_bytes * 2}"
        case _:
            return command


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
