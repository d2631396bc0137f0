"""What a worker has done so far, for the terminal view, metrics and the closing report."""

import msgspec

__all__ = ["Counts"]


class Counts(msgspec.Struct, array_like=True):
    """Counters since the worker started; they only grow, but for `flying`."""

    pages: int = 0
    """Pages answered."""
    stored: int = 0
    """Pages whose body is kept."""
    exact: int = 0
    near: int = 0
    failed: int = 0
    retried: int = 0
    denied: int = 0
    """Pages that robots.txt asks to leave alone."""
    size: int = 0
    """Bytes of bodies as sent."""
    links: int = 0
    statuses: dict[int, int] = {}
    """Answers by status class: 2, 3, 4, 5; 0 for none."""
    flying: int = 0
    """Leases in hand."""
    cpu: float = 0.0
    """CPU seconds of the process."""
    memory: int = 0
    """Peak resident bytes of the process."""
