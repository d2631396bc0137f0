"""Content codings: what is whole, what is cut, what is damaged, what is too much."""

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch import decode

PAGE = b"".join(b"<p>paragraph %d of the page, %d</p>\n" % (n, n * n) for n in range(9000))  # three blocks of zstd
LIMIT = 1_000_000


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "br": ("br", lambda data: brotli.compress(data, quality=4)),
    "zstd": ("zstd", zstandard.ZstdCompressor(write_checksum=True).compress),
    "zstd stream": ("zstd", lambda data: zstandard.ZstdCompressor(write_content_size=False).compress(data)),
}
every_coding = pytest.mark.parametrize("kind", PACKERS)


@every_coding
def test_a_whole_body_is_decoded_without_complaint(kind: str) -> None:
    name, pack = PACKERS[kind]
    for data in (b"", b"x", PAGE):
        decoded = decode(pack(data), name, LIMIT)
        assert (decoded.content, decoded.problem) == (data, None)


@every_coding
@given(data=st.binary(max_size=3000))
def test_whatever_is_packed_comes_out_again(kind: str, data: bytes) -> None:
    name, pack = PACKERS[kind]
    assert decode(pack(data), name.upper(), LIMIT).content == data


@every_coding
def test_the_limit_is_exact(kind: str) -> None:
    name, pack = PACKERS[kind]
    packed = pack(PAGE)
    assert decode(packed, name, len(PAGE)).problem is None
    over = decode(packed, name, len(PAGE) - 1)
    assert over.content == PAGE[:-1]
    assert over.problem is not None
    assert "more than" in over.problem


@every_coding
def test_a_body_that_ends_too_soon_gives_its_beginning(kind: str) -> None:
    name, pack = PACKERS[kind]
    packed = pack(PAGE)
    longest = 0
    for keep in (1, 5, 50, len(packed) // 2, len(packed) * 9 // 10):
        decoded = decode(packed[:keep], name, LIMIT)
        assert decoded.problem is not None, keep
        assert PAGE.startswith(decoded.content), keep
        longest = max(longest, len(decoded.content))
    assert longest > len(PAGE) // 2


@every_coding
def test_a_damaged_body_gives_what_came_before_the_damage(kind: str) -> None:
    name, pack = PACKERS[kind]
    packed = bytearray(pack(PAGE))
    middle = len(packed) // 2
    packed[middle : middle + 40] = bytes(range(200, 240))
    decoded = decode(bytes(packed), name, LIMIT)
    assert decoded.problem is not None or decoded.content != PAGE
    same = next(
        (n for n, (a, b) in enumerate(zip(decoded.content, PAGE, strict=False)) if a != b), len(decoded.content)
    )
    assert same > len(PAGE) // 4


@every_coding
@given(data=st.binary(min_size=1, max_size=300))
def test_no_bytes_at_all_make_it_fail(kind: str, data: bytes) -> None:
    name, pack = PACKERS[kind]
    assert len(decode(data, name, 1000).content) <= 1000
    assert len(decode(pack(PAGE[:2000])[:100] + data, name, 1000).content) <= 1000


@every_coding
def test_plain_text_that_claims_to_be_packed_is_left_as_it_is(kind: str) -> None:
    text = b"<!doctype html><p>Plain text, \xc3\xa4\xc3\xb6\xc3\xbc, that was never packed.</p>" * 20
    decoded = decode(text, PACKERS[kind][0], LIMIT)
    assert decoded.content == text
    assert decoded.problem is not None


@pytest.mark.parametrize("name", ["gzip", "br", "zstd"])
def test_binary_that_makes_no_sense_gives_no_content(name: str) -> None:
    decoded = decode(b"\x1f\x8b\x00\x01\x02\x03" * 100, name, LIMIT)
    assert decoded.content == b""
    assert decoded.problem is not None


def test_the_members_of_a_gzip_body_are_one_content() -> None:
    packed = gzip.compress(b"one") + gzip.compress(b"two") + b"\0\0 padding"
    assert decode(packed, "gzip", LIMIT).content == b"onetwo"
    assert decode(packed, "gzip", LIMIT).problem is None


def test_a_flood_of_gzip_members_is_bounded() -> None:
    decoded = decode(gzip.compress(b"x") * 20_000, "gzip", LIMIT)
    assert decoded.content == b"x" * 100
    assert decoded.problem is not None
    assert "members" in decoded.problem


def test_frames_of_zstd_follow_each_other_and_some_are_skipped() -> None:
    pack = zstandard.ZstdCompressor(write_checksum=True).compress
    packed = pack(b"one") + b"\x50\x2a\x4d\x18\x03\0\0\0abc" + pack(b"two")
    decoded = decode(packed, "zstd", LIMIT)
    assert (decoded.content, decoded.problem) == (b"onetwo", None)


@pytest.mark.parametrize(
    ("header", "packed"),
    [
        ("gzip, br", brotli.compress(gzip.compress(PAGE))),
        ("br,gzip", gzip.compress(brotli.compress(PAGE))),
        ("identity, gzip", gzip.compress(PAGE)),
        (" GZIP ,", gzip.compress(PAGE)),
        ("identity", PAGE),
        ("none", PAGE),
        ("", PAGE),
    ],
)
def test_several_codings_are_undone_from_the_last(header: str, packed: bytes) -> None:
    decoded = decode(packed, header, LIMIT)
    assert (decoded.content, decoded.problem) == (PAGE, None)


def test_an_unknown_coding_leaves_the_body_and_says_so() -> None:
    decoded = decode(b"abc", "compress", LIMIT)
    assert decoded.content == b"abc"
    assert decoded.problem is not None
    assert "compress" in decoded.problem


def test_codings_without_end_are_not_begun() -> None:
    decoded = decode(gzip.compress(b"abc"), ",".join(["gzip"] * 100), LIMIT)
    assert decoded.problem is not None
    assert decoded.content == gzip.compress(b"abc")
