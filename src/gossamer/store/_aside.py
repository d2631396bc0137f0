"""Damaged bytes out of the way, and never lost: what is cut off or written over lies in DIR/damaged first.

A stretch within a WARC file keeps its length (see `_recover`), so that every offset after it stays true.
"""

import os
from pathlib import Path

from gossamer.store._recover import _blank, _held
from gossamer.store._segment import sync_folder
from gossamer.store._values import translated

__all__ = ["blank", "cut", "keep_aside", "move_aside"]

_CHUNK = 1 << 20


def keep_aside(folder: Path, name: str, data: bytes) -> Path:
    """Bytes into a file of their own, durably."""
    return _written(folder, name, [data])


def move_aside(folder: Path, path: Path) -> Path:
    """A file as it is; one of that name that lies there already keeps its own."""
    aside = _folder(folder)
    target, number = aside / path.name, 0
    while target.exists():
        number += 1
        target = aside / f"{path.name}.{number}"
    try:
        os.rename(path, target)
        sync_folder(aside)
        sync_folder(path.parent)
    except OSError as error:
        raise translated(error, path, "move") from error
    return target


def cut(folder: Path, path: Path, offset: int) -> bool:
    """Cuts off what lies from `offset` on; False while another process writes the file."""
    with _held(path) as fd:
        if fd is None:
            return False
        _copied(folder, path, fd, offset, os.fstat(fd).st_size - offset)
        os.ftruncate(fd, offset)
        os.fsync(fd)
    return True


def blank(folder: Path, path: Path, offset: int, length: int) -> bool:
    """Puts one record of the same length in place of a stretch; False where none is that short."""
    filling = _blank(length)
    if filling is None:
        return False
    with _held(path) as fd:
        if fd is None:
            return False
        _copied(folder, path, fd, offset, length)
        os.pwrite(fd, filling, offset)
        os.fsync(fd)
    return True


def _copied(folder: Path, path: Path, fd: int, offset: int, length: int) -> None:
    chunks = (os.pread(fd, min(_CHUNK, length - at), offset + at) for at in range(0, length, _CHUNK))
    _written(folder, f"{path.name}-{offset}.bytes", list(chunks))


def _written(folder: Path, name: str, chunks: list[bytes]) -> Path:
    aside = _folder(folder)
    target, number = aside / name, 0
    while target.exists():
        number += 1
        target = aside / f"{name}.{number}"
    try:
        with open(target, "xb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(aside)
    except OSError as error:
        raise translated(error, target) from error
    return target


def _folder(folder: Path) -> Path:
    aside = folder / "damaged"
    try:
        aside.mkdir(exist_ok=True)
        sync_folder(folder)
    except OSError as error:
        raise translated(error, aside, "create") from error
    return aside
