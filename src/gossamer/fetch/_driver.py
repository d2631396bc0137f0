"""Many transfers on one event loop: libcurl's multi handle, its sockets and its clock.

libcurl tells which sockets it waits for and when it next wants to be called; this module does the waiting. The sockets are
watched by an epoll set of our own, of which the event loop sees a single descriptor. That is the whole trick: a request
on a kept connection begins and ends its watch each time, which costs a system call here and several Python objects and
callbacks in the event loop (28 µs of CPU a request against 43 with `pycurl.AsyncCurlMulti`, both with uvloop).

The clock: libcurl moves its deadline with every transfer. The loop's timer is moved only when the deadline comes earlier;
when it fires too early it is set again. With timeouts of many seconds that is about one timer a second.
"""

import asyncio
import select
from typing import Any

import pycurl

from gossamer.fetch._transfer import Transfer

__all__ = ["Driver"]

_IN_OR_ERROR = select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR
_MOST_EVENTS = 256


class Driver:
    """Runs transfers; each one's `future` is done when it has ended, in whatever way."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connections_kept: int) -> None:
        self._loop = loop
        self._multi = multi = pycurl.CurlMulti()
        multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        multi.setopt(pycurl.M_MAXCONNECTS, connections_kept)
        self._epoll = select.epoll()
        self._watched: dict[int, int] = {}
        self.running: dict[Any, Transfer] = {}
        self._still = 0  # transfers that libcurl has not ended, as of its last word
        self._kick_due = False
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._closed = False
        loop.add_reader(self._epoll.fileno(), self._on_ready)

    def start(self, transfer: Transfer) -> asyncio.Future[None]:
        """Begin the transfer; the future never has an exception."""
        future = transfer.future = self._loop.create_future()
        self._multi.add_handle(transfer.curl)
        self.running[transfer.curl] = transfer
        return future

    def stop(self, transfer: Transfer) -> None:
        """End a transfer now; its connection is closed. Nothing happens when it has already ended."""
        if self.running.pop(transfer.curl, None) is not None:
            self._multi.remove_handle(transfer.curl)
            if not transfer.future.done():
                transfer.future.set_result(None)

    def close(self) -> None:
        """End everything and close every connection."""
        if self._closed:
            return
        for transfer in list(self.running.values()):
            self.stop(transfer)
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._multi.close()
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def _on_socket(self, what: int, fd: int, _multi: object, _data: object) -> None:
        old = self._watched.get(fd)
        if what == pycurl.POLL_REMOVE:
            if old is not None:
                del self._watched[fd]
                self._epoll.unregister(fd)
            return
        mask = (select.EPOLLIN if what & pycurl.POLL_IN else 0) | (select.EPOLLOUT if what & pycurl.POLL_OUT else 0)
        if old is None:
            self._epoll.register(fd, mask)
        elif old != mask:
            self._epoll.modify(fd, mask)
        self._watched[fd] = mask

    def _on_timer(self, milliseconds: int) -> None:
        if milliseconds == 0:
            # Not at once: this is called from within libcurl. One call serves all transfers begun in this turn of the loop.
            if not self._kick_due:
                self._kick_due = True
                self._loop.call_soon(self._kick)
        elif milliseconds < 0:
            self._deadline = None
        else:
            self._deadline = at = self._loop.time() + milliseconds / 1000
            if self._timer is None or at < self._timer_at:
                self._arm(at)

    def _arm(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._on_alarm)

    def _on_alarm(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self._deadline > self._loop.time() + 0.0005:
            self._arm(self._deadline)
        else:
            self._kick()

    def _kick(self) -> None:
        self._kick_due = False
        if not self._closed:
            self._act(pycurl.SOCKET_TIMEOUT, 0)
            self._collect()

    def _on_ready(self) -> None:
        watched = self._watched
        for fd, events in self._epoll.poll(0, _MOST_EVENTS):
            if fd in watched:
                self._act(
                    fd,
                    (pycurl.CSELECT_IN if events & _IN_OR_ERROR else 0)
                    | (pycurl.CSELECT_OUT if events & select.EPOLLOUT else 0),
                )
        self._collect()

    def _act(self, fd: int, events: int) -> None:
        try:
            self._still = self._multi.socket_action(fd, events)[1]
        except pycurl.error as error:
            # The multi handle itself is broken; every transfer ends here rather than waiting for ever.
            for transfer in list(self.running.values()):
                transfer.code, transfer.message = pycurl.E_FAILED_INIT, str(error)
                self.stop(transfer)
            self._still = 0

    def _collect(self) -> None:
        """Hand over the transfers that have ended."""
        if self._still >= len(self.running):
            return
        _, succeeded, failed = self._multi.info_read()
        for curl in succeeded:
            self._end(curl, 0, "")
        for curl, code, message in failed:
            self._end(curl, code, message)

    def _end(self, curl: Any, code: int, message: str) -> None:
        transfer = self.running.get(curl)
        if transfer is not None:
            transfer.code, transfer.message = code, message
            self.stop(transfer)
