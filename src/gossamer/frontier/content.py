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


_decode = msgspec.msgpack.Decoder(_First).decode


class ContentIndex:
    """Answers and remembers; writes go into the caller's batch."""

    def __init__(self, disk: Disk, k: int) -> None:
        self._disk = disk
        self._k = k

    def check(self, contents: Sequence[Content], now: float, batch: WriteBatch) -> list[Copy | None]:
        """For each page the earlier one it copies, or None."""
        answers: list[Copy | None] = []
        fresh: dict[bytes, _First] = {}
        fresh_near: list[tuple[int, _First]] = []
        for content in contents:
            digest = content.digest[:16]
            held = self._disk.of["exact"].get(digest)
            first = _decode(held) if held is not None else fresh.get(digest)
            if first is not None and first.url != content.url:
                answers.append(Copy(first.url, near=False, at=first.at))
                continue
            own = _First(content.url, now)
            if first is None:
                fresh[digest] = own
                batch.put(digest, _encode(own), self._disk.to["exact"])
            answers.append(self._nearest(content, own, fresh_near, batch) if content.simhash is not None else None)
        return answers

    def _nearest(
        self,
        content: Content,
        own: _First,
        fresh: list[tuple[int, _First]],
        batch: WriteBatch,
    ) -> Copy | None:
        simhash = content.simhash
        assert simhash is not None
        best, first = self._k + 1, own
        for other, holder in fresh:
            away = distance(simhash, other)
            if away < best and holder.url != content.url:
                best, first = away, holder
        prefixes = [
            table.to_bytes(1, "big") + block.to_bytes(8, "big") for table, block in enumerate(blocks(simhash, self._k))
        ]
        entries: RdictIter = self._disk.of["near"].iter()
        for prefix in prefixes:
            entries.seek(prefix)
            while entries.valid():
                key = entries.key()
                if not key.startswith(prefix):
                    break
                away = distance(simhash, int.from_bytes(key[9:17], "big"))
                if away < best:
                    holder = _decode(entries.value())
                    if holder.url != content.url:
                        best, first = away, holder
                entries.next()
        if best > self._k:
            fresh.append((simhash, own))
            value, suffix = _encode(own), simhash.to_bytes(8, "big")
            for prefix in prefixes:
                batch.put(prefix + suffix, value, self._disk.to["near"])
            return None
        return Copy(first.url, near=True, distance=best, at=first.at)
