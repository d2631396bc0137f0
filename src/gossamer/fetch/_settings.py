"""What an operator may change about fetching; every field says what it does, and the documentation is made from that."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer import __version__

__all__ = ["FetchSettings"]

Seconds = Annotated[float, Meta(gt=0, le=3600)]
HostPort = Annotated[str, Meta(pattern=r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}$")]


class FetchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one request is made and bounded."""

    connect_timeout: Annotated[Seconds, Meta(description="Seconds until the connection stands, TLS included.")] = 10.0
    first_byte_timeout: Annotated[
        Seconds, Meta(description="Seconds from the request being sent to the first line of the answer.")
    ] = 20.0
    total_timeout: Annotated[
        Seconds, Meta(description="Seconds for the whole transfer; what has come by then is kept.")
    ] = 60.0
    low_speed_bytes: Annotated[
        int, Meta(ge=0, description="Bytes a second below which an answer counts as too slow; 0 turns it off.")
    ] = 100
    low_speed_seconds: Annotated[
        Seconds, Meta(description="Seconds an answer may stay below low_speed_bytes before it is cut off.")
    ] = 20.0
    max_body: Annotated[
        int, Meta(ge=0, description="Bytes of a body, as sent, that are kept; the rest is not read.")
    ] = 10 * 1024 * 1024
    max_decoded: Annotated[int, Meta(ge=0, description="Bytes of a body, after decompression, that are kept.")] = (
        20 * 1024 * 1024
    )
    body_memory: Annotated[
        int,
        Meta(
            ge=1024 * 1024,
            description="Bytes that all large bodies of a worker may take in memory together; the others stand still meanwhile.",
        ),
    ] = 96 * 1024 * 1024
    max_header: Annotated[
        int,
        Meta(
            ge=1024,
            le=300 * 1024,
            description="Bytes of headers, interim answers included, above which an answer is refused.",
        ),
    ] = 64 * 1024
    max_header_count: Annotated[
        int, Meta(ge=16, le=5000, description="Header lines above which an answer is refused.")
    ] = 1000
    user_agent: Annotated[str, Meta(min_length=1, description="The User-Agent header.")] = f"Gossamer/{__version__}"
    accept: Annotated[str, Meta(description="The Accept header.")] = (
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    )
    accept_language: Annotated[
        str | None, Meta(description="The Accept-Language header; none is sent when absent.")
    ] = None
    proxy: Annotated[
        str | None,
        Meta(description="URL of a proxy (http, https, socks5h); the environment's proxy variables are not read."),
    ] = None
    insecure: Annotated[
        bool, Meta(description="Go on when a certificate is not valid, and record what was wrong with it.")
    ] = False
    ca_file: Annotated[
        str | None,
        Meta(description="File of trusted certificates (PEM); the system's when absent, else certifi's."),
    ] = None
    connect_to: Annotated[
        HostPort | None,
        Meta(description="HOST:PORT that every connection goes to; it changes the address, not what is allowed."),
    ] = None
    http2: Annotated[bool, Meta(description="Offer HTTP/2 on encrypted connections.")] = True
    ip_version: Annotated[
        Literal["auto", "4", "6"],
        Meta(description="Which addresses are used; auto means IPv4, and IPv6 where this machine has a route."),
    ] = "auto"
    nameservers: Annotated[
        tuple[str, ...],
        Meta(description="DNS servers, each ADDRESS or ADDRESS:PORT; the system's when empty."),
    ] = ()
    dns_timeout: Annotated[Seconds, Meta(description="Seconds until a DNS question is asked again.")] = 3.0
    dns_tries: Annotated[int, Meta(ge=1, le=10, description="How often a DNS question is asked.")] = 3
    dns_cache: Annotated[int, Meta(ge=1, description="Host names whose addresses are remembered.")] = 50_000
    connections_kept: Annotated[
        int, Meta(ge=1, le=100_000, description="Idle connections kept open for the next request.")
    ] = 512
    connection_idle: Annotated[Seconds, Meta(description="Seconds an idle connection may still be used again.")] = 90.0
