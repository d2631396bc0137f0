"""One worker: lease → robots → fetch → parse → content seen? → store → complete.

A worker keeps no state that cannot be lost. It owns sockets, parsing and its own WARC files; page bodies never leave it.
Which frontier it talks to (in this process, over a socket, in a cluster) is not its business.
"""

from gossamer.worker._counts import Counts, peak_memory
from gossamer.worker._rows import row_maker
from gossamer.worker._worker import Worker

__all__ = ["Counts", "Worker", "peak_memory", "row_maker"]
