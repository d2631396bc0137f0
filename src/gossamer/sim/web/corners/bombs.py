"""Answers made to hurt: `bombs`. What the crawler keeps of them is free; it must stay small, go on, and harm no other host."""

import functools
import zlib

import brotli
import zstandard

from gossamer.sim.web.model import Answer, Delivery, Node, Request, Settings, Site
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.table import HTML, TEXT, Spot, TableSite, always, link_to
from gossamer.sim.web.words import hash64, paragraphs, slug

__all__ = ["bombs"]

BLOCK = 1_000_000
SPACES = b" " * BLOCK
ENDLESS = 10**12
FARM = "bombs-farm.test"


def bombs(settings: Settings) -> list[Site]:
    """Decompression and parser bombs, endless and dripping bodies, floods of headers, cookies, links and subdomains."""
    site = TableSite(settings, "bombs.test")
    size, items = settings.bomb_bytes, settings.bomb_items

    def packed(coding: str, make: "functools.partial[bytes]") -> None:
        site.add(
            f"/{coding}-bomb",
            lambda request: Answer(200, (HTML, ("Content-Encoding", coding)), make(), fixed=False),
            "free",
        )

    packed("gzip", functools.partial(gzip_bomb, size))
    packed("deflate", functools.partial(deflate_bomb, size))
    packed("br", functools.partial(brotli_bomb, size))
    packed("zstd", functools.partial(zstd_bomb, size))
    line = b"<p>" + " ".join(paragraphs(4000, "endless")).encode() + b"</p>\n"
    site.add("/endless-chunks", Answer(200, (HTML,), line, Delivery(chunk=65536, repeat=ENDLESS)), "free")
    site.add("/endless-length", Answer(200, (HTML,), line, Delivery(repeat=ENDLESS)), "free")
    site.add("/endless-close", Answer(200, (HTML,), line, Delivery(length=-1, repeat=ENDLESS)), "free")
    site.add("/drip", Answer(200, (HTML,), line, Delivery(length=len(line), chunk=1, drip=0.5)), "free")
    site.add("/silence", Answer(200, (HTML,), line, Delivery(mute=True)), "free")

    def lazily(name: str, make: "functools.partial[bytes]") -> None:
        site.add(f"/{name}", lambda request: Answer(200, (HTML,), make(), fixed=False), "free")

    lazily("nested-tags", functools.partial(many, b"<div>", items, b"deep down"))
    lazily("nested-formatting", functools.partial(many, b"<b><p>", items // 2, b"deep down"))
    lazily("attributes", functools.partial(attributes, items // 2))
    lazily("links", functools.partial(links, items // 2))
    lazily("one-word", functools.partial(many, b"a", min(size, 5_000_000), b""))
    lazily("entities", functools.partial(many, b"&lt;", items, b""))
    lazily("long-url", functools.partial(long_url, min(size, 1_000_000)))
    flood = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

    def heads(name: str, make: "functools.partial[bytes]") -> None:
        site.add(
            f"/{name}",
            lambda request: Answer(200, (), b"<p>done</p>", Delivery(raw=make()), fixed=False),
            "free",
        )

    heads(
        "many-headers",
        functools.partial(head, flood, "X-Padding: nothing to see in this one either\r\n", items),
    )
    heads("long-header", functools.partial(head, flood + "X-Padding: ", "padding ", items, "\r\n"))
    heads(
        "many-cookies",
        functools.partial(head, flood, "Set-Cookie: a=b; Domain=.test; Max-Age=99999\r\n", items // 10),
    )
    heads("interim-answers", functools.partial(head, "", "HTTP/1.1 103 Early Hints\r\n\r\n", items, flood))
    return [site, _mute(settings), _robots(settings), _sitemap(settings), _farm(settings)]


@functools.lru_cache(maxsize=1)
def raw_bomb(blocks: int) -> bytes:
    """Deflate blocks that end in a full flush depend on nothing before them: one, repeated, is as good as many."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(SPACES) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * blocks + packer.flush()


def gzip_bomb(size: int) -> bytes:
    blocks = size // BLOCK
    trailer = repeated_crc(zlib.crc32(SPACES), BLOCK, blocks).to_bytes(4, "little") + (blocks * BLOCK % 2**32).to_bytes(
        4, "little"
    )
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + raw_bomb(blocks) + trailer


def deflate_bomb(size: int) -> bytes:
    count = size // BLOCK * BLOCK
    # Adler-32 of `count` spaces in closed form (RFC 1950, 8.2).
    low, high = (1 + 32 * count) % 65521, (count + 32 * (count * (count + 1) // 2)) % 65521
    return b"\x78\xda" + raw_bomb(size // BLOCK) + (high << 16 | low).to_bytes(4)


def repeated_crc(crc: int, length: int, times: int) -> int:
    """CRC-32 of a block repeated, from that of the block: in CRC arithmetic a shift by n bytes is a product with x^(8n)."""
    shift, power, exponent = 1 << 31, 1 << 30, 8 * length
    while exponent:
        if exponent & 1:
            shift = _times(shift, power)
        power = _times(power, power)
        exponent >>= 1
    total = 0
    for _ in range(times):
        total = _times(shift, total) ^ crc
    return total


def _times(a: int, b: int) -> int:
    """The product of two polynomials modulo that of CRC-32, lowest power in the highest bit."""
    product = 0
    for place in range(31, -1, -1):
        if a >> place & 1:
            product ^= b
        b = b >> 1 ^ (0xEDB88320 if b & 1 else 0)
    return product


@functools.lru_cache(maxsize=1)
def brotli_bomb(size: int) -> bytes:
    """Bounded at 256 MB: blocks of this format cannot be repeated, so all of it is really packed."""
    packer = brotli.Compressor(quality=3)
    parts = [packer.process(SPACES) for _ in range(min(size, 256_000_000) // BLOCK + 1)]
    return b"".join([*parts, packer.finish()])


def zstd_bomb(size: int) -> bytes:
    return zstandard.compress(SPACES) * (size // BLOCK + 1)


def many(piece: bytes, count: int, end: bytes) -> bytes:
    return b"<!DOCTYPE html><title>Many</title><body>" + piece * count + end


def attributes(count: int) -> bytes:
    return b"<!DOCTYPE html><title>Attributes</title><p " + b" ".join(b"a%d=1" % n for n in range(count)) + b">text</p>"


def links(count: int) -> bytes:
    """Very many links to very few pages."""
    return b"<!DOCTYPE html><title>Links</title>" + b"".join(
        b'<a href="/?utm_id=%d#%d">%d</a>\n' % (n, n, n) for n in range(count)
    )


def long_url(size: int) -> bytes:
    return (
        b'<!DOCTYPE html><title>Long</title><a href="/long/'
        + b"x" * size
        + b'">long</a><a href="/long?'
        + b"a=1&" * (size // 4)
        + b'">long</a>'
    )


def head(start: str, piece: str, count: int, end: str = "") -> bytes:
    return (start + piece * count + end + "\r\n").encode()


def _mute(settings: Settings) -> Site:
    """Accepts every connection and never says a word."""
    site = TableSite(settings, "bombs-mute.test")
    silence = Answer(0, delivery=Delivery(mute=True), fixed=False)
    site.rules.append(lambda target: Spot(Node(site.url(target), "free"), always(silence)))
    return site


def _robots(settings: Settings) -> Site:
    """A robots.txt without end: what its first 500 KiB say counts."""
    site = TableSite(settings, "bombs-robots.test")
    start = b"User-agent: *\nDisallow: /closed/\n" + b"# and so on\n" * 60_000
    site.add("/robots.txt", Answer(200, (TEXT,), start, Delivery(length=-1, repeat=ENDLESS)), linked=False)
    site.page("/closed/one", "forbidden")
    return site


def _sitemap(settings: Settings) -> Site:
    """Sitemaps that unpack to a gigabyte, expand to billions of entities, or name themselves for ever."""
    site = TableSite(settings, "bombs-sitemap.test")
    names = ("packed.xml.gz", "entities.xml", "children-0.xml")
    robots = "User-agent: *\nDisallow:\n" + "".join(f"Sitemap: {site.url('/' + name)}\n" for name in names)
    site.add("/robots.txt", Answer(200, (TEXT,), robots.encode()), linked=False)
    xml = ("Content-Type", "application/xml")

    def gz(request: Request) -> Answer:
        return Answer(200, (("Content-Type", "application/gzip"),), gzip_bomb(settings.bomb_bytes), fixed=False)

    site.add("/packed.xml.gz", gz, "free", linked=False)
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "lol"}">' for n in range(10))
    body = f'<?xml version="1.0"?><!DOCTYPE urlset [{laughs}]><urlset><url><loc>&l9;</loc></url></urlset>'
    site.add("/entities.xml", Answer(200, (xml,), body.encode()), "free", linked=False)

    def children(target: str) -> Spot | None:
        number = target.removeprefix("/children-").removesuffix(".xml")
        if not number.isdecimal():
            return None
        locs = "".join(
            f"<sitemap><loc>{site.url(f'/children-{int(number) * 10 + n + 1}.xml')}</loc></sitemap>" for n in range(10)
        )
        return Spot(
            Node(site.url(target), "trap"),
            always(Answer(200, (xml,), f"<sitemapindex>{locs}</sitemapindex>".encode())),
        )

    site.rules.append(children)
    return site


def _farm(settings: Settings) -> Site:
    """Endlessly many subdomains, each with pages that link to more of them."""
    home = TableSite(settings, FARM)

    def member(host: str) -> Site:
        site = home if host == FARM else TableSite(settings, host, size=1)

        def rule(target: str) -> Spot | None:
            if target == "/robots.txt" or (site is home and home.tree.page(target) is not None):
                return None
            names = [slug(hash64(host, target, way) % 65_000) for way in range(10)]
            onward = [link_to(f"http://{name}.{FARM}/") for name in names] + [link_to(site.url(f"/{names[0]}"))]
            body = write_page(f"Best {names[0]}", paragraphs(700, host, target), onward, site=host).encode()
            return Spot(Node(site.url(target), "trap", tuple(link.url for link in onward)), always(Answer(body=body)))

        site.rules.append(rule)
        return site

    for number in range(5):
        home.link(f"http://{slug(number)}.{FARM}/")
    home.family = functools.lru_cache(maxsize=1024)(member)
    return member(FARM)
