"""A card's jury for other programs: a score or the reason why there is none, and no jury but the card's."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.passports.passported import grade, row, run_of, write_study

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import RefusedError, refuse_other_jury
from medjury.in_use.programs import CardJury

DIFFERENT = "a different jury: juror, model"


def test_recorded_answers_judge_and_nobody_is_asked(
    card: Path, answers: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    before, there = len(server.calls), {*tmp_path.iterdir()}
    with CardJury(card, answers=answers) as jury:
        scored, declined = jury.judge(row(201)), jury.judge(row(203))
        changed = jury.judge(row(201) | {"candidate": "Visit 201. another answer."})
        away = jury.judge(row(202) | {"system": "another"})
    assert scored.scores == {"accuracy": grade(201)} and not scored.unscored and not scored.outside_because
    assert scored.because() == "juror: so it is"
    assert declined.scores == {} and declined.unscored == {"accuracy": "no_quorum; juror: refusal"}
    assert changed.scores == {} and changed.unscored == {"accuracy": "no_quorum; juror: not_stored"}, (
        "nothing is guessed"
    )
    assert away.scores == {"accuracy": grade(202)} and "another" in away.outside_because[0]
    assert len(server.calls) == before and {*tmp_path.iterdir()} == there, "and nothing is left behind"


def test_answers_are_recorded_beside_those_of_the_same_models(
    card: Path, answers: Path, server: LoopbackServer
) -> None:
    with CardJury(card) as jury:
        jury.judge(row(205))
        assert jury.record(answers) == 5
    with CardJury(card, answers=answers) as jury:
        assert [jury.judge(row(number)).scores for number in (201, 205)] == [
            {"accuracy": grade(number)} for number in (201, 205)
        ]


def test_a_study_with_the_very_same_jury_asks(card: Path, server: LoopbackServer, tmp_path: Path) -> None:
    study = write_study(tmp_path / "site", server, cases=1, budget={"calls": 1})
    with CardJury(card, study=study) as jury:
        assert jury.judge(row(206)).scores == {"accuracy": grade(206)}
        over = jury.judge(row(207))
        assert not over.scores and "the budget is spent" in over.unscored["accuracy"]
    for change in ({"dimensions": ["clarity"]}, {"instrument": "pdsqi9", "dimensions": ["accurate"]}):
        other = write_study(tmp_path / "other", server, cases=1, **change)
        with pytest.raises(RefusedError, match="a different jury"):
            CardJury(card, study=other)


@pytest.mark.parametrize(
    ("judge", "study", "why"),
    [
        ({"temperature": 1.0}, {}, "juror, temperature"),
        ({"prompt": "1"}, {}, "prompt: 3 was validated, not 1"),
        ({}, {"instrument": "own.yaml"}, "instrument: note_quality"),
        ({}, {"jury": {"aggregate": "median"}}, "median of all judges"),
    ],
)
def test_another_way_to_judge_is_refused_before_it_is_asked_and_in_a_run(
    judge: dict[str, Any], study: dict[str, Any], why: str, card: Path, server: LoopbackServer, tmp_path: Path
) -> None:
    """As three programs open a jury, and as the fourth gates a run."""
    library = files("medjury.instruments").joinpath("library", "note_quality.yaml")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "own.yaml").write_text(library.read_text().replace("Dangerous or pervasive", "Some"))
    own = {"kind": "openai", "name": "juror", "url": server.url, "model": "m", "temperature": 0} | judge
    other = write_study(tmp_path / "site", server, cases=3, judges=[own], **study)
    with pytest.raises(RefusedError, match=f"a different jury.*{why}"):
        CardJury(card, study=other)
    with pytest.raises(RefusedError, match=f"a different jury.*{why}"):
        refuse_other_jury(card, run_of(other, registered=False))


def test_another_model_is_refused_when_it_is_named_when_it_answered_and_when_it_answers(
    card: Path, answers: Path, swapped: Path, server: LoopbackServer
) -> None:
    with pytest.raises(RefusedError, match=DIFFERENT):
        CardJury(card, study=swapped)
    answers.unlink()
    asked = {**json.loads(swapped.read_text())["judges"]["juror"], "kind": "openai", "name": "juror"}
    study = write_study(swapped.parent / "elsewhere", server, cases=1, judges=[asked | {"temperature": 0}])
    record(study, answers)
    with pytest.raises(MedjuryError, match="holds no answers of m; its models are other"):
        CardJury(card, answers=answers)
    server.endpoint.behaviours = lambda call: "model:m-2031-01-01"
    with CardJury(card) as jury, pytest.raises(RefusedError, match="m-2031-01-01"):
        jury.judge(row(208))


def record(study: Path, out: Path) -> None:
    from medjury.studies import load_study, record_run, run_study

    found = load_study(study)
    run_study(found)
    record_run(found.output, out)


def test_an_edited_or_expired_card_opens_nothing(
    card: Path, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import UTC, datetime

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime(2999, 1, 1, tzinfo=UTC)

    with monkeypatch.context() as patched:
        patched.setattr("medjury.in_use.passports._document.datetime", Later)
        with pytest.raises(RefusedError, match="expired on"):
            CardJury(card, answers=answers)
    card.write_text(card.read_text().replace("cardiology", "oncology"))
    with pytest.raises(RefusedError, match="edited"):
        CardJury(card, answers=answers)
    assert not [*card.parent.glob(".medjury-*")]
