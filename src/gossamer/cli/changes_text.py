"""Changes as lines for people: what a page is, what became of it, and what differs in its text."""

import re
import time
from collections.abc import Iterable, Iterator

from gossamer.cli.wording import duration, plain, size, width
from gossamer.crawl.changes import Change, Side, Tally
from gossamer.crawl.textdiff import Diff, Line

__all__ = ["RUN", "entry", "heading", "span", "summary"]

MOST_ROWS = 18
"""Rows of the terminal that one diff may take, and `ROWS_A_LINE` of them one of its lines."""
ROWS_A_LINE = 5
RUN = 5
NARROWEST = 40
WIDTH = 100
"""Where there is no terminal to say."""
INDENT = " " * 6

_BOLD, _DIM, _RED, _GREEN, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[0m"
_COLOURS = {"-": _RED, "+": _GREEN}
_MARKS = {"-": ("[-", "-]"), "+": ("{+", "+}")}
_WORD = re.compile(r"\S+\s*|\s+")
_LEFT = {
    "unchanged": "unchanged",
    "absent": "still gone or elsewhere",
    "unclear": "without a usable answer",
}


def span(since: float, until: float) -> str:
    """The stretch of time that is told of."""
    return f"from {_when(since)} to {_when(until)} ({duration(until - since)})"


def summary(tally: Tally, columns: int | None) -> list[str]:
    """How many visits, and what they found."""
    counts = [(getattr(tally, kind), kind) for kind in ("changed", "gone", "moved", "back", "new")]
    counts += [(getattr(tally, kind), words) for kind, words in _LEFT.items()]
    told = ", ".join(f"{count:,} {words}" for count, words in counts if count)
    sentence = f"{tally.visits:,} visit{'s' if tally.visits != 1 else ''}: {told}"
    return _rows([(" ", sentence)], max(columns or WIDTH, NARROWEST), 9, colour=False)


def heading(kind: str, count: int, shown: int, *, colour: bool) -> str:
    """The line above the changes of a kind."""
    some = f"{count:,}" if shown == count else f"{count:,}, the latest {shown:,}; --limit 0 shows all"
    return f"{_BOLD}{kind}{_OFF} {_DIM}({some}){_OFF}" if colour else f"{kind} ({some})"


def entry(change: Change, columns: int | None, *, colour: bool) -> Iterator[str]:
    """One change."""
    when, url = _when(change.at / 1_000), plain(change.url)
    yield f"  {_DIM}{when}{_OFF}  {_BOLD}{url}{_OFF}" if colour else f"  {when}  {url}"
    room = max(columns or WIDTH, NARROWEST) - len(INDENT)
    for sentence in _sentences(change):
        yield from (f"{INDENT}{row}" for row in _rows([(" ", plain(sentence))], room, 2, colour=colour))
    if change.diff is not None and change.diff.lines:
        yield from (f"{INDENT}{row}" for row in _diff(change.diff, room, colour=colour))


def _sentences(change: Change) -> Iterator[str]:
    before, after = change.before, change.after
    old = before.title if before is not None else None
    if change.kind in ("changed", "back") and old and after.title and plain(old) != plain(after.title):
        yield f"{after.title} (was: {old})"
    elif after.title or old:
        yield after.title or old or ""
    last = f"; last seen {_when(change.visited_before / 1_000)}" if change.visited_before is not None else ""
    if change.kind == "gone":
        yield f"the server answers {after.status}{last}"
    elif change.kind == "moved":
        led = before.redirect_to if before is not None else None
        yield f"{after.status} to {after.redirect_to or 'nowhere'}" + (f" (was: {led})" if led else last)
    elif before is not None and change.kind in ("changed", "back"):
        yield from _compared(change, before)


def _compared(change: Change, before: Side) -> Iterator[str]:
    after, diff = change.after, change.diff
    if before.digest == after.digest:
        yield "as it was"
    elif diff is None:
        yield f"other bytes, {size(before.size)} before and {size(after.size)} now; no text to compare"
    elif not diff.lines:
        yield "the text is the same, what is around it is not" if not diff.note.startswith("Only") else diff.note
    elif diff.note:
        yield diff.note


def _diff(diff: Diff, room: int, *, colour: bool) -> Iterator[str]:
    rows: list[str] = []
    told = 0
    for line in diff.lines:
        made = list(_line(line, room, first=not rows, colour=colour))
        if len(rows) + len(made) > MOST_ROWS and rows:
            break
        rows += made
        told += 1
    yield from rows
    left = sum(line.stands_for for line in diff.lines[told:]) + diff.more
    if left:
        more = f"  ({left:,} more line{'s' if left != 1 else ''} went or came)"
        yield f"{_DIM}{more}{_OFF}" if colour else more


def _line(line: Line, room: int, *, first: bool, colour: bool) -> Iterator[str]:
    if line.sign == "@":
        if not first:
            yield f"{_DIM}⋯{_OFF}" if colour else "⋯"
        return
    if line.sign == "…":
        yield f"  {_DIM}{line}{_OFF}" if colour else f"  {line}"
        return
    pieces = [(piece.sign, _harmless(piece.text)) for piece in line.pieces]
    if line.sign != "~":
        pieces = [(line.sign, text) for _, text in pieces]
    elif not colour:
        pieces = [
            (" ", "".join((*_MARKS[sign][:1], text, *_MARKS[sign][1:])) if sign in _MARKS else text)
            for sign, text in pieces
        ]
    sign = _COLOURS.get(line.sign, "") + line.sign + _OFF if colour and line.sign in _COLOURS else line.sign
    for number, row in enumerate(_rows(pieces, room - 2, ROWS_A_LINE, colour=colour)):
        yield f"{sign if number == 0 else ' '} {row}".rstrip()


def _rows(pieces: Iterable[tuple[str, str]], room: int, most: int, *, colour: bool) -> list[str]:
    """Text in rows that fit; a word that is longer than a row stands alone, or is cut when it fills several."""
    rows: list[list[tuple[str, str]]] = [[]]
    left = room
    for sign, text in pieces:
        for word in _WORD.findall(text):
            taken = width(word.rstrip())
            if taken > left and rows[-1]:
                rows.append([])
                left = room
            if len(rows) > most:
                rows[most - 1].append((" ", "…"))
                return [_joined(row, colour=colour) for row in rows[:most]]
            rows[-1].append((sign, word if taken <= room * most else word[: room * most - 1] + "…"))
            left -= width(word)
    return [_joined(row, colour=colour) for row in rows if row]


def _joined(row: list[tuple[str, str]], *, colour: bool) -> str:
    if not colour:
        return "".join(word for _, word in row).rstrip()
    told, now = "", ""
    for sign, word in row:
        paint = _COLOURS.get(sign, "")
        if paint != now:  # what went and what came are told apart by more than colour
            told += (_OFF if now else "") + (" " if now == _RED and paint == _GREEN else "") + paint
            now = paint
        told += word
    return told.rstrip() + (_OFF if now else "")


def _harmless(text: str) -> str:
    """Without what a terminal would obey, its outer spaces kept."""
    lead, tail = text[:1].isspace(), text[-1:].isspace()
    inner = plain(text)
    return f"{' ' if lead else ''}{inner}{' ' if tail and inner else ''}"


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
