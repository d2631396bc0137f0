"""The 73 values of web-platform-tests for `<meta http-equiv=refresh>`, alone and inside a page."""

import html

from gossamer.parse import Refresh, parse_page
from gossamer.parse.refresh import parse_refresh
from gossamer.url import resolve
from tests.conformance.suites import load_json

HERE = "https://example.com/dir/page.html"


def test_every_value_means_what_browsers_do() -> None:
    cases = load_json("wpt-meta-refresh/meta-refresh.json")
    assert len(cases) == 73
    wrong: list[object] = []
    for case in cases:
        parsed = parse_refresh(case["input"])
        expected = case["expected"]
        if not expected:
            if parsed is not None:
                wrong.append((case, parsed))
            continue
        seconds, target = expected
        target = HERE if target == "__filename__" else resolve(target, HERE)
        if parsed is None or parsed[0] != seconds or (resolve(parsed[1], HERE) if parsed[1] else HERE) != target:
            wrong.append((case, parsed))
    assert wrong == []


def test_every_value_comes_out_of_a_page() -> None:
    for case in load_json("wpt-meta-refresh/meta-refresh.json"):
        content = html.escape(case["input"], quote=True)
        page = parse_page(f'<meta http-equiv=refresh content="{content}">'.encode(), HERE, "text/html")
        if not case["expected"]:
            assert page.refresh is None, case
            continue
        seconds, target = case["expected"]
        target = HERE if target == "__filename__" else resolve(target, HERE)
        # A form feed survives in an attribute; a carriage return is a line feed by then.
        assert page.refresh == Refresh(seconds, target), case
