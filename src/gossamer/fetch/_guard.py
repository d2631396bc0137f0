"""Which addresses a crawler may speak to: the public web, and what the operator named.

A crawler is a machine that opens any URL a stranger writes down. Without a guard, a link to http://169.254.169.254/ or a
name that resolves to 10.0.0.1 lets that stranger read our own network through us. So the default is no: an address is
permitted only when it is a global unicast address, and an IPv6 address that carries an IPv4 address inside (mapped,
6to4, NAT64, Teredo) only when the address inside is too. There is one judge, `refusal`; it is asked for every address a
name resolves to, and again by libcurl for the address it is about to connect to.

Ports: those that browsers refuse (the Fetch standard's list) are refused here as well, since they belong to protocols whose
servers might take an HTTP request for something else.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

__all__ = ["BAD_PORTS", "permitted", "refusal"]

BAD_PORTS = frozenset(
    (1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111,
     113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
     554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
     6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080)
)  # fmt: skip

# Where IANA's registry and the standard library disagree, or disagreed in some release of Python 3.11.
_NOT_GLOBAL_4 = (IPv4Network("0.0.0.0/8"), IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NOT_GLOBAL_6 = (IPv6Network("2001::/23"), IPv6Network("2001:db8::/32"), IPv6Network("3fff::/20"))
_TRANSLATED = IPv6Network("64:ff9b::/96")
_TEREDO = IPv6Network("2001::/32")


def permitted(address: str) -> bool:
    """Whether the address is on the public internet."""
    return refusal(address) is None


# A crawl meets the same addresses again and again; an answer costs 5 µs, a remembered one 0.1.
@lru_cache(maxsize=65_536)
def refusal(address: str) -> str | None:
    """Why the address may not be spoken to (half a sentence that names it), or None when it may."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return f"{address} is not an IP address"
    if isinstance(parsed, IPv4Address):
        kind = _kind_4(parsed)
        return None if kind is None else f"{address} is {kind}"
    if parsed.scope_id is not None:
        return f"{address} belongs to one network link"
    for form, inner in _embedded(parsed):
        kind = _kind_4(inner)
        if kind is not None:
            return f"{address} is {form} address of {inner}, which is {kind}"
    if parsed.ipv4_mapped is not None or parsed in _TRANSLATED:
        return None
    kind = _kind_6(parsed)
    return None if kind is None else f"{address} is {kind}"


def _embedded(address: IPv6Address) -> list[tuple[str, IPv4Address]]:
    """The IPv4 addresses that packets to this one would end up at, or pass through."""
    found = []
    if address.ipv4_mapped is not None:
        found.append(("the IPv4-mapped", address.ipv4_mapped))
    if address.sixtofour is not None:
        found.append(("the 6to4", address.sixtofour))
    if address in _TRANSLATED:
        found.append(("the NAT64", IPv4Address(int(address) & 0xFFFFFFFF)))
    if address in _TEREDO and address.teredo is not None:
        found.extend(("a Teredo", inner) for inner in address.teredo)
    return found


def _kind_4(address: IPv4Address) -> str | None:
    if address.is_loopback:
        return "a loopback address"
    if address.is_link_local:
        return "a link-local address"
    if address.is_multicast:
        return "a multicast address"
    if address.is_private:
        return "a private or reserved address"
    if not address.is_global or any(address in network for network in _NOT_GLOBAL_4):
        return "not a global address"
    return None


def _kind_6(address: IPv6Address) -> str | None:
    if address.is_loopback:
        return "a loopback address"
    if address.is_link_local:
        return "a link-local address"
    if address.is_multicast:
        return "a multicast address"
    if address not in _GLOBAL_UNICAST or not address.is_global:
        return "not a global unicast address"
    if any(address in network for network in _NOT_GLOBAL_6):
        return "a reserved address"
    return None
