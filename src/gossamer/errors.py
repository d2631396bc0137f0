"""Every error Gossamer raises on purpose.

    GossamerError
    ├── InvalidURL        a reference that no browser could turn into a URL
    ├── ConfigError       a setting that does not exist or cannot have that value
    ├── FrontierError     the frontier cannot be opened or written
    └── StoreError        what was fetched cannot be written or read

Each carries one sentence that names the cause and, where there is one, the cure. Errors of other libraries are translated
into one of these where they enter; what a *fetch* came to is not an error but a row of `gossamer.outcome`.
"""

import errno
import os

__all__ = ["ConfigError", "FrontierError", "GossamerError", "InvalidURL", "StoreError", "disk_trouble"]


class GossamerError(Exception):
    """Base of all of them; catch this at the edge."""


class InvalidURL(GossamerError, ValueError):
    """The reference cannot be parsed as a URL, alone or against its base."""


class ConfigError(GossamerError, ValueError):
    """A setting that does not exist, or a value it cannot have."""


class FrontierError(GossamerError):
    """The frontier cannot be opened or written."""


class StoreError(GossamerError):
    """What was fetched cannot be written or read; one sentence with the cause and, where there is one, the cure."""


_DISK = {
    errno.ENOSPC: "the disk is full; free some space or store the crawl elsewhere, then run it again",
    errno.EDQUOT: "the disk quota is used up; raise it or store the crawl elsewhere, then run it again",
    errno.EFBIG: "the file would be larger than this system allows; lower the setting warc_bytes or raise the limit (ulimit -f)",
    errno.EROFS: "the disk is read-only; mount it writable or store the crawl elsewhere",
    errno.EACCES: "permission is denied; give this user access to the folder or store the crawl elsewhere",
    errno.EPERM: "permission is denied; give this user access to the folder or store the crawl elsewhere",
    errno.EIO: "the disk reports an input/output error; check it before you go on",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n)",
    errno.ENFILE: "too many files are open on this system",
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of the path is a file, not a folder; choose another folder for the crawl",
    errno.EEXIST: "there is already something else by this name; choose another folder for the crawl",
}


def disk_trouble(error: Exception) -> str:
    """Why the disk refused, and the cure: the end of a sentence. Also for a library that hands on only the system's words."""
    number = error.errno if isinstance(error, OSError) else None
    if number is None:
        number = next((each for each in _DISK if os.strerror(each) in str(error)), None)
    if number in _DISK:
        return _DISK[number]
    return ((error.strerror if isinstance(error, OSError) else None) or str(error)).lower()
