"""All targets, by name."""

from tests.fuzz.archives import ARCHIVES
from tests.fuzz.texts import TEXTS
from tests.fuzz.wires import WIRES

__all__ = ["TARGETS"]

TARGETS = {target.name: target for target in (*TEXTS, *ARCHIVES, *WIRES)}
