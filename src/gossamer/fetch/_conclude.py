"""What an ended transfer came to: a whole answer, a part of one, or a failure with its reason.

A part is worth keeping when the head is whole and some body came: the WARC marks it as truncated. Why it is a part:

    length       our cap was reached, and we hung up
    time         the total time was over, or the server too slow
    disconnect   the server hung up, or broke its own framing, before the end
"""

import pycurl

from gossamer.fetch._decode import decode
from gossamer.fetch._errors import for_code, for_connect_errno
from gossamer.fetch._head import final_head, read_head
from gossamer.fetch._settings import FetchSettings
from gossamer.fetch._transfer import Transfer
from gossamer.fetch._values import Failure, Response, Truncation
from gossamer.outcome import ErrorClass

__all__ = ["conclude"]

_TIMED_OUT = 28
_COULD_NOT_CONNECT = 7
# Errors after which what has come of the body is still the beginning of the body.
_CUT_OFF = frozenset((16, 18, 55, 56, 61, 92, 95))


def conclude(
    url: str,
    request_head: bytes,
    transfer: Transfer,
    settings: FetchSettings,
    dns: float,
    max_decoded: int,
) -> Response | Failure:
    """The result of a transfer that has ended; of its content at most `max_decoded` bytes."""
    lines = transfer.lines
    if (
        transfer.ended == "header"
        or len(lines) > settings.max_header_count
        or transfer.header_size > settings.max_header
    ):
        detail = f"The headers are over {settings.max_header} bytes or {settings.max_header_count} lines."
        return _failure(url, ErrorClass.HEADER_TOO_LARGE, detail, transfer, dns)
    head = final_head(lines)
    truncated = _truncation(transfer)
    whole = transfer.code == 0 and not transfer.ended
    if head and (whole or (truncated is not None and (transfer.size or transfer.ended == "length"))):
        response = _response(url, request_head, head, transfer, settings, dns, truncated, max_decoded)
        if response.status:
            return response
        error, detail = ErrorClass.PROTOCOL_GARBAGE, "The answer has no status code."
    else:
        error, detail = _reason(transfer, settings)
    return _failure(url, error, detail, transfer, dns)


def _truncation(transfer: Transfer) -> Truncation | None:
    if transfer.ended == "length":
        return "length"
    if transfer.ended == "slow" or transfer.code == _TIMED_OUT:
        return "time"
    return "disconnect" if transfer.code in _CUT_OFF else None


def _reason(transfer: Transfer, settings: FetchSettings) -> tuple[ErrorClass, str]:
    code = transfer.code
    if transfer.ended == "first-byte":
        return (
            ErrorClass.FIRST_BYTE_TIMEOUT,
            f"No answer began within {settings.first_byte_timeout:g} s of the request.",
        )
    if transfer.ended == "slow":
        return (
            ErrorClass.TOO_SLOW,
            f"Under {settings.low_speed_bytes} bytes/s came for {settings.low_speed_seconds:g} s.",
        )
    if code == 0:
        return ErrorClass.PROTOCOL_GARBAGE, "The answer has no head that could be read."
    if code == _TIMED_OUT:
        return _timed_out(transfer, settings)
    if transfer.refused and code == _COULD_NOT_CONNECT:
        return ErrorClass.GUARD_REFUSED, f"The guard keeps to the public web: {transfer.refused}."
    error, sentence = for_code(code)
    if settings.proxy is not None and (code == _COULD_NOT_CONNECT or "CONNECT" in transfer.message):
        error, sentence = ErrorClass.PROXY_FAILED, "The proxy could not be used."
    elif code == _COULD_NOT_CONNECT:
        error = for_connect_errno(transfer.curl.getinfo(pycurl.OS_ERRNO))
    elif code == 56 and transfer.message.startswith("Too "):  # many, or large, response headers
        error = ErrorClass.HEADER_TOO_LARGE
    return error, f"{sentence} ({transfer.message})" if transfer.message else sentence


def _timed_out(transfer: Transfer, settings: FetchSettings) -> tuple[ErrorClass, str]:
    if transfer.lines:
        return ErrorClass.TOTAL_TIMEOUT, f"The answer had not ended after {settings.total_timeout:g} s."
    if transfer.connected_after() is not None:
        return ErrorClass.FIRST_BYTE_TIMEOUT, f"No answer began within {settings.total_timeout:g} s."
    return ErrorClass.CONNECT_TIMEOUT, f"No connection stood within {settings.connect_timeout:g} s."


def _response(
    url: str,
    request_head: bytes,
    head: bytes,
    transfer: Transfer,
    settings: FetchSettings,
    dns: float,
    truncated: Truncation | None,
    max_decoded: int,
) -> Response:
    read = read_head(head)
    body = content = transfer.body
    problem = None
    codings = ",".join([value for name, value in read.headers if name.lower() == "content-encoding"])
    if codings and body:
        decoded = decode(body, codings, max_decoded)
        content, problem = decoded.content, decoded.problem
    return Response(
        url=url,
        status=read.status,
        reason=read.reason,
        version=read.version,
        headers=read.headers,
        head=head,
        request_head=request_head,
        body=body,
        content=content,
        truncated=truncated,
        address=transfer.curl.getinfo(pycurl.PRIMARY_IP) or "",
        timings=transfer.timings(dns),
        decode_problem=problem,
        tls_note=_tls_note(transfer) if settings.insecure and transfer.secure else None,
    )


def _tls_note(transfer: Transfer) -> str | None:
    """What OpenSSL found wrong; a wrong host name it does not look for once nobody insists."""
    code = transfer.curl.getinfo(pycurl.SSL_VERIFYRESULT)
    return _CERTIFICATE_FAULTS.get(code, f"the certificate is not valid (OpenSSL code {code})") if code else None


_CERTIFICATE_FAULTS = {
    9: "the certificate is not valid yet",
    10: "the certificate has expired",
    18: "the certificate is self-signed",
    19: "the certificate chain ends in one that is self-signed and not trusted",
    20: "the certificate's issuer is not known",
    21: "the certificate chain is not complete",
    23: "the certificate was revoked",
}


def _failure(url: str, error: ErrorClass, detail: str, transfer: Transfer, dns: float) -> Failure:
    address = transfer.curl.getinfo(pycurl.PRIMARY_IP) or ""
    return Failure(url, error, detail, address, transfer.timings(dns))
