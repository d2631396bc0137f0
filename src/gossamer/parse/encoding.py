"""Which encoding a body is in: byte order mark, then Content-Type, then the page's own meta element, then a guess.

The order is that of browsers (HTML, "encoding sniffing algorithm"). The guess looks first whether the bytes are valid
UTF-8, which is cheap and nearly always right, and only then asks a statistical detector.
"""

from resiliparse.parse.encoding import detect_encoding

from gossamer.parse.labels import encoding_named
from gossamer.parse.prescan import prescan

__all__ = ["choose_encoding"]

_MARKS = ((b"\xef\xbb\xbf", "UTF-8"), (b"\xff\xfe", "UTF-16LE"), (b"\xfe\xff", "UTF-16BE"))
_SAMPLE = 65_536


def choose_encoding(body: bytes, charset: str | None, html: bool = True) -> tuple[str, str]:
    """The name of the encoding and where it came from: bom, header, meta, detected or default."""
    if body[:1] in (b"\xef", b"\xff", b"\xfe"):
        for mark, name in _MARKS:
            if body.startswith(mark):
                return name, "bom"
    if charset is not None and (named := encoding_named(charset)) is not None:
        return named, "header"
    if html and (found := prescan(body)) is not None:
        return found, "meta"
    return _guess(body)


def _guess(body: bytes) -> tuple[str, str]:
    if body.isascii():
        return "windows-1252", "default"
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A body cut off inside a character is still UTF-8.
        if error.start >= len(body) - 3 and error.reason == "unexpected end of data" and error.start:
            return "UTF-8", "detected"
    else:
        return "UTF-8", "detected"
    detected = detect_encoding(body[:_SAMPLE], html5_compatible=True)
    name = encoding_named(detected) if detected else None
    # It is not UTF-8: that was tried. UTF-16 without a mark is a guess that browsers do not make either.
    if name is None or name in ("UTF-8", "UTF-16LE", "UTF-16BE", "replacement"):
        return "windows-1252", "default"
    return name, "detected"
