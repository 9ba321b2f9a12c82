"""Whatever a note, an explanation or a name holds, it is shown as text: nothing of it becomes part of the page."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest
from tests.panel.evidence.planted_run import Reader, every_page, explained, plant_study, small_ratings

from medjury.panel._evidence._run import EvidenceRun
from medjury.panel._evidence._serve import write_evidence_file

SCRIPT = (
    "<script>alert(1)</script><img src=x onerror=alert(2)></script></title></style>--><svg onload=alert(3)>"
)
TURNED = "dose \u202e005\u202c mg \u2066hidden\u2069"
NULLS = "null \x00 bytes \x1b[31m and \x85"
CONTROLS = NULLS.replace("\x00", "")  # a case with a null byte is refused where cases are read


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ratings = small_ratings()
    ratings = explained(ratings, "judge-a", f"{SCRIPT} {TURNED} {NULLS} “{SCRIPT}” “{SCRIPT} never said”")
    ratings = ratings.with_columns(
        pl.col("system").replace({"beta": f"<b>{SCRIPT}"}), pl.col("rater").replace({"judge-b": SCRIPT})
    )
    texts = {
        "case-0001": {
            "candidate": f"{SCRIPT} {TURNED}",
            "reference": CONTROLS,
            "texts": {"<i>question</i>": SCRIPT},
            "notes": [{"id": SCRIPT, "text": f"{SCRIPT}{TURNED}{CONTROLS}", "kind": SCRIPT}],
            "metadata": {"<u>age</u>": SCRIPT},
        },
        "case-0001/alpha": {"candidate": f"{SCRIPT} {TURNED} and more: {SCRIPT}more"},
    }
    return plant_study(tmp_path_factory.mktemp("hostile"), ratings, texts=texts)


def check(page: str) -> None:
    for raw in ("<script>alert", "<img", "<svg onload", "<b>", "<i>", "<u>"):
        assert raw not in page, raw
    for sign in ("\u202e", "\u2066", "\x00", "\x1b", "\x85"):
        assert sign not in page, hex(ord(sign))


def test_pages_show_it_as_text(run: Path) -> None:
    reader = Reader(EvidenceRun(run))
    state = reader.run.state
    for path in (*every_page(reader.run), *(state.address(place) for place in range(4)), "/cases?q=<script>"):
        check(reader.text(path))
    beside = reader.text(f"/beside/case-0001/alpha?system={quote(f'<b>{SCRIPT}')}")
    check(beside)
    assert "more:" in beside.partition('<mark class="differs">')[2].partition("</mark>")[0]
    page = reader.text("/case/case-0001/alpha")
    assert page.count('<span class="invented">') and "not found in the source" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "dose \u2425005\u2425 mg" in page


def test_the_file_shows_it_as_text(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "evidence.html"
    write_evidence_file(run, out)
    page = out.read_text(encoding="utf-8")
    check(page)
    assert page.count("<script>") == 1
    assert page.count("</script>") == 1


def test_ids_of_any_kind_have_an_address_that_leads_back(tmp_path: Path) -> None:
    names = ["a/b", "..", ".", "~", "a~2Fb", "100 %", "ü?#&", "x y", "../../etc/passwd", "a+b"]
    ratings = small_ratings(cases=len(names), systems=("",))
    renamed = {f"case-{number:04d}": name for number, name in enumerate(names)}
    ratings = ratings.with_columns(pl.col("item").replace(renamed))
    reader = Reader(EvidenceRun(plant_study(tmp_path, ratings)))
    state = reader.run.state
    addresses = [state.address(place) for place in range(len(names))]
    assert len(set(addresses)) == len(names)
    for place, address in enumerate(addresses):
        assert reader.run.state.place(*address.split("/")[2:]) == place
        assert reader.get(address).status_code == 200, address


def test_a_note_of_five_megabytes_is_shown_in_parts(tmp_path: Path) -> None:
    note = (
        "Blood pressure 120/80 mmHg, pulse 72, no complaints. " * 100_000
        + "The last line names digoxin toxicity."
    )
    ratings = explained(
        small_ratings(), "judge-a", "It says “THE last line names digoxin toxicity” at the end."
    )
    run = plant_study(tmp_path, ratings, texts={"case-0001": {"notes": [{"id": "n1", "text": note}]}})
    reader = Reader(EvidenceRun(run))
    assert len(note) > 5_000_000
    began = time.process_time()
    page = reader.text("/case/case-0001/alpha")
    assert time.process_time() - began < 10
    assert len(page) < 200_000
    assert "The first 60,000 of 5,300,037 characters." in page
    assert "not found in the source" not in page
    link = page.split('<a class="quoted" href="')[1].split("#")[0]
    last = reader.text(link)
    assert ">The last line names digoxin toxicity</mark>" in last
    assert len(last) < 200_000
    assert reader.text("/case/case-0001/alpha/text/0?from=99999999999").count("</mark>") <= 1
    assert ">case-0001</a>" in reader.text("/cases?q=digoxin")
    out = tmp_path / "evidence.html"
    write_evidence_file(run, out)
    assert out.stat().st_size < 2_000_000
