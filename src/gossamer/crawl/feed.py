"""Changes as an Atom feed (RFC 4287): what a feed reader shows of a crawl.

An entry's id is made of the crawl, the URL, the kind of change and its time, so a feed that is written again names the same changes
the same way and no reader shows them twice. Whatever a page said is escaped twice where it stands in HTML within XML, and characters
that XML cannot hold are left out.
"""

import re
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

from gossamer.crawl.changes import Change
from gossamer.crawl.textdiff import Diff, Line, Piece

__all__ = ["atom", "entry_id", "sentence"]

_SPACE = uuid.UUID("6b6a3c1c-5a0c-5d0e-9f58-2f8a4a7c1c55")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LONGEST_TITLE = 200


def atom(
    changes: Iterable[Change], *, crawl: str, title: str, site: str | None, written: float, version: str
) -> Iterator[str]:
    """The feed in pieces; `crawl` is what makes it this crawl's and no other's, `written` the time (Unix seconds)."""
    listed = list(changes)
    updated = max((change.at for change in listed), default=round(written * 1_000))
    yield '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
    yield f"  <id>{_urn('feed', crawl, title)}</id>\n"
    yield f"  <title>{_escaped(title)}</title>\n"
    yield f"  <updated>{_time(updated)}</updated>\n"
    yield "  <author><name>Gossamer</name></author>\n"
    yield f"  <generator version={quoteattr(version)}>Gossamer</generator>\n"
    if site is not None:
        yield f'  <link rel="alternate" href={_attribute(site)}/>\n'
    for change in listed:
        yield from _entry(change, crawl)
    yield "</feed>\n"


def _entry(change: Change, crawl: str) -> Iterator[str]:
    yield "  <entry>\n"
    yield f"    <id>{entry_id(change, crawl)}</id>\n"
    yield f"    <title>{_escaped(_headline(change))}</title>\n"
    yield f'    <link rel="alternate" href={_attribute(change.url)}/>\n'
    yield f"    <updated>{_time(change.at)}</updated>\n"
    yield f"    <category term={quoteattr(change.kind)}/>\n"
    yield f'    <summary type="html">{_escaped(_html(change))}</summary>\n'
    yield "  </entry>\n"


def entry_id(change: Change, crawl: str) -> str:
    """The same for the same change, whenever and however the feed is written."""
    return _urn("entry", crawl, change.kind, str(change.at), change.url)


def _urn(*words: str) -> str:
    return uuid.uuid5(_SPACE, "\0".join(words).encode("utf-8", "replace").decode()).urn


def _headline(change: Change) -> str:
    named = change.after.title or (change.before.title if change.before is not None else None)
    named = " ".join((named or change.url).split())
    return f"{change.kind.capitalize()}: {named[:LONGEST_TITLE]}"


def sentence(change: Change) -> str:
    """What happened, without when."""
    before, after = change.before, change.after
    match change.kind:
        case "new":
            return "A page that was not there, or not known, before."
        case "gone":
            return f"The page is gone: the server answers {after.status}."
        case "moved":
            was = before.redirect_to if before is not None else None
            return f"The page now leads to {after.redirect_to or 'nowhere'}" + (f", before to {was}." if was else ".")
        case "back":
            same = before is not None and before.digest == after.digest
            return "The page is back" + (", as it was." if same else ", and not as it was.")
        case _:
            if change.diff is None:
                return "The page has other bytes; there is no text to compare."
            if not change.diff.lines:
                return "The page changed around the same text."
            return f"The text changed (lines that went: {change.diff.removed:,}, that came: {change.diff.added:,})."


def _html(change: Change) -> str:
    told = f"<p>{_escaped(sentence(change))}</p>"
    old = change.before.title if change.before is not None else None
    if change.kind in ("changed", "back") and old and change.after.title and old != change.after.title:
        told += f"<p>Title: <del>{_escaped(old)}</del> <ins>{_escaped(change.after.title)}</ins></p>"
    if change.diff is not None and change.diff.lines:
        told += f"<pre>{_diff(change.diff)}</pre>"
    return told


def _diff(diff: Diff) -> str:
    lines = [_line(line) for line in diff.lines]
    if diff.more:
        lines.append(f"({diff.more:,} more lines went or came)")
    return "\n".join(lines)


def _line(line: Line) -> str:
    if line.sign in "@…":
        return _escaped(str(line))
    return f"{line.sign} " + "".join(_piece(piece) for piece in line.pieces)


def _piece(piece: Piece) -> str:
    name = {"-": "del", "+": "ins"}.get(piece.sign)
    return f"<{name}>{_escaped(piece.text)}</{name}>" if name else _escaped(piece.text)


def _escaped(text: str) -> str:
    return escape(_NOT_XML.sub("", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("", text))


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
