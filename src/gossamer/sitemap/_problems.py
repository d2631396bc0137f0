"""What was wrong, as sentences: each kind once, with its first example and a count, so their number is bounded by the code."""

__all__ = ["Problems"]

_SHOWN = 100


class Problems:
    """Collects while one sitemap is read. `what` is always a constant of the code; what the site wrote is the example."""

    __slots__ = ("_found", "cut")

    def __init__(self) -> None:
        self.cut = False
        """Whether the input was left before its end: what stands last in it may be half of something."""
        self._found: dict[str, tuple[str | None, int]] = {}

    def add(self, what: str, example: str | None = None, count: int = 1) -> None:
        first, seen = self._found.get(what, (example, 0))
        self._found[what] = (first, seen + count)

    def sentences(self) -> tuple[str, ...]:
        return tuple(_sentence(what, first, seen) for what, (first, seen) in self._found.items())


def _sentence(what: str, example: str | None, count: int) -> str:
    shown = "" if example is None else f": {example[:_SHOWN] + '…' if len(example) > _SHOWN else example!r}"
    more = f" (and {count - 1} more)" if count > 1 else ""
    return f"{what}{shown}{more}"
