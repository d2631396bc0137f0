"""Have I read this before?

Two questions, two kinds of fingerprint, no I/O:

- *The same bytes?* `digest(payload)`, SHA-256. `warc_digest(payload)` writes it the way WARC headers do.
- *Nearly the same text?* `simhash(text)`, 64 bits of which few differ between two texts that share most of
  their three-word shingles (`_similarity.py` says how, and how far to trust it). `distance(a, b)` counts the
  bits that differ. `text_print(text)` gives it with the number of words, because a text of a few words
  resembles too much to be judged.

`NearIndex` finds every stored fingerprint within k bits of a new one without looking at them all
(`_near.py`); `blocks` gives its table keys to whoever keeps the same tables elsewhere.

Nothing here raises on any text or payload, and equal input gives an equal fingerprint on every machine, in
every process and in every later version: fingerprints are stored.
"""

from gossamer.fingerprint._near import NearIndex, NearRules, blocks
from gossamer.fingerprint._payload import digest, warc_digest, warc_form
from gossamer.fingerprint._similarity import MIN_WORDS, TextPrint, comparable, distance, simhash, text_print

__all__ = [
    "MIN_WORDS",
    "NearIndex",
    "NearRules",
    "TextPrint",
    "blocks",
    "comparable",
    "digest",
    "distance",
    "simhash",
    "text_print",
    "warc_digest",
    "warc_form",
]
