"""What is erased from a panel is gone, down to the bytes; all else stays, and the trail holds."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars
import psycopg
import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import DBAPIError
from tests import chromium
from tests.axe import looks_good
from tests.panel.access.test_trail import without_triggers
from tests.panel.meeting.closed_rounds import closed_panel, same
from tests.panel.rounds import NOON, case_rows, write_study
from tests.panel.served import served
from tests.panel.visitors import Visitor, let_in, sign_in

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Score
from medjury.panel import _database, write_export
from medjury.panel._access._people import Role
from medjury.panel._access._trail import check_trail, trail, trail_entries
from medjury.panel._design._form import outcome_row
from medjury.panel._erasing._pages import _rows, choice_of, erase
from medjury.panel._exchange._collecting import collect, write_ratings_file
from medjury.panel._exchange._files import bring_in
from medjury.panel._meeting._reference_files import set_up_references
from medjury.panel._serve import Panel, make_app, open_panel
from medjury.panel._tables import (
    assignments_table,
    inserted,
    items_table,
    metadata,
    reference_cases_table,
    rounds_table,
    trail_table,
)
from medjury.store.runs import Ledger
from medjury.studies import load_study, register_study

PATIENT, CASE, SECRET = "pangolin-1", "marmoset-01", "Mrs-Unmistakable-Zyx-has-gout"
SOUGHT = [PATIENT, CASE, SECRET]
REFERENCES = "panel: {references: {show: [context]}, rounds: [{name: rating}]}\n"


def test_erasing_in_the_panel_is_recorded_in_the_ledger_of_a_registered_study(tmp_path: Path) -> None:
    made, _ = closed_panel(
        tmp_path, [same("4", "2")] * 3, place=tmp_path / "ward.panel.sqlite", rows=rows(), panel=REFERENCES
    )
    assert made.study is not None
    file = made.study.file
    file.write_text(f"{file.read_text()}judges: [{{kind: embedded, name: judge}}]\n")
    register_study(load_study(file))
    found = erase(made, choice_of(made, PATIENT))
    made.database.close()
    (line,) = [each for each in Ledger.read(file.parent).lines if each.event == "erased"]
    assert len(line.erased) == 1 and "it stays registered" in found.text("the panel")
    assert not any(word in (file.parent / "registrations.jsonl").read_text() for word in SOUGHT)


@pytest.fixture
def panel(either_place: str, tmp_path: Path) -> Iterator[Panel]:
    """Three cases, rated; of the second patient's every table holds words that nobody else has."""
    made, _ = closed_panel(tmp_path, [same("4", "2")] * 3, place=either_place, rows=rows(), panel=REFERENCES)
    fill(made)
    yield made
    made.database.close()


def rows() -> list[dict[str, object]]:
    found = case_rows(3, ("one",))
    found[1]["candidate"] = f"The note states that {SECRET}."
    return found


def fill(panel: Panel) -> None:
    """As the pages do, with many more drafts than one page of the file holds."""
    at = NOON.isoformat()
    with panel.database.writing() as connection:

        def add(table: str, **values: object) -> int:
            return inserted(connection, metadata.tables[table], **values)

        item = connection.execute(select(items_table.c.id).where(items_table.c.item == CASE)).scalar_one()
        (round_,) = connection.execute(select(rounds_table.c.id)).scalars()
        assigned = connection.execute(
            select(assignments_table).where(assignments_table.c.item == item).limit(1)
        ).one()
        said = {"accuracy": {"grade": "3", "why": SECRET}}
        outcome = outcome_row(Score(3.0, SECRET))
        settled = dict.fromkeys(("accuracy", "completeness", "clarity"), outcome)
        for version in range(2, 60):
            add("answers", assignment=assigned.id, version=version, submitted=False, said=said, outcomes={},
                comment=f"{SECRET} draft {version}", measured=True, saved_at=at,
                marks=[{"start": 16, "end": 16 + len(SECRET), "text": SECRET}])  # fmt: skip
        add("looks", assignment=assigned.id, opened_at=at, last_at=at, seconds=1.0, beats=1)
        asked = add("asked", assignment=assigned.id, question="which", code="code-asked", position=0.5,
                    turned=False, asked_at=at)  # fmt: skip
        add("question_replies", asked=asked, version=1, choice="left", why=SECRET, said_at=at)
        meeting = add(
            "meetings", round=round_, differ="any", danger=0.5, by="raters", names=False, opened_at=at
        )
        met = add("meeting_items", meeting=meeting, item=item, code="code-met", position=0.5,
                  participants=[assigned.person], dimensions=["accuracy"])  # fmt: skip
        proposed = add("proposals", meeting_item=met, version=1, person=assigned.person, agreed=True, said=said,
                       outcomes=settled, reason=SECRET, said_at=at)  # fmt: skip
        add("confirmations", proposal=proposed, person=assigned.person, confirmed_at=at)
        add("decisions", meeting_item=met, version=1, person=assigned.person, said=said, outcomes=settled,
            reason=SECRET, said_at=at)  # fmt: skip
        assert panel.study is not None and set_up_references(connection, panel.study) == 3
        cases = reference_cases_table
        case = connection.execute(select(cases.c.id).where(cases.c.item == CASE)).scalar_one()
        group = add("reference_panels", name="Renal", members=[assigned.person], names=False, made_at=at)
        work = add("reference_work", panel=group, case=case, code="code-work", position=0.5)
        add("reference_stages", work=work, stage="together", person=assigned.person, began_at=at)
        add("reference_entries", work=work, part="together", version=1, person=assigned.person, submitted=False,
            said={"primary": SECRET}, outcomes={}, said_at=at)  # fmt: skip
        add("imported_ratings", rater="Dr Far", item=CASE, system="one", dimension="accuracy", outcome=outcome,
            profile={}, file="far.csv", imported_at=at)  # fmt: skip
        for what, about in (
            ("invited", "somebody as rater"), ("decided", "code-met"), ("made a reference", "code-work"),
            ("brought in ratings", f"{PATIENT}.csv"), ("made a round open", "rating"),
        ):  # fmt: skip
            trail(connection, "somebody", what, about, now=NOON)
        connection.exec_driver_sql("ANALYZE")  # as PostgreSQL does by itself: it keeps samples of texts


def found_in(panel: Panel, folder: Path) -> list[str]:
    """Where one of the strings is: in a byte of a file, packed or not, or of the server's tables."""
    places = [file for file in folder.rglob("*") if file.is_file() and file.name != "cases.jsonl"]
    if panel.database.engine.dialect.name == "postgresql":
        places += server_files(panel)
    found = []
    for file in places:
        texts = [file.read_bytes()]
        if file.suffix == ".xlsx":
            with zipfile.ZipFile(file) as packed:
                texts += [packed.read(name) for name in packed.namelist()]
        if file.suffix == ".parquet":
            texts.append(polars.read_parquet(file).write_csv().encode())
        found += [f"{file.name}: {word}" for word in SOUGHT if any(word.encode() in text for text in texts)]
    return found


def server_files(panel: Panel) -> list[Path]:
    url = panel.database.engine.url.set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        (folder,) = connection.execute("SHOW data_directory").fetchone() or ("",)
        (number,) = connection.execute(
            "SELECT oid FROM pg_database WHERE datname = current_database()"
        ).fetchone() or (0,)
    return [file for file in (Path(folder) / "base" / str(number)).iterdir() if file.is_file()]


def test_nothing_of_the_patient_is_left_in_any_byte(panel: Panel, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for kind in ("csv", "xlsx", "label-studio", "redcap"):
        write_export(panel, out / f"ratings-{kind}.{'xlsx' if kind == 'xlsx' else 'txt'}", f"ratings:{kind}")
    write_export(panel, out / "references.jsonl", "references")
    write_export(panel, out / "questions.csv", "questions")
    assert panel.study is not None
    with panel.database.reading() as connection:
        before = collect(connection)
    write_ratings_file(panel.study, before)
    where = {place.partition(":")[0] for place in found_in(panel, tmp_path)}
    assert len(where) > 5, where  # the search finds what is there
    done = erase(panel, choice_of(panel, PATIENT))
    assert found_in(panel, tmp_path) == []
    assert done.rows["answers"] == 60 and done.rows["items"] == 1 and len(done.files) == 7
    with panel.database.reading() as connection:
        assert collect(connection) == [each for each in before if each.item != CASE], "all else is as it was"
        last = check_trail(connection)
        entries = list(trail_entries(connection))
    assert last is not None and last.what == "erased a patient" and done.trail == 3
    assert [each.about for each in entries if each.about == "[erased]"] == ["[erased]"] * 3
    assert {"somebody as rater", "rating"} <= {each.about for each in entries}


def test_every_table_that_hangs_on_a_case_is_erased(panel: Panel) -> None:
    """Whoever adds a table hears of it here."""
    hanging = {"items", "reference_cases", "imported_ratings"}
    for table in metadata.sorted_tables:
        if {key.column.table.name for key in table.foreign_keys} & hanging:
            hanging.add(table.name)
    with panel.database.reading() as connection:
        chosen, codes = _rows(connection, choice_of(panel, PATIENT))
    assert {column.table.name for column, _ in chosen} == hanging
    assert {"code-asked", "code-met", "code-work"} < codes


@pytest.mark.parametrize(
    "change",
    [
        update(trail_table).where(trail_table.c.number == 1).values(about="[erased]"),
        update(trail_table).where(trail_table.c.about == "[erased]").values(what="signed in"),
        update(trail_table).where(trail_table.c.about == "[erased]").values(person="somebody else"),
        update(trail_table).where(trail_table.c.what == "erased a patient").values(about="nothing"),
        update(trail_table).where(trail_table.c.number == 2).values(about="something"),
    ],
)
def test_an_erasure_hides_no_other_change_of_the_trail(panel: Panel, change: object) -> None:
    erase(panel, choice_of(panel, PATIENT))
    without_triggers(panel.database, change)
    with panel.database.reading() as connection, pytest.raises(MedjuryError, match="is broken at row"):
        check_trail(connection)


def test_an_answer_can_be_changed_by_nobody_afterwards(panel: Panel) -> None:
    erase(panel, choice_of(panel, PATIENT))
    for table in ("answers", "trail", "erasures"):
        with pytest.raises(DBAPIError, match="append-only"), panel.database.writing() as connection:
            connection.exec_driver_sql(f"DELETE FROM {table}")


def test_what_was_erased_does_not_come_back(panel: Panel, tmp_path: Path) -> None:
    erase(panel, choice_of(panel, PATIENT))
    url = panel.database.engine.url
    place = (
        str(url.database)
        if url.drivername == "sqlite"
        else url.set(drivername="postgresql").render_as_string(False)
    )
    write_study(
        tmp_path,
        rows=rows(),
        panel="panel: {references: {show: [context]}, rounds: [{name: rating}, {name: new}]}\n",
    )
    again = open_panel(tmp_path / "study.yaml", database=place)
    with again.database.reading() as connection:
        kept = connection.execute(select(items_table.c.item, rounds_table.c.name).join(rounds_table)).all()
        references = set(connection.execute(select(reference_cases_table.c.item)).scalars())
        warnings = connection.execute(
            select(rounds_table.c.warnings).where(rounds_table.c.name == "new")
        ).scalar_one()
    others = {"marmoset-00", "marmoset-02"}
    assert {item for item, _ in kept} == references == others and {name for _, name in kept} == {
        "rating",
        "new",
    }
    assert any("1 case left out" in each for each in warnings)
    file = tmp_path / "far.csv"
    file.write_text(f"item,system,rater,dimension,score\n{CASE},one,Dr Far,accuracy,3\n")
    assert again.study is not None
    with pytest.raises(MedjuryError, match="1 case erased from the panel"):
        bring_in(again.study, again.database, file, now=NOON)
    again.database.close()


def test_a_file_that_was_changed_is_left_to_its_owner_and_named(panel: Panel, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        write_export(panel, tmp_path / name, "ratings:csv")
    (tmp_path / "a.csv").write_text(f"my own notes on {PATIENT}\n")
    done = erase(panel, choice_of(panel, PATIENT))
    assert (done.files, done.changed_files) == ((str(tmp_path / "b.csv"),), (str(tmp_path / "a.csv"),))
    assert "check it: " + str(tmp_path / "a.csv") in done.text("here")


def test_the_command_counts_erases_and_finishes_what_was_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed_panel(tmp_path, [same("4", "2")] * 3, place=tmp_path / "ward.panel.sqlite", rows=rows())[
        0
    ].database.close()
    words = ["panel", "erase", str(tmp_path / "study.yaml"), "--patient", PATIENT]
    database = tmp_path / "ward.panel.sqlite"
    whole = database.read_bytes()
    assert main([*words, "--dry-run"]) == 0
    assert "Would be erased from" in (told := capsys.readouterr().out) and "2 answers and drafts" in told
    assert database.read_bytes() == whole
    assert main([*words[:-1], "pangolin-99"]) == 2
    assert "none of the cases" in capsys.readouterr().err
    assert main([*words[:-2], "--case", "marmoset-99"]) == 2
    assert "holds nothing about what was named" in capsys.readouterr().err
    monkeypatch.setattr(_database, "WAIT_SECONDS", 0.01)
    reader = open_panel(tmp_path / "study.yaml")
    with reader.database.reading() as connection:  # another program, which does not go away
        connection.exec_driver_sql("SELECT * FROM items").fetchall()
        assert main(words) == 2
        assert "their bytes are still in its -wal file" in capsys.readouterr().err
    reader.database.close()
    assert main(words) == 0
    assert "it was erased at" in (told := capsys.readouterr().out) and "backups" in told
    assert main(["panel", "trail", str(tmp_path / "study.yaml"), "--check"]) == 0
    copied = tmp_path / "copied"
    copied.mkdir()
    for file in tmp_path.glob("ward.panel*"):
        shutil.copy(file, copied)
    assert not [word for file in copied.iterdir() for word in SOUGHT if word.encode() in file.read_bytes()]


def test_the_coordinator_confirms_twice(tmp_path: Path) -> None:
    panel, _ = closed_panel(tmp_path, [same("4", "2")] * 3, rows=rows())
    app = make_app(panel)
    assert Visitor(app).get("/erase").status_code == 303
    assert sign_in(app, Role.RATER).get("/erase").status_code == 403
    visitor = sign_in(app, Role.COORDINATOR)
    assert 'href="/erase"' in visitor.get("/exchange").text
    named = {"kind": "patient", "id": PATIENT}
    shown = visitor.submit("/erase", "/erase", **named)
    assert shown.status_code == 200 and "2 answers and drafts" in shown.text and "once more" in shown.text
    wrong = visitor.submit("/erase/now", "/erase", **named, again="pangolin-2")
    assert wrong.status_code == 400 and "Nothing was erased" in wrong.text
    unknown = visitor.submit("/erase", "/erase", kind="patient", id="pangolin-9")
    assert unknown.status_code == 400 and "nothing was erased" in unknown.text
    assert (
        SECRET.encode()
        in (tmp_path / "panel.sqlite").read_bytes() + (tmp_path / "panel.sqlite-wal").read_bytes()
    )
    done = visitor.submit("/erase/now", "/erase", **named, again=PATIENT)
    assert done.status_code == 200 and "1 text of a case" in done.text
    assert found_in(panel, tmp_path) == []
    told = visitor.get("/trail").text
    assert "erased a patient" in told and "is intact" in told and PATIENT not in told
    again = visitor.submit("/erase", "/erase", **named).text
    assert "was erased at 2026-03-02" in again and json.dumps(SECRET) not in again
    panel.database.close()


def test_the_pages_in_a_browser(tmp_path: Path) -> None:
    made, _ = closed_panel(tmp_path, [same("4", "2")] * 3, rows=rows())
    with served(replace(made, now=lambda: datetime.now(UTC))) as panel, chromium.browser() as browser:
        context = browser.new_context(base_url=panel.public_url)
        let_in(context, panel, Role.COORDINATOR, "Ada")
        page = context.new_page()

        page.goto("/exchange")
        looks_good(page, "exchange")
        page.get_by_role("link", name="erase a patient").click()
        looks_good(page, "ask")
        page.get_by_label("Id").fill(PATIENT)
        page.get_by_role("button", name="Show what would be erased").click()
        looks_good(page, "shown")
        page.get_by_label("once more").fill("pangolin-2")
        page.get_by_role("button", name="Erase permanently").click()
        looks_good(page, "wrong")
        page.get_by_label("once more").fill(PATIENT)
        page.get_by_role("button", name="Erase permanently").click()
        looks_good(page, "done")
        page.goto("/trail")
        looks_good(page, "trail")
        context.close()
    assert found_in(made, tmp_path) == []
    made.database.close()
