"""Where the outside conformance suites are: read in place, never copied.

They lie in `../shared/conformance` beside the checkout, or where GOSSAMER_CONFORMANCE points. Where they are absent a
test skips and says so, unless GOSSAMER_CONFORMANCE_REQUIRED is set: then it fails.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
ROOT = Path(os.environ.get("GOSSAMER_CONFORMANCE") or CHECKOUT.parent / "shared" / "conformance")


def suite(name: str) -> Path:
    """The folder (or file) `name` of the suites; skips or fails the calling test or module when it is absent."""
    path = ROOT / name
    if not path.exists():
        message = f"conformance suite {name!r} is not at {ROOT} (set GOSSAMER_CONFORMANCE)"
        if os.environ.get("GOSSAMER_CONFORMANCE_REQUIRED"):
            pytest.fail(message, pytrace=False)
        pytest.skip(message, allow_module_level=True)
    return path


def load_json(name: str) -> Any:
    """The parsed content of a JSON file of the suites."""
    return json.loads(suite(name).read_text(encoding="utf-8"))
