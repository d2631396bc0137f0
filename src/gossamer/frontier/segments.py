"""Segments that are neither sealed nor abandoned: finished URLs whose bytes are not yet known to be durable."""

from collections.abc import Iterator

from rocksdict import WriteBatch

from gossamer.frontier import keys
from gossamer.frontier.contract import Place, Stored
from gossamer.frontier.disk import Disk
from gossamer.frontier.records import UrlRecord

__all__ = ["OpenSegments", "places"]


def places(record: UrlRecord, segment: str) -> Iterator[Place]:
    """What a URL has in a segment: what its last visit brought, or a visit before that."""
    for place in (record.place, record.watch.place if record.watch is not None else None):
        if place is not None and place.segment == segment:
            yield place


class OpenSegments:
    """Kept in memory, over a family that a restart reads them from."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._open: dict[str, list[bytes]] = {}
        for key, _ in disk.items("unsealed"):
            self._open.setdefault(key[:-17].decode(), []).append(key)

    def add(self, place: Place, url: bytes, batch: WriteBatch) -> None:
        """A URL (its key) was finished, and its bytes are in a segment."""
        key = keys.segment(place.segment) + url
        batch.put(key, b"", self._disk.to["unsealed"])
        self._open.setdefault(place.segment, []).append(key)

    def close(self, segment: str, batch: WriteBatch) -> list[bytes]:
        """The segment is no longer in doubt; the keys of the URLs it held."""
        held = self._open.pop(segment, [])
        for key in held:
            batch.delete(key, self._disk.to["unsealed"])
        return [key[-16:] for key in dict.fromkeys(held)]  # a page may be visited twice within one

    def all(self) -> dict[str, list[Stored]]:
        found: dict[str, list[Stored]] = {}
        for segment, held in self._open.items():
            records = (self._disk.url(key[-16:]) for key in dict.fromkeys(held))
            found[segment] = [Stored(r.url, place) for r in records if r is not None for place in places(r, segment)]
        return found
