"""What a page asks of crawlers: meta robots, meta for our own name, and X-Robots-Tag headers, the strictest of them."""

import re
from collections.abc import Iterable

from gossamer.parse._page import MetaRobots

__all__ = ["robots_of"]

_FLAGS = {
    "noindex": ("noindex",),
    "nofollow": ("nofollow",),
    "none": ("noindex", "nofollow"),
    "noarchive": ("noarchive",),
    "nocache": ("noarchive",),
    "nosnippet": ("nosnippet",),
    "noimageindex": ("noimageindex",),
    "notranslate": ("notranslate",),
}
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_VALUED = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")
_NOTHING = MetaRobots()


def robots_of(metas: Iterable[str], headers: Iterable[tuple[str, str]], agent: str) -> MetaRobots:
    """Combine the contents of meaningful meta elements with the X-Robots-Tag headers that speak to `agent`."""
    said = list(metas)
    for name, value in headers:
        if len(name) == 12 and name.lower() == "x-robots-tag":
            said.extend(_addressed(value, agent))
    if not said:
        return _NOTHING
    flags: set[str] = set()
    snippet: int | None = None
    until: str | None = None
    for value in said:
        lowered = value.lower()
        date = lowered.find("unavailable_after")
        if date >= 0:
            until = value[date + 17 :].strip(" \t:") or until
        for directive in re.split(r"[,;\s]+", lowered):
            flags.update(_FLAGS.get(directive, ()))
            if directive.startswith("max-snippet:") and _NUMBER.fullmatch(directive[12:]):
                length = int(directive[12:])
                snippet = length if snippet is None or snippet < 0 else min(snippet, length) if length >= 0 else snippet
    return MetaRobots(
        **dict.fromkeys(flags, True),
        max_snippet=snippet,
        unavailable_after=until,
    )


def _addressed(value: str, agent: str) -> list[str]:
    """The parts of one X-Robots-Tag value that apply to us: `otherbot: noindex` does not, `gossamer: none` does."""
    out: list[str] = []
    listening = True
    for part in value.split(","):
        name, colon, rest = part.partition(":")
        word = name.strip().lower()
        if colon and word and word not in _VALUED and " " not in word:
            listening = word in (agent.lower(), "*", "robots")
            part = rest
        if listening:
            out.append(part)
    return [",".join(out)] if out else []
