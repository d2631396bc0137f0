"""The command line: `gossamer crawl`, and what one wants to know before, during and after it.

    commands   which commands there are; each module is imported only when its command is given
    options    `crawl`'s options, made from the settings: names, types, bounds and help stand where the setting is defined
    crawl      what was typed becomes seeds, settings and a folder; `runner` runs it: signals, what is shown; `summary`: the last word
    sample     what a crawl is doing, as one small value a tick; `limits` says what holds it back
    view, logs, metrics           that value on a terminal, in lines, over HTTP
    status, hosts, pages, cat, explain, changes    a crawl's folder, looked at from outside, while it runs or after
    verify, reparse               a crawl that is stopped: is it whole; its page table made anew
    demo       the synthetic web, in a process of its own

Exit codes: 0 done, 1 something went wrong (one sentence says what), 2 the command or a setting is wrong, 3 a budget stopped the
crawl, 130 interrupted. Only `main` is public.
"""

import contextlib
import gc
import io
import os
import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit code. Without arguments those of the process are taken, and the process ends here."""
    # numpy's BLAS starts a thread a core when it is imported (60 ms), for matrices that nobody here multiplies.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if arguments is None and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a title that the terminal has no letters for is no fault
    if arguments is None and sys.argv[1:2] in (["crawl"], ["recrawl"]):
        sys.meta_path.insert(0, _Unneeded)
        # pyarrow's own allocator takes memory from the system in large pieces, which have to be zeroed: 0.05 s.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    # Little of what commands make are cycles; imports are none, and looking for them there costs a tenth of the start.
    gc.set_threshold(100_000, 20, 50)
    try:
        from gossamer.cli.commands import run

        code = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # before a crawl has its own way with Ctrl-C, and in commands that just read
        code = 130
    if arguments is None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)  # nothing is left to do, and taking the interpreter apart costs 40 ms of CPU
    return code


class _Unneeded:
    """Keeps pyarrow from importing numpy and pandas, which a crawl has no use for: 0.1 s at its start, 0.3 s at its first array."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in ("numpy", "pandas"):
            raise ModuleNotFoundError(f"{name} is not needed by a crawl", name=name)
