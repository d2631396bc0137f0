"""`make bench`: every benchmark module of this folder in turn, or those named on the command line."""

import importlib
import pkgutil
import sys

import bench


def main() -> None:
    modules = sorted(m.name for m in pkgutil.iter_modules(bench.__path__) if m.name.startswith("bench_"))
    wanted = [f"bench_{name}" for name in sys.argv[1:]] or modules
    unknown = set(wanted) - set(modules)
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(m[6:] for m in modules)}")
    for name in wanted:
        importlib.import_module(f"bench.{name}").run()


main()
