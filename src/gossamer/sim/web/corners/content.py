"""What bodies may look like: `charsets`, `compressed`, `meta`, `idn`, `binary`."""

import gzip
import zlib

import brotli
import zstandard

from gossamer.sim.web.model import Answer, Delivery, Request, Settings, Site
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.table import HTML, TableSite, link_to
from gossamer.sim.web.words import hash64

__all__ = ["binary", "charsets", "compressed", "idn", "meta"]

RUSSIAN = "Тихая река течёт мимо старого города, и лодки медленно идут к морю. Рыбаки знают каждый камень на берегу."
JAPANESE = "静かな川が古い町のそばを流れています。舟はゆっくりと海へ向かいます。漁師は岸の石をすべて知っています。"
CHINESE = "安静的河流流过古老的城市，船慢慢地驶向大海。渔夫认识岸边的每一块石头。孩子们在桥上看日落。"
KOREAN = "조용한 강이 오래된 도시 옆을 흐르고 배는 천천히 바다로 갑니다. 어부는 강가의 모든 돌을 압니다."
POLISH = "Cicha rzeka płynie obok starego miasta, a łodzie powoli płyną ku morzu. Rybacy znają każdy kamień na brzegu."
GREEK = "Το ήσυχο ποτάμι κυλά δίπλα στην παλιά πόλη και οι βάρκες πάνε αργά προς τη θάλασσα."


def mixed(sentence: str, name: str) -> list[str]:
    """Paragraphs of the sentence's words in an order that belongs to the name: the same language, never the same text."""
    spaced = " " in sentence
    words = sentence.split() if spaced else [sentence[at : at + 2] for at in range(0, len(sentence), 2)]
    picked = [words[hash64("mixed", name, at) % len(words)] for at in range(240)]
    return [(" " if spaced else "").join(picked[at : at + 30]) for at in range(0, len(picked), 30)]


def charsets(settings: Settings) -> list[Site]:
    """Titles and text in many encodings, declared in the header, in the page, by a BOM, wrongly, or not at all."""
    site = TableSite(settings, "charsets.test")

    def case(
        name: str, words: str, codec: str, header: str | None, inside: str | None, seen_as: str | None = None
    ) -> None:
        """`header` and `inside`: the labels declared; `seen_as`: the codec that a browser would use, where it is another."""
        title = f"{words.split('.')[0].split('。')[0][:40]} ({name})"
        html = write_page(title, mixed(words, name), [], site=site.host, charset=inside)
        shown = title.encode(codec).decode(seen_as or codec, "replace")
        media = "text/html" if header is None else f"text/html; charset={header}"
        site.add(f"/{name}", Answer(200, (("Content-Type", media),), html.encode(codec)), title=shown)

    case("windows-1251-header", RUSSIAN, "cp1251", "windows-1251", None)
    case("windows-1251-meta", RUSSIAN, "cp1251", None, "windows-1251")
    case("windows-1251-undeclared", RUSSIAN, "cp1251", None, None)
    case("koi8-r-header", RUSSIAN, "koi8-r", "koi8-r", None)
    case("shift-jis-meta", JAPANESE, "shift_jis", None, "Shift_JIS")
    case("shift-jis-undeclared", JAPANESE, "shift_jis", None, None)
    case("euc-jp-header", JAPANESE, "euc_jp", "EUC-JP", None)
    case("gbk-header", CHINESE, "gbk", "gb2312", None)
    case("gbk-meta", CHINESE, "gbk", None, "gbk")
    case("big5-header", "安靜的河流流過古老的城市，船慢慢地駛向大海。", "big5", "big5", None)
    case("euc-kr-meta", KOREAN, "euc_kr", None, "euc-kr")
    case("iso-8859-2-header", POLISH, "iso8859-2", "ISO-8859-2", None)
    case("iso-8859-7-meta", GREEK, "iso8859-7", None, "iso-8859-7")
    case("utf-16-bom", RUSSIAN, "utf-16", None, None)
    case("utf-16-le-header", RUSSIAN, "utf-16-le", "utf-16le", None)
    case("utf-8-undeclared", GREEK, "utf-8", None, None)
    case("utf-8-bom-beats-header", GREEK, "utf-8-sig", "windows-1251", None, "utf-8-sig")
    case("header-beats-meta", GREEK, "utf-8", "utf-8", "iso-8859-7")
    case("header-unknown-meta-right", RUSSIAN, "cp1251", "x-no-such-charset", "windows-1251")
    case("wrong-header", RUSSIAN, "utf-8", "windows-1251", "utf-8", "cp1251")
    return [site]


def _deflate_raw(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


PACKERS = {
    "gzip": ("gzip", _gzip),
    "x-gzip": ("x-gzip", _gzip),
    "gzip-two-members": ("gzip", lambda data: _gzip(data[:700]) + _gzip(data[700:])),
    "deflate": ("deflate", zlib.compress),
    "deflate-raw": ("deflate", _deflate_raw),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.compress),
    "gzip-then-br": ("gzip, br", lambda data: brotli.compress(_gzip(data))),
}


def compressed(settings: Settings) -> list[Site]:
    """Every content coding, sent where Accept-Encoding allows it; and codings that lie."""
    site = TableSite(settings, "compressed.test")
    for name, (coding, pack) in PACKERS.items():
        for chunk in (0, 512):
            target = f"/{name}{'-chunked' if chunk else ''}"
            end = f"{target}/linked"
            plain = site.write(target, [link_to(site.url(end), end)]).encode()
            packed = pack(plain)

            def make(
                request: Request,
                coding: str = coding,
                packed: bytes = packed,
                plain: bytes = plain,
                chunk: int = chunk,
            ) -> Answer:
                accepted = {
                    part.partition(";")[0].strip() for part in request.headers.get("accept-encoding", "").split(",")
                }
                if not {part.strip().removeprefix("x-") for part in coding.split(",")} <= accepted:
                    return Answer(200, (HTML, ("Vary", "Accept-Encoding")), plain, fixed=False)
                headers = (HTML, ("Content-Encoding", coding), ("Vary", "Accept-Encoding"))
                return Answer(200, headers, packed, Delivery(chunk=chunk), fixed=False)

            site.add(target, make, links=[end], title=site.title(target))
            site.page(end, linked=False)
    packed = _gzip(site.write("/cut").encode())
    site.add("/cut", Answer(200, (HTML, ("Content-Encoding", "gzip")), packed[: len(packed) // 2]), "free")
    site.add(
        "/not-gzip",
        Answer(200, (HTML, ("Content-Encoding", "gzip")), site.write("/not-gzip").encode()),
        "free",
    )
    site.add(
        "/unknown",
        Answer(200, (HTML, ("Content-Encoding", "x-rot13")), site.write("/unknown").encode()),
        "free",
    )
    site.add(
        "/identity",
        Answer(200, (HTML, ("Content-Encoding", "identity")), site.write("/identity").encode()),
        title=site.title("/identity"),
    )
    return [site]


def meta(settings: Settings) -> list[Site]:
    """What a page asks of robots about itself, where it says it really lives, and where its links start from."""
    site, agent = TableSite(settings, "meta.test"), settings.agent

    def tag(content: str, name: str = "robots") -> str:
        return f'<meta name="{name}" content="{content}">\n'

    def case(name: str, *, kept: bool, followed: bool, head: str = "", header: str | None = None) -> None:
        end = f"/{name}/linked"
        headers = (HTML,) if header is None else (HTML, ("X-Robots-Tag", header))
        site.page(
            f"/{name}",
            "page" if kept else "noindex",
            links=[link_to(site.url(end), end)],
            followed=followed,
            head=head,
            headers=headers,
        )
        site.page(end, "page" if followed else "forbidden", linked=False)

    case("noindex", kept=False, followed=True, head=tag("noindex"))
    case("nofollow", kept=True, followed=False, head=tag("nofollow"))
    case("none", kept=False, followed=False, head=tag("NONE"))
    case("both", kept=False, followed=False, head=tag("noindex, nofollow"))
    case("by-name", kept=False, followed=True, head=tag("noindex", agent))
    case("other-name", kept=True, followed=True, head=tag("noindex,nofollow", "otherbot"))
    case("all", kept=True, followed=True, head=tag("all"))
    case("header-noindex", kept=False, followed=True, header="noindex")
    case("header-nofollow", kept=True, followed=False, header="nofollow")
    case("header-by-name", kept=False, followed=True, header=f"{agent}: noindex")
    case("header-other-name", kept=True, followed=True, header="otherbot: noindex, nofollow")
    site.page("/canonical/copy", head=f'<link rel="canonical" href="{site.url("/canonical/real")}">\n')
    site.page("/canonical/real")
    inside = [link_to(site.url("/base/deep/leaf"), "leaf"), link_to(site.url("/base/up"), "../up")]
    site.page("/base", head=f'<base href="{site.url("/base/deep/")}">\n', links=inside)
    for link in inside:
        site.page(link.url.removeprefix(site.url("")), linked=False)
    return [site]


def idn(settings: Settings) -> list[Site]:
    """Names and paths beyond ASCII, spelled raw, escaped and in punycode."""
    site, books = TableSite(settings, "idn.test"), TableSite(settings, "xn--bcher-kva.test")
    sun = TableSite(settings, "xn--wgv71a.test")  # 日本.test
    for other, shown in ((books, "bücher.test"), (sun, "日本.test")):
        name = other.host
        site.link(f"http://{name}/", f"http://{shown}/")
        site.link(f"http://{name}/", f"http://{shown.upper()}/")
        site.link(f"http://{name}/", f"http://{name}/")
    books.page("/%C3%BCber/uns", href="/über/uns")
    site.link(books.url("/%C3%BCber/uns"), "http://BÜCHER.test/%c3%bcber/uns")
    site.page("/caf%C3%A9/men%C3%BC", href="/café/menü")
    site.link("/caf%C3%A9/men%C3%BC", "/caf%c3%a9/men%c3%bc")
    site.page("/two%20words", href="/two words")
    site.link("/two%20words", "/two%20words")
    site.page("/%E6%97%A5%E6%9C%AC/%E8%AA%9E", href="/日本/語")
    site.page("/search?q=%D1%80%D0%B5%D0%BA%D0%B0", href="/search?q=река")
    site.page("/plus+sign?a=b+c", href="/plus+sign?a=b+c")
    site.page("/tilde/~home", href="/tilde/%7Ehome")
    site.page("/percent%25sign", href="/percent%25sign")
    return [site, books, sun]


def _png() -> bytes:
    """One red point."""

    def part(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + name + data + zlib.crc32(name + data).to_bytes(4)

    size = (1).to_bytes(4) * 2
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", size + b"\x08\x02\0\0\0")
        + part(b"IDAT", zlib.compress(b"\0\xff\0\0"))
        + part(b"IEND", b"")
    )


PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
)


def binary(settings: Settings) -> list[Site]:
    """Things that are not HTML, under their right media types."""
    site = TableSite(settings, "binary.test")
    for name, media, body in (
        ("picture.png", "image/png", _png()),
        ("photo.jpg", "image/jpeg", bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffd9")),
        ("drawing.svg", "image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"><a href="/never"/></svg>'),
        ("paper.pdf", "application/pdf", PDF),
        ("things.zip", "application/zip", b"PK\x05\x06" + bytes(18)),
        ("song.mp3", "audio/mpeg", b"ID3\x03\x00\x00\x00\x00\x00\x00" + bytes(600)),
        ("data.bin", "application/octet-stream", bytes(hash64("bin", at) & 255 for at in range(3000))),
        ("table.json", "application/json", b'{"link": "http://binary.test/never"}'),
        ("script.js", "text/javascript", b'location = "/never";\n'),
        ("style.css", "text/css", b"body { background: url(/never.png) }\n"),
        ("notes.txt", "text/plain", b"Plain text. See http://binary.test/never for more.\n"),
    ):
        site.add(f"/files/{name}", Answer(200, (("Content-Type", media),), body), "binary")
    return [site]
