"""What an answer, or the lack of one, means for the URL that was asked for.

Everything a fetch can come to is a row of one table: a status code, or an `ErrorClass` where no usable answer arrived. A row
says what happens next (`Action`), how many retries are allowed and how far apart, whether the trouble is the whole host's,
whether the body is kept, and why, in a sentence that `explain` prints as it stands.

    a page                200, 203, 206 ...          DONE, stored, links followed
    elsewhere             301, 302, 303, 307, 308    REDIRECT
    unchanged             304                        NOT_MODIFIED
    not here              404, 410                   GONE
    not for us            401, 403, 451, robots      REFUSED: no failure, no rate limit, nothing to repair
    this URL is in trouble  408, 500, 502, 504, resets   RETRY, then DEAD (the dead-letter list)
    this host is in trouble 429, 503, DNS, connect       DEFER_HOST: all its URLs wait, this one is tried again later
    hopeless              400, redirect loops ...    DEAD at once

The table is total: codes without a row of their own take that of their class, as RFC 9110 section 15 asks (an unknown 2xx
is a 200, an unknown 4xx a 400), and what is no status code at all (0, -1, 700) counts as a broken server.
"""

from enum import StrEnum

import msgspec

__all__ = ["Action", "ErrorClass", "Outcome", "for_error", "for_status", "retry_wait", "settled"]

MINUTE = 60.0
HOUR = 3_600.0
LONGEST_WAIT = 24 * HOUR


class Action(StrEnum):
    """What happens to the URL."""

    DONE = "done"
    """The answer is the page: it is kept and its links are followed."""
    REDIRECT = "redirect"
    """The page is elsewhere: the target is checked as any discovered link is, and fetched."""
    NOT_MODIFIED = "not-modified"
    """The copy we have is still the page."""
    RETRY = "retry"
    """This URL is tried again after a wait; its host is not held responsible."""
    DEFER_HOST = "defer-host"
    """The host as a whole waits; this URL is tried again with the others."""
    GONE = "gone"
    """There is no page here; the recrawl looks again at its slowest pace."""
    REFUSED = "refused"
    """The page is not for us to have: a rule, not a failure."""
    DEAD = "dead"
    """Given up: into the dead-letter list, from which an operator can requeue it."""


class ErrorClass(StrEnum):
    """Why a fetch has no usable answer."""

    DNS_NOT_FOUND = "dns-not-found"
    DNS_FAILED = "dns-failed"
    CONNECT_REFUSED = "connect-refused"
    CONNECT_TIMEOUT = "connect-timeout"
    UNREACHABLE = "unreachable"
    PROXY_FAILED = "proxy-failed"
    TLS_INVALID = "tls-invalid"
    TLS_FAILED = "tls-failed"
    FIRST_BYTE_TIMEOUT = "first-byte-timeout"
    TOTAL_TIMEOUT = "total-timeout"
    TOO_SLOW = "too-slow"
    RESET = "reset"
    EMPTY_REPLY = "empty-reply"
    BODY_TRUNCATED = "body-truncated"
    PROTOCOL_GARBAGE = "protocol-garbage"
    HEADER_TOO_LARGE = "header-too-large"
    TOO_MANY_REDIRECTS = "too-many-redirects"
    REDIRECT_LOOP = "redirect-loop"
    REDIRECT_WITHOUT_LOCATION = "redirect-without-location"
    GUARD_REFUSED = "guard-refused"
    ROBOTS_DENIED = "robots-denied"
    ROBOTS_UNREACHABLE = "robots-unreachable"
    DECODE_FAILED = "decode-failed"
    PARSE_FAILED = "parse-failed"
    WORKER_DIED = "worker-died"
    UNEXPECTED = "unexpected"


class Outcome(msgspec.Struct, frozen=True):
    """One row of the table."""

    action: Action
    reason: str
    """A sentence for people."""
    retries: int = 0
    """How many more times the URL may be tried."""
    base_wait: float = 0.0
    """Seconds before the first retry; `retry_wait` doubles it for each further one."""
    at_last: Action = Action.DEAD
    """What the URL becomes when its retries are used up."""
    stores_body: bool = False
    """Whether the body is kept once the URL is settled; the page row is written either way."""

    @property
    def defers_host(self) -> bool:
        """Whether the host's other URLs wait too."""
        return self.action is Action.DEFER_HOST


def for_status(code: int) -> Outcome:
    """The row of an HTTP status; of any integer at all."""
    return _BY_STATUS.get(code, _NO_STATUS)


def for_error(error: ErrorClass) -> Outcome:
    """The row of an error class."""
    return _BY_ERROR[error]


def settled(outcome: Outcome, attempt: int) -> Action:
    """What happens after the `attempt`-th try (the first is 1): the row's action, or its last word once retries are used up."""
    return outcome.action if attempt <= outcome.retries or not outcome.retries else outcome.at_last


def retry_wait(outcome: Outcome, attempt: int, jitter: float = 0.5) -> float:
    """Seconds between the `attempt`-th try (the first is 1) and the next: doubling, never under the base, a day at most.

    `jitter` is a number from 0 to 1 drawn by the caller; it adds up to half, so that URLs that failed together do not
    come back together.
    """
    doublings = min(max(attempt - 1, 0), 32)
    return min(outcome.base_wait * (1 << doublings) * (1.0 + 0.5 * jitter), LONGEST_WAIT)


def _page(reason: str, *, stores_body: bool = True) -> Outcome:
    return Outcome(Action.DONE, reason, stores_body=stores_body)


def _redirect(reason: str) -> Outcome:
    return Outcome(Action.REDIRECT, reason, stores_body=True)


def _retry(retries: int, wait: float, reason: str) -> Outcome:
    return Outcome(Action.RETRY, reason, retries, wait)


def _host(retries: int, wait: float, reason: str) -> Outcome:
    return Outcome(Action.DEFER_HOST, reason, retries, wait)


def _refused(reason: str) -> Outcome:
    return Outcome(Action.REFUSED, reason)


def _dead(reason: str) -> Outcome:
    return Outcome(Action.DEAD, reason)


_NO_STATUS = _retry(2, 10 * MINUTE, "The server sent a number that is no HTTP status code.")

_BY_CLASS = {
    1: _retry(2, 10 * MINUTE, "The server sent an interim status and no final one."),
    2: _page("The server answered with success."),
    3: _page("The server offers other places and names none to follow, so the answer itself is kept."),
    4: _dead("The server calls the request itself wrong, and asking again would be the same request."),
    5: _retry(3, 5 * MINUTE, "The server failed while it made the page."),
}

_OF_ITS_OWN = {
    200: _page("The server sent the page."),
    202: Outcome(
        Action.RETRY,
        "The server accepted the request but has no page yet.",
        retries=2,
        base_wait=5 * MINUTE,
        at_last=Action.DONE,
        stores_body=True,
    ),
    203: _page("A proxy on the way sent its own version of the page."),
    204: _page("The server says there is nothing to show here.", stores_body=False),
    205: _page("The server says there is nothing to show here and asks for a cleared form.", stores_body=False),
    206: _page("The server sent a part that nobody asked for, and what came is kept."),
    300: _page("The server offers several versions; the page that lists them is kept and its links followed."),
    301: _redirect("The page has moved for good."),
    302: _redirect("The page is elsewhere for now."),
    303: _redirect("The answer is to be read at another address."),
    304: Outcome(Action.NOT_MODIFIED, "The page has not changed since the last visit."),
    305: _dead("The server asks for a proxy of its choosing, which no client follows any more."),
    306: _dead("The server sent a status that was withdrawn and has no meaning."),
    307: _redirect("The page is elsewhere for now, to be asked for in the same way."),
    308: _redirect("The page has moved for good, to be asked for in the same way."),
    401: _refused("The page asks for credentials that we do not have."),
    402: _refused("The page asks to be paid for."),
    403: _refused("The server forbids the page, which is a decision and not a rate limit."),
    404: Outcome(Action.GONE, "There is no page at this address."),
    405: _dead("The address does not answer to GET."),
    # The proxy is the operator's own: a missing setting must not cost pages, hence the many patient retries.
    407: _retry(8, 10 * MINUTE, "Our own proxy asks for credentials, so a setting is missing."),
    408: _retry(3, MINUTE, "The server gave up waiting for the request."),
    409: _retry(2, 5 * MINUTE, "The page is in a state of conflict."),
    410: Outcome(Action.GONE, "The page was removed on purpose and for good."),
    412: _retry(1, MINUTE, "The server found our condition not met, so the page is asked for again."),
    414: _dead("The server finds the address too long."),
    418: _refused("The server claims to be a teapot, a joke by which some sites turn crawlers away."),
    421: _retry(2, MINUTE, "The connection led to a server that does not speak for this host."),
    423: _retry(3, 10 * MINUTE, "The page is locked."),
    425: _retry(3, MINUTE, "The server will not risk a replayed request, so it is sent again in the plain way."),
    426: _dead("The server insists on another protocol."),
    429: _host(10, MINUTE, "The host says that we ask too often."),
    431: _dead("The server finds our request headers too large."),
    451: _refused("The page is withheld for legal reasons."),
    499: _retry(3, MINUTE, "A proxy in front of the server closed the request early."),
    501: _dead("The server does not know the method GET."),
    502: _retry(4, MINUTE, "A gateway got no proper answer from the server behind it."),
    503: _host(8, MINUTE, "The host is overloaded or under maintenance."),
    504: _retry(4, MINUTE, "A gateway waited in vain for the server behind it."),
    505: _dead("The server does not speak our version of HTTP."),
    508: _dead("The server found itself in an endless loop."),
    509: _host(5, HOUR, "The host has used up its bandwidth."),
    511: _retry(8, 10 * MINUTE, "Our own network asks for a login before it lets anything through."),
    520: _retry(4, MINUTE, "The site's front got an unknown error from the server behind it."),
    521: _host(5, 5 * MINUTE, "The server behind the site's front refuses connections."),
    522: _host(5, 5 * MINUTE, "The server behind the site's front does not answer connections."),
    523: _host(5, 5 * MINUTE, "The server behind the site's front cannot be reached."),
    524: _retry(4, 5 * MINUTE, "The server behind the site's front took too long to answer."),
    525: _host(3, HOUR, "The site's front cannot agree on encryption with the server behind it."),
    526: _host(3, HOUR, "The server behind the site's front has an invalid certificate."),
    529: _host(8, MINUTE, "The host is overloaded."),
    530: _host(5, 5 * MINUTE, "The site's front cannot find the server behind it."),
    999: _refused("The server turns crawlers away with a code of its own making."),
}

_BY_STATUS = {code: _BY_CLASS[code // 100] for code in range(100, 600)} | _OF_ITS_OWN

_BY_ERROR = {
    ErrorClass.DNS_NOT_FOUND: _host(2, HOUR, "The host name does not exist."),
    ErrorClass.DNS_FAILED: _host(5, MINUTE, "The name servers gave no answer for the host."),
    ErrorClass.CONNECT_REFUSED: _host(5, 5 * MINUTE, "The host refuses connections."),
    ErrorClass.CONNECT_TIMEOUT: _host(4, 5 * MINUTE, "The host does not answer connections."),
    ErrorClass.UNREACHABLE: _host(5, 5 * MINUTE, "There is no route to the host."),
    ErrorClass.PROXY_FAILED: _retry(8, MINUTE, "Our own proxy could not be used."),
    ErrorClass.TLS_INVALID: _host(2, 6 * HOUR, "The host's certificate is not valid."),
    ErrorClass.TLS_FAILED: _host(3, 10 * MINUTE, "No encrypted connection could be agreed on with the host."),
    ErrorClass.FIRST_BYTE_TIMEOUT: _retry(3, 5 * MINUTE, "The server took the request and did not begin to answer."),
    ErrorClass.TOTAL_TIMEOUT: _retry(2, 10 * MINUTE, "The answer did not end within the time allowed."),
    ErrorClass.TOO_SLOW: _retry(2, 10 * MINUTE, "The answer came too slowly to be waited for."),
    ErrorClass.RESET: _retry(4, MINUTE, "The connection was cut while the answer was awaited."),
    ErrorClass.EMPTY_REPLY: _retry(3, MINUTE, "The server closed the connection without a word."),
    ErrorClass.BODY_TRUNCATED: Outcome(
        Action.RETRY,
        "The body ended before its announced length.",
        retries=2,
        base_wait=MINUTE,
        at_last=Action.DONE,
        stores_body=True,
    ),
    ErrorClass.PROTOCOL_GARBAGE: _retry(1, 10 * MINUTE, "What the server sent is not HTTP."),
    ErrorClass.HEADER_TOO_LARGE: _dead("The headers of the answer are larger than allowed."),
    ErrorClass.TOO_MANY_REDIRECTS: _dead("One redirect led to another more often than allowed."),
    ErrorClass.REDIRECT_LOOP: _dead("The redirects lead back to where they began."),
    ErrorClass.REDIRECT_WITHOUT_LOCATION: _dead("The server redirects but names no address that can be followed."),
    ErrorClass.GUARD_REFUSED: _refused("The address is not on the public web, and the guard keeps us there."),
    ErrorClass.ROBOTS_DENIED: _refused("The host's robots.txt asks crawlers to leave this page alone."),
    ErrorClass.ROBOTS_UNREACHABLE: _host(10, HOUR, "The host's robots.txt cannot be read, so nothing may be fetched."),
    ErrorClass.DECODE_FAILED: Outcome(
        Action.RETRY,
        "The compressed body is damaged.",
        retries=1,
        base_wait=10 * MINUTE,
        stores_body=True,
    ),
    # The download is safe: whoever requeues it has it read again from the archive, without asking the host.
    ErrorClass.PARSE_FAILED: Outcome(
        Action.DEAD, "The page was fetched and kept but could not be read.", stores_body=True
    ),
    ErrorClass.WORKER_DIED: _retry(2, 5 * MINUTE, "The worker died or hung while it had this page in hand."),
    ErrorClass.UNEXPECTED: _retry(2, 10 * MINUTE, "Something failed in the crawler itself."),
}
