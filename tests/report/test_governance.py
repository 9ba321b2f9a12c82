"""The governance page: no line is filled in that no file states, and every value is the one that the file has."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.planted import planted_frame, write_run

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.report import write_page
from medjury.studies import Demonstration, load_study, run_study

ASKED = re.compile(r'<li data-state="(\w+)">(.*?)</li>', re.DOTALL)
FACT = re.compile(r'<dd data-file="([^"]*)" data-field="([^"]*)">(.*?)</dd>', re.DOTALL)


def lines_of(page: Path) -> list[tuple[str, str, list[tuple[str, ...]]]]:
    """Every line: its state, what it shows, and its values with their file and field."""
    return [
        (state, html.unescape(body), [tuple(map(html.unescape, each)) for each in FACT.findall(body)])
        for state, body in ASKED.findall(page.read_text(encoding="utf-8"))
    ]


def stated(file: Path, field: str) -> Iterator[Any]:
    """Every value that a file has there, and the names beside them: read anew, by nothing of the page's own."""
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                yield from (
                    row[field],
                    *(row.get(name) for name in ("dimension", "judge", "effect", "rater")),
                )
        return
    found = [json.loads(file.read_text(encoding="utf-8"))]
    for step in field.removeprefix("#").replace("[]", "").split("."):
        inside = [one for each in found for one in (each if isinstance(each, list) else [each])]
        found = [each[step] for each in inside if step in each]
    yield from ([len(found[0])] if field.startswith("#") else found)


def parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value
        value = [*value.values()]
    if isinstance(value, list):
        if not value:
            yield "none"
        for each in value:
            yield from parts(each)
    else:
        yield {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value


def is_in(word: str, values: list[Any]) -> bool:
    """Whether a word or number of the page is one of the file's, rounded to three digits."""
    for value in values:
        try:
            if abs(float(word.replace("−", "-").replace(",", "")) - float(value)) <= 5e-4 * max(
                1, abs(float(value))
            ):
                return True
        except (TypeError, ValueError):
            if word == str(value):
                return True
    return False


def check_lines(folder: Path, page: Path, passport: Path | None = None) -> dict[str, int]:
    """Each line against the files; how many there are of each state."""
    counts: dict[str, int] = {"filled": 0, "open": 0}
    for state, body, facts in lines_of(page):
        counts[state] += 1
        assert (state == "filled") is bool(facts), body
        assert facts or "OPEN" in body, body
        for name, field, text in facts:
            file = passport if passport is not None and name == passport.name else folder / name
            values = [one for each in stated(file, field) for one in parts(each)]
            words = " ".join(str(each) for each in values)
            for word in re.split(r"; |: ", text):
                if re.fullmatch(r"and [\d,]+ more", word) or is_in(word, values) or word in words:
                    continue
                # A name and its number, as in `summariser-a 60`, or an inner name between them.
                assert all(is_in(each, values) or each in words for each in word.split(" ")), (
                    name,
                    field,
                    word,
                )
    return counts


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = Demonstration(tmp_path_factory.mktemp("governance"))
    study.copy()
    text = study.good_jury.read_text().replace("resamples: 1000", "resamples: 200")
    study.good_jury.write_text(text)
    folder = run_study(load_study(study.good_jury)).folder
    assert main(["report", str(folder), "--governance", "--quiet"]) == 0
    return folder


def test_every_filled_line_of_the_demonstration_is_stated_by_the_file_that_it_names(
    demonstration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, card = demonstration / "governance.html", tmp_path / "card.json"
    alone = check_lines(demonstration, page)
    assert alone["filled"] > 30 and alone["open"] > 30, "both are there, so that both are checked"
    said = {re.sub("<[^>]+>", " ", body).strip(): state for state, body, _ in lines_of(page)}
    (owner,) = [state for body, state in said.items() if "Who owns the decision?" in body]
    (until,) = [state for body, state in said.items() if "Until when" in body]
    assert owner == until == "open"
    assert main(["passport", "make", str(demonstration), "--out", str(card)]) == 0
    assert main(["report", str(demonstration), "--governance", "--passport", str(card), "--quiet"]) == 0
    assert f"Governance: {page}" in capsys.readouterr().out
    assert check_lines(demonstration, page, card)["filled"] > alone["filled"]
    assert json.loads(card.read_text())["expires_at"] in page.read_text()
    agreed = next(body for _, body, _ in lines_of(page) if "Agreement with its uncertainty" in body)
    assert "ICC(2,1) low" in agreed and "would state it" not in agreed
    for part, said in ((("expires_at",), "was edited"), (("run", "manifest_hash"), "is not a passport of")):
        forged = json.loads(card.read_text())
        inside = forged if len(part) == 1 else forged[part[0]]
        inside[part[-1]] = "0" * 64
        (tmp_path / "forged.json").write_text(json.dumps(forged))
        with pytest.raises(MedjuryError, match=said):
            write_page(demonstration, governance=True, passport=tmp_path / "forged.json")
    assert main(["runs", "verify", str(demonstration)]) == 0, "the page is one of the run's reports"


def test_a_value_that_the_file_does_not_have_would_be_found(demonstration: Path, tmp_path: Path) -> None:
    page = tmp_path / "governance.html"
    whole = (demonstration / "governance.html").read_text()
    for was, now in ((">720<", ">721<"), (">yes<", ">no<"), ("Accuracy: AUXILIARY", "Accuracy: VALIDATED")):
        assert was in whole
        page.write_text(whole.replace(was, now, 1))
        with pytest.raises(AssertionError):
            check_lines(demonstration, page)


def test_a_passport_of_another_run_fills_in_nothing(demonstration: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    for text in ('{"run": {"run": "another@1"}}', "[]", "no card"):
        other.write_text(text)
        with pytest.raises(MedjuryError, match="is not a passport of"):
            write_page(demonstration, governance=True, passport=other)


def test_of_a_folder_that_was_changed_the_page_says_so_first(tmp_path: Path) -> None:
    write_run(tmp_path, planted_frame(cases=20))
    (tmp_path / "ratings.csv").unlink()
    write_page(tmp_path, governance=True)
    page = (tmp_path / "governance.html").read_text()
    assert "The run folder is not as the run wrote it" in page.partition('class="asked"')[0]


def test_of_a_run_without_clinicians_what_they_said_is_open(tmp_path: Path) -> None:
    write_run(tmp_path, planted_frame(cases=20, clinicians={}))
    write_page(tmp_path, governance=True)
    check_lines(tmp_path, tmp_path / "governance.html")
    filled = [body for state, body, _ in lines_of(tmp_path / "governance.html") if state == "filled"]
    assert not [body for body in filled if "blind" in body or "How many clinicians" in body]
