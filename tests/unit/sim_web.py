"""What the tests of the synthetic web share: a small web, a plain client, and the plan asked without a server."""

import contextlib
import html
import http.client
import re
import socket

import msgspec

from gossamer.sim.web import (
    Answer,
    Request,
    Running,
    Web,
)
from gossamer.sim.web.names import canonical_target
from gossamer.sim.web.plan import split_url
from gossamer.url import canonicalize, resolve

SMALL = {
    "hosts": 6,
    "pages": 60,
    "corner_pages": 12,
    "slow_seconds": 0.02,
    "bomb_bytes": 3_000_000,
    "bomb_items": 2000,
}


class Got(msgspec.Struct):
    status: int
    headers: dict[str, str]
    body: bytes


def fetch(running: Running, url: str, method: str = "GET", **headers: str) -> Got:
    host, target = split_url(url)
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)) as connection:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, headers={"Host": host} | named)
        answer = connection.getresponse()
        return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


def raw(running: Running, data: bytes, most: int = 1 << 20) -> bytes:
    """Send bytes, read until the server closes or `most` bytes have come."""
    with socket.create_connection(("127.0.0.1", running.port), timeout=10) as plug:
        plug.sendall(data)
        got = b""
        while len(got) < most and (piece := plug.recv(65536)):
            got += piece
        return got


def ask(web: Web, url: str, **known: object) -> Answer:
    """The answer as the plan has it, without a server."""
    host, target = split_url(url)
    return web.answer(host, Request(canonical_target(target), **known))  # type: ignore[arg-type]


ANCHOR = re.compile(r'<a (?:class="logo" )?href="([^"]*)"( rel="nofollow")?>')


def links_of(body: str, url: str) -> set[str]:
    found = ANCHOR.findall(body)
    return {canonicalize(resolve(html.unescape(href), url)) for href, nofollow in found if not nofollow}
