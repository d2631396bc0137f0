"""gzip, as a stream: a bomb costs what is read of it, a truncated file gives what it has.

Sitemaps arrive gzipped because they are stored so (`sitemap.xml.gz`), and now and then gzipped twice, by the site and again
by its server. The magic number decides, not the name and not the media type.
"""

from collections.abc import Iterator

from isal import isal_zlib

from gossamer.sitemap._problems import Problems
from gossamer.sitemap._values import SitemapBounds

__all__ = ["unpacked"]

_CHUNK = 65_536
_MAGIC = b"\x1f\x8b\x08"
_LAYERS = 2
# A file of empty members costs a decompressor each; block-wise writers make one every 64 KiB, some 800 in 50 MiB.
_MEMBERS = 4_096


def unpacked(body: bytes, bounds: SitemapBounds, problems: Problems) -> Iterator[bytes]:
    """The body in pieces, free of gzip, and no more of it than the bounds allow."""
    chunks: Iterator[bytes] = (body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK))
    first = next(chunks, b"")
    for _ in range(_LAYERS):
        if not first.startswith(_MAGIC):
            break
        # Each layer is capped by itself: else the outer file of a bomb within a bomb could be read without end.
        chunks = _capped(_gunzip(_with(first, chunks), problems), bounds.bytes_unpacked, problems)
        first = next(chunks, b"")
    if first.startswith(_MAGIC):
        problems.add(f"gzipped more than {_LAYERS} times")
        return iter(())
    return _capped(_with(first, chunks), bounds.bytes_unpacked, problems)


def _with(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks


def _capped(chunks: Iterator[bytes], most: int, problems: Problems) -> Iterator[bytes]:
    for chunk in chunks:
        if len(chunk) > most:
            problems.add("longer than allowed; the rest was not read")
            problems.cut = True
            if most:
                yield chunk[:most]
            return
        most -= len(chunk)
        yield chunk


def _gunzip(chunks: Iterator[bytes], problems: Problems) -> Iterator[bytes]:
    """The decompressed bytes in pieces of a chunk or two, whatever the sizes of the members."""
    ready: list[bytes] = []
    size = 0
    for piece in _members(chunks, problems):
        ready.append(piece)
        size += len(piece)
        if size >= _CHUNK:
            yield b"".join(ready)
            ready, size = [], 0
    if ready:
        yield b"".join(ready)


def _members(chunks: Iterator[bytes], problems: Problems) -> Iterator[bytes]:
    """Members one after the other (RFC 1952, 2.2); zeros after the last are padding, as for gzip itself."""
    member = isal_zlib.decompressobj(wbits=31)
    left = _MEMBERS
    try:
        for chunk in chunks:
            data = chunk
            # The input comes in chunks because unconsumed_tail is a copy: of a whole body that would be quadratic.
            while data:
                if member.eof:
                    data = data.lstrip(b"\0")
                    if not data:
                        break
                    if not data.startswith(_MAGIC[: len(data)]):
                        problems.add("bytes behind the end of the gzip file were ignored")
                        return
                    left -= 1
                    if not left:
                        problems.add(f"more than {_MEMBERS} gzip members; the rest was not read")
                        problems.cut = True
                        return
                    member = isal_zlib.decompressobj(wbits=31)
                out = member.decompress(data, _CHUNK)
                data = member.unused_data if member.eof else member.unconsumed_tail
                if out:
                    yield out
        while not member.eof and (out := member.decompress(b"", _CHUNK)):
            yield out
    except isal_zlib.error as error:  # type: ignore[misc]  # typed as an instance by isal
        problems.add("the gzip file is damaged; what came before was read", str(error))
        problems.cut = True
        return
    if not member.eof:
        problems.add("the gzip file is cut off; what it had was read")
        problems.cut = True
