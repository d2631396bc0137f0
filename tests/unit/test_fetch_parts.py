"""The pure parts of fetching: the guard's judgement, the reading of URLs and heads, the table of errors, the settings."""

import ipaddress

import msgspec
import pycurl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch import FetchSettings, permitted, refusal
from gossamer.fetch._errors import for_code, for_connect_errno
from gossamer.fetch._head import final_head, read_head
from gossamer.fetch._target import Target, read_target
from gossamer.outcome import ErrorClass

PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "223.255.255.254",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "2606:4700:4700::1111",
    "2a00:1450:4001::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
]
PRIVATE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.9",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:8.8.8.8",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a00:1::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "4000::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_permitted(address: str) -> None:
    assert permitted(address), refusal(address)


@pytest.mark.parametrize("address", PRIVATE)
def test_any_other_address_is_refused_by_name(address: str) -> None:
    reason = refusal(address)
    assert reason is not None
    assert reason.startswith(address)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f.1", "1.2.3.4.5", "example.com", "8.8.8.8 "])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert not permitted(text)


@given(st.ip_addresses())
def test_nothing_that_the_library_calls_private_is_ever_permitted(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if address.is_private or address.is_loopback or address.is_multicast or address.is_link_local:
        mapped = getattr(address, "ipv4_mapped", None)
        assert not permitted(str(address)) or (mapped is not None and permitted(str(mapped)))


@given(st.ip_addresses(v=4))
def test_every_form_of_carrying_an_ipv4_address_is_judged_as_that_address(inner: ipaddress.IPv4Address) -> None:
    number = int(inner)
    for outer in (0xFFFF << 32 | number, 0x64FF9B << 96 | number):
        assert permitted(str(ipaddress.IPv6Address(outer))) == permitted(str(inner))
    sixtofour = ipaddress.IPv6Address(0x2002 << 112 | number << 80 | 1)
    assert not permitted(str(sixtofour)) or permitted(str(inner))


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://a.test/", Target("a.test", 80, "a.test", "/", 0)),
        ("https://a.test", Target("a.test", 443, "a.test", "/", 0)),
        ("https://A.test:443/x?y#z", Target("a.test", 443, "A.test", "/x?y", 0)),
        ("http://a.test:8080?q", Target("a.test", 8080, "a.test:8080", "/?q", 0)),
        ("http://a_b.test./", Target("a_b.test", 80, "a_b.test.", "/", 0)),
        ("http://1.2.3.4:81/", Target("1.2.3.4", 81, "1.2.3.4:81", "/", 4)),
        ("http://0x7f.1/", Target("127.0.0.1", 80, "0x7f.1", "/", 4)),
        ("http://2130706433/", Target("127.0.0.1", 80, "2130706433", "/", 4)),
        ("http://0177.0.0.01/", Target("127.0.0.1", 80, "0177.0.0.01", "/", 4)),
        ("http://127.1./", Target("127.0.0.1", 80, "127.1.", "/", 4)),
        ("http://[::1]/", Target("::1", 80, "[::1]", "/", 6)),
        ("http://[0:0::FFFF:7f00:1]:1/", Target("::ffff:7f00:1", 1, "[0:0::FFFF:7f00:1]:1", "/", 6)),
    ],
)
def test_a_url_is_read_as_a_connection_would_be_made(url: str, target: Target) -> None:
    assert read_target(url) == target


@pytest.mark.parametrize(
    "url",
    [
        "",
        "file:///etc/passwd",
        "gopher://a.test/",
        "data:text/html,x",
        "javascript:alert(1)",
        "ftp://a.test/",
        "//a.test/",
        "a.test",
        "HTTP://a.test/",
        "http:/a.test/",
        "http:///",
        "http://",
        "http://./",
        "http://a..test/",
        "http://.a.test/",
        "http://a.test../",
        "http://user@a.test/",
        "http://user:pass@a.test/",
        "http://a.test@127.0.0.1/",
        "http://a.test\\@b.test/",
        "http://a.test:b/",
        "http://a.test:0/",
        "http://a.test:65536/",
        "http://a.test:99999999/",
        "http://*/",
        "http://a,b/",
        "http://a b/",
        "http://a.test/x y",
        "http://a.test/\r\nHost: evil",
        "http://a.test/\x00",
        "http://a.test/é",
        "http://bücher.test/",
        "http://%31/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://0x/",
        "http://a.0x7f/",
        "http://[::1%25eth0]/",
        "http://[v1.x]/",
        "http://[1::2::3]/",
        "http://[::1/",
    ],
)
def test_what_could_be_read_in_two_ways_is_not_read_at_all(url: str) -> None:
    assert isinstance(read_target(url), str)


@pytest.mark.parametrize(("host", "local"), [("localhost", True), ("a.localhost", True), ("notlocalhost", False)])
def test_local_names_are_known(host: str, local: bool) -> None:
    target = read_target(f"http://{host}/")
    assert isinstance(target, Target)
    assert target.is_local_name is local


def lines(text: bytes) -> list[bytes]:
    return text.splitlines(keepends=True)


@pytest.mark.parametrize(
    ("received", "head"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
        (b"HTTP/1.1 100 C\r\n\r\n", b""),
        (b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\n", b""),
        (b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"),
        (b"HTTP/1.1 101 Switch\r\n\r\n", b"HTTP/1.1 101 Switch\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\nTrailer: x\r\n", b"HTTP/1.1 200 OK\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\n\r\nTrailer: x\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"),
        (b"HTTP/1.1 200 OK\nA: b\n\n", b"HTTP/1.1 200 OK\nA: b\n\n"),
        (b"HTTP/1.1 200 OK\r\nHTTP/1.1 404 No\r\n\r\n", b"HTTP/1.1 200 OK\r\nHTTP/1.1 404 No\r\n\r\n"),
        (b"no status\r\n\r\n", b""),
    ],
)
def test_the_final_head_is_found_among_the_lines(received: bytes, head: bytes) -> None:
    assert final_head(lines(received)) == head


@given(
    st.lists(st.sampled_from([b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 103 E\r\n", b"\r\n", b"\n", b"A: b\r\n", b" x\r\n"]))
)
def test_the_final_head_never_fails_and_is_a_block_of_what_came(received: list[bytes]) -> None:
    head = final_head(received)
    assert head in b"".join(received)
    assert not head or (head.startswith(b"HTTP/") and head.endswith(b"\n"))


@given(st.binary(max_size=200))
def test_reading_a_head_never_fails(head: bytes) -> None:
    read = read_head(b"HTTP/1.1 " + head)
    assert all("\n" not in name + value for name, value in read.headers)


def test_a_head_is_read_in_order_and_case() -> None:
    read = read_head(b"HTTP/2 404 \r\nb: 1\r\nA:2\r\nnonsense\r\nC: x\r\n\t y \r\nD: caf\xe9\r\n\r\n")
    assert (read.version, read.status, read.reason) == ("HTTP/2", 404, "")
    assert read.headers == (("b", "1"), ("A", "2"), ("C", "x y"), ("D", "café"))


CODES = sorted({getattr(pycurl, name) for name in dir(pycurl) if name.startswith("E_") and "MULTI" not in name} - {0})


@pytest.mark.parametrize("code", CODES)
def test_every_error_of_libcurl_has_a_class_and_a_sentence(code: int) -> None:
    error, sentence = for_code(code)
    assert isinstance(error, ErrorClass)
    assert sentence[0].isupper() or sentence.startswith("libcurl")
    assert sentence.endswith(".")


@given(st.integers())
def test_the_table_is_total(code: int) -> None:
    assert isinstance(for_code(code)[0], ErrorClass)
    assert isinstance(for_connect_errno(code), ErrorClass)


def test_every_setting_says_what_it_does_and_refuses_what_it_cannot_be() -> None:
    schema = msgspec.json.schema(FetchSettings)["$defs"]["FetchSettings"]["properties"]
    assert [name for name, field in schema.items() if not field.get("description", "").endswith(".")] == []
    for wrong in ({"max_header": 10}, {"connect_to": "no port"}, {"ip_version": "5"}, {"unknown": 1}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, FetchSettings)
