"""The crawl on a terminal, drawn with rich, at most a few times a second.

A frame is a handful of lines that are cut, never wrapped, so that it is as high as it has lines and a narrow or low window only
loses the least of it. Drawing one takes about 1 ms of CPU; when it takes longer, frames become rarer, so that the view never costs more
than one part in a hundred of a core.
"""

import contextlib
import time
from collections import deque
from collections.abc import Iterator
from typing import Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from gossamer.cli.limits import Limiting
from gossamer.cli.sample import Sample
from gossamer.cli.wording import duration, plain, size
from gossamer.settings import Settings

__all__ = ["View", "frame"]

SHARE = 0.01
FASTEST = 0.25
LABEL = 11
_BARS = " ▁▂▃▄▅▆▇█"
_COLOURS = {
    Limiting.CPU: "green",
    Limiting.POLITENESS: "cyan",
    Limiting.NETWORK: "yellow",
    Limiting.DISK: "red",
    Limiting.STOPPING: "magenta",
}


class View:
    """A live frame at the bottom of a terminal; lines said meanwhile scroll above it."""

    def __init__(self, title: str, settings: Settings, out: TextIO) -> None:
        self._title = title
        self._settings = settings
        self._console = Console(file=out, highlight=False, markup=False, emoji=False)
        self._live = self._begun()
        self._size = self._console.size
        self._history: deque[float] = deque(maxlen=60)
        self._history_at = 0.0
        self.pause = FASTEST
        """Seconds until the next frame is worth it."""

    def _begun(self) -> Live:
        live = Live(
            console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False,
            vertical_overflow="crop",
        )  # fmt: skip
        live.start()
        return live

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            self._live.stop()

    def say(self, line: str) -> None:
        """A line above the frame."""
        self._console.print(Text(line, overflow="fold"))

    def show(self, sample: Sample) -> None:
        """Draw a frame."""
        began = time.thread_time()
        if sample.seconds - self._history_at >= 1.0:
            self._history.append(sample.pages_now)
            self._history_at = sample.seconds
        width, height = self._console.size
        if self._console.size != self._size:
            # The terminal has wrapped the last frame in its own way: nobody knows any more how high it is.
            self._live.stop()
            self._console.clear()
            self._size = self._console.size
            self._live = self._begun()
        lines = list(frame(sample, self._title, self._settings, list(self._history), width))
        if len(lines) > height - 1:
            lines = _most_telling(lines, max(height - 1, 1))
        self._live.update(Group(*(text for _, text in lines)), refresh=True)
        self.pause = max(FASTEST, (time.thread_time() - began) / SHARE)


def _most_telling(lines: list[tuple[int, Text]], room: int) -> list[tuple[int, Text]]:
    kept = sorted(range(len(lines)), key=lambda i: (lines[i][0], i))[:room]
    return [lines[i] for i in sorted(kept)]


def frame(s: Sample, title: str, settings: Settings, history: list[float], width: int) -> Iterator[tuple[int, Text]]:
    """The lines of a frame, each with its rank: in a low window the higher ranks go first."""
    stats, counts = s.stats, s.counts
    yield 1, _edges(Text(title, style="bold"), Text(_clock(s.seconds)), width)
    yield 9, Text("")
    yield (
        0,
        _line(
            "pages",
            f"{stats.fetched:>11,}",
            f"{s.pages_now:,.0f}/s",
            f"{s.pages_mean:,.0f}/s on average",
            *_goal(s, settings),
        ),
    )
    if width >= 60:
        yield 6, _line("", Text(_spark(history, min(60, width - LABEL - 4)), style="green"))
    yield 2, _line("data", f"{size(stats.size):>11}", f"{size(s.bytes_now)}/s")
    yield 3, _line("answers", *_answers(counts.statuses))
    yield (
        4,
        _line(
            "kept",
            f"{stats.stored:>11,} stored",
            f"{stats.copies:,} copies",
            _red(stats.failed, "failed"),
            *_lesser(s),
        ),
    )
    yield 2, _line("queue", f"{stats.queued:>11,}", f"{stats.waiting:,} to be tried again" if stats.waiting else "")
    if stats.revisits or stats.revisiting or settings.recrawl.continuous:
        yield 4, _line(
            "again", f"{stats.revisits:>11,} visits", f"{stats.changed:,} changed", f"{stats.unchanged:,} unchanged",
            f"{stats.back:,} back" if stats.back else "", f"{stats.revisiting + stats.overdue:,} due now", f"{stats.due:,} later",
        )  # fmt: skip
    yield 3, _line(
        "hosts", f"{stats.in_play:>11,} in play", f"{s.hosts.busy:,} busy", f"{s.hosts.ready:,} ready", f"{s.hosts.waiting:,} waiting",
        f"{stats.parked:,} on disk" if stats.parked else "", f"{stats.hosts:,} known",
    )  # fmt: skip
    yield 5, _line(
        "workers", f"{s.workers:>11,}", f"{stats.leased:,} in flight", f"CPU {s.worker_cpu:.0%} each",
        f"parent {s.parent_cpu:.0%}", size(s.memory), f"{s.worker_deaths} died" if s.worker_deaths else "",
    )  # fmt: skip
    if s.slowest:
        slow = "   ".join(f"{plain(host.name)} {host.state.answer:.2f} s" for host in s.slowest)
        yield 7, _line("slowest", Text("    " + slow))
    yield 1, Text.assemble(
        ("limited by ".ljust(LABEL), "dim"), "    ", (str(s.limit.what), _COLOURS.get(s.limit.what, "")), (f": {s.limit.sentence}", "dim"),
        no_wrap=True, overflow="ellipsis",
    )  # fmt: skip
    ending = "Ctrl-C once more stops at once" if s.ending else "Ctrl-C stops in order; the same command goes on"
    yield 8, Text(" " * (LABEL + 4) + ending, style="dim", no_wrap=True, overflow="ellipsis")


def _line(label: str, *parts: str | Text) -> Text:
    line = Text(label.ljust(LABEL), style="", no_wrap=True, overflow="ellipsis", end="\n")
    line.stylize("dim", 0, LABEL)
    first = True
    for part in parts:
        if part:
            line.append("" if first else "  ·  ", style="dim")
            line.append_text(part if isinstance(part, Text) else Text(part))
            first = False
    return line


def _edges(left: Text, right: Text, width: int) -> Text:
    left.truncate(max(width - len(right) - 2, 8), overflow="ellipsis")
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append_text(left)
    line.append(" " * max(1, width - left.cell_len - len(right)))
    line.append_text(right)
    return line


def _clock(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _goal(s: Sample, settings: Settings) -> Iterator[str]:
    """How much of the budget is used, and when it will be at this pace."""
    if settings.max_pages is not None:
        left = max(settings.max_pages - s.stats.fetched, 0)
        yield f"{s.stats.fetched / settings.max_pages:.0%} of {settings.max_pages:,}"
        if s.pages_now > 0 and left:
            yield f"{duration(left / s.pages_now)} left"
    elif settings.max_seconds is not None:
        yield f"{duration(max(settings.max_seconds - s.seconds, 0))} left"


def _lesser(s: Sample) -> Iterator[str]:
    for number, word in ((s.stats.redirected, "redirects"), (s.stats.gone, "gone"), (s.stats.refused, "refused")):
        if number:
            yield f"{number:,} {word}"
    if s.stats.trapped:
        yield f"{s.stats.trapped:,} in traps"


def _red(number: int, word: str) -> Text | str:
    return Text(f"{number:,} {word}", style="red") if number else ""


def _answers(statuses: dict[int, int]) -> Iterator[Text]:
    style = {2: "green", 3: "cyan", 4: "yellow", 5: "red", 0: "red"}
    first = True
    for kind in (2, 3, 4, 5, 1, 0):
        number = statuses.get(kind, 0)
        if number:
            words = f"{number:,} {kind}xx" if kind else f"{number:,} no answer"
            yield Text(words.rjust(15) if first else words, style=style.get(kind, ""))
            first = False
    if first:
        yield Text("none yet".rjust(15), style="dim")


def _spark(values: list[float], width: int) -> str:
    shown = values[-width:]
    top = max(shown, default=0.0)
    if top <= 0:
        return ""
    return "    " + "".join(_BARS[max(1, round(value / top * 8)) if value > 0 else 0] for value in shown)
