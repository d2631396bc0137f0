"""What a story is made of, and how it speaks of time."""

import time
from typing import Any

import msgspec

__all__ = ["Check", "Step", "Story", "counted", "moment", "span"]


class Step(msgspec.Struct, frozen=True):
    """One thing there is to say of a URL: in a sentence, in further lines, and as values for programs."""

    name: str
    sentence: str
    notes: tuple[str, ...] = ()
    facts: dict[str, Any] = {}


class Check(msgspec.Struct, frozen=True):
    """What one rule says of a URL that is not in the crawl."""

    rule: str
    refuses: bool | None
    """None where it cannot tell yet."""
    reason: str
    admission: bool = True
    """Whether the rule is asked when a URL is found; the others are asked when it is about to be fetched."""


class Story(msgspec.Struct, frozen=True):
    """All there is to say of a URL."""

    typed: str
    url: str
    """In canonical form: as the crawl knows it, or would."""
    known: bool
    """Whether the crawl has it in its books."""
    state: str
    """`queued`, `waiting`, `done`, `redirected`, `gone`, `refused` or `failed`; `robots` for a robots.txt, else `unknown`."""
    verdict: str
    """The story in one sentence."""
    excluded_by: str | None = None
    """Of a URL that is not known: the rule that excludes it; None where none does."""
    process: int | None = None
    """The process that runs the crawl meanwhile; None when none does."""
    steps: tuple[Step, ...] = ()


def moment(at: float) -> str:
    """A time as people write it, in their own zone."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def span(seconds: float) -> str:
    """A length of time, roughly."""
    for unit, length in (("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{max(seconds, 0.0):.3g} s"


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
