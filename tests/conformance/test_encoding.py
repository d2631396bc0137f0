"""Labels and decoders against the Encoding Standard's own tables (web-platform-tests)."""

from gossamer.parse.decoders import decode
from gossamer.parse.labels import encoding_named
from tests.conformance.suites import load_json

# Decoded by browsers too as U+FF0D: these rows of the suite are about encoding (U+2212 is written as those bytes).
ENCODER_ONLY = {("euc-jp", "a1dd"), ("iso-2022-jp", "1b2442215d1b2842"), ("shift_jis", "817c")}
# Where Python's codec reads another character that also has bytes of its own, so that no table can tell them apart.
KNOWN_MISSES = {("euc-jp", "8fa2b7"), ("big5", "a241"), ("big5", "a242")}


def test_every_label_names_its_encoding() -> None:
    rows = [
        (label, encoding["name"])
        for group in load_json("wpt-encoding-json/encodings.json")
        for encoding in group["encodings"]
        for label in encoding["labels"]
    ]
    assert len(rows) == 228
    assert [(label, name) for label, name in rows if encoding_named(label) != name] == []
    assert [label for label, name in rows if encoding_named(f"\t{label.upper()} \n") != name] == []


def test_every_byte_of_the_single_byte_encodings_decodes_as_the_standard_says() -> None:
    wrong = [
        (name, hex(0x80 + at))
        for name, index in load_json("wpt-encoding-json/single-byte-indexes.json").items()
        for at, point in enumerate(index)
        if decode(bytes([0x80 + at]), name) != ("\ufffd" if point is None else chr(point))
    ]
    assert wrong == []


def test_multibyte_characters_decode_but_for_three_that_are_named() -> None:
    cases = 0
    wrong: set[tuple[str, str]] = set()
    for label, rows in load_json("wpt-encoding-json/multibyte-chars.json").items():
        name = encoding_named(label)
        assert name is not None
        for point, hexed in rows:
            raw = bytes.fromhex(hexed)
            if (raw.isascii() and b"\x1b" not in raw) or (label, hexed) in ENCODER_ONLY:
                continue
            cases += 1
            if decode(raw, name) != chr(point):
                wrong.add((label, hexed))
    assert cases > 59_000
    assert wrong == KNOWN_MISSES  # 3 of 59,873: 99.995 %
