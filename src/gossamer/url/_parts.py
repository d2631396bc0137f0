"""Questions about a URL: its host, its site, its sort key, its fingerprint."""

import re
from functools import lru_cache

from ada_url import URL
from xxhash import xxh3_64_intdigest

from gossamer.errors import InvalidURL
from gossamer.url._suffixes import registrable

__all__ = ["authority_of", "fingerprint", "host_of", "origin_of", "registrable_domain", "surt"]

# scheme://host[:port] as canonicalize writes it; anything less plain goes through the parser.
_ORIGIN = re.compile(r"(https?)://(([a-z0-9][a-z0-9._-]*)(?::(?!(?:80|443)/)[0-9]+)?)/").match


def host_of(url: str) -> str:
    """The host name of a URL, lower case, without port; an IPv6 address keeps its brackets."""
    return _host(url)[1]


def authority_of(url: str) -> str:
    """Host and, where it is not the scheme's default, port: what a Host header says."""
    plain = _ORIGIN(url)
    return plain[2] if plain else _parsed(url)[1]


def origin_of(url: str) -> str:
    """scheme://authority: what one robots.txt speaks for."""
    plain = _ORIGIN(url)
    if plain:
        return plain[0][:-1]
    scheme, authority, _ = _parsed(url)
    return f"{scheme}//{authority}"


def _host(url: str) -> tuple[str, str]:
    plain = _ORIGIN(url)
    if plain:
        return plain[1], plain[3]
    scheme, _, host = _parsed(url)
    return scheme, host


def _parsed(url: str) -> tuple[str, str, str]:
    try:
        parts = URL(url)
    except ValueError:
        raise InvalidURL(f"not an absolute URL: {url[:200]!r}") from None
    return parts.protocol, parts.host, parts.hostname


_ADDRESS = re.compile(r"\[.*\]|[0-9.]+|.*:.*", re.DOTALL).fullmatch


def registrable_domain(host_or_url: str) -> str | None:
    """The domain one registers (eTLD+1, Public Suffix List with its private part): `a.b.example.co.uk` → `example.co.uk`.

    None for an address and for a name that is itself a public suffix.
    """
    host = host_of(host_or_url) if "://" in host_or_url else host_or_url
    return _registrable(host)


@lru_cache(maxsize=65_536)
def _registrable(host: str) -> str | None:
    host = host.lower().removesuffix(".")
    if not host or _ADDRESS(host):
        return None
    return registrable(host)


def surt(url: str) -> str:
    """Sort-friendly form, as archive indexes use it: `https://www.example.com:8080/a?b` → `com,example,www:8080)/a?b`."""
    authority, host = authority_of(url), host_of(url)
    port = authority[len(host) :]
    labels = host if _ADDRESS(host) else ",".join(reversed(host.split(".")))
    start = url.find("/", url.find("://") + 3)
    return f"{labels}{port}){url[start:] if start >= 0 else '/'}"


def fingerprint(url: str) -> int:
    """64 bits for a canonical URL (XXH3): among ten billion URLs two or three pairs share theirs by chance."""
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))
