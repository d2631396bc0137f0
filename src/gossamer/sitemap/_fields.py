"""The small texts of an entry: references, attributes, dates, numbers. Lenient, and never raising."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_tz
from math import isfinite

from gossamer.sitemap._problems import Problems

__all__ = [
    "CHANGEFREQS",
    "attributes_of",
    "is_absolute",
    "names_entity",
    "parse_date",
    "parse_priority",
    "unescaped",
]

CHANGEFREQS = frozenset({"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"})

_LONGEST = 64
# W3C date and time (the NOTE of 1997: year, month, day, minute, second, fraction) with the usual slips: one-digit parts,
# slashes or dots, a space for the T or before the zone, a zone without colon or minutes, no zone.
_W3C = re.compile(
    r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2})"
    r"(?:(?:\s*T\s*|\s+)(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,9}))?\d*)?\s*"
    r"(?:Z|UTC|GMT|([+-])(\d{1,2}):?(\d{2})?)?)?)?)?Z?",
    re.IGNORECASE,
).fullmatch
_UNIX = re.compile(r"1?\d{9}(\d{3})?").fullmatch
# There was no web before: 0001-01-01, 1900-01-01 and 1970-01-01 are how databases write "unknown".
_FIRST = datetime(1990, 1, 1, tzinfo=UTC).timestamp()


def parse_date(text: str) -> float | None:
    """Unix seconds of a W3C or RFC 822 date, or None; without a zone it is UTC, and what is missing is the beginning of it."""
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    try:
        seconds = _iso(text)
        if seconds is None:
            seconds = _w3c(text)
        if seconds is None:
            seconds = _rfc822(text)
    except (ValueError, OverflowError, TypeError, IndexError):  # a 13th month; and what email.utils lets out
        return None
    return seconds if seconds is not None and seconds >= _FIRST else None


def _iso(text: str) -> float | None:
    """The usual forms, ten times as fast as by pattern."""
    if len(text) < 10 or text[4] != "-" or text[7] != "-":
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _w3c(text: str) -> float | None:
    found = _W3C(text)
    if found is None:
        unix = _UNIX(text)
        return None if unix is None else int(text) / (1_000 if unix[1] else 1)
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = found.groups()
    when = datetime(int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), tzinfo=UTC)
    # Added, not given to datetime: a leap second (:60) is the next minute.
    seconds = when.timestamp() + min(int(second or 0), 60) + (float(f"0.{fraction}") if fraction else 0.0)
    offset = int(hours or 0) * 3600 + int(minutes or 0) * 60
    return seconds + offset if sign == "-" else seconds - offset


def _rfc822(text: str) -> float | None:
    found = parsedate_tz(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = found[:6]
    offset = found[9] or 0
    return datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp() + min(second, 60) - offset


def parse_priority(text: str) -> float | None:
    """0 to 1; what is beyond is brought to the nearer end, what is no number is None."""
    try:
        value = float(text.strip()[:_LONGEST].replace(",", "."))
    except ValueError:
        return None
    return min(max(value, 0.0), 1.0) if isfinite(value) else None


# --- XML text -----------------------------------------------------------------------------------------------------

_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));").subn
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ENTITY = re.compile(r"&[A-Za-z_:][\w.:-]*;").search
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE).match
# A name begins behind what cannot be part of one: else a long word would be tried from each of its letters.
_ATTRIBUTES = re.compile(
    r"""(?<![^\s"'/])([^\s=/"'<>]{1,100}+)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++))"""
).findall
_ATTRIBUTE_BYTES = 4_096


def unescaped(data: bytes, problems: Problems) -> str:
    """Text with its references resolved: the five names of XML and characters by number. Others stay as they are written."""
    text = data.decode("utf-8", "replace")
    if "&" not in text:
        return text
    references = text.count("&")
    if references == text.count("&amp;"):
        return text.replace("&amp;", "&")
    text, resolved = _REFERENCE(_resolved, text)
    if resolved < references:
        problems.add("an ampersand is not escaped, or begins a reference to an entity that XML does not have", text)
    return text


def _resolved(match: re.Match[str]) -> str:
    name, decimal, hexadecimal = match.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"


def attributes_of(tag: bytes) -> dict[str, str]:
    """The attributes of a start tag by their names as written; of a flood of them, those in the first 4 KiB."""
    text = tag[:_ATTRIBUTE_BYTES].decode("utf-8", "replace")
    found = {name: double or single or bare for name, double, single, bare in _ATTRIBUTES(text)}
    if "&" in text:  # a bare one in an href is everyday, and no problem worth a note
        found = {name: _REFERENCE(_resolved, value)[0] for name, value in found.items()}
    return found


def is_absolute(text: str) -> bool:
    """Whether it begins as an http(s) URL does."""
    return _ABSOLUTE(text) is not None


def names_entity(text: str) -> bool:
    """Whether a reference was left in it."""
    return _ENTITY(text) is not None
