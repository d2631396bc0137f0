"""The Fetcher: one request in, one Response or Failure out.

    URL → target (strictly read) → route (guard, DNS, guard) → transfer (libcurl) → conclusion

Four bounds hold whatever the server does: the body and the headers are capped while they arrive, the decoded content while
it is decoded, and time in four ways: libcurl keeps the connect and the total timeout, `_sweep` the first byte and the low
speed. A look at every running transfer once in a while is cheaper than a timer for each: 0.3 µs a transfer and second.
"""

import asyncio
import time
from collections.abc import Collection, Sequence
from typing import Self
from weakref import finalize

import pycurl

from gossamer.errors import ConfigError
from gossamer.fetch._conclude import conclude
from gossamer.fetch._dns import Answer, Resolver, Resolves
from gossamer.fetch._driver import Driver
from gossamer.fetch._room import SMALL_DECODED, Room
from gossamer.fetch._settings import FetchSettings
from gossamer.fetch._target import Target, read_target, target_refusal
from gossamer.fetch._transfer import Transfer, standard_headers
from gossamer.fetch._values import Failure, Request, Response
from gossamer.outcome import ErrorClass

__all__ = ["Fetcher"]

IDLE_HANDLES = 256


class Fetcher:
    """Fetches URLs; one a process, inside a running event loop.

    `allowed` are the (host, port) pairs that the operator named: only for these does the guard step aside.
    """

    def __init__(
        self,
        settings: FetchSettings | None = None,
        resolver: Resolves | None = None,
        allowed: Collection[tuple[str, int]] = (),
    ) -> None:
        self.settings = settings = settings or FetchSettings()
        self._resolver = resolver or Resolver(
            settings.nameservers,
            timeout=settings.dns_timeout,
            tries=settings.dns_tries,
            ip_version=settings.ip_version,
            most=settings.dns_cache,
        )
        self._allowed: set[tuple[str, int]] = set()
        for host, port in allowed:
            self.allow(host, port)
        self._loop = asyncio.get_running_loop()
        self._driver = Driver(self._loop, settings.connections_kept)
        self._idle: list[Transfer] = []
        self._room = Room(settings.body_memory)
        self._headers = standard_headers(settings)
        self._header_lines = _lines(self._headers.items())
        self._header_block = _block(self._header_lines)
        # Where every connection goes to one place, names are not ours to resolve.
        self._elsewhere = settings.connect_to is not None or settings.proxy is not None
        self._sweep_every = min(1.0, settings.first_byte_timeout / 8, settings.low_speed_seconds / 8)
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False

    async def fetch(self, request: Request) -> Response | Failure:
        """Fetch. Never raises, except when it is cancelled: the transfer then ends at once."""
        url = request.url
        target = read_target(url)
        if isinstance(target, str):
            return Failure(url, ErrorClass.GUARD_REFUSED, target)
        allowed = (target.host, target.port) in self._allowed
        if not allowed and (refused := self._refused(target)) is not None:
            return Failure(url, ErrorClass.GUARD_REFUSED, refused)
        dns = 0.0
        resolve = ""
        if not target.literal and not self._elsewhere:
            answer = self._resolver.known(target.host)
            if answer is None:
                before = time.monotonic()
                answer = await self._resolver.resolve(target.host)
                dns = time.monotonic() - before
            addresses = answer.addresses if allowed else answer.permitted
            if not addresses:
                return _unresolved(url, target, answer)
            resolve = _resolve_entry(target, addresses)
        return await self._transfer(request, target, resolve, dns, allowed)

    def prefetch(self, host: str) -> None:
        """Begin to resolve the name, so that the first fetch need not wait for it."""
        if not self._elsewhere and not isinstance(read := read_target(f"http://{host}/"), str) and not read.literal:
            self._resolver.prefetch(read.host)

    def allow(self, host: str, port: int) -> None:
        """Let the guard step aside for exactly this host and port."""
        shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
        target = read_target(f"http://{shown}:{port}/")
        if isinstance(target, str):
            raise ConfigError(f"{host}:{port} cannot be allowed: {target}")
        self._allowed.add((target.host, target.port))

    async def close(self) -> None:
        """End what runs (each such fetch returns a Failure), close every connection and the resolver."""
        self._closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        for transfer in self._driver.running.values():
            transfer.code, transfer.message = pycurl.E_ABORTED_BY_CALLBACK, "the fetcher was closed"
        self._driver.close()
        for transfer in self._idle:
            transfer.close()
        self._idle.clear()
        await self._resolver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _refused(self, target: Target) -> str | None:
        """What the guard has to say before any name is resolved."""
        return target_refusal(target, elsewhere=self._elsewhere)

    async def _transfer(
        self, request: Request, target: Target, resolve: str, dns: float, allowed: bool
    ) -> Response | Failure:
        if self._closed:
            return Failure(request.url, ErrorClass.UNEXPECTED, "The fetcher is closed.")
        lines, block = self._header_lines, self._header_block
        if request.headers:
            lines = _lines(_merged(self._headers, request.headers))
            block = _block(lines)
        transfer = self._idle.pop() if self._idle else Transfer(self.settings, self._header_lines, self._room)
        try:
            limit = self.settings.max_body if request.max_body is None else request.max_body
            transfer.prepare(request.url, lines, resolve, limit, self._loop.time(), allowed=allowed)
            future = self._driver.start(transfer)
            if self._sweeper is None:
                self._sweeper = self._loop.call_later(self._sweep_every, self._sweep)
            await future
            request_head = b"GET %b HTTP/1.1\r\nHost: %b\r\n%b" % (
                target.path.encode("ascii"),
                target.authority.encode("ascii"),
                block,
            )
            return await self._concluded(request.url, request_head, transfer, dns)
        except Exception as error:
            # Nothing is known to come here; a crawl goes on if something does, and the URL is tried again.
            return Failure(request.url, ErrorClass.UNEXPECTED, f"{type(error).__name__}: {error}.")
        finally:
            self._give_back(transfer)

    async def _concluded(self, url: str, request_head: bytes, transfer: Transfer, dns: float) -> Response | Failure:
        """The result, with a share of the room where it is large; one that unpacks to much waits for its share first."""
        settings, most = self.settings, self.settings.max_decoded
        if transfer.share is None and transfer.size and most > SMALL_DECODED and transfer.packed:
            small = conclude(url, request_head, transfer, settings, dns, SMALL_DECODED)
            if isinstance(small, Failure) or len(small.content) < SMALL_DECODED:
                return small
            del small
            transfer.share = await self._room.reserve(most)
        result = conclude(url, request_head, transfer, settings, dns, most)
        if transfer.share is not None and isinstance(result, Response):
            finalize(result, transfer.share.give_back).atexit = False
            transfer.share = None
        return result

    def _give_back(self, transfer: Transfer) -> None:
        self._driver.stop(transfer)  # when it was cancelled
        transfer.release()
        if self._closed or len(self._idle) >= IDLE_HANDLES:
            transfer.close()
        else:
            self._idle.append(transfer)

    def _sweep(self) -> None:
        """End the transfers whose first byte or whose speed is overdue."""
        now = self._loop.time()
        for transfer in list(self._driver.running.values()):
            if transfer.stopped_at:
                continue  # it waits for us
            if transfer.deadline and now > transfer.deadline:
                transfer.code = pycurl.E_OPERATION_TIMEDOUT
                self._driver.stop(transfer)
            elif transfer.lines:
                self._check_speed(transfer, now)
            elif now - transfer.started > self.settings.first_byte_timeout:
                sent = transfer.connected_after()
                if sent is not None and now - transfer.started - sent > self.settings.first_byte_timeout:
                    transfer.ended = "first-byte"
                    self._driver.stop(transfer)
        running = self._driver.running and not self._closed
        self._sweeper = self._loop.call_later(self._sweep_every, self._sweep) if running else None

    def _check_speed(self, transfer: Transfer, now: float) -> None:
        received = transfer.size + transfer.header_size
        if not transfer.window_at:  # the wait for the first byte is not held against the speed
            transfer.window_at, transfer.window_size = now, received
        span = now - transfer.window_at
        if span < self.settings.low_speed_seconds or not self.settings.low_speed_bytes:
            return
        if received - transfer.window_size < self.settings.low_speed_bytes * span:
            transfer.ended = "slow"
            self._driver.stop(transfer)
        transfer.window_at, transfer.window_size = now, received


def _unresolved(url: str, target: Target, answer: Answer) -> Failure:
    if answer.error is not None:
        return Failure(url, answer.error, answer.detail)
    return Failure(
        url, ErrorClass.GUARD_REFUSED, f"The guard keeps to the public web: {target.host} is at {answer.refusal}."
    )


def _resolve_entry(target: Target, addresses: tuple[str, ...]) -> str:
    """libcurl's spelling; the plus makes it forget the entry after its own cache time instead of keeping it for ever.

    The name stands as in the URL, with its last dot if it has one: an entry that does not match would send libcurl to a
    resolver of its own.
    """
    shown = ",".join([f"[{address}]" if ":" in address else address for address in addresses])
    return f"+{target.authority.partition(':')[0]}:{target.port}:{shown}"


def _merged(standard: dict[str, str], further: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    names = {name.lower() for name, _ in further}
    return [(name, value) for name, value in standard.items() if name.lower() not in names] + list(further)


def _lines(headers: Collection[tuple[str, str]]) -> tuple[bytes, ...]:
    """Headers as they go over the wire; one that would break out of its line, or has no value, is left out."""
    return tuple(
        f"{name}: {value}".encode("latin-1", "replace")
        for name, value in headers
        if value and not any(ord(char) < 32 or ord(char) == 127 for char in name + value)
    )


def _block(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\r\n" for line in lines) + b"\r\n"
