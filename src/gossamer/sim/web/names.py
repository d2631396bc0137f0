"""Which hosts there are, how large each is, and how one address is spelled in several ways. All by arithmetic and hashing.

The sizes are differences of one cumulative curve, so they add up exactly to the total however many hosts there are, and the
size of a host is found without looking at the others. The number of a host stands in its name, so that a name is recognised
without a table.
"""

import math
import re

from gossamer.sim.web.model import Settings
from gossamer.sim.web.words import hash64

__all__ = [
    "canonical_target",
    "domain_of",
    "host_name",
    "host_number",
    "host_size",
    "popular_host",
    "spell",
    "url_of",
]

_NUMBER = re.compile(r"[a-z]*?(\d+)\.|www\.site(\d+)\.")
_FARMS = ("meadow", "harbour", "orchard", "lantern")


def host_name(settings: Settings, number: int) -> str:
    """Own domains, own domains under www, and groups of up to eight hosts of one registrable domain."""
    form = hash64(settings.seed, "name", number) % 10
    if form < 4:
        return f"site{number}.example"
    if form < 6:
        return f"www.site{number}.test"
    farm = number // 8
    return f"h{number}.{_FARMS[farm % 4]}{farm}.{'example' if farm % 3 else 'test'}"


def host_number(settings: Settings, host: str) -> int | None:
    found = _NUMBER.match(host)
    if found is None:
        return None
    number = int(found[1] or found[2])
    return number if number < settings.hosts and host_name(settings, number) == host else None


def host_size(settings: Settings, number: int) -> int:
    """Pages of plain host `number`: one each, the rest shared out by the power law."""
    spare = max(0, settings.pages - settings.hosts)
    whole = _cumulative(settings.hosts, settings.skew)
    below, above = (_cumulative(at, settings.skew) / whole for at in (number, number + 1))
    # Rounded first, so that a last bit of the C library's logarithm cannot move a page to the neighbour.
    return 1 + math.floor(round(spare * above, 6)) - math.floor(round(spare * below, 6))


def _cumulative(hosts: int, skew: float) -> float:
    """The integral of (1 + x) to the power -skew."""
    if skew == 1.0:
        return math.log1p(hosts)
    return float(((1 + hosts) ** (1 - skew) - 1) / (1 - skew))


def popular_host(settings: Settings, chance: float) -> int:
    """A host number by the same power law (its form for skew 1): links go where pages are."""
    return min(settings.hosts - 1, int((settings.hosts + 1) ** chance) - 1)


def domain_of(host: str) -> str:
    """The registrable domain: `.example` and `.test` are suffixes of one label."""
    return ".".join(host.rsplit(".", 2)[-2:])


def url_of(host: str, target: str) -> str:
    return f"http://{host}{target}"


def spell(host: str, target: str, chance: int, at_host: str) -> str:
    """One of the ways to write http://host/target on a page of `at_host`; all of them have one canonical form."""
    path, mark, query = target.partition("?")
    same = host == at_host
    style = chance % 24
    if style < 14 and same:
        return target
    if style == 14:
        return f"http://{host}{target}#part-{chance >> 8 & 7}"
    if style == 15:
        return f"http://{host}{target}{'&' if mark else '?'}utm_source=list&utm_medium=page{chance >> 8 & 7}"
    if style == 16:
        return f"HTTP://{host.upper()}{target}"
    if style == 17:
        return f"http://{host}:80{target}"
    if style == 18:
        return f"http://{host}/.{target}"
    if style == 19:
        return f"http://{host}/elsewhere/..{target}"
    if style == 20:
        return f"//{host}{target}"
    if style == 21 and len(path) > 1:
        return f"http://{host}/%{ord(path[1]):02x}{path[2:]}{mark}{query}"
    if style == 22:
        return f"  http://{host}{target}\n"
    return f"http://{host}{target}"


_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def _unescape(found: re.Match[str]) -> str:
    char = chr(int(found[1], 16))
    return char if char in _UNRESERVED else found[0].upper()


def canonical_target(target: str) -> str:
    """What a tolerant server understands by a request target: dot segments, needless escapes and tracking parameters gone."""
    target = target.partition("#")[0]
    if "%" in target:
        target = _ESCAPE.sub(_unescape, target)
    path, _, query = target.partition("?")
    if "/." in path:
        kept: list[str] = []
        pieces = path.split("/")[1:]
        for at, piece in enumerate(pieces):
            last = at == len(pieces) - 1
            if piece == "..":
                kept = kept[:-1]
            elif piece != ".":
                kept.append(piece)
                continue
            if last:
                kept.append("")
        path = "/" + "/".join(kept)
    if query:
        query = "&".join(sorted(part for part in query.split("&") if not part.startswith("utm_")))
    return f"{path}?{query}" if query else path
