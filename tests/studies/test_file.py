"""The study file: short for the simple case, and every mistake is told with its line and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.studies import load_study

GOOD = """\
study: first
cases: cases.jsonl
instrument: note_quality
judges:
  - {kind: openai, name: juror, url: "http://127.0.0.1:1/v1", model: m}
"""


def message(tmp_path: Path, text: str) -> str:
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "candidate": "x", "texts": {"context": "n"}}\n')
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(MedjuryError) as error:
        load_study(tmp_path / "study.yaml")
    return str(error.value)


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (("model: m}", "model: m, temperature: 9}"), 5, "temperature"),
        (("judges:", "juges:"), 4, "juges"),
        (("model: m}", "model: m, strategy: {name: deliberation, max_turn: 3}}"), 5, "max_turn"),
        (("model: m}", "model: m, strategy: deliberation, explain: false}"), 5, "has no meaning"),
        (("model: m}", "model: m, strategy: claims, per_dimension: true}"), 5, "has no meaning"),
        (
            (
                "model: m}",
                "model: m, strategy: {name: deliberation, orchestrator: {kind: embedded, name: x}}}",
            ),
            5,
            "a model of a role has no `name`",
        ),
        (
            ("judges:", "report: {review_by: next year}\njudges:"),
            4,
            "write the day of the next look as 2027-05-31",
        ),
        (("judges:", "report: {desicion: none}\njudges:"), 4, "decision"),
        (("judges:", "judges: ["), 5, "YAML"),
        (("judges:", "redact: {entities: [X]}\njudges:"), 4, "entities"),
        (("judges:", "store: env:MEDJURY_NO_SUCH_VARIABLE\njudges:"), 4, "MEDJURY_NO_SUCH_VARIABLE"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, change: tuple[str, str], line: int, words: str
) -> None:
    told = message(tmp_path, GOOD.replace(*change))
    assert f"line {line}" in told and words in told, told


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("study: first", "study: ''").replace(
        "judges:", "repeats: 0\nmax_unscored: 7\njudges:"
    )
    told = message(tmp_path, text)
    assert all(f"line {line}" in told for line in (1, 4, 5))


def test_two_equal_judges_are_refused(tmp_path: Path) -> None:
    judge = GOOD.splitlines()[-1]
    told = message(tmp_path, GOOD + judge.replace("name: juror", "name: twin") + "\n")
    assert "one judge counted twice" in told


def test_the_template_is_a_valid_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "candidate": "x", "texts": {"context": "n"}}\n')
    file = tmp_path / "study.yaml"
    assert main(["init", str(file)]) == 0
    assert load_study(file).name == "my-first-study"
    assert main(["init", str(file)]) == 2, "a file that exists is not replaced"
    assert "--force" in capsys.readouterr().err


def test_every_commented_setting_of_the_template_is_valid(tmp_path: Path) -> None:
    import re

    from medjury.foundation.documents import parse_document, validate
    from medjury.studies._file.study_file import StudyFile

    main(["init", str(tmp_path / "study.yaml")])
    text = (tmp_path / "study.yaml").read_text()
    live = re.sub(
        r"^# ((?:jury|repeats|humans|allow_hosts|budget|max_unscored|redact|store|gate): )",
        r"\1",
        text,
        flags=re.M,
    )
    settings = validate(parse_document(live, "template"), StudyFile)
    assert settings.repeats == 3 and settings.allow_hosts and settings.budget.calls == 5000


def test_the_demo_is_two_valid_studies_labelled_as_synthetic() -> None:
    import medjury.studies

    folder = Path(medjury.studies.__file__).parent / "demo"
    for name, answers in (("study.yaml", 120), ("live.yaml", 8)):
        study = load_study(folder / name)
        cases = list(study.cases)
        assert len(cases) == answers and all(case.metadata["synthetic"] is True for case in cases)
    assert study.settings.humans is not None and study.settings.humans.illustrative
    raters = {line.split(",")[2] for line in (folder / "clinicians.csv").read_text().splitlines()[1:]}
    assert raters and all(rater.startswith("made-up-") for rater in raters)
