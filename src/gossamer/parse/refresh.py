"""Meta refresh: `<meta http-equiv=refresh content="5; url=/next">` by HTML's own steps, not by a guess at a pattern."""

import re

__all__ = ["parse_refresh"]

_WS = "\t\n\f\r "
_TIME = re.compile(rf"[{_WS}]*([0-9]+|(?=\.))[0-9.]*")


def parse_refresh(content: str) -> tuple[int, str] | None:
    """Seconds and the URL as written, empty for "this page"; None when the value means nothing.

    HTML, "shared declarative refresh steps". The number is capped to a day: nobody waits longer for a redirect.
    """
    match = _TIME.match(content)
    if match is None:
        return None
    seconds = min(int((match[1] or "0")[:9]), 86_400)
    rest = content[match.end() :]
    if not rest:
        return seconds, ""
    if rest[0] not in ";," and rest[0] not in _WS:
        return None
    rest = rest.lstrip(_WS)
    if rest[:1] in (";", ","):
        rest = rest[1:].lstrip(_WS)
    return seconds, _url(rest)


def _url(rest: str) -> str:
    if rest[:3].lower() == "url":
        after = rest[3:].lstrip(_WS)
        if after.startswith("="):
            rest = after[1:].lstrip(_WS)
    quote = rest[:1]
    if quote in ("'", '"') and quote:
        rest = rest[1:].partition(quote)[0]
    return rest
