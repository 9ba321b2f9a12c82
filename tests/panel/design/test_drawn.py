"""A round of what was drawn for review: those answers, in the draw's order, with its probabilities, or none."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from sqlalchemy import select
from tests.panel.drawn_reviews import CASES, RATINGS, draw, drawn_panel, judged_study, name_draw, only_round
from tests.panel.rounds import NOON

from medjury.analysis.calibration import QueueRow
from medjury.foundation.errors import MedjuryError
from medjury.panel._design._assignments import Work, join, leave, places
from medjury.panel._design._rounds import set_up
from medjury.panel._tables import assignments_table, items_table
from medjury.studies import load_rated_study
from medjury.studies._study.rated import read_queue


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    judged_study(folder)
    draw(folder)
    return folder


@pytest.fixture
def folder(judged: Path, tmp_path: Path) -> Path:
    """The judged study with its draw, to do with as one likes."""
    for name in ("study.yaml", "cases.jsonl", "review.csv"):
        (tmp_path / name).write_bytes((judged / name).read_bytes())
    return tmp_path


def drawn_in(folder: Path) -> dict[str, QueueRow]:
    return {row.item: row for row in read_queue(folder / "review.csv") if row.drawn}


def test_only_drawn_answers_are_rated_in_the_order_of_the_draw_and_with_its_probability(folder: Path) -> None:
    database, _ = drawn_panel(folder)
    expected = drawn_in(folder)
    assert len(expected) == RATINGS < CASES
    with database.writing() as connection:
        round_ = only_round(connection)
        for person in ("ann", "bob"):
            join(connection, round_, person, NOON)
        a, i = assignments_table.c, items_table.c
        for person in ("ann", "bob"):
            query = select(i.item, a.probability).join(items_table, a.item == i.id).where(a.person == person)
            given = [tuple(row) for row in connection.execute(query.order_by(a.position))]
            order = sorted(expected.values(), key=lambda row: row.place or 0)
            assert given == [(row.item, row.probability) for row in order]
        assert len(places(connection, round_.id, "ann")) == RATINGS
    assert len({row.probability for row in expected.values()}) > 5, "they differ"


def test_work_that_moves_keeps_its_probability_and_its_place(folder: Path) -> None:
    database, _ = drawn_panel(folder, more=", assign: {per_case: 1}")
    expected = drawn_in(folder)
    with database.writing() as connection:
        round_ = only_round(connection)
        for person in ("ann", "bob", "cy"):
            join(connection, round_, person, NOON)
        leave(connection, round_, "bob", NOON)
        held = {(item, person) for item, person in Work(connection, round_, NOON).held}
        a, i = assignments_table.c, items_table.c
        query = select(i.item, i.id, a.person, a.probability, a.position).join(items_table, a.item == i.id)
        rows = [row for row in connection.execute(query) if (row.id, row.person) in held]
    assert sorted(row.item for row in rows) == sorted(expected)
    assert all((row.probability, row.position) == (expected[row.item].probability, expected[row.item].place)
               for row in rows)  # fmt: skip


def change(folder: Path, number: int, **values: str) -> None:
    file = folder / "review.csv"
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    rows[number] |= values
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(
    "values", [{"probability": "0.9"}, {"place": "41"}, {"reason": "because"}, {"seed": "4"}]
)
def test_a_draw_that_was_changed_is_refused(folder: Path, values: dict[str, str]) -> None:
    change(folder, 0)
    name_draw(folder / "study.yaml")  # written anew, with the same words in it, it is the same draw
    change(folder, 0, **values)
    with pytest.raises(MedjuryError, match=r"review.csv was changed after it was drawn"):
        name_draw(folder / "study.yaml")


def test_a_row_that_was_left_out_is_missed(folder: Path) -> None:
    lines = (folder / "review.csv").read_text().splitlines(keepends=True)
    (folder / "review.csv").write_text("".join(lines[:-1]))
    with pytest.raises(MedjuryError, match="was changed after it was drawn"):
        name_draw(folder / "study.yaml")


def test_the_draw_of_another_study_is_refused(folder: Path) -> None:
    lines = (folder / "cases.jsonl").read_text().splitlines(keepends=True)
    (folder / "cases.jsonl").write_text("".join(lines[1:]))
    with pytest.raises(
        MedjuryError, match="names the case 'marmoset-00' by 'zebrafinch-9b', which the case file"
    ):
        drawn_panel(folder)


def test_a_draw_for_other_texts_is_refused(folder: Path) -> None:
    file = folder / "cases.jsonl"
    file.write_text(file.read_text().replace("amlodipine 5 mg", "amlodipine 10 mg", 1))
    with pytest.raises(MedjuryError, match="was made for other cases"):
        drawn_panel(folder)


def test_a_draw_that_belongs_to_no_run_is_taken_with_a_warning(folder: Path, judged: Path) -> None:
    from medjury.analysis.calibration import draw_review, write_frame
    from medjury.tables import open_run, rating_table

    rows = open_run(judged / "runs" / "ward").rows.drop("row", "cluster")
    queue = draw_review(rating_table(rows, scale=(1, 5)), ratings=RATINGS, seed=3)
    write_frame(queue.frame(), folder / "review.csv")
    database, study = drawn_panel(folder)
    with database.writing() as connection:
        (warning,) = only_round(connection).warnings
        assert "belong to no run" in warning
        set_up(connection, study, NOON)
        assert only_round(connection).warnings == (warning,)


def test_another_draw_in_its_place_does_not_change_a_round_that_was_set_up(
    folder: Path, judged: Path
) -> None:
    database, _ = drawn_panel(folder)
    from medjury.analysis.calibration import draw_review, write_frame
    from medjury.tables import open_run

    other = draw_review(open_run(judged / "runs" / "ward"), ratings=RATINGS, seed=4)
    write_frame(other.frame(), folder / "review.csv")
    with database.writing() as connection:
        before = connection.execute(select(items_table)).all()
        set_up(connection, load_rated_study(folder / "study.yaml"), NOON)
        (warning,) = only_round(connection).warnings
        assert "continues as it was set up" in warning
        assert connection.execute(select(items_table)).all() == before


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (", cases: [marmoset-01]", "`cases` and `draw` both say which cases are rated"),
        (", kind: calibration", "is not part of the study; take `draw` out"),
    ],
)
def test_a_round_has_one_source_of_answers(folder: Path, more: str, told: str) -> None:
    with pytest.raises(MedjuryError, match=told):
        name_draw(folder / "study.yaml", more)


def test_cases_that_raters_practise_on_cannot_be_drawn(folder: Path) -> None:
    study = folder / "study.yaml"
    practice = "{name: definitions, kind: calibration, cases: [marmoset-07]}"
    study.write_text(
        study.read_text() + f"panel: {{rounds: [{practice}, {{name: review, draw: review.csv}}]}}\n"
    )
    with pytest.raises(MedjuryError, match="raters practise on the case 'marmoset-07', which could be drawn"):
        load_rated_study(study)


def test_a_file_that_is_no_draw_says_how_to_make_one(folder: Path) -> None:
    (folder / "review.csv").write_text("item,score\na,1\n")
    with pytest.raises(
        MedjuryError, match="is not a queue of a review; `medjury plan review RUN --out FILE`"
    ):
        name_draw(folder / "study.yaml")
    (folder / "review.csv").unlink()
    with pytest.raises(MedjuryError, match="cannot be read"):
        name_draw(folder / "study.yaml")
