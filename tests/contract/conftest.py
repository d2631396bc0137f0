"""The `engine` fixture: the suite runs once for each engine."""

from tests.contract.engines import engine

__all__ = ["engine"]
