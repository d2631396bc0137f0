"""Bytes to text as the Encoding Standard says it, on top of Python's codecs, which differ from it in small ways.

Python leaves holes where the standard has control characters (windows-1252 0x81), reads some East Asian bytes as other
characters than browsers do (EUC-JP 0xA1C1), and does not know the rows that NEC and IBM added. Each difference is one entry
of a table here; decoding itself stays in C. Nothing raises: what cannot be read is U+FFFD.
"""

import codecs
import functools
import re
from collections.abc import Callable

__all__ = ["decode"]

_PYTHON = {
    "UTF-8": "utf-8",
    "IBM866": "cp866",
    "macintosh": "mac-roman",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac-cyrillic",
    "ISO-8859-8-I": "iso8859-8",
    "UTF-16LE": "utf-16-le",
    "UTF-16BE": "utf-16-be",
    "EUC-KR": "cp949",
}
# Single bytes at which Python's table and the standard's differ; holes below 0xA0 are filled with the C1 control.
_BYTES = {
    "KOI8-U": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
}
_FILLED = frozenset(f"windows-{page}" for page in (874, 1250, 1251, 1252, 1253, 1254, 1255, 1257, 1258))


def decode(body: bytes, encoding: str) -> str:
    """`body` read in `encoding` (a name of the standard), byte order mark left out where it is one."""
    if encoding == "UTF-8":
        return body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if encoding in _DECODERS:
        return _DECODERS[encoding](body)
    return codecs.charmap_decode(body, "replace", _table(encoding))[0]


@functools.cache
def _table(encoding: str) -> str:
    """256 characters: what each byte means; U+FFFE marks a byte that means nothing."""
    name = _PYTHON.get(encoding, encoding.replace("windows-", "cp"))
    chars = [bytes([byte]).decode(name, "replace").replace("\ufffd", "\ufffe") for byte in range(256)]
    if encoding in _FILLED:
        chars[0x80:0xA0] = [chr(0x80 + i) if char == "\ufffe" else char for i, char in enumerate(chars[0x80:0xA0])]
    for byte, char in _BYTES.get(encoding, {}).items():
        chars[byte] = char
    return "".join(chars)


def _utf_16(name: str, mark: bytes) -> Callable[[bytes], str]:
    return lambda body: body.removeprefix(mark).decode(name, "replace")


def _on_error(name: str, two_bytes: Callable[[bytes], str | None]) -> str:
    """Register an error handler that asks `two_bytes` before it gives up, and return the handler's name."""

    def handle(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeDecodeError)
        char = two_bytes(error.object[error.start : error.start + 2])
        if char is not None:
            return char, error.start + (1 if error.object[error.start] == 0x80 else 2)
        return "\ufffd", max(error.start + 1, error.end)

    codecs.register_error(name, handle)
    return name


@functools.cache
def _jis(pair: bytes) -> str | None:
    """Row and cell of JIS X 0208 with the NEC and IBM rows, asked of cp932, which has them."""
    if len(pair) < 2 or not (0xA1 <= pair[0] <= 0xFE and 0xA1 <= pair[1] <= 0xFE):
        return None
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + 0x9F if row % 2 else cell + (0x40 if cell < 63 else 0x41)
    char = bytes([lead, trail]).decode("cp932", "replace")
    return char if len(char) == 1 and char != "\ufffd" and not "\ue000" <= char <= "\uf8ff" else None


# An error costs 1 µs in Python, and a hostile body is nothing but errors: past this the plain replacement must do.
_MENDED = 262_144


def _mended(body: bytes, codec: str, errors: str) -> str:
    if len(body) <= _MENDED:
        return body.decode(codec, errors)
    return body[:_MENDED].decode(codec, errors) + body[_MENDED:].decode(codec, "replace")


_EUC_JP_CHARS = str.maketrans("\u2212\u2016\u301c\xa2\xa3\xac", "\uff0d\u2225\uff5e\uffe0\uffe1\uffe2")
_EUC_JP_ERRORS = _on_error("gossamer-euc-jp", _jis)


def _euc_jp(body: bytes) -> str:
    return _mended(body, "euc_jp", _EUC_JP_ERRORS).translate(_EUC_JP_CHARS)


_ESCAPE = re.compile(rb"\x1b(\([BJI]|\$[@B])")


def _iso_2022_jp(body: bytes) -> str:
    """Runs between escape sequences, each in its own character set; a run of two-byte text is EUC-JP without the top bit."""
    out: list[str] = []
    rest = ""
    if len(body) > 8 * _MENDED:
        body, rest = body[: 8 * _MENDED], body[8 * _MENDED :].decode("iso2022_jp", "replace")
    parts = _ESCAPE.split(body)
    mode = b"(B"
    for index, part in enumerate(parts):
        if index % 2:
            mode = part
        elif mode in (b"$@", b"$B"):
            out.append(_euc_jp(part.replace(b"\n", b"").translate(_HIGH)))
        elif mode == b"(I":
            out.append("".join(chr(0xFF40 + b) if 0x21 <= b <= 0x5F else "\ufffd" for b in part))
        else:
            text = part.decode("ascii", "replace")
            out.append(text.replace("\\", "\xa5").replace("~", "\u203e") if mode == b"(J" else text)
    return "".join(out) + rest


_HIGH = bytes(byte | 0x80 if 0x21 <= byte <= 0x7E else byte for byte in range(256))

# Bytes that only the standard's Big5 index has.
_BIG5_ONLY = {0xA3C0 + i: chr(0x2400 + i) for i in range(32)} | {
    0xA3E0: "\u2421", 0xA3E1: "\u20ac", 0xC6CF: "\u5ef4", 0xC6D3: "\u65e0", 0xC6D5: "\u7676", 0xC6D7: "\u96b6",
    0xC6DE: "\u3003", 0xC6DF: "\u4edd", 0xFB48: "\u5605", 0xFBF9: "\u5ed0", 0xFC6C: "\u60a4", 0xFE52: "\u732a",
}  # fmt: skip
_BIG5_CHARS = str.maketrans(
    "\u203e\u2022\u2641\u2609\uff64\u223c\xa2\xa3\xa5", "\xaf\u2027\u2295\u2299\ufe51\uff5e\uffe0\uffe1\uffe5"
)
_BIG5_ERRORS = _on_error("gossamer-big5", lambda pair: _BIG5_ONLY.get(int.from_bytes(pair, "big")))


def _big5(body: bytes) -> str:
    return _mended(body, "big5hkscs", _BIG5_ERRORS).translate(_BIG5_CHARS)


# GB 18030-2022 moved these out of the private use area.
_GB_CHARS = str.maketrans(
    "\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
)
_GB_ERRORS = _on_error("gossamer-gb18030", lambda pair: "\u20ac" if pair[:1] == b"\x80" else None)


def _gb(body: bytes) -> str:
    return _mended(body, "gb18030", _GB_ERRORS).translate(_GB_CHARS)


# cp932 reads four bytes as private use that the standard does not read at all.
_SJIS_CHARS = dict.fromkeys(range(0xF8F0, 0xF8F4), "\ufffd")


def _shift_jis(body: bytes) -> str:
    return body.decode("cp932", "replace").translate(_SJIS_CHARS)


def _replacement(body: bytes) -> str:
    return "\ufffd" if body else ""


def _x_user_defined(body: bytes) -> str:
    return codecs.charmap_decode(body, "replace", _USER_DEFINED)[0]


_USER_DEFINED = "".join(map(chr, range(128))) + "".join(map(chr, range(0xF780, 0xF800)))

_DECODERS: dict[str, Callable[[bytes], str]] = {
    "UTF-16LE": _utf_16("utf-16-le", b"\xff\xfe"),
    "UTF-16BE": _utf_16("utf-16-be", b"\xfe\xff"),
    "EUC-JP": _euc_jp,
    "EUC-KR": lambda body: body.decode("cp949", "replace"),
    "ISO-2022-JP": _iso_2022_jp,
    "Shift_JIS": _shift_jis,
    "Big5": _big5,
    "GBK": _gb,
    "gb18030": _gb,
    "replacement": _replacement,
    "x-user-defined": _x_user_defined,
}
