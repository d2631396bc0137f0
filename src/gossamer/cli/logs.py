"""What a crawl says while it runs, as lines on standard error: for people, or as JSON with `--log-json`.

Workers are processes of their own and write to the same standard error. Where their lines would spoil something (a terminal view, a
stream of JSON) `Stderr` puts a pipe in its place: whatever any process of the crawl writes there comes back here, a line at a time, and
is shown in the form that fits.
"""

import contextlib
import logging
import os
import re
import sys
import time
from collections.abc import Callable
from typing import Any, Self, TextIO

import msgspec

from gossamer.cli.sample import Sample
from gossamer.cli.wording import plain, size

__all__ = ["FIELDS", "Entry", "Stderr", "fields_of", "json_line", "listen", "progress_line", "text_line"]

_WORKER = re.compile(r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) ([\w.]+): (.*)")


class Entry(msgspec.Struct, frozen=True):
    """One thing said."""

    at: float
    level: str
    logger: str
    message: str
    fields: dict[str, Any] = {}


def text_line(entry: Entry) -> str:
    """For people: the time, and the level where it is not the ordinary one."""
    level = "" if entry.level == "info" else f"{entry.level}: "
    return f"{time.strftime('%H:%M:%S', time.localtime(entry.at))} {level}{entry.message}"


def json_line(entry: Entry) -> str:
    """For programs: one object a line."""
    said = {"time": round(entry.at, 3), "level": entry.level, "logger": entry.logger, "message": entry.message}
    return msgspec.json.encode(said | entry.fields).decode()


class _Handler(logging.Handler):
    def __init__(self, emit: Callable[[Entry], None]) -> None:
        super().__init__()
        self._emit = emit

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.exc_info:
            message += "\n" + logging.Formatter().formatException(record.exc_info)
        self._emit(Entry(record.created, record.levelname.lower(), record.name, message))


def listen(level: int, emit: Callable[[Entry], None]) -> None:
    """Every log record of this process from `level` up goes to `emit`."""
    logging.basicConfig(level=level, handlers=[_Handler(emit)], force=True)


def entry_of(line: str) -> Entry:
    """A line that a worker wrote."""
    match = _WORKER.fullmatch(line)
    if match is None:
        return Entry(time.time(), "warning", "gossamer.worker", line)
    return Entry(time.time(), match[1].lower(), match[2], match[3])


class Stderr:
    """Standard error with a pipe in its place while the block lasts; `real` is what it was."""

    def __init__(self) -> None:
        self.emit: Callable[[Entry], None] = self._show
        self._rest = b""
        sys.stderr.flush()
        self._kept = os.dup(2)
        self.fd, write = os.pipe()
        os.set_blocking(self.fd, False)
        os.dup2(write, 2)
        os.close(write)
        self.real: TextIO = os.fdopen(self._kept, "w", encoding="utf-8", errors="replace", closefd=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.restore()

    def _show(self, entry: Entry) -> None:
        self.real.write(text_line(entry) + "\n")

    def read(self) -> None:
        """Take what has been written; to be called when `fd` is readable."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.fd, 65_536):
                *lines, self._rest = (self._rest + data).split(b"\n")
                for line in lines:
                    self._say(line)

    def _say(self, line: bytes) -> None:
        text = plain(line.decode("utf-8", "replace"))
        if text:
            self.emit(entry_of(text))

    def restore(self) -> None:
        """Standard error is itself again; the last lines are shown."""
        sys.stderr.flush()
        os.dup2(self._kept, 2)
        self.read()
        self._say(self._rest)
        self._rest = b""
        os.close(self.fd)
        self.real.flush()
        os.close(self._kept)


FIELDS = {
    "seconds": "Seconds since this run began.",
    "fetched": "Pages answered so far, earlier runs included.",
    "pages_per_second": "Over the last seconds.",
    "bytes": "Bytes of bodies downloaded, as sent.",
    "bytes_per_second": "Over the last seconds.",
    "queued": "URLs that may be fetched.",
    "waiting": "URLs that failed and are tried again later.",
    "failed": "URLs given up.",
    "duplicates": "Pages whose content was stored already.",
    "hosts_in_play": "Hosts in memory with something to fetch.",
    "hosts_waiting": "Of those, left alone for now.",
    "in_flight": "Requests that are out.",
    "limited_by": "What holds the crawl back: `starting`, `stopping`, `cpu`, `disk`, `network`, `politeness` or `work`.",
}
"""What a progress line has to say."""


def fields_of(s: Sample) -> dict[str, Any]:
    """The figures of a progress line."""
    return {
        "seconds": round(s.seconds, 1),
        "fetched": s.stats.fetched,
        "pages_per_second": round(s.pages_now, 1),
        "bytes": s.stats.size,
        "bytes_per_second": round(s.bytes_now),
        "queued": s.stats.queued,
        "waiting": s.stats.waiting,
        "failed": s.stats.failed,
        "duplicates": s.stats.copies,
        "hosts_in_play": s.stats.in_play,
        "hosts_waiting": s.hosts.waiting,
        "in_flight": s.stats.leased,
        "limited_by": str(s.limit.what),
    }


def progress_line(s: Sample) -> str:
    """The same for people."""
    failed = f", {s.stats.failed:,} failed" if s.stats.failed else ""
    return (
        f"{s.stats.fetched:,} pages ({s.pages_now:,.0f}/s, {size(s.bytes_now)}/s), {s.stats.queued:,} queued{failed}, "
        f"{s.stats.in_play:,} host{'' if s.stats.in_play == 1 else 's'} in play ({s.hosts.waiting:,} waiting); {s.limit.what}: {s.limit.sentence}"
    )
