"""What a URL asks us to connect to, read so strictly that no two parsers could disagree about it.

The guard judges the host that *we* read; libcurl connects to the host that *it* reads. Where the two could differ (user
names, backslashes, odd characters, numbers that are not plain dotted quads) a URL is refused rather than interpreted: a
canonical URL has none of these.
"""

import re
import socket
from collections.abc import Collection
from ipaddress import IPv6Address
from typing import Literal

import msgspec

from gossamer.fetch._guard import BAD_PORTS, refusal

__all__ = ["Target", "read_target", "target_refusal", "url_refusal"]


class Target(msgspec.Struct, frozen=True):
    """Where a request goes."""

    host: str
    """In lower case; an IPv6 address without its brackets, in its shortest form."""
    port: int
    authority: str
    """The Host header: as in the URL, without a default port."""
    path: str
    """Path and query."""
    literal: Literal[0, 4, 6]
    """The version of the IP address that the host is, or 0 for a name."""

    @property
    def is_local_name(self) -> bool:
        """localhost and everything below it, which never leave the machine (RFC 6761 section 6.3)."""
        return not self.literal and (self.host == "localhost" or self.host.endswith(".localhost"))


# Letters, digits, dots, hyphens and underscores only: the URL standard lets more into a host, but no public name has it, and
# to libcurl's resolve list `*` is every host and `:` and `,` are separators.
_URL = re.compile(
    r"(https?)://(?:([A-Za-z0-9._-]+)|\[([0-9A-Fa-f:.]+)\])(?::([0-9]{1,5}))?(/[\x21-\x7e]*|\?[\x21-\x7e]*)?"
)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def read_target(url: str) -> Target | str:
    """The target of a canonical http(s) URL, or what keeps it from being one (a sentence)."""
    matched = _URL.fullmatch(url.partition("#")[0] if "#" in url else url)
    if matched is None:
        return _complaint(url)
    scheme, name, six, port_text, path = matched.groups()
    default = 443 if scheme == "https" else 80
    port = int(port_text) if port_text else default
    if not 0 < port < 65_536:
        return f"The port {port} does not exist."
    path = path or "/"
    if path[0] == "?":
        path = "/" + path
    literal: Literal[0, 4, 6] = 0
    if name is not None:
        host = name.lower().removesuffix(".")
        if not host or "" in host.split("."):
            return "The host has an empty label."
        if len(host) > 63 and (len(host) > 253 or max(map(len, host.split("."))) > 63):
            return "The host is longer than a name may be: 253 characters, and 63 between two dots."
        # WHATWG: a host whose last label is a number is an IPv4 address, or nothing.
        if _NUMBER.fullmatch(host.rpartition(".")[2]):
            try:
                # Octal, hexadecimal and short forms become the dotted quad that a system call would make of them.
                host = socket.inet_ntoa(socket.inet_aton(host))
            except (OSError, ValueError):
                return "The host ends in a number and is no IP address."
            literal = 4
        shown = name
    else:
        try:
            host = str(IPv6Address(six))
        except ValueError:
            return "The host is not an IPv6 address."
        literal = 6
        shown = f"[{six}]"
    return Target(host, port, shown if port == default else f"{shown}:{port}", path, literal)


def target_refusal(target: Target, *, elsewhere: bool = False) -> str | None:
    """Why a target may not be spoken to, as far as that is known before its name is resolved (a sentence).

    `elsewhere`: every connection goes to a proxy or one fixed place, so names will not be resolved.
    """
    if target.port in BAD_PORTS:
        return f"The port {target.port} belongs to another protocol."
    if target.literal:
        reason = refusal(target.host)
        return None if reason is None else f"The guard keeps to the public web: {reason}."
    if elsewhere and target.is_local_name:
        return f"The guard keeps to the public web: {target.host} is this machine."
    return None


def url_refusal(url: str, allowed: Collection[tuple[str, int]] = (), *, elsewhere: bool = False) -> str | None:
    """The same of a URL; `allowed` are hosts and ports that the operator named."""
    target = read_target(url)
    if isinstance(target, str):
        return target
    return None if (target.host, target.port) in allowed else target_refusal(target, elsewhere=elsewhere)


def _complaint(url: str) -> str:
    scheme, colon, rest = url.partition(":")
    if not colon or scheme.lower() not in ("http", "https"):
        return "Only http and https are spoken."
    if "@" in rest.removeprefix("//").partition("/")[0]:
        return "A URL that carries a user name or password is not fetched."
    return "The URL is not in canonical form, or its host is no name that DNS could hold."
