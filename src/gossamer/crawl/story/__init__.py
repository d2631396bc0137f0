"""The whole story of a URL: where it came from, which rule kept it out, what was tried, where it lies, what comes next.

    tell(folder, typed, now)   → Story: one sentence, and a `Step` for each thing there is to say

A story only reads: the record of the crawl, the frontier's books (as a running crawl last wrote them), and for what was
fetched the WARC. Of a URL that is not in the books the rules are asked again, on copies of what they remember.

    _spelling  from what was typed to the canonical form    _rules    which rule keeps a URL out
    _past      found, tried, answered, kept                 _traps    budgets and what pages were worth
    _future    when it is its turn                          _robots   the line that decides
    _pace      how long its host is left alone, and why     _linking  pages that name it all the same
    _scene     what is read                                 _tell     all of it in order
"""

from gossamer.crawl.story._tell import tell
from gossamer.crawl.story._values import Check, Step, Story

__all__ = ["Check", "Step", "Story", "tell"]
