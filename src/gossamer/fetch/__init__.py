"""One request, bounded in every direction.

    Request(url, headers)  →  Fetcher.fetch  →  Response | Failure

`Fetcher` knows nothing of queues, robots or pages, and follows no redirect: each hop is a URL of its own. Whatever a server
does, memory, time and headers stay within `FetchSettings`, and nothing raises: what went wrong is a `Failure` with an
`outcome.ErrorClass` and a sentence.

    _client    the way of a request          _target    what a URL asks us to connect to
    _driver    libcurl on the event loop     _guard     which addresses may be spoken to
    _transfer  one libcurl handle            _dns       names to addresses, remembered
    _conclude  what a transfer came to       _decode    gzip, deflate, br, zstd
    _errors    libcurl's codes in a table    _head      status line and headers
"""

from gossamer.fetch._client import Fetcher
from gossamer.fetch._decode import Decoded, decode
from gossamer.fetch._dns import Answer, Resolver, Resolves
from gossamer.fetch._guard import permitted, refusal
from gossamer.fetch._settings import FetchSettings
from gossamer.fetch._target import url_refusal
from gossamer.fetch._values import Failure, Request, Response, Timings, Truncation

__all__ = [
    "Answer",
    "Decoded",
    "Failure",
    "FetchSettings",
    "Fetcher",
    "Request",
    "Resolver",
    "Resolves",
    "Response",
    "Timings",
    "Truncation",
    "decode",
    "permitted",
    "refusal",
    "url_refusal",
]
