"""Where a command writes what it makes: standard output, or a file that is there whole or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from gossamer.errors import GossamerError, disk_trouble

__all__ = ["Sink", "whole_or_not_at_all"]


class Sink(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> int: ...


@contextlib.contextmanager
def whole_or_not_at_all(output: Path | None) -> Iterator[Sink]:
    """A place to write; a file gets its name once all of it is on the disk, and until then the one before stays.

    A terminal, a pipe or a device is written to as it comes.
    """
    if output is None:
        with os.fdopen(os.dup(1), "wb") as out:
            yield out
        return
    path = output.resolve()  # a link stays a link
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as out:
                yield out
            return
        with temporary.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise GossamerError(f"cannot write {output}: {disk_trouble(error)}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
