"""Near-copies: the cost of a SimHash beside the PyPI package, of the index, and what the fingerprints are worth.

Quality is measured on the neardup-pairs suite against Charikar's SimHash over plain three-word shingles, the
textbook way, built here from the same words.
"""

import json
import random
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from simhash import Simhash
from tests.conformance.suites import ROOT
from xxhash import xxh3_64_intdigest

from bench.harness import cpu_us, row, title
from gossamer.fingerprint import NearIndex, blocks, digest, simhash, text_print

DOCS = ROOT / "neardup-pairs" / "docs.jsonl"
SIZES_KB = (1, 4, 15, 60)
BITS = np.arange(64, dtype=np.uint64)


def documents() -> list[dict[str, Any]]:
    if not DOCS.exists():
        return []
    return [json.loads(line) for line in DOCS.read_text(encoding="utf-8").splitlines()]


def sample(docs: list[dict[str, Any]]) -> str:
    """A stretch of real text (curly quotes and all), or made-up prose where the suite is absent."""
    real = "\n\n".join(doc["text"] for doc in docs if doc["version"] == "ground_truth")
    rng = random.Random(1)
    return real or " ".join("".join(rng.choices("aeinorst", k=rng.randint(1, 9))) + "’s" for _ in range(200_000))


def each(function: Callable[[str], object], texts: list[str]) -> None:
    for text in texts:
        function(text)


def speed(text: str) -> None:
    title("fingerprint: SimHash of a text (bar 20 µs a KB)")
    for size in SIZES_KB:
        texts = [text[at : at + size * 1024] for at in range(0, 4 * size * 1024, size * 1024)] * (60 // size or 1)
        kilobytes = sum(len(t.encode()) for t in texts) / 1024
        # The package takes milliseconds a KB: one round over two texts is plenty.
        few = texts[:2]
        peer = cpu_us({"simhash (PyPI)": partial(each, Simhash, few)}, 1, 1)["simhash (PyPI)"]
        peer /= sum(len(t.encode()) for t in few) / 1024
        ours = cpu_us({"gossamer": partial(each, simhash, texts)}, 1, 9)["gossamer"] / kilobytes
        row(f"gossamer, {size} KB", ours, "µs CPU/KB", f"{ours * kilobytes / len(texts):.0f} µs a text")
        row(f"simhash (PyPI), {size} KB", peer, "µs CPU/KB", f"gossamer: {peer / ours:.0f} × faster")
    payload = text[: 100 * 1024].encode()
    row("digest (SHA-256)", cpu_us({"digest": partial(digest, payload)}, len(payload) // 1024)["digest"], "µs CPU/KB")


def index_cost(size: int, shapes: tuple[tuple[int, int], ...]) -> None:
    title(f"fingerprint: NearIndex with {size:,} random values")
    rng = random.Random(2)
    values = [rng.getrandbits(64) for _ in range(size)]
    probes = [value ^ 1 << rng.randrange(64) for value in values[:1000]]
    for k, count in shapes:
        index: NearIndex[int] = NearIndex(k, count)

        def fill(index: NearIndex[int] = index) -> None:
            for key, value in enumerate(values):
                index.add(value, key)

        def find(index: NearIndex[int] = index) -> None:
            for probe in probes:
                assert index.find(probe)

        add = cpu_us({"add": fill}, size, 1)["add"]
        note = f"add {add:.1f} µs, {len(blocks(0, k, count))} tables"
        row(f"find, k = {k}, {count} blocks", cpu_us({"find": find}, len(probes), 3)["find"], "µs CPU", note)


def charikar(text: str) -> int:
    """The textbook: every distinct three-word shingle votes on every bit."""
    hashes = np.array([xxh3_64_intdigest(word) for word in re.findall(r"\w+", text.lower())], np.uint64)
    shingles = hashes[:-2] * np.uint64(0x9B05688C2B3E6C1F)
    shingles = (shingles ^ shingles >> np.uint64(32)) + hashes[1:-1]
    shingles *= np.uint64(0x1F83D9ABFB41BD6B)
    shingles = (shingles ^ shingles >> np.uint64(29)) + hashes[2:]
    shingles *= np.uint64(0x5BE0CD19137E2179)
    shingles = np.unique(shingles ^ shingles >> np.uint64(32))
    votes = (shingles[:, None] >> BITS & np.uint64(1)).sum(0)
    return int.from_bytes(np.packbits(votes * 2 > len(shingles), bitorder="little").tobytes(), "little")


def quality(docs: list[dict[str, Any]]) -> None:
    title("fingerprint: near-copies found on neardup-pairs (same page = near-copy)")
    pages = np.unique([doc["page"] for doc in docs], return_inverse=True)[1]
    whole = np.array([doc["version"] == "beautifulsoup" for doc in docs])
    judged = np.array([text_print(doc["text"]).comparable() for doc in docs])
    one, other = np.triu_indices(len(docs), 1)
    same, fair = pages[one] == pages[other], judged[one] & judged[other]
    cut = same & ~(whole[one] | whole[other])
    methods = {"gossamer": simhash, "votes of plain 3-word shingles": charikar}
    for name, method in methods.items():
        values: NDArray[np.uint64] = np.array([method(doc["text"]) for doc in docs], np.uint64)
        apart = np.bitwise_count(values[one] ^ values[other])
        for k in (3, 6, 10):
            near = fair & (apart <= k)
            row(
                f"{name}, k = {k}",
                float((near & same).sum() / same.sum()),
                "recall",
                f"{int((near & ~same).sum())} false pairs; without whole-page texts {(near & cut).sum() / cut.sum():.2f}",
            )
        row(f"{name}, nearest different pages", float(apart[~same].min()), "bits")


def run() -> None:
    docs = documents()
    speed(sample(docs))
    index_cost(100_000, ((3, 4), (3, 5), (6, 7), (6, 8), (10, 11)))
    index_cost(1_000_000, ((3, 4), (6, 7), (10, 11)))
    if docs:
        quality(docs)
    else:
        print(f"  near-copies: the neardup-pairs suite is not at {ROOT}")
