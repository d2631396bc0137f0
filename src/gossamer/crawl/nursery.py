"""Worker processes by fork, from a process that did nothing but import.

Starting Python and importing what a worker needs costs a third of a CPU second; a small crawl is over in two. So the parent forks
a *nursery* before it opens anything (no thread, no event loop, no database), and the nursery forks each worker on
request: a few milliseconds, and the memory of the libraries is shared. A worker that dies is replaced the same way.

The parent sends the worker's descriptors along with the request and gets the process id back. When the parent is gone, the nursery ends.
"""

import gc
import os
import signal
import socket
import struct
import threading
from collections.abc import Callable
from typing import NoReturn

from gossamer.errors import GossamerError

__all__ = ["Nursery"]

FORK, WAIT = b"F", b"W"
_PID = struct.Struct("<q")


class Nursery:
    """The parent's end. `work` runs in each worker with the descriptors it was given, and never returns to the caller."""

    def __init__(self, work: Callable[[int, int], None]) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._one_at_a_time = threading.Lock()  # an answer belongs to whoever asked last
        gc.freeze()  # what is here now is shared by all, and no collection need touch it
        self._pid = os.fork()
        if self._pid == 0:
            self._socket.close()
            _nurse(theirs, work)
        theirs.close()

    def fork(self, first: int, second: int) -> int:
        """Start a worker with copies of two descriptors; its process id."""
        try:
            with self._one_at_a_time:
                socket.send_fds(self._socket, [FORK], [first, second])
                answer = self._socket.recv(_PID.size)
        except ConnectionError:
            answer = b""
        except OSError as error:
            raise GossamerError(f"cannot start a worker process: {error}") from None
        if not answer:
            raise GossamerError(
                "cannot start a worker process: the process that starts them was killed; run the crawl again to go on"
            )
        if len(answer) != _PID.size or (pid := _PID.unpack(answer)[0]) < 0:
            raise GossamerError("cannot start a worker process: the system has no room for another")
        return int(pid)

    def wait(self, pid: int) -> int:
        """The exit status of a worker that has ended, negative for a signal; blocks until it has."""
        try:
            with self._one_at_a_time:
                self._socket.send(WAIT + _PID.pack(pid))
                answer = self._socket.recv(_PID.size)
        except OSError:
            return 0
        return int(_PID.unpack(answer)[0]) if len(answer) == _PID.size else 0

    def close(self) -> None:
        """End the nursery; workers still there lose their parent and end by themselves."""
        if self._pid:
            self._socket.close()
            os.waitpid(self._pid, 0)
            self._pid = 0
            gc.unfreeze()


def _nurse(requests: socket.socket, work: Callable[[int, int], None]) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(
        signal.SIGHUP, signal.SIG_IGN
    )  # a terminal that closes; workers inherit this, and lose their parent in order
    try:
        while True:
            request, descriptors, _, _ = socket.recv_fds(requests, 1 + _PID.size, 2)
            if not request:
                break
            if request[:1] == FORK:
                requests.send(_PID.pack(_fork(requests, work, descriptors)))
            else:
                _, status = os.waitpid(_PID.unpack(request[1:])[0], 0)
                requests.send(_PID.pack(os.waitstatus_to_exitcode(status)))
    finally:
        _reap()
        os._exit(0)


def _fork(requests: socket.socket, work: Callable[[int, int], None], descriptors: list[int]) -> int:
    try:
        pid = os.fork()
    except OSError:
        pid = -1
    if pid == 0:
        status = 1
        try:
            requests.close()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            work(*descriptors)
            status = 0
        finally:
            os._exit(status)
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


def _reap() -> None:
    """Wait for all that is left, so that its CPU time is counted to the parent's."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
