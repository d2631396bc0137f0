"""A crawl on one machine: the parent owns the frontier and supervises worker processes over Unix sockets."""

from gossamer.crawl.desk import Desk, Ending
from gossamer.crawl.folder import Crawled, Folder
from gossamer.crawl.run import Again, Crawl, Report, Seeds

__all__ = ["Again", "Crawl", "Crawled", "Desk", "Ending", "Folder", "Report", "Seeds"]
