"""A new page table in place of the old one, in one step.

    DIR/pages.new    where it is written, while DIR/pages stays as it is
    DIR/pages        after `swap_in`; the old one is removed

Where the system can exchange two folders (Linux, on most disks) there is no instant without a table. Elsewhere the old one steps aside as
DIR/pages.old first; should the process end right there, `settle` finishes the step. Whatever else is left over is removed by it.
"""

import ctypes
import os
import shutil
from pathlib import Path

from gossamer.store._segment import sync_folder

__all__ = ["NEW", "OLD", "new_table", "settle", "swap_in"]

NEW, OLD = "pages.new", "pages.old"

_AT_FDCWD, _EXCHANGE = -100, 2


def new_table(folder: Path) -> Path:
    """An empty folder for the new table."""
    settle(folder)
    new = folder / NEW
    new.mkdir()
    sync_folder(folder)
    return new


def swap_in(folder: Path) -> None:
    """The new table takes the place of the old one."""
    new, pages = folder / NEW, folder / "pages"
    sync_folder(new)
    pages.mkdir(exist_ok=True)
    if not _exchanged(new, pages):
        os.rename(pages, folder / OLD)
        os.rename(new, pages)
    sync_folder(folder)
    settle(folder)


def settle(folder: Path) -> bool:
    """Finish or clear away what a swap that was cut off left; whether there was anything."""
    new, old, pages = folder / NEW, folder / OLD, folder / "pages"
    if not pages.exists():
        if old.exists() and new.exists():  # cut off between two steps: the new one is complete
            os.rename(new, pages)
        elif old.exists():
            os.rename(old, pages)
    left = [path for path in (new, old) if path.exists()]
    for path in left:
        shutil.rmtree(path)
    if left:
        sync_folder(folder)
    return bool(left)


def _exchanged(first: Path, second: Path) -> bool:
    """renameat2(RENAME_EXCHANGE); False where the system or the disk does not have it."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    return bool(call(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _EXCHANGE) == 0)
