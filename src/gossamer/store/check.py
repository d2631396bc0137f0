"""What `verify`, `repair` and `reparse` ask of a store: parts of its inside, in one place and by their own names."""

from gossamer.store._aside import blank, cut, keep_aside, move_aside
from gossamer.store._recover import write_rows
from gossamer.store._rows import rows_in
from gossamer.store._swap import new_table, settle, swap_in
from gossamer.store._verify import (
    Due,
    Exchange,
    Finding,
    check_parts,
    due_of,
    exchanges,
    leftovers,
    parts_of,
    readable_at,
)

__all__ = [
    "Due",
    "Exchange",
    "Finding",
    "blank",
    "check_parts",
    "cut",
    "due_of",
    "exchanges",
    "keep_aside",
    "leftovers",
    "move_aside",
    "new_table",
    "parts_of",
    "readable_at",
    "rows_in",
    "settle",
    "swap_in",
    "write_rows",
]
