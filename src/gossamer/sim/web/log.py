"""The log: what the web served, when, to whom. One JSON object a line; it is the oracle of the politeness tests.

Times: `start` and `end` are monotonic seconds of the serving machine (comparable within one run), taken when the head of the
request was complete and when the last byte of the answer was handed to the socket. `wall` is Unix time at `start`, `at` is
web time. `busy` and `connections` are the requests in progress and the connections open for the host at `start`, this
one included.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

__all__ = ["LogWriter", "Served", "read_log"]


class Served(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One request and its answer."""

    start: float
    end: float
    wall: float
    at: float
    host: str
    target: str  # as asked, path and query
    status: int  # 0: the connection was closed or held without an answer
    sent: int  # bytes of the answer, head included
    connection: int
    busy: int = 1
    connections: int = 1
    method: str = "GET"
    agent: str = ""
    if_none_match: str | None = None
    if_modified_since: str | None = None
    retry_after: float | None = None  # seconds for which the host asked to be left alone
    cut: bool = False  # the client, or the answer itself, ended the connection before the end
    address: str = ""

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.target}"


class LogWriter:
    """Keeps lines and writes them in batches: 1 µs a request instead of a system call."""

    def __init__(self, path: Path | str | None = None) -> None:
        self._file: BinaryIO = open(path, "ab") if path is not None else io.BytesIO()  # noqa: SIM115 - closed by close()
        self._lines: list[bytes] = []
        self._encode = msgspec.json.Encoder().encode
        self.count = 0

    def add(self, served: Served) -> None:
        self._lines.append(self._encode(served))
        self.count += 1
        if len(self._lines) >= 2000:
            self.flush()

    def flush(self) -> None:
        if self._lines:
            self._file.write(b"\n".join(self._lines) + b"\n")
            self._lines.clear()
        self._file.flush()

    def served(self) -> list[Served]:
        """Everything so far, where the log is kept in memory."""
        self.flush()
        assert isinstance(self._file, io.BytesIO), "a log in a file is read with read_log"
        return list(_decode(self._file.getvalue().splitlines()))

    def close(self) -> None:
        self.flush()
        if not isinstance(self._file, io.BytesIO):
            self._file.close()


def read_log(path: Path | str) -> list[Served]:
    """The log in a file, in order of completion; a last line cut short by a kill is left out."""
    return list(_decode(Path(path).read_bytes().split(b"\n")[:-1]))


def _decode(lines: list[bytes]) -> Iterator[Served]:
    decode = msgspec.json.Decoder(Served).decode
    return (decode(line) for line in lines if line)
