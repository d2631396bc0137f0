"""What has become of the pages in a stretch of time: new, changed, gone, back, moved, or as they were.

Each visit is a row of the page table, and is judged against the visits of the same URL before it:

    new       a page (2xx) where there was never one
    changed   other bytes than when it was last seen; with `ignore_boilerplate`, another text
    gone      404 or 410 where a page had been
    back      a page again after it was gone or had moved
    moved     a redirect where a page had been, or to another place than before
    unchanged 304, or the bytes of the last time
    absent    still gone, still elsewhere, or never a page
    unclear   an error, a refusal, or a body that was cut off: says nothing about the page

So the verdict on a visit does not depend on the stretch that is asked for, and a reader who comes back sees each change once.
The judging is one pass of SQL over the URLs that have rows in the stretch; titles and texts are read for what is shown alone.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from gossamer.crawl.textdiff import LONGEST_RUN, Diff, Manner, compared
from gossamer.outcome import Action, for_status
from gossamer.store import Parts

__all__ = ["KINDS", "Asked", "Change", "Changes", "Kind", "Side", "Tally"]

Kind = Literal["changed", "gone", "moved", "back", "new"]
KINDS: tuple[Kind, ...] = ("changed", "gone", "moved", "back", "new")

AT_ONCE = 100
COMPARED_AT_ONCE = 1_000
LONGEST_TEXT = 200_000
"""Characters of a text that are compared; whether it differs at all is known of the whole."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Which changes are wanted, and how they are told. Times are Unix seconds."""

    since: float
    until: float
    """Not itself: stretches that follow each other share no visit."""
    host: str | None = None
    where: str | None = None
    """A condition in SQL on the row of the visit."""
    ignore_boilerplate: bool = False
    diff: Manner | Literal["none"] = "lines"
    context: int = 1
    run: int = LONGEST_RUN
    """Lines of a diff that went or came and follow each other; how many more there are is said."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """A page as one visit found it."""

    at: int
    """Unix milliseconds."""
    status: int
    digest: str | None
    title: str | None
    redirect_to: str | None
    size: int
    """Bytes of the body as sent."""
    warc_file: str
    warc_offset: int
    warc_length: int


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened to a page, as a visit found out."""

    url: str
    kind: Kind
    at: int
    """When it was seen, Unix milliseconds; it happened at some time after `visited_before`."""
    visited_before: int | None
    before: Side | None
    """The page when it was last there, or the redirect that led elsewhere."""
    after: Side
    diff: Diff | None = None
    """Of the text; None where there is nothing to compare."""


class Tally(msgspec.Struct, frozen=True):
    """How many visits of each kind."""

    changed: int = 0
    gone: int = 0
    moved: int = 0
    back: int = 0
    new: int = 0
    unchanged: int = 0
    absent: int = 0
    unclear: int = 0

    @property
    def visits(self) -> int:
        return sum(msgspec.structs.astuple(self))


def _statuses(action: Action) -> str:
    return ", ".join(str(status) for status in range(1_000) if for_status(status).action is action)


# A body that the server cut short counts as failed with the crawler, and says nothing; one that took too long is a page of which
# the rest, and so the digest, is not known.
_HISTORY = f"""
    SELECT url, fetched_at AS seen_at, place,
        CASE WHEN status IN ({_statuses(Action.DONE)}) AND truncated IS DISTINCT FROM 'disconnect' THEN 'there'
             WHEN status IN ({_statuses(Action.NOT_MODIFIED)}) THEN 'same'
             WHEN status IN ({_statuses(Action.GONE)}) THEN 'gone'
             WHEN status IN ({_statuses(Action.REDIRECT)}) THEN 'elsewhere' END AS seen,
        CASE WHEN digest IS NOT NULL AND truncated IS DISTINCT FROM 'time' THEN hash(digest) END AS sum,
        hash(redirect_to) AS target
    FROM parts SEMI JOIN inside USING (url) WHERE fetched_at < ?::TIMESTAMPTZ"""  # noqa: S608

_STEPS = """
    SELECT *, lag(seen) OVER visits AS was, lag(target) OVER visits AS target_was, lag(seen_at) OVER visits AS before_at,
        lag(place) OVER visits AS place_before,
        count(*) FILTER (seen IN ('there', 'same')) OVER earlier > 0 AS been,
        last_value(CASE WHEN seen = 'there' THEN sum END IGNORE NULLS) OVER earlier AS sum_there,
        last_value(CASE WHEN seen = 'same' THEN sum END IGNORE NULLS) OVER earlier AS sum_same,
        last_value(CASE WHEN seen = 'there' AND sum IS NOT NULL THEN place END IGNORE NULLS) OVER earlier AS place_there,
        last_value(CASE WHEN seen = 'same' THEN place END IGNORE NULLS) OVER earlier AS place_same
    FROM history WHERE seen IS NOT NULL
    WINDOW visits AS (PARTITION BY url ORDER BY seen_at, place),
        earlier AS (PARTITION BY url ORDER BY seen_at, place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"""

_JUDGED = """
    SELECT seen_at, place, before_at,
        CASE WHEN was = 'elsewhere' AND seen = 'elsewhere' THEN place_before ELSE coalesce(place_there, place_same) END AS before,
        CASE WHEN seen = 'there' AND NOT been THEN 'new'
             WHEN seen IN ('there', 'same') AND been AND was IN ('gone', 'elsewhere') THEN 'back'
             WHEN seen = 'same' THEN 'unchanged'
             WHEN seen = 'there' AND sum = coalesce(sum_there, sum_same) THEN 'unchanged'
             WHEN seen = 'there' AND sum <> coalesce(sum_there, sum_same) THEN 'changed'
             WHEN seen = 'there' THEN 'unclear'
             WHEN seen = 'gone' AND been AND was <> 'gone' THEN 'gone'
             WHEN seen = 'elsewhere' AND (was IN ('there', 'same') OR (was = 'gone' AND been)
                 OR (was = 'elsewhere' AND target IS DISTINCT FROM target_was)) THEN 'moved'
             ELSE 'absent' END AS kind
    FROM steps SEMI JOIN inside USING (place)"""

_SIDE = "url, epoch_ms(fetched_at) AS at, status, title, redirect_to, content_length AS size, warc_file, warc_offset, warc_length"
_TEXT = f"left(text, {LONGEST_TEXT}) AS text, md5(text) AS print"
_LENT = ("title", "text", "print")


class Changes:
    """The visits of a stretch of time, judged; to be closed, as what was judged takes room."""

    def __init__(self, folder: Path, asked: Asked) -> None:
        self._asked = asked
        self._parts = Parts(folder)
        try:
            self.tally = self._judge()
        except BaseException:
            self._parts.close()
            raise

    def _judge(self) -> Tally:
        asked, until = self._asked, _iso(self._asked.until)
        parameters = [_iso(asked.since), until]
        conditions = "fetched_at >= ?::TIMESTAMPTZ AND fetched_at < ?::TIMESTAMPTZ"
        if asked.host is not None:
            conditions += " AND host = ?"
            parameters.append(asked.host)
        if asked.where is not None:
            conditions += f" AND ({asked.where}\n)"
        execute = self._parts.execute
        execute(f"CREATE TABLE inside AS SELECT url, place FROM parts WHERE {conditions}", parameters)  # noqa: S608
        execute(f"CREATE TABLE judged AS WITH history AS ({_HISTORY}), steps AS ({_STEPS}) {_JUDGED}", [until])
        if asked.ignore_boilerplate:
            self._forgive()
        [(visits,)] = execute("SELECT count(*) FROM inside")
        counts = dict(execute("SELECT kind, count(*) FROM judged WHERE kind <> 'unclear' GROUP BY kind"))
        return Tally(**counts, unclear=visits - sum(counts.values()))

    def _forgive(self) -> None:
        """What changed around the same text counts as unchanged."""
        number = "row_number() OVER (ORDER BY place) AS number"
        self._parts.execute(f"CREATE TABLE pairs AS SELECT place, before, {number} FROM judged WHERE kind = 'changed'")  # noqa: S608
        for start in itertools.count(1, COMPARED_AT_ONCE):
            end = start + COMPARED_AT_ONCE
            pairs = self._parts.execute(
                "SELECT place, before FROM pairs WHERE number >= ? AND number < ?", [start, end]
            )
            if not pairs:
                return
            rows = self._rows([place for both in pairs for place in both if place is not None], "md5(text) AS print")
            prints = {place: row["print"] for place, row in rows.items() if row["print"] is not None}
            same = [place for place, before in pairs if place in prints and prints[place] == prints.get(before)]
            self._parts.execute("UPDATE judged SET kind = 'unchanged' WHERE place IN (SELECT unnest(?))", [same])

    def told(self, kinds: Sequence[Kind] = KINDS, limit: int = 0) -> Iterator[Change]:
        """The changes of these kinds, the most recent first; at most `limit`, if it is not 0."""
        self._parts.execute(
            "CREATE OR REPLACE TABLE shown AS SELECT *, row_number() OVER (ORDER BY seen_at DESC, place DESC) AS number "  # noqa: S608
            f"FROM judged WHERE kind IN (SELECT unnest(?)) {f'QUALIFY number <= {limit}' if limit else ''}",
            [list(kinds)],
        )
        for start in itertools.count(1, AT_ONCE):
            found = self._parts.execute(
                "SELECT kind, place, before, epoch_ms(before_at) FROM shown WHERE number >= ? AND number < ? ORDER BY number",
                [start, start + AT_ONCE],
            )
            if not found:
                return
            yield from self._told(found)

    def newest(self) -> float | None:
        """When the newest visit of all was, in Unix seconds; None when there is none."""
        [(found,)] = self._parts.execute("SELECT epoch_ms(max(fetched_at)) FROM pages")
        return None if found is None else found / 1_000

    def over_time(self, seconds: float) -> list[tuple[int, str, bool, int]]:
        """How many visits there were in each stretch of so many seconds back from `until`: which stretch (0 is the last), what they
        found, whether the URL had been visited before, and the count. Answers that say nothing about a page are left out."""
        sql = "SELECT ((? - epoch_ms(seen_at)) // ?)::BIGINT, kind, before_at IS NOT NULL, count(*) FROM judged GROUP BY ALL ORDER BY ALL"
        return self._parts.execute(sql, [round(self._asked.until * 1_000) - 1, round(seconds * 1_000)])

    def _told(self, found: Sequence[tuple[Kind, int, int | None, int | None]]) -> Iterator[Change]:
        comparable = {
            place
            for kind, *both, _ in found
            for place in both
            if place is not None and kind in ("changed", "back") and self._asked.diff != "none"
        }
        others = {place for _, *both, _ in found for place in both if place is not None} - comparable
        rows = self._rows(comparable, f"{_SIDE}, {_TEXT}") | self._rows(others, _SIDE)
        for kind, place, earlier, visited in found:
            after, before = _side(rows[place]), _side(rows[earlier]) if earlier is not None else None
            if after.status == 304 and before is not None:  # it says that it is as it was
                after = msgspec.structs.replace(after, digest=before.digest, title=before.title)
            diff = None
            if place in comparable and earlier is not None and before is not None and before.digest != after.digest:
                diff = self._diff(rows[earlier], rows[place])
            yield Change(
                url=rows[place]["url"], kind=kind, at=after.at, visited_before=visited, before=before, after=after, diff=diff
            )  # fmt: skip

    def _diff(self, before: dict[str, Any], after: dict[str, Any]) -> Diff | None:
        old, new, manner = before["text"], after["text"], self._asked.diff
        if old is None or new is None or manner == "none":
            return None
        found = compared(old, new, manner, self._asked.context, self._asked.run)
        if before["print"] != after["print"] and (len(old) == LONGEST_TEXT or len(new) == LONGEST_TEXT):
            note = f"Only the first {LONGEST_TEXT:,} characters are compared."
            return msgspec.structs.replace(found, note=f"{note} {found.note}".rstrip() if found.lines else note)
        return found

    def _rows(self, places: Iterable[int], columns: str) -> dict[int, dict[str, Any]]:
        """The rows at these places. A copy has neither title nor text: it gets those of its original."""
        rows = self._parts.rows(places, f"{columns}, digest, duplicate_kind")
        copies = [row for row in rows.values() if row["duplicate_kind"] == "exact" and row["digest"]]
        originals = self._originals({row["digest"] for row in copies})
        lent = [name for name in _LENT if rows and name in next(iter(rows.values()))]
        found = self._parts.rows(originals.values(), columns)
        for row in copies:
            original = found.get(originals.get(row["digest"], -1))
            if original is not None:
                row.update({name: original[name] for name in lent})
        return rows

    def _originals(self, digests: set[str]) -> dict[str, int]:
        """Where the bytes with these digests are stored: one scan, of digests alone, and only where there are copies."""
        if not digests:
            return {}
        sql = f"""SELECT digest, arg_min(place, fetched_at) FROM parts WHERE digest IN (SELECT unnest(?))
            AND duplicate_kind IS DISTINCT FROM 'exact' AND status IN ({_statuses(Action.DONE)}) GROUP BY digest"""  # noqa: S608
        return dict(self._parts.execute(sql, [list(digests)]))

    def close(self) -> None:
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _side(row: dict[str, Any]) -> Side:
    return Side(**{name: row[name] for name in Side.__struct_fields__})


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(round(seconds, 3), UTC).isoformat()
