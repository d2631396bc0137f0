"""`gossamer changes`: what later visits found, judged as a plain reading of each page's history would."""

import itertools
import os
import random
import subprocess
import sys
import uuid
import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer import __version__
from gossamer.cli.moments import moment
from gossamer.crawl import Crawled, Folder
from gossamer.crawl.changes import KINDS, Asked, Change, Changes
from gossamer.errors import ConfigError
from gossamer.fingerprint import warc_digest
from gossamer.settings import Settings, Text
from gossamer.store import Capture, Location, Revisit, Store, StoreSettings, bare_row, read
from tests.cli.conftest import Said
from tests.cli.runs import Site
from tests.exchanges import NOON, REQUEST

DAY = 86_400.0
SITE = "https://site.example"
ATOM = "{http://www.w3.org/2005/Atom}"


class Visit(msgspec.Struct, frozen=True):
    """One answer of a page, `at` seconds after noon."""

    path: str
    at: float
    status: int = 200
    text: str = ""
    title: str | None = None
    around: str = ""
    """What is on the page but not in its text."""
    to: str | None = None
    copy_of: str | None = None
    truncated: Any = None

    @property
    def url(self) -> str:
        return SITE + self.path

    @property
    def body(self) -> bytes:
        return f"{self.title}{self.text}{self.around}".encode() if self.status == 200 else b""


def visited(folder: Path, *visits: Visit, text: Text = Text.MAIN, parts: int = 3) -> Path:
    """A crawl's folder with these visits in its table, in parts of a few rows."""
    Folder(folder).save(Crawled(__version__, NOON, (f"{SITE}/",), Settings(text=text)))
    with Store(folder, "w0", StoreSettings(part_rows=parts)) as store:
        for visit in visits:
            add(store, visit)
    return folder


def add(store: Store, visit: Visit) -> Location:
    revisit = Revisit(SITE + visit.copy_of) if visit.copy_of is not None else None
    if visit.status == 304:
        revisit = Revisit(visit.url, profile="server-not-modified")
    capture = Capture(
        url=visit.url,
        at=NOON + visit.at,
        request_head=REQUEST,
        response_head=f"HTTP/1.1 {visit.status} Whatever\r\nContent-Type: text/html\r\n\r\n".encode(),
        body=visit.body,
        payload_digest=warc_digest(visit.body) if visit.status != 304 else "",
        truncated=visit.truncated,
        duplicate=revisit,
    )
    place = store.append(capture)
    row = msgspec.structs.replace(bare_row(capture, place), redirect_to=visit.to)
    if visit.status == 200 and revisit is None:
        row = msgspec.structs.replace(row, text=visit.text or None, title=visit.title)
    store.add_row(row)
    return place


def told(folder: Path, since: float = -DAY, until: float = 100 * DAY, **more: Any) -> list[Change]:
    with Changes(folder, Asked(since=NOON + since, until=NOON + until, **more)) as changes:
        return list(changes.told())


def lines(run: Said, folder: Path, *more: str) -> list[dict[str, Any]]:
    assert run("changes", str(folder), "--since", "2025-01-01", *more, "--format", "jsonl") == 0
    return [msgspec.json.decode(line) for line in run.out.splitlines()]


# --- what a visit means -----------------------------------------------------------------------------------------------


def judged(history: list[Visit]) -> list[str]:
    """The verdict on each visit of one page, read from its beginning."""
    verdicts = []
    state, target, known, been = "", None, "", False
    for visit in history:
        verdict = "unclear"
        if visit.status == 200 and visit.truncated != "disconnect":
            digest = "" if visit.truncated == "time" else warc_digest(visit.body)
            if not been:
                verdict = "new"
            elif state in ("gone", "elsewhere"):
                verdict = "back"
            elif digest and known:
                verdict = "unchanged" if digest == known else "changed"
            state, known, been = "there", digest or known, True
        elif visit.status == 304:
            verdict = "back" if been and state in ("gone", "elsewhere") else "unchanged"
            state, been = "there", True
        elif visit.status in (404, 410):
            verdict = "gone" if been and state != "gone" else "absent"
            state = "gone"
        elif visit.status in (301, 302):
            if state == "elsewhere":
                verdict = "moved" if visit.to != target else "absent"
            else:
                verdict = "moved" if been else "absent"
            state, target = "elsewhere", visit.to
        verdicts.append(verdict)
    return verdicts


def histories(seed: int) -> list[list[Visit]]:
    dice = random.Random(seed)
    found = []
    for page in range(60):
        times = sorted(dice.sample(range(1, 40), dice.randint(1, 8)))
        history: list[Visit] = []
        for at in times:
            status = dice.choice((200, 200, 200, 304, 404, 410, 301, 302, 503, 403))
            history.append(
                Visit(
                    f"/{page}", at * DAY / 4, status, text=f"text {dice.randrange(3)}",
                    to=f"{SITE}/{dice.choice('ab')}" if status in (301, 302) else None,
                    truncated=dice.choice((None, None, None, None, "time", "disconnect", "length")) if status == 200 else None,
                )
            )  # fmt: skip
        found.append(history)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_any_history_is_judged_as_a_plain_reading_of_it_would(seed: int, tmp_path: Path) -> None:
    pages = histories(seed)
    shuffled = list(itertools.chain.from_iterable(pages))
    random.Random(seed).shuffle(shuffled)  # parts of several workers come in any order
    folder = visited(tmp_path, *shuffled, parts=40)
    expected = {
        (visit.url, visit.at): verdict for page in pages for visit, verdict in zip(page, judged(page), strict=True)
    }
    for since, until in ((-DAY, 100 * DAY), (3 * DAY, 7 * DAY), (8.5 * DAY, 8.75 * DAY)):
        inside = {key: verdict for key, verdict in expected.items() if since <= key[1] < until}
        with Changes(folder, Asked(since=NOON + since, until=NOON + until, diff="none")) as changes:
            found = {(change.url, round(change.at / 1_000 - NOON, 3)): change.kind for change in changes.told()}
            tally = msgspec.structs.asdict(changes.tally)
        assert found == {key: verdict for key, verdict in inside.items() if verdict in KINDS}
        assert tally == {kind: list(inside.values()).count(kind) for kind in tally}
        assert changes.tally.visits == len(inside)


def test_the_most_recent_comes_first_and_a_limit_keeps_it(tmp_path: Path, run: Said) -> None:
    folder = visited(tmp_path, *(Visit(f"/{n}", n % 5 * 60 + n, text=str(n)) for n in range(20)))
    times = [change["at"] for change in lines(run, folder)]
    assert times == sorted(times, reverse=True)
    assert len(times) == 20
    assert [change["at"] for change in lines(run, folder, "--limit", "3")] == times[:3]


def test_the_same_bytes_are_unchanged_whoever_is_named_as_their_original(tmp_path: Path) -> None:
    folder = visited(
        tmp_path,
        Visit("/a", 0, text="one"),
        Visit("/copy", 1, text="one", copy_of="/a"),
        Visit("/a", DAY, text="one", copy_of="/a"),
        Visit("/copy", DAY + 1, text="one", copy_of="/a"),
        Visit("/a", 2 * DAY, 304),
    )
    with Changes(folder, Asked(since=NOON + 1_000, until=NOON + 3 * DAY)) as changes:
        assert list(changes.told()) == []
        assert (changes.tally.unchanged, changes.tally.visits) == (3, 3)


def test_a_copy_is_compared_by_the_text_of_its_original(tmp_path: Path) -> None:
    folder = visited(
        tmp_path,
        Visit("/a", 0, text="one\nshared", title="First"),
        Visit("/b", 1, text="two\nshared", title="Second"),
        Visit("/a", DAY, text="two\nshared", title="Second", copy_of="/b"),
        Visit("/a", 2 * DAY, text="one\nshared", title="First", copy_of="/a"),
    )
    back_again, to_the_other = told(folder, since=1_000)
    assert to_the_other.diff is not None
    assert str(to_the_other.diff).splitlines()[1:] == ["-one", "+two", " shared"]
    assert (to_the_other.before and to_the_other.before.title, to_the_other.after.title) == ("First", "Second")
    assert back_again.diff is not None
    assert str(back_again.diff).splitlines()[1:] == ["-two", "+one", " shared"]
    assert back_again.after.title == "First"


def test_boilerplate_is_ignored_when_asked(tmp_path: Path) -> None:
    visits = [
        Visit("/clock", 0, text="same", around="12:00"),
        Visit("/clock", DAY, text="same", around="12:01"),
        Visit("/news", 0, text="old", around="12:00"),
        Visit("/news", DAY, text="new", around="12:01"),
        Visit("/copied", 0, text="same", around="12:01"),
        Visit("/copied", DAY, text="same", around="12:00", copy_of="/clock"),
        Visit("/image", 0, around="bytes"),
        Visit("/image", DAY, around="other"),
    ]
    folder = visited(tmp_path, *visits)
    assert {change.url for change in told(folder, since=1)} == {
        SITE + "/clock",
        SITE + "/news",
        SITE + "/copied",
        SITE + "/image",
    }
    with Changes(folder, Asked(since=NOON + 1, until=NOON + 9 * DAY, ignore_boilerplate=True)) as changes:
        assert {change.url for change in changes.told()} == {SITE + "/news", SITE + "/image"}
        assert (changes.tally.changed, changes.tally.unchanged) == (2, 2)


def test_what_is_asked_for_does_not_change_the_verdicts(tmp_path: Path, run: Said) -> None:
    folder = visited(
        tmp_path,
        Visit("/a", 0, text="one"),
        Visit("/b", 0, text="b"),
        Visit("/a", DAY, 404),
        Visit("/b", DAY, text="c"),
    )
    assert [change["kind"] for change in lines(run, folder, "--where", "status = 404 -- gone")] == ["gone"]
    assert {change["kind"] for change in lines(run, folder, "--where", "url LIKE '%/b'")} == {"new", "changed"}
    assert [change["url"] for change in lines(run, folder, "--only", "gone,changed")] == [f"{SITE}/b", f"{SITE}/a"]
    assert len(lines(run, folder, "--host", "SITE.example")) == 4
    assert lines(run, folder, "--host", "other.example") == []
    assert run("changes", str(folder), "--since", "2025-01-01", "--where", "no_such = 1") == 1
    assert run.err.startswith("gossamer: The query failed: ")


def test_a_table_that_grows_is_read_as_far_as_it_is_written(tmp_path: Path) -> None:
    folder = visited(tmp_path, Visit("/a", 0, text="one"))
    with Store(folder, "w1", StoreSettings(part_rows=1)) as store:
        add(store, Visit("/a", DAY, text="two"))
        store.write_parts()
        (folder / "pages" / "gossamer-0-w9-00000-0000.parquet.tmp").write_bytes(b"half a part")
        assert [change.kind for change in told(folder)] == ["changed", "new"]
        with Changes(folder, Asked(since=NOON - 1, until=NOON + 9 * DAY)) as changes:
            add(store, Visit("/a", 2 * DAY, 404))
            store.write_parts()
            assert [change.kind for change in changes.told()] == ["changed", "new"]
    assert [change.kind for change in told(folder)] == ["gone", "changed", "new"]


def test_of_a_first_crawl_every_page_is_new(site: Site, crawled: Path, run: Said) -> None:
    assert {(change["url"], change["kind"]) for change in lines(run, crawled)} == {
        (url, "new") for url in site.expected()
    }


# --- as JSON lines ----------------------------------------------------------------------------------------------------


def test_an_object_says_what_was_what_is_and_where_it_is_stored(tmp_path: Path, run: Said) -> None:
    before = Visit("/p", 0, text="a\nb\nc", title="Old")
    after = Visit("/p", 2 * DAY, text="a\nB\nc", title="New")
    folder = visited(tmp_path, before, Visit("/p", DAY, 304), after)
    [change] = lines(run, folder, "--only", "changed", "--diff", "lines")
    assert (change["url"], change["kind"], change["at"]) == (f"{SITE}/p", "changed", "2026-01-03T12:00:00.250Z")
    assert change["visited_before"] == "2026-01-02T12:00:00.250Z"
    assert change["diff"] == "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"
    assert (change["removed"], change["added"], change["note"]) == (1, 1, None)
    for side, visit in ((change["before"], before), (change["after"], after)):
        assert (side["title"], side["digest"], side["size"]) == (visit.title, warc_digest(visit.body), len(visit.body))
        assert read(folder, Location(side["warc_file"], side["warc_offset"], side["warc_length"])).body == visit.body
    [words] = lines(run, folder, "--only", "changed", "--context", "0")
    assert words["diff"] == "@@ -2,1 +2,1 @@\n-b\n+B"
    [without] = lines(run, folder, "--only", "changed", "--diff", "none")
    assert without["diff"] is None


def test_gone_moved_and_back_name_the_page_that_was(tmp_path: Path, run: Said) -> None:
    folder = visited(
        tmp_path,
        Visit("/p", 0, text="a", title="Here"),
        Visit("/p", 60, 410),
        Visit("/p", 120, 304),
        Visit("/p", 180, 301, to=f"{SITE}/q"),
        Visit("/p", 240, 301, to=f"{SITE}/r"),
    )
    elsewhere, moved, back, gone, new = lines(run, folder)
    assert [each["kind"] for each in (elsewhere, moved, back, gone, new)] == ["moved", "moved", "back", "gone", "new"]
    assert new["before"] is None
    assert (gone["after"]["status"], gone["before"]["title"]) == (410, "Here")
    assert back["after"]["digest"] == back["before"]["digest"] == gone["before"]["digest"]
    assert back["diff"] is None
    assert (moved["after"]["redirect_to"], moved["before"]["title"]) == (f"{SITE}/q", "Here")
    assert (elsewhere["before"]["redirect_to"], elsewhere["after"]["redirect_to"]) == (f"{SITE}/q", f"{SITE}/r")


# --- as a feed --------------------------------------------------------------------------------------------------------


def feed(run: Said, folder: Path, *more: str) -> ET.Element:
    assert run("changes", str(folder), "--format", "atom", *more) == 0
    return ET.fromstring(run.raw)


def hostile(tmp_path: Path) -> Path:
    title = "]]> <script>alert('&amp;')</script> \x00\x1b[31m\ufffe \U0001f30d"
    return visited(
        tmp_path,
        Visit("/a?x=1&y='2'", 0, text="1 < 2 & \x0b3\nsame", title="Old"),
        Visit("/a?x=1&y='2'", DAY, text="1 > 2 & <b>3</b>\nsame", title=title),
        Visit("/b", 0, text="b", title="B"),
        Visit("/b", DAY, 404),
        Visit("/c", DAY, 302, to="https://elsewhere.example/?a&b"),
    )


def test_the_feed_has_what_atom_asks_for_and_escapes_what_pages_say(tmp_path: Path, run: Said) -> None:
    root = feed(run, hostile(tmp_path), "--since", "2025-01-01")
    assert root.tag == f"{ATOM}feed"
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    entries = root.findall(f"{ATOM}entry")
    assert [entry.find(f"{ATOM}category").get("term") for entry in entries] == ["gone", "changed", "new", "new"]  # type: ignore[union-attr]
    for element in (root, *entries):
        assert uuid.UUID(element.findtext(f"{ATOM}id") or "").version == 5
        assert element.findtext(f"{ATOM}title")
        assert datetime.fromisoformat(element.findtext(f"{ATOM}updated") or "").tzinfo is not None
        assert len(element.findall(f"{ATOM}id")) == len(element.findall(f"{ATOM}updated")) == 1
    changed = entries[1]
    assert changed.find(f"{ATOM}link").attrib == {"rel": "alternate", "href": f"{SITE}/a?x=1&y='2'"}  # type: ignore[union-attr]
    assert "<script>alert('&amp;')</script>" in (changed.findtext(f"{ATOM}title") or "")
    summary = changed.find(f"{ATOM}summary")
    assert summary is not None
    assert summary.get("type") == "html"
    html = summary.text or ""
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert "2 &amp; <del>3</del><ins>&lt;b&gt;3&lt;/b&gt;</ins>" in html
    assert root.findtext(f"{ATOM}updated") == changed.findtext(f"{ATOM}updated")


def test_an_entry_keeps_its_id_however_the_feed_is_asked_for(tmp_path: Path, run: Said) -> None:
    folder = hostile(tmp_path)
    whole = feed(run, folder, "--since", "2025-01-01")
    ids = [entry.findtext(f"{ATOM}id") for entry in whole.findall(f"{ATOM}entry")]
    assert len(set(ids)) == len(ids) == 4
    again = feed(run, folder, "--since", "2026-01-02", "--diff", "lines", "--limit", "2")
    assert [entry.findtext(f"{ATOM}id") for entry in again.findall(f"{ATOM}entry")] == ids[:2]
    assert again.findtext(f"{ATOM}id") == whole.findtext(f"{ATOM}id")
    other = visited(tmp_path / "other", Visit("/b", DAY, text="b"))
    assert feed(run, other, "--since", "2025-01-01").findtext(f"{ATOM}entry/{ATOM}id") not in ids


def test_a_feed_is_bounded(tmp_path: Path, run: Said) -> None:
    folder = visited(tmp_path, *(Visit(f"/{n}", n, text=str(n)) for n in range(130)), parts=50)
    assert len(feed(run, folder, "--since", "2025-01-01").findall(f"{ATOM}entry")) == 100
    assert len(feed(run, folder, "--since", "2025-01-01", "--limit", "120").findall(f"{ATOM}entry")) == 120
    assert run("changes", str(folder), "--format", "atom", "--limit", "0") == 2
    empty = feed(run, folder, "--since", "2025-01-01", "--until", "2025-01-02")
    assert empty.findall(f"{ATOM}entry") == []
    assert "no such page was visited" in run.err


# --- as text ----------------------------------------------------------------------------------------------------------


def everything(tmp_path: Path) -> Path:
    return visited(
        tmp_path,
        Visit("/prices", 0, text="Prices\nBasic: 10 a month\nTeam: 25 a month", title="Prices"),
        Visit("/old", 0, text="x", title="Summer \x1b]0;title\x07 sale"),
        Visit("/about", 0, text="y", title="About us"),
        Visit("/same", 0, text="z"),
        Visit("/prices", DAY, text="Prices\nBasic: 12 a month\nTeam: 25 a month", title="Prices 2026"),
        Visit("/old", DAY, 404),
        Visit("/about", DAY, 301, to=f"{SITE}/company"),
        Visit("/same", DAY, 304),
        Visit("/fresh", DAY, text="f", title="Fresh"),
        Visit("/busy", DAY, 503),
    )


def test_text_tells_by_kind_what_became_of_each_page(tmp_path: Path, run: Said) -> None:
    folder = everything(tmp_path)
    assert run("changes", str(folder), "--since", "2026-01-02", "--until", "2026-01-04") == 0
    told = run.out
    assert told.splitlines()[1] == "6 visits: 1 changed, 1 gone, 1 moved, 1 new, 1 unchanged, 1 without a usable answer"
    assert (
        "\n      Prices 2026 (was: Prices)\n        Prices\n      ~ Basic: [-10-]{+12+} a month\n        Team: 25 a month\n"
        in told
    )
    assert "\n      Summer ]0;title sale\n      the server answers 404; last seen 2026-01-01 " in told
    assert f"\n      301 to {SITE}/company; last seen" in told
    places = [told.index(f"\n{kind} (1)\n") for kind in ("changed", "gone", "moved", "new")]
    assert places == sorted(places)
    assert f"{SITE}/same" not in told
    assert "\x1b" not in told


def test_a_terminal_gets_colour_and_lines_that_fit(tmp_path: Path) -> None:
    long = "words that go on and on " * 40
    folder = visited(
        tmp_path, Visit("/p", 0, text=long + "old " + long), Visit("/p", DAY, text=long + "new " + long, title=long)
    )
    command = [sys.executable, "-m", "gossamer", "changes", str(folder), "--since", "2026-01-02"]
    main, other = os.openpty()
    subprocess.run(["stty", "cols", "80"], stdin=other, check=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    with subprocess.Popen(command, stdout=other, stderr=other, env=environment) as process:
        os.close(other)
        said = b""
        while True:
            try:
                piece = os.read(main, 65_536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            said += piece
        assert process.wait(60) == 0
    os.close(main)
    text = said.decode()
    assert "\x1b[31mold\x1b[0m \x1b[32mnew\x1b[0m" in text
    bare = [line for line in _without_colour(text).splitlines() if str(folder) not in line]
    assert len(bare) < 15
    assert max(map(len, bare)) <= 80


def _without_colour(text: str) -> str:
    for code in ("0", "1", "2", "31", "32"):
        text = text.replace(f"\x1b[{code}m", "")
    return text


def test_more_than_the_limit_is_said(tmp_path: Path, run: Said) -> None:
    folder = visited(tmp_path, *(Visit(f"/{n}", n, text=str(n)) for n in range(30)), parts=50)
    assert run("changes", str(folder), "--since", "2025-01-01") == 0
    assert "\nnew (30, the latest 20; --limit 0 shows all)\n" in run.out
    assert run.out.count(SITE) == 20
    assert run("changes", str(folder), "--since", "2025-01-01", "--limit", "0") == 0
    assert run.out.count(SITE) == 30


def test_that_nothing_changed_is_said_and_no_error(tmp_path: Path, run: Said) -> None:
    folder = visited(tmp_path / "c", Visit("/a", 0, text="one"), Visit("/a", DAY, 304))
    assert run("changes", str(folder), "--since", "2026-01-02") == 0
    assert run.out.endswith("\n1 visit: 1 unchanged\nnothing changed\n")
    assert run("changes", str(folder), "--since", "2026-01-02", "--format", "jsonl") == 0
    assert (run.out, run.err) == ("", "nothing changed\n")
    assert run("changes", str(folder), "--since", "2025-01-01", "--only", "gone") == 0
    assert run.out.endswith("nothing of that kind: gone\n")
    assert run("changes", str(folder), "--since", "2025-01-01", "--until", "2025-01-02") == 0
    assert "no such page was visited in that time; the newest visit in the table was " in run.out
    empty = visited(tmp_path / "empty")
    assert run("changes", str(empty)) == 0
    assert "no page has been visited yet" in run.out


# --- where it goes, and what is refused -------------------------------------------------------------------------------


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, run: Said) -> None:
    folder = everything(tmp_path / "c")
    place = tmp_path / "out"
    place.mkdir()
    file = place / "changes.xml"
    assert run("changes", str(folder), "--since", "2025-01-01", "--format", "atom", "--out", str(file)) == 0
    assert (run.out, run.err) == ("", "")
    before = file.read_bytes()
    assert ET.fromstring(before).tag == f"{ATOM}feed"
    assert run("changes", str(folder), "--where", "no_such", "--format", "atom", "--out", str(file)) == 1
    for part in (folder / "pages").iterdir():
        part.write_bytes(b"PAR1 nothing")
    assert run("changes", str(folder), "--since", "2025-01-01", "--format", "atom", "--out", str(file)) == 1
    assert run.err.startswith(f"gossamer: The page table in {folder / 'pages'} cannot be read: ")
    assert file.read_bytes() == before
    assert list(place.iterdir()) == [file]
    assert run("changes", str(visited(tmp_path / "d")), "--out", str(tmp_path / "absent" / "x")) == 1
    assert run.err.startswith(f"gossamer: cannot write {tmp_path / 'absent' / 'x'}: ")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--since", "soon"], "--since 'soon' is no time: give a date"),
        (["--until", "99999999999999"], "--until '99999999999999' is no time"),
        (["--since", "1h", "--until", "2h"], "--since 1h is not before --until 2h"),
        (["--only", "changed,lost"], "--only 'lost' is no kind of change: choose from changed, gone"),
        (["--limit", "-1"], "--limit cannot be -1"),
        (["--context", "-1"], "--context cannot be -1"),
        (["--ignore-boilerplate"], "--ignore-boilerplate compares texts, and this crawl keeps none"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: list[str], sentence: str, tmp_path: Path, run: Said) -> None:
    folder = visited(tmp_path, text=Text.NONE)
    assert run("changes", str(folder), *arguments) == 2
    assert run.err.startswith(f"gossamer: {sentence}")


def test_a_folder_that_is_no_crawl_is_said(tmp_path: Path, run: Said) -> None:
    assert run("changes", str(tmp_path)) == 1
    assert run.err == f"gossamer: {tmp_path} is not the folder of a crawl: there is no crawl.json in it\n"


@pytest.mark.parametrize(
    ("text", "ago"),
    [("2d", 2 * DAY), ("3h", 10_800), ("90m", 5_400), ("1d12h", 1.5 * DAY), ("2 days ago", 2 * DAY), ("1 week", 7 * DAY),
     ("45 s", 45), ("1.5 hours ago", 5_400), ("now", 0), ("10min", 600)],
)  # fmt: skip
def test_a_time_ago(text: str, ago: float) -> None:
    assert moment(text, NOON, "--since") == pytest.approx(NOON - ago)


@pytest.mark.parametrize(
    ("text", "same"),
    [("2026-01-01T12:00:00.25Z", NOON), ("2026-01-01T13:00:00.25+01:00", NOON), ("1767268800.25", NOON),
     ("2026-01-05", datetime(2026, 1, 5).timestamp()), ("2026-01-05 14:30", datetime(2026, 1, 5, 14, 30).timestamp())],  # noqa: DTZ001
)  # fmt: skip
def test_a_time_of_its_own(text: str, same: float) -> None:
    assert moment(text, NOON, "--since") == same


@pytest.mark.parametrize("text", ["", "2x", "d", "2d3", "-5", "2026-13-01", "1e9", "tomorrow", "3 ago", "9" * 40 + "d"])
def test_no_time_at_all(text: str) -> None:
    with pytest.raises(ConfigError, match="is no time"):
        moment(text, NOON, "--since")
