"""Write docs/pages.md, the columns of the page table, from their definitions: `make docs`. A test compares the two."""

from pathlib import Path

from gossamer.store import COLUMNS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "pages.md"

INTRODUCTION = """# The page table

Made by `make docs` from the definitions. One row is one capture: a page fetched twice has two rows, told apart by `fetched_at`; the view
`latest` keeps the newest of each URL. Read it with `gossamer pages DIR`, or with anything that reads Parquet: `DIR/pages/*.parquet`.

| column | type | meaning |
|---|---|---|
"""


def page() -> str:
    return INTRODUCTION + "".join(f"| `{column.name}` | {column.type} | {column.description} |\n" for column in COLUMNS)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
