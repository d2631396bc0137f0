"""The WARC is the log, the page table is derived.

    DIR/warc/gossamer-<time>-<worker>-<n>.warc.gz    WARC 1.1, one gzip member a record
    DIR/pages/<same name>-<part>.parquet             rows of that WARC, written in parts while the crawl runs

Writing: a `Store` per worker takes each exchange as a `Capture` (`append`), makes it durable (`sync`), and gathers its
`PageRow` (`add_row`, `write_parts`). Reading: `read` a capture by its `Location`, `find` captures by URL, `query` the page
table in SQL, or in several steps (`Parts`); `captures` and `records` walk a whole file. After a crash `recover` cuts what is
torn and rebuilds what is missing; `rows_of` makes the rows of a file anew.

A `Location` once returned and synced is readable for ever. A crash loses only what was not synced. File names are made of
the time, the worker's name and a count, never of anything a server sent. What the disk refuses is a `StoreError`: one
sentence, and nothing already written is harmed.
"""

from gossamer.store._captures import captures
from gossamer.store._page import COLUMNS, Column, PageRow, bare_row
from gossamer.store._parts import Parts
from gossamer.store._query import batches, find, original, query, read
from gossamer.store._recover import Mended, Parse, Recovery, recover, rows_of
from gossamer.store._rows import SCHEMA
from gossamer.store._segment import sync_folder
from gossamer.store._store import Store
from gossamer.store._values import Capture, Location, Notes, Revisit, StoreError, StoreSettings, Synced, Truncated
from gossamer.store._warc_read import Damage, Record, records

__all__ = [
    "COLUMNS",
    "SCHEMA",
    "Capture",
    "Column",
    "Damage",
    "Location",
    "Mended",
    "Notes",
    "PageRow",
    "Parse",
    "Parts",
    "Record",
    "Recovery",
    "Revisit",
    "Store",
    "StoreError",
    "StoreSettings",
    "Synced",
    "Truncated",
    "bare_row",
    "batches",
    "captures",
    "find",
    "original",
    "query",
    "read",
    "records",
    "recover",
    "rows_of",
    "sync_folder",
]
