"""One spelling for each path, so that rules and URLs can be compared octet by octet (RFC 9309 section 2.2.2).

Escapes are written with upper-case digits; `-` `.` `_` `~` are never escaped; what no URL may hold as it is (blanks,
controls, quotes, braces, octets above ASCII) always is; `*` and `$` of a URL are escaped, so that `%2A` and `%24` of a rule
find them (section 2.2.3). Every other escape, `%2F` above all, stays distinct from its character.

On two spellings the RFC and Google's parser differ: escaped letters and digits (`%62` for `b`), and a URL that holds raw
octets above ASCII. The RFC makes them equal, Google does not. Each side has its own form here so that the stricter
reading holds: a Disallow closes both spellings, an Allow opens only the one that it names.
"""

import re
from typing import Final

__all__ = ["escape_allow", "escape_disallow", "path_of", "spellings"]

_UNRESERVED: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_SAFE: Final = r"A-Za-z0-9\-._~:/?\[\]@!&'()+,;=%"
_HEX: Final = "0123456789abcdefABCDEF"

# A URL as `gossamer.url` writes it: one pass of C code finds its path and shows that no octet needs a second look.
_PLAIN_URL: Final = re.compile(rf"https?://[^/?#;]*(/[{_SAFE}]*)").fullmatch
_ODD_ESCAPE: Final = re.compile(
    "%(?:[0-9A-Fa-f][a-f]|[a-f][0-9A-F]|2[DE]|3[0-9]|[46][1-9A-F]|5[0-9AF]|7[0-9AE])"
).search
_IN_RULE: Final = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{_SAFE}*$]")
_IN_URL: Final = re.compile(rf"%[0-9A-Fa-f]{{2}}|[^{_SAFE}]")
_PLAIN_OCTETS: Final = (_UNRESERVED + ":/?[]@!&'()+,;=*$").encode()
_PATH_BEGINS: Final = re.compile("[/?;]")


def _table(decoded: str) -> dict[str, str]:
    """Every escape, in any case of its digits, and every octet → how it is written; escapes of `decoded` are undone."""
    table = {chr(octet): f"%{octet:02X}" for octet in range(256)}
    for high in _HEX:
        for low in _HEX:
            octet = chr(int(high + low, 16))
            table[f"%{high}{low}"] = octet if octet in decoded else f"%{high}{low}".upper()
    return table


_LITERAL: Final = _table("-._~")
_LITERAL_URL: Final = _LITERAL | {chr(octet): chr(octet) for octet in range(128, 256)}
_DECODED: Final = _table(_UNRESERVED)


def escape_allow(pattern: bytes) -> str:
    """The pattern of a rule, escaped letters left alone; its length is the rule's priority."""
    if not pattern.translate(None, _PLAIN_OCTETS):  # 0.1 µs, against 1 µs to find that nothing is to be replaced
        return pattern.decode("ascii")
    return _IN_RULE.sub(lambda found: _LITERAL[found[0]], pattern.decode("latin-1"))


def escape_disallow(escaped: str) -> str:
    """What `escape_allow` gave, with escaped letters decoded too."""
    return _IN_RULE.sub(lambda found: _DECODED[found[0]], escaped) if "%" in escaped else escaped


def path_of(url: str) -> str:
    """Path, parameters and query of a URL as written, beginning with a slash; `/` when it has none.

    Also takes what is not quite a URL (`example.com/a`, `//a/b`, `/a`), each as Google's parser does.
    """
    begin = 2 if url.startswith("//") else 0
    scheme_end = url.find("://", begin)
    first = _PATH_BEGINS.search(url, begin)
    if scheme_end >= 0 and (first is None or first.start() > scheme_end):
        first = _PATH_BEGINS.search(url, scheme_end + 3)
    if first is None:
        return "/"
    fragment = url.find("#", begin)
    if 0 <= fragment < first.start():
        return "/"
    path = url[first.start() : fragment if fragment >= 0 else len(url)]
    return path if path.startswith("/") else "/" + path


def spellings(url: str) -> tuple[str, str]:
    """The path of a URL in the form that Allow rules are compared with, and in that for Disallow rules."""
    plain = _PLAIN_URL(url)
    if plain is not None:
        path = plain[1]
        if "%" not in path or _ODD_ESCAPE(path) is None:
            return path, path
    octets = path_of(url).encode("utf-8", "surrogatepass").decode("latin-1")
    return (
        _IN_URL.sub(lambda found: _LITERAL_URL[found[0]], octets),
        _IN_URL.sub(lambda found: _DECODED[found[0]], octets),
    )
