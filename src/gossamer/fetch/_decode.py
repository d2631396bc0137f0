"""Undoing Content-Encoding: gzip, deflate, br and zstd, bounded whatever the bytes are.

A few dozen bytes can decompress to gigabytes, so every decoder is asked for a bounded piece at a time and stopped at the
limit: a bomb costs the limit, never its size. The bodies of the web are also often a little wrong, so damage is no
error: what was decoded up to it is the content, and the problem is put into words.

    damaged or cut short     content up to there, and the problem
    over the limit           content up to the limit, and the problem
    plain text after all     the body as it is, and the problem (servers that label plain text as gzip exist)
    no sense at all          empty content, and the problem
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import IO, cast

import brotli
import msgspec
import zstandard
from isal import isal_zlib

__all__ = ["Decoded", "decode"]

MOST_CODINGS = 4
MOST_MEMBERS = 100  # each further gzip member costs a copy of the rest, so their number is part of the bound
MAX_WINDOW = 8 * 1024 * 1024  # RFC 9659 section 3: what a decoder of Content-Encoding: zstd must and need accept
MOST_BLOCKS = 100_000  # of up to 128 KiB each: more are not counted
PIECE = 64 * 1024
SLICE = 512

Decoder = Callable[[Iterator[bytes], int], Iterator[bytes]]
"""(slices of input, step): pieces of output of about `step` bytes at most.

Raises when the input is damaged, `EOFError` when it ends too soon.
"""

# Its stub declares the class as an instance.
_InflateError = cast("type[Exception]", isal_zlib.error)
_DAMAGE = (_InflateError, zlib.error, brotli.error, zstandard.ZstdError, EOFError)


class Decoded(msgspec.Struct, frozen=True):
    """The content, and what was wrong with its coding."""

    content: bytes
    problem: str | None = None


def decode(body: bytes, content_encoding: str, limit: int) -> Decoded:
    """Undo the codings named by the Content-Encoding header, the last first, keeping at most `limit` bytes."""
    names = [name for part in content_encoding.split(",") if (name := part.strip().lower())]
    names = [name for name in names if name not in ("identity", "none")]
    if not body or not names:
        return Decoded(body)
    if len(names) > MOST_CODINGS:
        return Decoded(body, f"the body claims {len(names)} codings, more than {MOST_CODINGS}, and was left as it is")
    problem = None
    for name in reversed(names):
        decoder = _DECODERS.get(name)
        if decoder is None:
            return Decoded(body, problem or f"the coding {name[:40]!r} is not known, so the body was left as it is")
        body, wrong = _undo(decoder, name, body, limit)
        problem = problem or wrong
    return Decoded(body, problem)


def _undo(decoder: Decoder, name: str, data: bytes, limit: int) -> tuple[bytes, str | None]:
    problem = ""
    try:
        # One call with all the input and all the room: what nearly every page needs, and no copy.
        pieces = _within(decoder(iter((data,)), limit + 1), limit)
        content = next(pieces, b"")
        if (second := next(pieces, None)) is not None:
            content = b"".join((content, second, *pieces))
    except _DAMAGE as damage:
        content, problem = _rescue(decoder, data, limit), _in_words(name, damage)
        # A few bytes that end too soon look like anything; only a longer text is one.
        if not content and _looks_plain(data) and (len(data) >= 64 or not isinstance(damage, EOFError)):
            content, problem = data, f"the body is not {name} as it claims, and was left as it is"
    if len(content) > limit:
        content, problem = content[:limit], f"the {name} body decodes to more than {limit} bytes and was cut there"
    return content, problem or None


def _looks_plain(data: bytes) -> bool:
    """Whether the bytes could be text, rather than a compressed body of which nothing could be read."""
    return data[:4] != _ZSTD_MAGIC and not data[:512].translate(None, _TEXT_BYTES)


_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_TEXT_BYTES = bytes((9, 10, 12, 13, 27, *range(32, 127), *range(128, 256)))


def _in_words(name: str, damage: BaseException) -> str:
    if isinstance(damage, EOFError):
        return f"the {name} body ends before its end"
    return f"the {name} body is damaged ({str(damage)[:80]})"


def _rescue(decoder: Decoder, data: bytes, limit: int) -> bytes:
    """What the decoder gives up to the damage.

    A call that fails returns nothing of what it had, so the input is fed in small slices, and then once more with the slice
    that failed fed byte by byte: at most one byte's output is lost, for three times the cost.
    """
    fed = 0

    def slices() -> Iterator[bytes]:
        nonlocal fed
        for start in range(0, len(data), SLICE):
            fed = start
            yield data[start : start + SLICE]

    content = _until_damage(decoder(slices(), PIECE), limit)
    if len(content) > limit:
        return content
    last = data[fed : fed + SLICE]
    head = (data[:fed],) if fed else ()
    return _until_damage(decoder(chain(head, (last[i : i + 1] for i in range(len(last)))), PIECE), limit)


def _until_damage(pieces: Iterator[bytes], limit: int) -> bytes:
    found = []
    with suppress(*_DAMAGE):
        for piece in _within(pieces, limit):
            found.append(piece)  # noqa: PERF402 - extend() would lose the pieces before an exception
    return b"".join(found)


def _within(pieces: Iterator[bytes], limit: int) -> Iterator[bytes]:
    """The pieces up to and with the one that passes the limit."""
    size = 0
    for piece in pieces:
        yield piece
        size += len(piece)
        if size > limit:
            return


def _inflate(slices: Iterator[bytes], step: int, wbits: int) -> Iterator[bytes]:
    """One deflate stream; with gzip's wrapper also the members after it. What follows is ignored, as browsers do."""
    data = next(slices, b"")
    for _ in range(MOST_MEMBERS):
        inflater = isal_zlib.decompressobj(wbits)
        while True:
            output = inflater.decompress(data, step)
            if output:
                yield output
            if inflater.eof:
                break
            data = inflater.unconsumed_tail
            if not data and len(output) < step:
                data = next(slices, b"")
                if not data:
                    raise EOFError
        data = inflater.unused_data
        if wbits != _GZIP:
            return
        while len(data) < 2 and (more := next(slices, b"")):
            data += more
        if data[:2] != b"\x1f\x8b":
            return
    raise _InflateError(f"more than {MOST_MEMBERS} gzip members")


_GZIP, _ZLIB, _RAW = 31, 15, -15


def _gzip(slices: Iterator[bytes], step: int) -> Iterator[bytes]:
    return _inflate(slices, step, _GZIP)


def _deflate(slices: Iterator[bytes], step: int) -> Iterator[bytes]:
    """zlib's wrapper as RFC 9110 says, or none as some servers do: the first two bytes tell."""
    data = next(slices, b"")
    while len(data) < 2 and (more := next(slices, b"")):
        data += more
    wrapped = len(data) >= 2 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
    return _inflate(chain((data,), slices), step, _ZLIB if wrapped else _RAW)


def _brotli(slices: Iterator[bytes], step: int) -> Iterator[bytes]:
    """The step is where the library stops growing its buffer: a piece may be twice as long."""
    decoder = brotli.Decompressor()
    for data in slices:
        yield decoder.process(data, output_buffer_limit=step)
        while not decoder.can_accept_more_data():
            yield decoder.process(b"", output_buffer_limit=step)
        if decoder.is_finished():
            return
    raise EOFError


_ZSTD = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)


class _Slices:
    """Slices of input as the file that zstandard reads from; they are kept, to see afterwards whether the last frame ended."""

    __slots__ = ("_slices", "taken")

    def __init__(self, slices: Iterator[bytes]) -> None:
        self._slices = slices
        self.taken: list[bytes] = []

    def read(self, _size: int) -> bytes:
        data = next(self._slices, b"")
        self.taken.append(data)
        return data


def _zstd(slices: Iterator[bytes], _step: int) -> Iterator[bytes]:
    """Piece by piece even when there is room for all: the library's one-shot call trusts the size that a frame claims."""
    source = _Slices(slices)
    with _ZSTD.stream_reader(cast("IO[bytes]", source), read_across_frames=True) as reader:
        while output := reader.read1(PIECE):
            yield output
    if not _frames_end(b"".join(source.taken)):
        raise EOFError


def _frames_end(data: bytes) -> bool:
    """Whether the last zstd frame is whole, by RFC 8878 section 3.1.1: the library's reader takes a missing end for the end."""
    at, size, steps = 0, len(data), 0
    while at < size:
        if data[at + 1 : at + 4] == b"\x2a\x4d\x18" and data[at] & 0xF0 == 0x50:  # a frame to be skipped
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        if size - at < 5:
            return False
        has_checksum = data[at + 4] & 4
        at += zstandard.frame_header_size(data[at : at + 18])
        last = 0
        while not last:
            block = int.from_bytes(data[at : at + 3], "little")
            last, kind = block & 1, block >> 1 & 3
            at += 3 + (1 if kind == 1 else block >> 3)
            steps += 1
            if at > size or steps > MOST_BLOCKS:
                return at <= size
        at += 4 if has_checksum else 0
    return at == size


_DECODERS: dict[str, Decoder] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
