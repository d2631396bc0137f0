"""The digest of a payload: equal digests mean equal bytes."""

import base64
import hashlib

__all__ = ["digest", "warc_digest"]


def digest(payload: bytes) -> bytes:
    """SHA-256 of the payload, 32 bytes."""
    return hashlib.sha256(payload).digest()


def warc_digest(payload: bytes) -> str:
    """The digest as `WARC-Payload-Digest` carries it: `sha256:` and base32, padding kept.

    WARC 1.1 (5.9) leaves algorithm and encoding open; base32 is what the `sha1:` digests of existing archives
    use, and readers that verify tell encodings by their length, so the four `=` after 32 bytes have to stay.
    """
    return "sha256:" + base64.b32encode(digest(payload)).decode("ascii")
