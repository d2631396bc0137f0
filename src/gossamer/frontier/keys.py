"""Every key of the embedded engine is built here. Integers are big-endian, so that byte order is their order.

    urls       host(8) url(8)                       record of a known URL; while it is queued, only rank(2) order(8)
    queue      host(8) rank(2) order(8)             its record, while it is queued: a host's queue is one range
    waiting    ms(8) host(8) url(8)                 a URL to be queued again at a time
    due        ms(8) host(8) url(8)                 a finished URL to be visited again at a time
    overdue    host(8) ms(8) url(8)                 one whose time has come, and whose host has others before it
    hosts      host(8)                              record of a host
    shapes     host(8)                              what the host's URLs look like (traps)
    parked     class(1) ms(8) turn(4) host(8)       a host on disk with URLs queued, by front class, next-allowed time and arrival
    active     host(8)                              a host in play: what a restart brings back into memory
    robots     origin(8)                            robots.txt
    unsealed   segment 00 host(8) url(8)            a finished URL whose bytes are not yet durable
    failures   host(8) url(8)                       the dead-letter list
    exact      digest(16)                           who had this content first
    meta       name                                 schema, stats, the last lease id, the time of the last sync
    near       table(1) block(8) simhash(8)         block tables of the near-copy search

Host and URL ids are XXH3. A URL's key has 128 bits of hash in it, so two URLs never share a record by chance; and since
the host comes first, the links of a page mostly fall into the same few blocks of the tables.
"""

from xxhash import xxh3_64_digest

__all__ = ["FAMILIES", "host_id", "millis", "overdue", "parked", "queued", "segment", "url_key", "waiting"]

FAMILIES = (
    "urls",
    "queue",
    "waiting",
    "due",
    "overdue",
    "hosts",
    "shapes",
    "parked",
    "active",
    "robots",
    "unsealed",
    "failures",
    "exact",
    "near",
    "meta",
)


def host_id(host: str) -> bytes:
    return xxh3_64_digest(host.encode("utf-8", "surrogatepass"))


def url_key(host: bytes, url: str) -> bytes:
    return host + xxh3_64_digest(url.encode("utf-8", "surrogatepass"))


def queued(host: bytes, rank: int, order: int) -> bytes:
    return host + rank.to_bytes(2, "big") + order.to_bytes(8, "big")


def millis(at: float) -> bytes:
    return max(0, int(at * 1000)).to_bytes(8, "big")


def waiting(at: float, key: bytes) -> bytes:
    return millis(at) + key


def overdue(at: float, key: bytes) -> bytes:
    return key[:8] + millis(at) + key[8:]


def parked(front: int, at: float, turn: int, host: bytes) -> bytes:
    return front.to_bytes(1, "big") + millis(at) + (turn & 0xFFFFFFFF).to_bytes(4, "big") + host


def segment(name: str) -> bytes:
    return name.encode() + b"\0"
