"""Gossamer: a web crawler, fast over the whole web, gentle to each host, never losing a page.

The pure rules of crawling, each a module of plain values and functions, can be used on their own:
`url`, `robots`, `sitemap`, `parse`, `fingerprint`, `traps`, `politeness`, `recrawl`, `outcome`.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
