"""Content-Type as web-platform-tests read it: one value, and several headers together."""

from typing import Any

import pytest

from gossamer.parse.labels import encoding_named
from gossamer.parse.mime import media_type_of, parse_media_type
from tests.conformance.suites import load_json


def cases(name: str) -> list[dict[str, Any]]:
    return [case for case in load_json(f"wpt-mimesniff/{name}.json") if isinstance(case, dict)]


@pytest.mark.parametrize(("name", "least"), [("mime-types", 74), ("generated-mime-types", 881)])
def test_one_value(name: str, least: int) -> None:
    wrong: list[object] = []
    found = cases(name)
    assert len(found) >= least
    for case in found:
        parsed = parse_media_type(case["input"])
        if (None if parsed is None else str(parsed)) != case["output"]:
            wrong.append((case["input"], case["output"], str(parsed)))
        elif parsed is not None and "encoding" in case:
            label = parsed.charset
            if (None if label is None else encoding_named(label)) != case["encoding"]:
                wrong.append((case["input"], case["encoding"], label))
    assert wrong == []


def test_several_headers_together() -> None:
    rows = load_json("wpt-fetch/content-type/resources/content-types.json")
    assert len(rows) == 20
    wrong = []
    for row in rows:
        parsed = media_type_of(row["contentType"])
        charset = None if parsed is None or parsed.charset is None else encoding_named(parsed.charset)
        if str(parsed) != row["mimeType"] or charset != row["encoding"]:
            wrong.append((row, str(parsed)))
    assert wrong == []
