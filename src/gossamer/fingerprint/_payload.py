"""The digest of a payload: equal digests mean equal bytes."""

import hashlib

from gossamer import _native

__all__ = ["digest", "warc_digest", "warc_form"]


def digest(payload: bytes) -> bytes:
    """SHA-256 of the payload, 32 bytes."""
    return hashlib.sha256(payload).digest()


def warc_digest(payload: bytes) -> str:
    """The digest as `WARC-Payload-Digest` carries it: `sha256:` and base32, padding kept.

    WARC 1.1 (5.9) leaves algorithm and encoding open; base32 is what the `sha1:` digests of existing archives
    use, and readers that verify tell encodings by their length, so the four `=` after 32 bytes have to stay.
    """
    return warc_form(digest(payload))


def warc_form(sha256: bytes) -> str:
    """A digest that is known already, written as `warc_digest` does."""
    return "sha256:" + _native.base32(sha256)
