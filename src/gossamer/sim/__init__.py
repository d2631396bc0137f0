"""Simulated surroundings: a web, a clock, a network. They drive the same code as the real ones; nothing imports this package."""

__all__: list[str] = []
