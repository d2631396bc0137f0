"""Every kind of thing that `verify` can find wrong: one sentence that says what it means, and what `--repair` does about it."""

import msgspec

__all__ = ["KINDS", "Known"]


class Known(msgspec.Struct, frozen=True):
    """One kind of problem."""

    sentence: str
    repair: str
    """Empty where nothing can be done."""


_ASIDE = "copies the bytes to DIR/damaged, fills their place so that everything else stays where it is, and queues the URL again"
_REBUILD = "makes the rows of that WARC file anew"
_RECOUNT = "counts anew"

KINDS = {
    "torn-tail": Known(
        "The WARC file ends with bytes that are no whole record, as after a crash.",
        "copies them to DIR/damaged and cuts them off; the next `gossamer crawl` cuts them off too",
    ),
    "record-damaged": Known("A record cannot be read: its bytes are damaged.", _ASIDE),
    "record-foreign": Known("Compressed bytes that are sound and no WARC record.", _ASIDE),
    "record-incomplete": Known("A record lacks what every record has.", _ASIDE),
    "record-id": Known("A record's id is not its own.", _ASIDE),
    "exchange-broken": Known("The records of an exchange do not stand together: metadata, request, answer.", _ASIDE),
    "length-wrong": Known("An answer's head tells of another length than its body has.", _ASIDE),
    "digest-wrong": Known("A body does not have the digest that was written with it.", _ASIDE),
    "warc-foreign": Known(
        "A file among the WARC files is none of ours, or has lost its beginning.",
        "moves it to DIR/damaged and queues the URLs whose bytes were in it again",
    ),
    "revisit-dangling": Known(
        "A copy's record names an original whose body is not in this crawl.",
        "queues the copy again and forgets its content, so that it is stored with a body of its own",
    ),
    "part-damaged": Known("A file of the page table is damaged.", f"moves it to DIR/damaged and {_REBUILD}"),
    "part-orphaned": Known(
        "A file of the page table belongs to a WARC file that is not there.", "moves it to DIR/damaged"
    ),
    "row-missing": Known(
        "A page in the WARC has no row in the page table, as after a crash.",
        f"{_REBUILD}; the next `gossamer crawl` writes those that a crash left out",
    ),
    "row-twice": Known("A page in the WARC has several rows in the page table.", _REBUILD),
    "row-astray": Known("A row points to where there is no page.", _REBUILD),
    "row-differs": Known("A row tells of another page than the record it points to.", _REBUILD),
    "left-over": Known(
        "A file that was being written when a process ended.", "removes it: what it was to become is made anew"
    ),
    "capture-unknown": Known("A page was stored whose URL the frontier does not know.", "queues the URL"),
    "stored-wrong": Known("The frontier is wrong about whether a page was kept with a body of its own.", "corrects it"),
    "bytes-lost": Known(
        "The frontier says where the bytes of a URL lie, and they are not there.", "queues the URL again"
    ),
    "unsealed": Known(
        "A group of stored pages was neither confirmed nor given up, as after a crash.",
        "looks at each: what can be read counts, the rest is queued again; the next `gossamer crawl` does the same",
    ),
    "url-unreadable": Known(
        "The record of a URL cannot be read.",
        "copies it to DIR/damaged and looks for the URL among the links of the stored pages, to queue it again",
    ),
    "url-lost": Known(
        "A URL is said to be queued, and the queue does not have it.",
        "looks for the URL among the links of the stored pages, to queue it again",
    ),
    "queue-missing": Known("A URL is said to be queued and is not in the queue.", "queues it"),
    "queue-stray": Known(
        "The queue has an entry whose URL is elsewhere.", "removes the entry, or restores the URL's record from it"
    ),
    "queue-unreadable": Known("An entry of the queue cannot be read.", "copies it to DIR/damaged and removes it"),
    "waiting-missing": Known("A URL waits for a time at which nobody would look for it.", "enters its time"),
    "waiting-stray": Known("A time is entered for a URL that does not wait for it.", "removes the entry"),
    "due-missing": Known(
        "A page is to be visited again at a time at which nobody would look for it.", "enters its time"
    ),
    "due-stray": Known("A next visit is entered for a URL that does not wait for it.", "removes the entry"),
    "overdue-stray": Known("A visit that is due is entered for a URL that does not wait for it.", "removes the entry"),
    "failure-missing": Known("A URL was given up and is not on the list of failures.", "enters it"),
    "failure-stray": Known("The list of failures has a URL that was not given up.", "removes the entry"),
    "host-missing": Known("The record of a host is missing or cannot be read.", "begins a new one"),
    "host-forgotten": Known("A host has URLs queued that nobody would ever come to fetch.", "gives it its turn"),
    "parked-stray": Known("A host has a turn that it does not know of.", "removes the entry"),
    "content-exact": Known("The content index names a URL that is not known.", "forgets the entry"),
    "content-near": Known("An entry of the index of near-copies cannot be read.", "forgets the entry"),
    "robots-unreadable": Known("A stored robots.txt cannot be read.", "forgets it: it is fetched again"),
    "books-wrong": Known("A count in the frontier's books is not what is counted.", _RECOUNT),
    "frontier-unreadable": Known(
        "The frontier cannot be read. The WARC files and the page table do not need it; to crawl on, restore DIR/frontier "
        "from a copy, or crawl into another folder.",
        "",
    ),
}
