"""Times as people type them: `2026-01-05`, `2d`, `3 hours ago`, Unix seconds."""

import re
from datetime import UTC, datetime, timedelta

from gossamer.errors import ConfigError

__all__ = ["moment"]

_LENGTHS = {
    "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3_600, "hour": 3_600,
    "d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800,
}  # fmt: skip
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?\s*[a-z]+\s*)+")
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")
_LATEST = 253_402_300_799  # the end of the year 9999, the last that has a date


def moment(text: str, now: float, option: str) -> float:
    """The time that `text` means, in Unix seconds; dates and times without a zone are local, as all that is shown."""
    found = _read(text.strip().lower(), now)
    if found is None or not 0 <= found <= _LATEST:
        raise ConfigError(
            f"{option} {text!r} is no time: give a date (2026-01-05), a date and time (2026-01-05T14:30), "
            "a time ago (2d, 3h, 90m) or Unix seconds"
        )
    return found


def _read(text: str, now: float) -> float | None:
    if text in ("now", "today", "yesterday"):
        midnight = datetime.fromtimestamp(now, UTC).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        return now if text == "now" else (midnight - timedelta(days=text == "yesterday")).timestamp()
    if re.fullmatch(r"\d{9,12}(?:\.\d+)?", text):
        return float(text)
    words = text.removesuffix("ago").strip()
    if _SPAN.fullmatch(words):
        lengths = [(float(number), _length(unit)) for number, unit in _PART.findall(words)]
        known = [number * length for number, length in lengths if length is not None]
        return now - sum(known) if len(known) == len(lengths) else None
    try:
        return datetime.fromisoformat(text.upper()).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _length(unit: str) -> int | None:
    return _LENGTHS.get(unit, _LENGTHS.get(unit.removesuffix("s")) if len(unit) > 2 else None)
