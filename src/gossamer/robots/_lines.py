"""From bytes to (line number, field, value), with the leniency that real files need.

A robots.txt is UTF-8 text of `field: value` lines (RFC 9309 section 2.2). Real ones have byte order marks, lone carriage
returns, misspelt fields and forgotten colons; what is readable is read, and everything else is passed over.
"""

import codecs
import re
from collections.abc import Iterator
from typing import Final

__all__ = [
    "AGENT",
    "ALLOW",
    "DELAY",
    "DISALLOW",
    "MAX_BYTES",
    "MAX_LINE",
    "RATE",
    "SITEMAP",
    "agent_of_line",
    "product_token",
    "readable",
    "records",
    "sitemaps",
]

# RFC 9309 section 2.5: a parser reads at least 500 KiB; more than that is not read.
MAX_BYTES: Final = 512_000
# Google reads this much of a line (eight times the longest URL browsers once took) and ignores the rest of it.
MAX_LINE: Final = 2_083 * 8 - 1

AGENT: Final = "user-agent"
ALLOW: Final = "allow"
DISALLOW: Final = "disallow"
SITEMAP: Final = "sitemap"
DELAY: Final = "crawl-delay"
RATE: Final = "request-rate"

# A misspelt Disallow is obeyed, since passing over it would fetch what the site meant to close.
_SPELLINGS: Final[dict[str, tuple[bytes, ...]]] = {
    AGENT: (b"user-agent", b"useragent", b"user agent", b"user_agent", b"user-agents", b"useg-agent"),
    ALLOW: (b"allow",),
    DISALLOW: (
        *(b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"),
        *(b"desallow", b"dis-allow", b"dis allow"),
    ),
    SITEMAP: (b"sitemap", b"site-map", b"site map", b"site_map"),
    DELAY: (b"crawl-delay", b"crawldelay", b"crawl delay", b"crawl_delay"),
    RATE: (b"request-rate", b"requestrate", b"request rate", b"request_rate"),
}
_FIELDS: Final = {spelling: field for field, spellings in _SPELLINGS.items() for spelling in spellings}
_PREFIXES: Final = tuple(_FIELDS)

_UTF16: Final = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LINE_TOKEN: Final = re.compile(rb"[a-z0-9_-]*")
_AGENT_TOKEN: Final = re.compile(r"([A-Za-z0-9_-]+)(?=$|\s*\(|[^\sA-Za-z0-9_-])", re.ASCII)


def readable(body: bytes) -> bytes:
    """The part of a body that counts, as UTF-8 without its mark: at most 500 KiB, ending with a whole line."""
    text = body[:MAX_BYTES]
    for mark, codec in _UTF16:
        if text.startswith(mark):
            text = text[len(mark) :].decode(codec, "replace").encode("utf-8", "replace")
            break
    else:
        text = text.removeprefix(codecs.BOM_UTF8)
    # The second byte looks past the zero half of a UTF-16 line end.
    if len(body) > MAX_BYTES and body[MAX_BYTES : MAX_BYTES + 2].lstrip(b"\0")[:1] not in (b"\r", b"\n"):
        text = text[: max(text.rfind(b"\n"), text.rfind(b"\r")) + 1]
    return text


def records(text: bytes) -> Iterator[tuple[int, str, bytes]]:
    """Each line that says something: its number (from 1), which field it is, and its value without blanks."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            continue
        said = line[:MAX_LINE].partition(b"#")[0]
        name, colon, value = said.partition(b":")
        name = name.strip().lower()
        field = _FIELDS.get(name)
        if field is None or not colon:
            field, value = _lenient(said, name, value, bool(colon))
            if field is None:
                continue
        yield number, field, value.strip()


def _lenient(said: bytes, name: bytes, value: bytes, colon: bool) -> tuple[str | None, bytes]:
    """What a line means whose field is not spelt as it should be, or that has no colon."""
    words = said.split(None, 1)
    if len(words) == 2:
        # `Disallow /a`, and also `Disallow /a:b` and `Sitemap https://…`, whose colon belongs to the value.
        field = _FIELDS.get(words[0].lower())
        rest = words[1].strip()
        if field is not None and (rest.startswith((b"/", b"*/", b"http")) if colon else not rest.split()[1:]):
            return field, rest
    if colon and name.startswith(_PREFIXES):
        # Google takes a field that only begins like a known one (`Disallows:`, `Sitemap-index:`).
        return _FIELDS[next(prefix for prefix in _PREFIXES if name.startswith(prefix))], value
    return None, value


def sitemaps(text: bytes) -> tuple[str, ...]:
    """The values of the Sitemap lines, as written, each once. They belong to no group, so other lines are not read."""
    lines = b"\n".join(line for line in text.splitlines() if b"site" in line.lower())
    found = (value.decode("utf-8", "replace") for _, field, value in records(lines) if field is SITEMAP and value)
    return tuple(dict.fromkeys(found))


def agent_of_line(value: bytes) -> str:
    """The lower-case token a `User-agent` line names: `*` for everyone, empty when it names none.

    The token ends where its characters end, as in Google's parser (`Foo Bar` and `Foo/2.1` are both `foo`). Digits
    belong to it, which RFC 9309 section 2.2.1 does not foresee but names such as MJ12bot need.
    """
    if value[:1] == b"*" and not value[1:2].strip():
        return "*"
    found = _LINE_TOKEN.match(value.lower())
    return found[0].decode("ascii") if found else ""


def product_token(agent: str) -> str:
    """The lower-case product token of a token or of a whole user-agent string; empty when it has none.

    `Gossamer`, `Gossamer/1.0 (+https://…)` and `Gossamer (+https://…)` are all `gossamer`. `Foo Bar` is no token: it
    names neither Foo nor Bar, so only the rules for everyone hold.
    """
    found = _AGENT_TOKEN.match(agent)
    return found[1].lower() if found else ""
