"""What the C library does with memory that was freed: a worker keeps it, the parent gives it back.

A worker needs some megabytes for the tree of each page and would ask the system for them again and again. In the parent it is RocksDB's compactions that
take tens of megabytes now and then; what they leave free in between would look like a leak to whoever watches the process.
"""

import contextlib
import ctypes

__all__ = ["give_back", "keep"]

KEPT_FREE = 64 << 20
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def keep() -> None:
    """Do not give memory back after each page only to ask for it again."""
    with contextlib.suppress(OSError, AttributeError):  # another C library
        libc = ctypes.CDLL(None)
        libc.mallopt(_TRIM_THRESHOLD, KEPT_FREE)
        libc.mallopt(_MMAP_THRESHOLD, KEPT_FREE)


def give_back() -> None:
    """Return what is free to the system; some milliseconds, for a thread."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
