"""`--metrics-port`: the crawl's figures in Prometheus' text format, from a few lines of asyncio on 127.0.0.1.

Counters are exact whenever they are asked for. Those of the folder (`gossamer_pages_total` and its like) go on where an earlier run
ended; those of the processes (`gossamer_cpu_seconds_total`) begin with this run.
"""

import asyncio
import errno
from collections.abc import Awaitable, Callable, Iterator

import msgspec

from gossamer.cli.limits import Limiting
from gossamer.cli.sample import Sample
from gossamer.errors import GossamerError

__all__ = ["METRICS", "Metric", "render", "serve"]

LONGEST_REQUEST = 8_192
PATIENCE = 5.0

Values = Iterator[tuple[str, float]]


class Metric(msgspec.Struct, frozen=True):
    """One metric: what it is called, what it says, and how it is read off a sample (labels, value)."""

    name: str
    kind: str
    help: str
    read: Callable[[Sample], Values]


def _one(value: Callable[[Sample], float]) -> Callable[[Sample], Values]:
    return lambda sample: iter((("", value(sample)),))


def _urls(s: Sample) -> Values:
    for state in ("queued", "waiting", "done", "redirected", "gone", "refused", "failed"):
        yield f'state="{state}"', getattr(s.stats, state)


def _answers(s: Sample) -> Values:
    for kind in range(6):
        yield f'class="{f"{kind}xx" if kind else "none"}"', s.counts.statuses.get(kind, 0)


def _hosts(s: Sample) -> Values:
    yield from (('state="ready"', s.hosts.ready), ('state="busy"', s.hosts.busy), ('state="waiting"', s.hosts.waiting))
    yield 'state="on-disk"', s.stats.parked


def _limits(s: Sample) -> Values:
    for what in Limiting:
        yield f'by="{what}"', float(s.limit.what is what)


def _duplicates(s: Sample) -> Values:
    yield from (('kind="exact"', s.counts.exact), ('kind="near"', s.counts.near))


METRICS = (
    Metric("gossamer_pages_total", "counter", "Pages answered.", _one(lambda s: s.stats.fetched)),
    Metric("gossamer_bytes_total", "counter", "Bytes of bodies downloaded, as sent.", _one(lambda s: s.stats.size)),
    Metric("gossamer_answers_total", "counter", "Answers of this run by status class.", _answers),
    Metric("gossamer_duplicates_total", "counter", "Copies of stored pages found in this run.", _duplicates),
    Metric("gossamer_retries_total", "counter", "Fetches of this run that are to be tried again.", _one(lambda s: s.counts.retried)),
    Metric("gossamer_robots_denied_total", "counter", "Pages of this run left alone as robots.txt asks.", _one(lambda s: s.counts.denied)),
    Metric("gossamer_links_total", "counter", "Links found in this run.", _one(lambda s: s.counts.links)),
    Metric("gossamer_trapped_total", "counter", "URLs refused as part of a trap.", _one(lambda s: s.stats.trapped)),
    Metric("gossamer_worker_deaths_total", "counter", "Workers that died and were replaced in this run.", _one(lambda s: s.worker_deaths)),
    Metric("gossamer_cpu_seconds_total", "counter", "CPU seconds of all processes of this run.", _one(lambda s: s.cpu_seconds)),
    Metric("gossamer_urls", "gauge", "Known URLs by state.", _urls),
    Metric("gossamer_hosts_known", "gauge", "Hosts ever heard of.", _one(lambda s: s.stats.hosts)),
    Metric("gossamer_hosts_in_play", "gauge", "Hosts with something to fetch: in memory by state, and on disk.", _hosts),
    Metric("gossamer_in_flight", "gauge", "Requests that are out.", _one(lambda s: s.stats.leased)),
    Metric("gossamer_in_flight_most", "gauge", "Requests that may be out at a time.", _one(lambda s: s.capacity)),
    Metric("gossamer_pages_per_second", "gauge", "Pages a second over the last seconds.", _one(lambda s: s.pages_now)),
    Metric("gossamer_bytes_per_second", "gauge", "Bytes a second over the last seconds.", _one(lambda s: s.bytes_now)),
    Metric("gossamer_worker_cpu_ratio", "gauge", "Share of a core that a worker uses, on average.", _one(lambda s: s.worker_cpu)),
    Metric("gossamer_parent_cpu_ratio", "gauge", "Share of a core that the frontier's process uses.", _one(lambda s: s.parent_cpu)),
    Metric("gossamer_memory_peak_bytes", "gauge", "Peak resident memory of all processes together.", _one(lambda s: s.memory)),
    Metric("gossamer_run_seconds", "gauge", "Seconds since this run began.", _one(lambda s: s.seconds)),
    Metric("gossamer_limited", "gauge", "1 for what holds the crawl back right now, 0 for the rest.", _limits),
)  # fmt: skip


def render(sample: Sample) -> str:
    """The text format, version 0.0.4."""
    lines = []
    for metric in METRICS:
        lines.append(f"# HELP {metric.name} {metric.help}")
        lines.append(f"# TYPE {metric.name} {metric.kind}")
        for labels, value in metric.read(sample):
            lines.append(f"{metric.name}{f'{{{labels}}}' if labels else ''} {value:.10g}")
    return "\n".join(lines) + "\n"


async def serve(port: int, take: Callable[[], Awaitable[Sample]]) -> asyncio.Server:
    """Answer GET /metrics on 127.0.0.1; port 0 takes a free one."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
            writer.write(await _reply(head.split(b"\r\n", 1)[0], take))
            await asyncio.wait_for(writer.drain(), PATIENCE)
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass  # whoever asks like that gets no answer
        finally:
            writer.close()

    try:
        return await asyncio.start_server(answer, "127.0.0.1", port, limit=LONGEST_REQUEST)
    except OSError as error:
        reason = "it is in use" if error.errno == errno.EADDRINUSE else (error.strerror or str(error)).lower()
        raise GossamerError(f"cannot serve metrics on port {port}: {reason}; name another, or 0 for any") from None


async def _reply(request: bytes, take: Callable[[], Awaitable[Sample]]) -> bytes:
    match request.split(b" "):
        case [b"GET" | b"HEAD" as verb, target, _] if target.partition(b"?")[0] in (b"/metrics", b"/"):
            status, kind, body = b"200 OK", b"text/plain; version=0.0.4; charset=utf-8", render(await take()).encode()
        case _:
            verb, status, kind, body = b"GET", b"404 Not Found", b"text/plain", b"only GET /metrics is here\n"
    head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    return head % (status, kind, len(body)) + (b"" if verb == b"HEAD" else body)
