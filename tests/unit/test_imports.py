"""The direction of imports: docs/architecture.md draws it, this keeps it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gossamer

ROOT = Path(gossamer.__file__).parent

# A package may import from its own layer (without a cycle) and from the layers above it in this list.
PURE = (
    "url",
    "robots",
    "sitemap",
    "parse",
    "fingerprint",
    "traps",
    "politeness",
    "recrawl",
    "outcome",
    "scope",
    "importance",
)
LAYERS = (
    ("errors", "_native"),
    PURE,
    ("fetch", "frontier", "store"),
    ("settings",),
    ("worker",),
    ("crawl", "fleet"),
    ("api", "cli"),
    ("sim",),
)
LAYER_OF = {name: depth for depth, names in enumerate(LAYERS) for name in names}

# What computation has no need of: the outside world, and the time.
IMPURE = {"asyncio", "socket", "ssl", "selectors", "select", "threading", "multiprocessing", "subprocess", "time", "random", "secrets", "tempfile", "shutil"}  # fmt: skip
CLOCKS = {"now", "utcnow", "today"}


def modules() -> Iterator[tuple[str, Path]]:
    """(package, file) of every module; the package is the first name below gossamer."""
    for file in sorted(ROOT.rglob("*.py")):
        relative = file.relative_to(ROOT)
        if relative.parts[0] not in ("__init__.py", "__main__.py"):
            yield relative.parts[0].removesuffix(".py"), file


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide the direction"
            yield node.module or ""
            if node.module == "gossamer":
                yield from (f"gossamer.{alias.name}" for alias in node.names)


def edges() -> set[tuple[str, str]]:
    found = set()
    for package, file in modules():
        for name in imported(file):
            parts = name.split(".")
            if parts[0] == "gossamer" and len(parts) > 1 and parts[1] != package and parts[1] != "__version__":
                found.add((package, parts[1]))
    return found


def test_every_package_has_its_layer() -> None:
    assert {package for package, _ in modules()} <= LAYER_OF.keys()


def test_imports_point_upwards_only() -> None:
    wrong = [f"{a} imports {b}" for a, b in sorted(edges()) if LAYER_OF[a] < LAYER_OF[b]]
    assert wrong == []


def test_packages_of_one_layer_import_each_other_in_one_direction() -> None:
    found = edges()
    remaining = {a: {y for x, y in found if x == a} for a, _ in found}
    while remaining:
        leaves = {name for name, wants in remaining.items() if not wants & remaining.keys()}
        assert leaves, f"an import cycle among {sorted(remaining)}"
        remaining = {name: wants for name, wants in remaining.items() if name not in leaves}


@pytest.mark.parametrize("package", PURE)
def test_the_pure_rules_know_no_clock_and_no_world(package: str) -> None:
    files = [file for name, file in modules() if name == package]
    assert files, f"{package} is promised by the architecture page"
    for file in files:
        assert IMPURE.isdisjoint(name.split(".")[0] for name in imported(file)), file
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in CLOCKS, f"{file}:{node.lineno} reads the clock"


def test_nothing_imports_the_simulator() -> None:
    assert [a for a, b in edges() if b == "sim"] == []
