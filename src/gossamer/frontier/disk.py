"""RocksDB as the embedded engine uses it: column families by name, one batch a transition, ranges read in order."""

from collections.abc import Iterator
from pathlib import Path

from rocksdict import (
    BlockBasedOptions,
    Cache,
    ColumnFamily,
    DBCompactionStyle,
    DBCompressionType,
    Options,
    Rdict,
    ReadOptions,
    WriteBatch,
)

from gossamer.errors import FrontierError, disk_trouble
from gossamer.frontier.keys import FAMILIES
from gossamer.frontier.records import UrlRecord, decode_url

__all__ = ["Disk", "families_in"]

SCHEMA = 2
OLDEST = 1
"""Format 1 knew no times of next visits: they are made when somebody wants them (`RocksFrontier.plan_older`)."""
ENTRY = 10
LONGEST_KEY = 32
RANGES = ("queue", "waiting", "due", "overdue", "parked", "near", "unsealed")
"""Families that are only ever read as ranges: a filter for single keys would be built for nothing."""
CACHE = 256 << 20
WRITE_BUFFER = 32 << 20
ALL_BUFFERS = 192 << 20


class Disk:
    """One open database. `of[name]` reads a family, `to[name]` names it in a batch."""

    def __init__(self, folder: Path, cache: int = CACHE) -> None:
        self._folder = folder
        self._refusal: str | None = None
        self._db = _open(folder, cache)
        self.of: dict[str, Rdict] = {name: self._db.get_column_family(name) for name in FAMILIES}
        self.to: dict[str, ColumnFamily] = {name: self._db.get_column_family_handle(name) for name in FAMILIES}
        self._check_schema(folder)

    def _check_schema(self, folder: Path) -> None:
        found = self.of["meta"].get(b"schema")
        format_ = int.from_bytes(found, "big") if found is not None else SCHEMA
        if not OLDEST <= format_ <= SCHEMA:
            self.close()
            raise FrontierError(
                f"the frontier in {folder} has format {format_}, this version reads {OLDEST} to {SCHEMA}: "
                "finish it with the version that began it, or start in a new folder"
            )
        if format_ < SCHEMA:
            self.put_meta(b"unplanned", b"")
        if found is None or format_ < SCHEMA:
            self.put_meta(b"schema", SCHEMA.to_bytes(2, "big"))

    def batch(self) -> WriteBatch:
        return WriteBatch(raw_mode=True)

    def write(self, batch: WriteBatch) -> None:
        """Once a write was refused, what is in memory is no longer what is on disk: nobody may go on after the error."""
        try:
            self._db.write(batch)
        except Exception as error:  # rocksdict raises nothing more specific
            raise self._refused(error) from error

    def put_meta(self, name: bytes, value: bytes) -> None:
        try:
            self.of["meta"].put(name, value)
        except Exception as error:
            raise self._refused(error) from error

    def sync(self) -> None:
        """Everything written so far survives a loss of power."""
        try:
            self._db.flush_wal(True)
        except Exception as error:
            raise self._refused(error) from error

    def _refused(self, error: Exception) -> FrontierError:
        """The first refusal says why; what follows from it ("previous error") says nothing more."""
        if self._refusal is None:
            self._refusal = f"Cannot write the frontier in {self._folder}: {disk_trouble(error)}."
        return FrontierError(self._refusal)

    def items(self, family: str, start: bytes = b"", before: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        """Entries of a family in key order, from `start` and (if given) only those before `before`; what is written meanwhile is not seen."""
        if before:  # deleted entries past it are not looked at either
            bounded = ReadOptions()
            bounded.set_iterate_upper_bound(before)
            entries = self.of[family].iter(bounded)
        else:
            entries = self.of[family].iter()
        if start:
            entries.seek(start)
        else:
            entries.seek_to_first()
        while entries.valid():
            yield entries.key(), entries.value()
            entries.next()

    def url(self, key: bytes) -> UrlRecord | None:
        """The record of a URL; while it is queued, `urls` only says where in the queue it is."""
        raw = self.of["urls"].get(key)
        if raw is not None and len(raw) == ENTRY:
            raw = self.of["queue"].get(key[:8] + raw)
        return None if raw is None else decode_url(raw)

    def first(
        self, family: str, prefix: bytes, most: int, start: bytes = b"", until: bytes = b""
    ) -> list[tuple[bytes, bytes]]:
        """At most `most` entries whose key begins with `prefix`, in key order, from `start` and up to those that begin with `until`."""
        found: list[tuple[bytes, bytes]] = []
        before = until + b"\xff" * LONGEST_KEY if until else b""
        for key, value in self.items(family, start or prefix, before):
            if len(found) == most or not key.startswith(prefix):
                break
            found.append((key, value))
        return found

    def close(self) -> None:
        refused = None
        for each in (*self.of.values(), self._db):
            try:
                each.close()
            except Exception as error:
                refused = refused or self._refused(error)
        # The lock on the folder is held until the last handle is gone.
        self.of.clear()
        self.to.clear()
        del self._db
        if refused is not None:
            raise refused


def _open(folder: Path, cache_bytes: int) -> Rdict:
    cache = Cache(cache_bytes)
    families = {name: _options(cache, bloom=name not in RANGES) for name in FAMILIES}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        strange = families_in(folder) - {*FAMILIES, "default"}
    except Exception as error:  # rocksdict raises nothing more specific
        raise FrontierError(f"The frontier in {folder} cannot be opened: {disk_trouble(error)}.") from error
    if strange:
        raise FrontierError(
            f"the frontier in {folder} has parts that this version does not know ({', '.join(sorted(strange))}): "
            "a newer version wrote it; finish it with that one, or start in a new folder"
        )
    try:
        return Rdict(str(folder), options=_options(cache, bloom=True), column_families=families)
    except Exception as error:  # rocksdict raises nothing more specific
        if any(words in str(error) for words in ("While lock file", "lock hold by")):
            raise FrontierError(
                f"{folder.parent} is being crawled by another process: stop that one first, or crawl into another folder"
            ) from error
        raise FrontierError(f"The frontier in {folder} cannot be opened: {disk_trouble(error)}.") from error


def families_in(folder: Path) -> set[str]:
    """The column families that a database has; none where there is no database yet."""
    return set(Rdict.list_cf(str(folder))) if (folder / "CURRENT").exists() else set()


def _options(cache: Cache, *, bloom: bool) -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_write_buffer_size(WRITE_BUFFER)
    options.set_db_write_buffer_size(ALL_BUFFERS)
    options.set_max_background_jobs(2)
    # Keys are hashes, so every flush touches the whole key range: by levels each byte would be rewritten ten times and more, and
    # that, not reading, is what a large frontier's CPU goes into. Universal compaction merges runs of like size instead.
    options.set_compaction_style(DBCompactionStyle.universal())
    options.set_compression_type(DBCompressionType.lz4())
    options.set_keep_log_file_num(2)
    options.set_max_total_wal_size(256 << 20)
    table = BlockBasedOptions()
    if bloom:
        table.set_bloom_filter(10, False)
    table.set_block_cache(cache)
    table.set_cache_index_and_filter_blocks(True)
    options.set_block_based_table_factory(table)
    return options
