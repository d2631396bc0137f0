"""Ordinary URLs of real sites pass: 59,440 of them, and the few refused are known by name."""

from collections import Counter

from gossamer.traps import HostShape, check
from tests.conformance.suites import suite

NOW = 1_700_000_000.0


def real_urls() -> list[str]:
    folder = suite("url-datasets")
    lines: list[str] = []
    for name in ("kasztp.txt", "userbait.txt"):
        lines += (folder / name).read_text(encoding="utf-8-sig").splitlines()
    return [line for line in lines if line]


def test_real_urls_pass_but_for_the_traps_among_them() -> None:
    urls = real_urls()
    refused = Counter(trap.rule.value for url in urls if (trap := check(url)))
    assert len(urls) > 59_000
    # Read one by one. Deep and repeated: relative links piled up by broken pages (/files/files/files/...); parameters:
    # one phishing kit that appends its own query again and again. None is a page under its own address.
    assert refused == {"too-deep": 3, "repeated-segment": 2, "repeated-parameter": 6}


def test_no_real_url_exceeds_a_budget_even_if_all_came_from_one_host() -> None:
    shape = HostShape()
    assert [trap for url in real_urls() if (trap := shape.admit(url, NOW))] == []
    assert len(shape.templates) <= 128
