"""Content seen before, exactly or nearly, in two column families of the embedded engine.

`exact` maps the first 16 bytes of a payload's digest to the URL that had it first. `near` holds, for each block table of
`fingerprint.near`, one entry a fingerprint: the entries that share a block with a new page are one short range, and the
distance decides among them. Nothing is scanned.
"""

from collections.abc import Sequence

import msgspec
from rocksdict import RdictIter, WriteBatch

from gossamer.fingerprint import blocks, distance
from gossamer.frontier.contract import Content, Copy
from gossamer.frontier.disk import Disk

__all__ = ["ContentIndex"]

_encode = msgspec.msgpack.Encoder().encode


class _First(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Who had a content first."""

    url: str
    at: float
    sent: str = ""
    near_of: str = ""


_decode = msgspec.msgpack.Decoder(_First).decode


class ContentIndex:
    """Answers and remembers. What is new is kept in memory until the engine's next transition writes it.

    Should the process die before, the page that brought it is not completed either: it is fetched and remembered again.
    """

    def __init__(self, disk: Disk, k: int) -> None:
        self._disk = disk
        self._k = k
        self._exact: dict[bytes, _First] = {}
        self._near: list[tuple[int, _First]] = []

    def write(self, batch: WriteBatch) -> None:
        """Put what was remembered since the last transition into this one."""
        for digest, first in self._exact.items():
            batch.put(digest, _encode(first), self._disk.to["exact"])
        for simhash, first in self._near:
            value, suffix = _encode(first), simhash.to_bytes(8, "big")
            for prefix in self._prefixes(simhash):
                batch.put(prefix + suffix, value, self._disk.to["near"])
        self._exact.clear()
        self._near.clear()

    def check(self, contents: Sequence[Content], now: float) -> list[Copy | None]:
        """For each page the earlier one it copies, or None."""
        return [self._check(content, now) for content in contents]

    def _check(self, content: Content, now: float) -> Copy | None:
        digest = content.digest[:16]
        first = self._exact.get(digest)
        if first is None and (held := self._disk.of["exact"].get(digest)) is not None:
            first = _decode(held)
        if first is not None and first.url != content.url:
            return Copy(first.url, near=False, at=first.at, sent=first.sent, near_of=first.near_of)
        own = _First(content.url, content.at or now, content.sent)
        near = self._nearest(content.simhash, own) if content.simhash is not None else None
        if first is None:
            self._exact[digest] = own if near is None else msgspec.structs.replace(own, near_of=near.url)
        return near

    def _nearest(self, simhash: int, own: _First) -> Copy | None:
        best, first = self._k + 1, own
        for other, holder in self._near:
            away = distance(simhash, other)
            if away < best and holder.url != own.url:
                best, first = away, holder
        entries: RdictIter = self._disk.of["near"].iter()
        for prefix in self._prefixes(simhash):
            entries.seek(prefix)
            while entries.valid():
                key = entries.key()
                if not key.startswith(prefix):
                    break
                away = distance(simhash, int.from_bytes(key[9:17], "big"))
                if away < best:
                    holder = _decode(entries.value())
                    if holder.url != own.url:
                        best, first = away, holder
                entries.next()
        if best <= self._k:
            return Copy(first.url, near=True, distance=best, at=first.at)
        self._near.append((simhash, own))
        return None

    def _prefixes(self, simhash: int) -> list[bytes]:
        return [
            table.to_bytes(1, "big") + block.to_bytes(8, "big") for table, block in enumerate(blocks(simhash, self._k))
        ]
