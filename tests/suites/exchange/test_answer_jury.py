"""The jury of a study, asked about one answer, gives a score from 0 to 1 or says why it has none; the study's store
and budget hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.suites.exchange.juries import graded, write_study

from medjury.foundation.errors import MedjuryError
from medjury.suites import AnswerJury, JuryAnnotator, inspect_scorer
from medjury.suites._exchange._jury_elsewhere import Opinion


def test_the_best_grade_is_one_and_an_answer_is_judged_once(tmp_path: Path) -> None:
    with LoopbackServer(graded(5)) as server:
        file = write_study(tmp_path, server.url)
        first = AnswerJury(file).opinion("Rest.", prompt="What helps?", reference="Rest.")
        again = AnswerJury(file).opinion("Rest.", prompt="What helps?", reference="Rest.")
        assert len(server.calls) == 1
    assert first == again
    assert first.score == 1.0 and first.grades == {"accuracy": 5.0, "clarity": 5.0}
    assert first.votes == {"judge": {"accuracy": 5.0, "clarity": 5.0}} and "Clear." in first.because()
    assert "What helps?" in server.calls[0].prompt


def test_a_judge_that_fails_leaves_the_answer_unscored_with_the_reason(tmp_path: Path) -> None:
    for place, (behaviour, why) in enumerate(
        {"refusal": "refusal", "ok:I would rather not say.": "parse", "400:no": "provider"}.items()
    ):
        folder = tmp_path / str(place)
        folder.mkdir()
        with LoopbackServer(behaviour) as server:
            found = AnswerJury(write_study(folder, server.url)).opinion("Rest.", prompt="What helps?")
        assert found.score is None and why in found.why, behaviour
        assert found.details()["status"] == "UNSCORED"


def test_the_budget_of_the_study_holds_over_all_answers(tmp_path: Path) -> None:
    with LoopbackServer(graded(3)) as server:
        file = write_study(tmp_path, server.url, budget={"calls": 2})
        found = [AnswerJury(file).opinion(text, prompt="What helps?") for text in ("a", "b", "c", "a")]
        assert len(server.calls) == 2
    assert [each.score for each in found] == [0.5, 0.5, None, 0.5]
    assert "over_budget" in found[2].why


def test_an_empty_answer_and_one_without_its_inputs_are_unscored(tmp_path: Path) -> None:
    with LoopbackServer(graded(5)) as server:
        jury = AnswerJury(write_study(tmp_path, server.url))
        assert jury.opinion(" ", prompt="What helps?").score is None
        assert jury.opinion("Rest.").score is None  # the instrument needs to know what was asked
        assert not server.calls
        assert jury.opinion("Rest.", named={"context": "What helps?"}).score == 1.0


def test_an_opinion_cannot_be_a_failure_and_a_number() -> None:
    with pytest.raises(ValueError, match="either a score or the reason"):
        Opinion(0.0, "it failed")


def test_what_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.scorer", None)
    with LoopbackServer(graded(5)) as server:
        file = write_study(tmp_path, server.url)
        with pytest.raises(MedjuryError, match='pip install "inspect-ai"'):
            inspect_scorer(file)
        assert JuryAnnotator(str(file)).name == "medjury"  # HELM's needs nothing of it
