"""Files that a browser sends: none of them reads another file of the server, or passes for what it is not."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars
import pytest
from fastapi import FastAPI
from tests.panel.meeting.closed_rounds import closed_panel, same
from tests.panel.raters import GOOD, rater
from tests.panel.visitors import Visitor, invited, sign_in

from medjury.foundation.errors import MedjuryError
from medjury.panel._access._people import Role
from medjury.panel._exchange._collecting import collect
from medjury.panel._serve import make_app, open_panel

HEADER = b"item,system,rater,dimension,score"
ROW = b"marmoset-00,zebrafinch-9b,Dr Elsewhere,accuracy,3"
SECRET = "Pangolin-Passphrase"


def study_in(place: Path) -> FastAPI:
    folder = place / "study"
    folder.mkdir()
    closed_panel(folder, [same("4", "2")], place=folder / "ward.panel.sqlite", close=False)
    (place / "secret.csv").write_text(
        f"item,system,rater,dimension,score\nmarmoset-00,zebrafinch-9b,{SECRET},accuracy,3\n"
    )
    (place / "secret.txt").write_text(f"password\n{SECRET}\n")
    return make_app(open_panel(folder / "study.yaml"))


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    return study_in(tmp_path)


@pytest.fixture
def coordinator(app: FastAPI) -> Visitor:
    return sign_in(app, Role.COORDINATOR)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the study lies that refuses whatever it is sent, and so stays as it is."""
    return tmp_path_factory.mktemp("refusing")


@pytest.fixture(scope="module")
def refusing(place: Path) -> tuple[FastAPI, Visitor]:
    app = study_in(place)
    return app, sign_in(app, Role.COORDINATOR)


def send(visitor: Visitor, **files: tuple[str, bytes]) -> Any:
    return visitor.post("/exchange/import", data={"csrf": visitor.token("/exchange")}, files=files)


def raters(app: FastAPI) -> set[str]:
    with app.state.panel.database.reading() as connection:
        return {each.rater for each in collect(connection)}


@pytest.mark.parametrize("name", ["ratings.yaml", "ratings.YML"])
@pytest.mark.parametrize(
    "named", ["../../secret.csv", "{root}/secret.csv", "../../secret.txt", "{root}/gone.csv"]
)
def test_a_file_that_names_other_files_reads_none_of_them(
    refusing: tuple[FastAPI, Visitor], place: Path, name: str, named: str
) -> None:
    app, coordinator = refusing
    mapping = f"files:\n  - file: {named.format(root=place)}\n".encode()
    answer = send(coordinator, file=(name, mapping))
    assert answer.status_code == 400
    assert SECRET not in answer.text and "password" not in answer.text
    assert raters(app) == {"Dr Wallaby 0", "Dr Wallaby 1"}


def test_a_mapping_that_names_other_files_reads_none_of_them(
    refusing: tuple[FastAPI, Visitor], place: Path
) -> None:
    app, coordinator = refusing
    mapping = f"files:\n  - file: {place}/secret.csv\ninstrument: {place}/secret.yaml\n".encode()
    answer = send(coordinator, file=("r.csv", HEADER + b"\n" + ROW + b"\n"), mapping=("m.yaml", mapping))
    assert answer.status_code == 400 and SECRET not in answer.text
    assert raters(app) == {"Dr Wallaby 0", "Dr Wallaby 1"}


NO_FILES = {
    "a path": ("../../evil.csv", b"\x00"),
    "two endings": ("a.csv\x00.yaml", b"\xff\xfe"),
    "half a workbook": ("a.xlsx", b"PK\x03\x04" + b"\0" * 50),
    "deep JSON": ("a.json", b"[" * 100_000),
    "a mapping": ("a.yaml", b"a: &a [1]\nb: &b [*a,*a]\nc: [*b,*b]\n"),
    "half a parquet file": ("a.parquet", b"PAR1PAR1"),
    "half a statistics file": ("a.sav", b"$FL2@(#)"),
    "only points": ("." * 300, b"item\n"),
    "a long ending": ("a." + "x" * 300, b"item\n"),
}


@pytest.mark.parametrize("name, content", NO_FILES.values(), ids=NO_FILES)
def test_a_file_that_is_none_is_refused_in_words(
    refusing: tuple[FastAPI, Visitor], place: Path, name: str, content: bytes
) -> None:
    answer = send(refusing[1], file=(name, content))
    assert answer.status_code == 400, answer.text[:300]
    assert str(place) not in answer.text and "Traceback" not in answer.text
    assert not list(place.rglob(".medjury-import-*"))


def test_a_mapping_does_not_make_judges_clinicians(app: FastAPI, coordinator: Visitor) -> None:
    mapping = b"rater_kind: judge\n"
    send(coordinator, file=("r.csv", HEADER + b"\n" + ROW + b"\n"), mapping=("m.yaml", mapping))
    assert "Dr Elsewhere" not in raters(app)


def test_a_probability_comes_in_with_its_rating(app: FastAPI, coordinator: Visitor) -> None:
    """Without it a case that was drawn because it looked bad would count like any other."""
    content = HEADER + b",probability\n" + ROW + b",0.25\n"
    assert send(coordinator, file=("r.csv", content)).status_code == 200
    with app.state.panel.database.reading() as connection:
        (found,) = [each for each in collect(connection) if each.rater == "Dr Elsewhere"]
    assert found.probability == 0.25


def test_a_second_rating_of_the_same_answer_is_not_dropped_in_silence(
    app: FastAPI, coordinator: Visitor
) -> None:
    content = HEADER + b",repeat\n" + ROW + b",0\n" + ROW[:-1] + b"5,1\n"
    mapping = b"repeat: repeat\n"
    answer = send(coordinator, file=("r.csv", content), mapping=("m.yaml", mapping))
    assert answer.status_code == 400, "kept are both or neither"
    assert "Dr Elsewhere" not in raters(app)


@pytest.mark.parametrize("name", ["dr  wallaby 0", "DR WALLABY 0", "reconciled", "Reconciled"])
def test_a_name_that_stands_for_somebody_else_is_refused(
    refusing: tuple[FastAPI, Visitor], name: str
) -> None:
    """Two who are called alike would be one rater, or one who counts twice."""
    content = HEADER + b"\n" + ROW.replace(b"Dr Elsewhere", name.encode()) + b"\n"
    assert send(refusing[1], file=("r.csv", content)).status_code == 400


def test_whoever_joins_under_the_name_of_one_who_rated_elsewhere_is_another_rater(
    app: FastAPI, coordinator: Visitor
) -> None:
    assert send(coordinator, file=("r.csv", HEADER + b"\n" + ROW + b"\n")).status_code == 200
    newcomer = rater(app, "dr elsewhere")
    for code in newcomer.codes():
        assert newcomer.rate(code, **GOOD).status_code == 303
    assert {"dr elsewhere", "Dr Elsewhere, elsewhere"} < raters(app)


@pytest.mark.parametrize("name", ["reconciled", " RECONCILED"])
def test_nobody_is_called_like_what_raters_settle_together(
    refusing: tuple[FastAPI, Visitor], name: str
) -> None:
    with pytest.raises(MedjuryError, match="is the name for"):
        invited(refusing[0].state.panel, name, Role.RATER)


def swollen(rows: int) -> bytes:
    """One row so many times over, in kilobytes."""
    names, cells = HEADER.decode().split(","), ROW.decode().split(",")
    frame = polars.DataFrame({name: [cell] for name, cell in zip(names, cells, strict=True)})
    file = io.BytesIO()
    frame.select(polars.all().repeat_by(rows).explode()).write_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("r.parquet", lambda: swollen(3_000_000), "has 3,000,000 rows; at most 100,000 rows"),
        ("r.parquet", lambda: swollen(100_001), "has 100,001 rows; at most 100,000 rows"),
        ("r.json", lambda: b"[" * 100_000, "is nested deeper than 100 levels"),
    ],
)
def test_a_file_that_swells_is_refused_before_it_is_read(
    name: str, content: Any, words: str, refusing: tuple[FastAPI, Visitor]
) -> None:
    (app, coordinator), sent = refusing, content()
    assert len(sent) < 200_000
    answer = send(coordinator, file=(name, sent))
    assert answer.status_code == 400 and words in answer.text
    assert ".medjury-import-" not in answer.text and "Dr Elsewhere" not in raters(app)
