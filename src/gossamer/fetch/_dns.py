"""Names to addresses: asked once, remembered for as long as the answer says.

aiodns (c-ares) asks; this module decides what is asked and what is remembered.

- An answer lives for the smallest TTL of its records, at least 60 s (a TTL of 0 is a load balancer's wish, not a crawler's)
  and at most an hour. A failure lives for 60 s, so that a host with 1,000 queued URLs costs one question a minute.
- One question in flight a name: whoever asks meanwhile waits for the same answer, and whoever gives up waiting does not
  take it away from the others.
- The name is asked as it stands: no search domains, no /etc/hosts. `localhost` and names below it are loopback, without a
  question (RFC 6761 section 6.3).
- The guard has judged every address before anyone sees the answer: `permitted` are the ones that may be used.
"""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from gossamer.fetch._guard import refusal
from gossamer.outcome import ErrorClass

if TYPE_CHECKING:
    import aiodns

__all__ = ["Answer", "Resolver", "Resolves"]

LEAST_TTL = 60.0
MOST_TTL = 3600.0
FAILURE_TTL = 60.0
MOST_ADDRESSES = 16

# c-ares: ENODATA, ENOTFOUND, EBADNAME, ENONAME (a test compares the numbers with pycares').
_NO_SUCH_NAME = frozenset((1, 4, 8, 19))

Family = Literal["A", "AAAA"]
Ask = Callable[[str, Family], Awaitable[list[tuple[str, float]]]]
"""(name, record type) -> (address, TTL) of each record; raises `aiodns.error.DNSError`."""


class Answer(msgspec.Struct, frozen=True):
    """What is known about a name: addresses, or why there are none."""

    addresses: tuple[str, ...]
    permitted: tuple[str, ...]
    expires: float
    error: ErrorClass | None = None
    detail: str = ""

    @property
    def refusal(self) -> str:
        """Why none of the addresses may be used."""
        return "; ".join(filter(None, map(refusal, self.addresses[:3]))) or "it has no addresses"


class Resolves(Protocol):
    """What a Fetcher needs of a resolver."""

    def known(self, host: str) -> Answer | None:
        """The answer, where it is remembered and still good."""

    async def resolve(self, host: str) -> Answer:
        """The answer; never raises but for cancellation."""

    def prefetch(self, host: str) -> None:
        """Begin to ask, so that the answer is there when it is needed."""

    async def close(self) -> None:
        """Let go of everything."""


class Resolver:
    """The resolver of a process: aiodns behind a cache."""

    def __init__(
        self,
        nameservers: tuple[str, ...] = (),
        *,
        timeout: float = 3.0,
        tries: int = 3,
        ip_version: Literal["auto", "4", "6"] = "auto",
        most: int = 50_000,
        clock: Callable[[], float] = time.monotonic,
        ask: Ask | None = None,
    ) -> None:
        self._nameservers = nameservers
        self._timeout = timeout
        self._tries = tries
        self._families = _families(ip_version)
        self._most = most
        self._clock = clock
        self._ask = ask or self._ask_ares
        self._ares: aiodns.DNSResolver | None = None
        self._answers: dict[str, Answer] = {}
        self._asking: dict[str, asyncio.Task[Answer]] = {}

    def known(self, host: str) -> Answer | None:
        answer = self._answers.get(host)
        return answer if answer is not None and answer.expires > self._clock() else None

    async def resolve(self, host: str) -> Answer:
        answer = self.known(host)
        if answer is not None:
            return answer
        task = self._question(host)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                raise  # it is the waiting that was cancelled; the question goes on for the others
            return Answer((), (), 0.0, ErrorClass.DNS_FAILED, "The resolver was closed before an answer came.")

    def prefetch(self, host: str) -> None:
        if self.known(host) is None:
            self._question(host)

    async def close(self) -> None:
        tasks = list(self._asking.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._ares is not None:
            await self._ares.close()
            self._ares = None

    def _question(self, host: str) -> asyncio.Task[Answer]:
        task = self._asking.get(host)
        if task is None:
            task = self._asking[host] = asyncio.get_running_loop().create_task(self._find(host))
            task.add_done_callback(lambda _: self._asking.pop(host, None))
        return task

    async def _find(self, host: str) -> Answer:
        if host == "localhost" or host.endswith(".localhost"):
            found = _judged(("127.0.0.1", "::1"), self._clock() + MOST_TTL)
        else:
            results = await asyncio.gather(
                *(self._ask(host, family) for family in self._families), return_exceptions=True
            )
            found = self._answer(host, results)
        self._remember(host, found)
        return found

    def _answer(self, host: str, results: list[list[tuple[str, float]] | BaseException]) -> Answer:
        records = [record for result in results if isinstance(result, list) for record in result]
        if records:
            ttl = min(max(min(ttl for _, ttl in records), LEAST_TTL), MOST_TTL)
            addresses = tuple(dict.fromkeys(address for address, _ in records))[:MOST_ADDRESSES]
            return _judged(addresses, self._clock() + ttl)
        expires = self._clock() + FAILURE_TTL
        problems = [result for result in results if isinstance(result, BaseException)]
        for problem in problems:
            code = problem.args[0] if problem.args else None
            if code not in _NO_SUCH_NAME:
                said = str(problem.args[-1]) if problem.args else type(problem).__name__
                return Answer((), (), expires, ErrorClass.DNS_FAILED, f"No answer for the name {host}: {said}.")
        return Answer((), (), expires, ErrorClass.DNS_NOT_FOUND, f"The name {host} has no address.")

    def _remember(self, host: str, answer: Answer) -> None:
        # The oldest answer goes first: close enough to least recently used when all live at most an hour.
        self._answers.pop(host, None)
        while len(self._answers) >= self._most:
            del self._answers[next(iter(self._answers))]
        self._answers[host] = answer

    async def _ask_ares(self, host: str, family: Family) -> list[tuple[str, float]]:
        if self._ares is None:
            import aiodns  # 70 ms, for the first name that is really asked for

            self._ares = aiodns.DNSResolver(
                nameservers=self._nameservers or None, timeout=self._timeout, tries=self._tries
            )
        result = await self._ares.query_dns(host, family)
        # An alias on the way may live shorter than the address it leads to.
        shortest = min((float(record.ttl) for record in result.answer), default=0.0)
        return [(address, shortest) for record in result.answer if (address := getattr(record.data, "addr", None))]


def _judged(addresses: tuple[str, ...], expires: float) -> Answer:
    return Answer(addresses, tuple(a for a in addresses if refusal(a) is None), expires)


def _families(ip_version: Literal["auto", "4", "6"]) -> tuple[Family, ...]:
    if ip_version == "4":
        return ("A",)
    if ip_version == "6":
        return ("AAAA",)
    return ("A", "AAAA") if _has_ipv6_route() else ("A",)


def _has_ipv6_route() -> bool:
    """Whether the kernel would know where to send IPv6; a datagram socket's connect sends nothing."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect(("2001:500::1", 53))
    except OSError:
        return False
    return True
