"""What each of libcurl's error codes means to a crawl: one `ErrorClass` and one sentence each.

The numbers are libcurl's and never change meaning. Codes of protocols that are switched off (FTP, mail ...) cannot occur;
they, and codes of future versions, are `UNEXPECTED`. Where a code covers several cases, the client looks closer first: 7 by
the system's errno, 28 by how far the transfer had come, 23 by why we ended it.
"""

import errno

from gossamer.outcome import ErrorClass

__all__ = ["for_code", "for_connect_errno"]

_E = ErrorClass

_TABLE: dict[int, tuple[ErrorClass, str]] = {
    1: (_E.PROTOCOL_GARBAGE, "What the server sent does not begin as an HTTP answer does."),
    3: (_E.UNEXPECTED, "libcurl could not read the URL."),
    5: (_E.PROXY_FAILED, "The proxy's host name could not be resolved."),
    6: (_E.DNS_FAILED, "The host name could not be resolved."),
    7: (_E.CONNECT_REFUSED, "No connection could be made to the host."),
    8: (_E.PROTOCOL_GARBAGE, "The server's answer breaks the rules of HTTP."),
    9: (_E.GUARD_REFUSED, "Access to the resource was denied."),
    16: (_E.PROTOCOL_GARBAGE, "The HTTP/2 connection broke down."),
    18: (_E.BODY_TRUNCATED, "The connection ended before the whole body had come."),
    23: (_E.UNEXPECTED, "The body could not be taken in."),
    27: (_E.UNEXPECTED, "libcurl ran out of memory."),
    28: (_E.TOTAL_TIMEOUT, "The transfer took longer than allowed."),
    33: (_E.PROTOCOL_GARBAGE, "The server answered a range that nobody asked for."),
    34: (_E.UNEXPECTED, "The request could not be built."),
    35: (_E.TLS_FAILED, "The TLS handshake failed."),
    42: (_E.UNEXPECTED, "The transfer was stopped from within."),
    45: (_E.UNEXPECTED, "The outgoing network interface could not be used."),
    47: (_E.TOO_MANY_REDIRECTS, "Too many redirects were followed."),
    52: (_E.EMPTY_REPLY, "The server closed the connection without an answer."),
    53: (_E.TLS_FAILED, "The TLS engine is missing."),
    54: (_E.TLS_FAILED, "The TLS engine could not be set."),
    55: (_E.RESET, "The connection was cut while the request was sent."),
    56: (_E.RESET, "The connection was cut while the answer was received."),
    58: (_E.TLS_FAILED, "Our own certificate could not be used."),
    59: (_E.TLS_FAILED, "No cipher is shared with the server."),
    60: (_E.TLS_INVALID, "The server's certificate is not valid."),
    61: (_E.DECODE_FAILED, "The transfer coding could not be undone."),
    63: (_E.UNEXPECTED, "The body is larger than libcurl was told to take."),
    64: (_E.TLS_FAILED, "TLS was demanded and could not be had."),
    65: (_E.RESET, "The request could not be sent a second time on a new connection."),
    66: (_E.TLS_FAILED, "The TLS engine did not start."),
    77: (_E.UNEXPECTED, "The file of trusted certificates could not be read."),
    80: (_E.TLS_FAILED, "The TLS connection did not shut down."),
    82: (_E.UNEXPECTED, "The certificate revocation list could not be read."),
    83: (_E.TLS_INVALID, "The certificate's issuer is not the expected one."),
    88: (_E.UNEXPECTED, "A chunk callback failed."),
    89: (_E.UNEXPECTED, "No connection was free for the transfer."),
    90: (_E.TLS_INVALID, "The server's public key is not the pinned one."),
    91: (_E.TLS_INVALID, "The server's certificate status is not valid."),
    92: (_E.RESET, "The HTTP/2 stream was cut by the server."),
    93: (_E.UNEXPECTED, "libcurl was called from within its own callback."),
    95: (_E.PROTOCOL_GARBAGE, "The HTTP/3 connection broke down."),
    96: (_E.CONNECT_REFUSED, "No QUIC connection could be made to the host."),
    97: (_E.PROXY_FAILED, "The handshake with the proxy failed."),
    98: (_E.TLS_INVALID, "The server asks for a client certificate."),
    99: (_E.UNEXPECTED, "libcurl could not wait for the network."),
    100: (_E.HEADER_TOO_LARGE, "A part of the answer is larger than libcurl takes."),
    101: (_E.TLS_FAILED, "Encrypted Client Hello was required and not offered."),
}

_BY_ERRNO = {
    errno.ECONNREFUSED: _E.CONNECT_REFUSED,
    errno.ECONNRESET: _E.CONNECT_REFUSED,
    errno.ETIMEDOUT: _E.CONNECT_TIMEOUT,
    errno.ENETUNREACH: _E.UNREACHABLE,
    errno.EHOSTUNREACH: _E.UNREACHABLE,
    errno.ENETDOWN: _E.UNREACHABLE,
    errno.EHOSTDOWN: _E.UNREACHABLE,
    errno.EADDRNOTAVAIL: _E.UNREACHABLE,
    errno.EACCES: _E.UNREACHABLE,
    errno.EPERM: _E.UNREACHABLE,
    errno.EAFNOSUPPORT: _E.UNREACHABLE,
    errno.EMFILE: _E.UNEXPECTED,
    errno.ENFILE: _E.UNEXPECTED,
}


def for_code(code: int) -> tuple[ErrorClass, str]:
    """The class and the sentence of a libcurl error code; of any integer at all."""
    row = _TABLE.get(code)
    return row if row is not None else (_E.UNEXPECTED, f"libcurl gave up with code {code}.")


def for_connect_errno(number: int) -> ErrorClass:
    """The class of a connection that was not made, by the system's reason."""
    return _BY_ERRNO.get(number, _E.CONNECT_REFUSED)
