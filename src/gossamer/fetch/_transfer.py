"""One libcurl handle, configured once and used for one request after another.

Setting a handle up costs far more than a request (some thirty options), so handles are kept and only what differs is set
again: the URL, the addresses, now and then the headers. The callbacks collect: header lines go into a list by a C method,
the body through `_on_body`, which counts; libcurl itself stops headers at 300 KiB or 5,000 lines, interim answers included.
"""

import asyncio
import os
import socket
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pycurl

from gossamer.fetch._guard import refusal
from gossamer.fetch._room import SMALL, Room, Share
from gossamer.fetch._settings import FetchSettings
from gossamer.fetch._values import Timings

__all__ = ["Transfer", "standard_headers"]

# A body of 1-byte chunks costs a callback a byte. Even 10 MiB in network packets is under 8,000 pieces.
MOST_PIECES = 100_000

_SYSTEM_CA_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)

End = Literal["length", "header", "first-byte", "slow", ""]
"""Why we ended a transfer ourselves."""


class _Descriptor:
    """A new socket on its way to libcurl, which makes a duplicate of its own: ours is closed as soon as it is let go."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def __del__(self) -> None:
        os.close(self._fd)


class Transfer:
    """A handle and what it has received so far."""

    __slots__ = (
        "_first",
        "_header_lines",
        "_pieces",
        "_resolve",
        "_rest",
        "_room",
        "_settings",
        "_untimed",
        "allowed",
        "code",
        "curl",
        "deadline",
        "ended",
        "future",
        "limit",
        "lines",
        "message",
        "refused",
        "secure",
        "share",
        "size",
        "started",
        "stopped_at",
        "window_at",
        "window_size",
    )

    def __init__(self, settings: FetchSettings, headers: Sequence[bytes], room: Room) -> None:
        self._settings = settings
        self._room = room
        self._untimed = False
        self.share: Share | None = None
        self.curl: Any = pycurl.Curl()
        self.lines: list[bytes] = []
        self._header_lines: Sequence[bytes] = ()
        self._resolve = ""
        self.future: asyncio.Future[None]
        self._configure()
        self._send(headers)
        self._clear()

    def prepare(
        self, url: str, headers: Sequence[bytes], resolve: str, limit: int, now: float, *, allowed: bool
    ) -> None:
        """Make ready for a request. `resolve` is libcurl's host:port:addresses entry, empty for a literal address."""
        self.curl.setopt(pycurl.URL, url)
        self.secure = url.startswith("https:")
        if headers is not self._header_lines:
            self._send(headers)
        if resolve != self._resolve:
            self.curl.setopt(pycurl.RESOLVE, [resolve] if resolve else [])
            self._resolve = resolve
        if self._untimed:
            self.curl.setopt(pycurl.TIMEOUT_MS, int(self._settings.total_timeout * 1000))
            self._untimed = False
        self.limit = limit
        self.allowed = allowed
        self.started = now

    def release(self) -> None:
        """Forget the request, keep the handle."""
        if self.share is not None:
            self.share.give_back()
            self.share = None
        self._clear()

    def close(self) -> None:
        self.curl.close()

    @property
    def body(self) -> bytes:
        return self._first if self._rest is None else self._rest.getvalue()

    @property
    def header_size(self) -> int:
        return sum(map(len, self.lines))

    def connected_after(self) -> float | None:
        """Seconds from the start until the connection stood, TLS included, or None while it does not."""
        info = self.curl.getinfo
        if not info(pycurl.PRIMARY_IP):
            return None
        secured = not self.secure or info(pycurl.APPCONNECT_TIME) or not info(pycurl.NUM_CONNECTS)
        return float(info(pycurl.PRETRANSFER_TIME)) if secured else None

    def timings(self, dns: float) -> Timings:
        info = self.curl.getinfo
        return Timings(
            info(pycurl.CONNECT_TIME),
            info(pycurl.APPCONNECT_TIME),
            info(pycurl.STARTTRANSFER_TIME),
            info(pycurl.TOTAL_TIME),
            dns,
        )

    def _clear(self) -> None:
        self.lines.clear()
        self._first = b""
        self._rest: BytesIO | None = None
        self._pieces = 0
        self.size = 0
        self.limit = 0
        self.allowed = False
        self.secure = False
        self.ended: End = ""
        self.refused = ""
        self.code = 0
        self.message = ""
        self.started = self.window_at = self.stopped_at = self.deadline = 0.0
        self.window_size = 0

    def _send(self, headers: Sequence[bytes]) -> None:
        self._header_lines = headers
        self.curl.setopt(pycurl.HTTPHEADER, list(headers))

    def _configure(self) -> None:
        settings, set_option = self._settings, self.curl.setopt
        set_option(pycurl.NOSIGNAL, 1)
        set_option(pycurl.BUFFERSIZE, 64 * 1024)  # one buffer for all handles; a 95 KB page costs 60 µs instead of 68
        set_option(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        set_option(pycurl.FOLLOWLOCATION, 0)
        set_option(pycurl.PATH_AS_IS, 1)
        set_option(pycurl.HTTP09_ALLOWED, 0)
        set_option(pycurl.NETRC, pycurl.NETRC_IGNORED)
        set_option(pycurl.HTTP_CONTENT_DECODING, 0)
        set_option(
            pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS if settings.http2 else pycurl.CURL_HTTP_VERSION_1_1
        )
        set_option(pycurl.CONNECTTIMEOUT_MS, int(settings.connect_timeout * 1000))
        set_option(pycurl.TIMEOUT_MS, int(settings.total_timeout * 1000))
        set_option(pycurl.MAXAGE_CONN, max(1, int(settings.connection_idle)))
        # Our own cache knows the true life of an answer; libcurl's copy of it need not outlive the request by much.
        set_option(pycurl.DNS_CACHE_TIMEOUT, 60)
        set_option(pycurl.PROXY, settings.proxy or "")  # an empty string also keeps the environment's proxies out
        set_option(pycurl.CAINFO, settings.ca_file or _system_ca_file())
        if settings.insecure:
            set_option(pycurl.SSL_VERIFYPEER, 0)
            set_option(pycurl.SSL_VERIFYHOST, 0)
        if settings.connect_to is not None:
            set_option(pycurl.CONNECT_TO, [f"::{settings.connect_to}"])
        if settings.connect_to is None and settings.proxy is None:
            set_option(pycurl.OPENSOCKETFUNCTION, self._on_open_socket)
        set_option(pycurl.HEADERFUNCTION, self.lines.append)
        set_option(pycurl.WRITEFUNCTION, self._on_body)

    def _on_open_socket(self, _purpose: int, address: Any) -> Any:
        """The last word on the address that is really connected to, whichever way libcurl came by it."""
        family, kind, protocol, peer = address
        if not self.allowed:
            reason = refusal(peer[0])
            if reason is not None:
                self.refused = reason
                return pycurl.SOCKET_BAD
        try:
            return _Descriptor(socket.socket(family, kind, protocol).detach())
        except OSError as error:
            self.message = str(error)
            return pycurl.SOCKET_BAD

    @property
    def packed(self) -> bool:
        """Whether the body will have to be unpacked."""
        return any(line[:17].lower() == b"content-encoding:" for line in self.lines)

    def _has_room(self) -> bool:
        """Whether the body may become large; otherwise the transfer stands still until there is room."""
        if self.share is None:
            announced = [line for line in self.lines if line[:15].lower() == b"content-length:"]
            length = announced[-1][15:].strip() if announced else b""
            most = min(self.limit, int(length)) if length.isdigit() and len(length) < 16 else self.limit
            most += self._settings.max_decoded if self.packed else 0
            self.share = self._room.ask(most, self._go_on)
            if not self.share.given:
                loop = self.future.get_loop()
                self.stopped_at = loop.time()
                loop.call_soon(self._stop_clock, self.future)
        return self.share.given

    def _stop_clock(self, future: "asyncio.Future[None]") -> None:
        """Keep libcurl from counting the wait, which is ours; `deadline` takes over. Outside of its callbacks only."""
        if future is self.future and not future.done():
            self.curl.setopt(pycurl.TIMEOUT_MS, 0)
            self._untimed = True

    def _go_on(self) -> None:
        """There is room now. Not at once: this may be called from within libcurl."""
        loop = self.future.get_loop()
        loop.call_soon(self._resume, self.future)

    def _resume(self, future: "asyncio.Future[None]") -> None:
        if future is not self.future or future.done() or not self.stopped_at:
            return  # it has ended meanwhile, and the handle may serve another request
        now = future.get_loop().time()
        self.deadline = now + max(1.0, self._settings.total_timeout - (self.stopped_at - self.started))
        self.stopped_at = self.window_at = 0.0
        try:
            self.curl.pause(pycurl.PAUSE_CONT)  # hands over what libcurl had in hand, which may already be too much
        except pycurl.error as error:
            self.code, self.message = error.args
            if not future.done():
                future.set_result(None)

    def _on_body(self, chunk: bytes) -> int | None:
        """Take a piece of the body; a number other than its length makes libcurl drop the connection."""
        if self._pieces == 0:
            if len(self.lines) > self._settings.max_header_count or self.header_size > self._settings.max_header:
                self.ended = "header"
                return 0
            if len(chunk) <= self.limit and len(chunk) <= SMALL:
                self._pieces = 1
                self._first = chunk
                self.size = len(chunk)
                return None
        if self.size + len(chunk) > SMALL and not self._has_room():
            return int(pycurl.WRITEFUNC_PAUSE)
        if self._rest is None:
            self._rest = BytesIO()
            self._rest.write(self._first)
        room = self.limit - self.size
        self._pieces += 1
        if len(chunk) > room or self._pieces > MOST_PIECES:
            self._rest.write(chunk[:room])
            self.size += min(len(chunk), room)
            self.ended = "length"
            return 0
        self._rest.write(chunk)
        self.size += len(chunk)
        return None


def standard_headers(settings: FetchSettings) -> dict[str, str]:
    """The headers of every request but Host, which libcurl writes first."""
    headers = {
        "User-Agent": settings.user_agent,
        "Accept": settings.accept,
        "Accept-Encoding": "gzip, deflate, br, zstd",
    }
    if settings.accept_language is not None:
        headers["Accept-Language"] = settings.accept_language
    return headers


@cache
def _system_ca_file() -> str:
    """The system's trusted certificates, which may hold an operator's own, else those of certifi.

    libcurl keeps the parsed file for a day with the multi handle: it is read once a process, not once a connection.
    """
    for name in _SYSTEM_CA_FILES:
        if Path(name).is_file():
            return name
    import certifi  # 15 ms that most machines never need

    return certifi.where()
