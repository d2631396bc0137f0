"""Every error Gossamer raises on purpose.

    GossamerError
    ├── InvalidURL        a reference that no browser could turn into a URL
    ├── ConfigError       a setting that does not exist or cannot have that value
    ├── FrontierError     the frontier cannot be opened or written
    └── StoreError        what was fetched cannot be written or read

Each carries one sentence that names the cause and, where there is one, the cure. Errors of other libraries are translated
into one of these where they enter; what a *fetch* came to is not an error but a row of `gossamer.outcome`.
"""

__all__ = ["ConfigError", "FrontierError", "GossamerError", "InvalidURL", "StoreError"]


class GossamerError(Exception):
    """Base of all of them; catch this at the edge."""


class InvalidURL(GossamerError, ValueError):
    """The reference cannot be parsed as a URL, alone or against its base."""


class ConfigError(GossamerError, ValueError):
    """A setting that does not exist, or a value it cannot have."""


class FrontierError(GossamerError):
    """The frontier cannot be opened or written."""


class StoreError(GossamerError):
    """What was fetched cannot be written or read; one sentence with the cause and, where there is one, the cure."""
