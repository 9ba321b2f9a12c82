"""Few-shot examples in a study file: clinicians grade them, the gate never counts them, nobody sees its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import killed_at, manifest_of, ratings_of, run_without_report

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.judging import Judge
from medjury.report import write_page
from medjury.studies import check_study, load_study, register_study, run_study
from medjury.validation import validate

Write = Callable[..., Path]
DIMENSIONS = ("accuracy", "completeness", "clarity")
PATIENTS = 20  # each with two visits


def grade(number: int) -> int:
    return number % 5 + 1


def text(number: int) -> str:
    return f"Summary number {number}."


def last_case(call: Call) -> int:
    """The number of the case that a request asks about: the last text in it."""
    return int(re.findall(r"Summary number (\d+)\.", call.prompt)[-1])


def numbers_shown(call: Call) -> list[int]:
    """The numbers of the cases that a request shows as examples."""
    return [int(number) for number in re.findall(r"Summary number (\d+)\.", call.prompt)[:-1]]


def as_clinicians(call: Call) -> str:
    answer = {"explanation": "so it is", "score": grade(last_case(call))}
    return "ok:" + json.dumps(dict.fromkeys(DIMENSIONS, answer))


@pytest.fixture
def write_rated(write_study: Write, server: LoopbackServer) -> Write:
    """A study of twenty `patients` with two cases each, which two clinicians rated; they and the judge agree."""
    server.endpoint.behaviours = as_clinicians

    def write(
        *,
        patients: int = PATIENTS,
        rated: int | None = None,
        clinicians: int = 2,
        comment: str = "",
        **settings: Any,
    ) -> Path:
        cases = [
            {"id": f"case-{n:02d}", "system": "a", "patient": f"patient-{n // 2}", "candidate": text(n),
             "texts": {"context": f"Note {n}."}}
            for n in range(2 * patients)
        ]  # fmt: skip
        judge = {"temperature": 0, "concurrency": 4, **settings.pop("judge", {})}
        study = write_study(cases=cases, judge=judge, **{"humans": {"path": "humans.csv"}, **settings})
        lines = [
            f"case-{n:02d},a,Dr {rater},{dimension},{grade(n)},{comment}"
            for n in range(2 * patients if rated is None else rated)
            for rater in range(clinicians)
            for dimension in DIMENSIONS
        ]
        (study.parent / "humans.csv").write_text(
            "\n".join(["item,system,rater,dimension,score,explanation", *lines]) + "\n"
        )
        return study

    return write


def run(study: Path) -> str:
    """What becomes of the study; no report is drawn."""
    return run_study(load_study(study)).status


def judges(server: LoopbackServer, **shots: Any) -> list[dict[str, Any]]:
    entry = {"kind": "openai", "url": server.url, "model": "m"}
    return [{**entry, "name": name.replace("_", "-"), "examples": each} for name, each in shots.items()]


def test_zero_one_three_and_five_shots_are_compared_in_one_study(
    write_rated: Write, server: LoopbackServer
) -> None:
    four = judges(server, shots_0=0, shots_1=1, shots_3=3, shots_5={"shots": 5})
    study = write_rated(judges=four, examples={"draw": "stratified", "seed": 4})
    assert run(study) == "complete"
    table = ratings_of(study)
    votes = table.filter(polars.col("dimension").is_in(DIMENSIONS), rater_kind="judge")
    assert votes["status"].unique().to_list() == ["scored"] and votes["calls"].sum() == 160 == len(
        server.calls
    )
    sizes = votes.group_by("rater").agg(polars.col("tokens_in").sum()).sort("rater")["tokens_in"].to_list()
    assert sizes == sorted(sizes) and len(set(sizes)) == 4, "more shots take more tokens"
    told = manifest_of(study)["judges"]
    splits = {each["drawn_examples"]["split"] for each in told if "drawn_examples" in each}
    assert len(splits) == 1 and "drawn_examples" not in told[0], (
        "one split for all, so that they can be compared"
    )
    assert {len(numbers_shown(call)) for call in server.calls} == {0, 1, 3, 5}
    assert run(study) == "complete" and len(server.calls) == 160


@pytest.mark.parametrize("draw", ["random", "stratified", "nearest"])
def test_no_request_shows_the_case_itself_or_another_visit_of_its_patient(
    draw: str, write_rated: Write, server: LoopbackServer
) -> None:
    study = write_rated(examples={"shots": 3, "draw": draw})
    assert run(study) == "complete"
    training = set(manifest_of(study)["judges"][0]["development_cases"])
    assert len(training) == 12
    for call in server.calls:
        shown, own = numbers_shown(call), last_case(call)
        assert len(set(shown)) == 3 and own // 2 not in {number // 2 for number in shown}
        assert {f"case-{number:02d}" for number in shown} <= training


def test_an_example_is_graded_as_the_clinicians_did_and_explained_in_their_words(
    write_rated: Write, server: LoopbackServer
) -> None:
    assert run(write_rated(examples=1, comment="As the note says.")) == "complete"
    for call in server.calls:
        system, question, answer, _ = call.json["messages"]
        (number,) = numbers_shown(call)
        assert system["role"] == "system" and "<<<begin candidate" in question["content"]
        expected = {"explanation": "As the note says.", "score": grade(number)}
        assert answer["role"] == "assistant" and json.loads(answer["content"]) == dict.fromkeys(
            DIMENSIONS, expected
        )


def test_the_gate_leaves_the_training_side_out_and_says_so(write_rated: Write) -> None:
    plain: dict[str, Any] = {"patients": 150, "report": {"resamples": 200}}
    study = write_rated(**plain, examples=2)
    register_study(load_study(study))
    assert run(study) == "complete"
    told = manifest_of(study)
    assert told["gate"]["development_cases"] == told["judges"][0]["development_cases"]
    verdict = validate(study.parent / "runs" / "small").verdicts[0]
    assert verdict.rule("distinct_cases").found == "105", "a patient counts once"
    assert verdict.rule("doubly_rated").found == "210 (90 cases used for development left out)"
    assert verdict.word == "VALIDATED", verdict.reasons

    study = write_rated(**{**plain, "patients": 30}, study="plain")
    assert run(study) == "complete"
    verdict = validate(study.parent / "runs" / "plain").verdicts[0]
    assert verdict.rule("distinct_cases").found == "30" and verdict.rule("doubly_rated").found == "60"


def test_a_jury_that_never_differs_on_few_patients_is_not_proven(write_rated: Write) -> None:
    """Thirty patients without a disagreement: too few of them are in danger to know what would be missed."""
    study = write_rated(patients=30, report={"resamples": 200})
    register_study(load_study(study))
    assert run(study) == "complete"
    verdict = validate(study.parent / "runs" / "small").verdicts[0]
    assert verdict.word == "AUXILIARY"
    unmet = {each.id for each in verdict.rules if not each.met}
    assert (
        {"missed_danger", "consensus_danger"} <= unmet <= {"agreement", "missed_danger", "consensus_danger"}
    )
    assert verdict.rule("agreement").value == 0 and verdict.rule("missed_danger").state == "open"


@pytest.mark.parametrize(
    "choice", [{"share": 1.0}, {"cases": [f"case-{n:02d}" for n in range(0, 40, 2)]}], ids=["share", "cases"]
)
def test_a_jury_whose_every_rated_case_may_be_shown_is_not_validated(
    choice: dict[str, Any], write_rated: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_rated(gate={"minimum_cases": 10}, examples={"shots": 2, **choice})
    assert run(study) == "complete", "it may judge; it may not be called validated"
    verdict = validate(study.parent / "runs" / "small").verdicts[0]
    assert verdict.word == "NOT VALIDATED"
    assert verdict.reasons[0].startswith("No answer was rated by two clinicians; 50 are needed")
    assert verdict.rule("doubly_rated").found == "0 (40 cases used for development left out)"
    page = write_page(study.parent / "runs" / "small").read_text()
    assert "NOT VALIDATED" in page and "40 cases used for development left out" in page
    assert main(["run", str(study), "--dry-run"]) == 0
    assert "0 rated cases remain" in capsys.readouterr().out


def test_the_plan_tells_what_was_set_apart_what_could_not_be_used_and_what_the_shots_cost(
    write_rated: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = write_rated(rated=30, examples={"shots": 2})
    with (study.parent / "humans.csv").open("a") as file:
        file.write("case-35,a,Dr 0,accuracy,3,\n")
    tokens = {}
    for shots in (0, 2):
        assert main(["run", str(write_rated_again(study, shots)), "--dry-run"]) == 0
        out = capsys.readouterr().out
        tokens[shots] = check_study(load_study(study)).judges[0].tokens_in
        assert ("may be shown" in out) == bool(shots)
    assert "9 of 31 rated answers may be shown" in out or "10 of 31 rated answers may be shown" in out
    assert "rated answers not used: 1 (fewer than 2 clinicians rated every dimension)" in out
    assert tokens[2] > tokens[0] and not server.calls and not (study.parent / "runs").exists()


def write_rated_again(study: Path, shots: int) -> Path:
    """The same study with another number of shots."""
    lines = [line for line in study.read_text().splitlines() if not line.startswith("examples")]
    study.write_text("\n".join([*lines, f"examples: {{shots: {shots}}}"]) + "\n")
    return study


def test_named_cases_may_stand_in_a_file(write_rated: Write, server: LoopbackServer) -> None:
    study = write_rated(examples={"shots": 1, "cases": "train.txt"})
    (study.parent / "train.txt").write_text("case-00\ncase-04\n")
    assert run(study) == "complete"
    assert manifest_of(study)["judges"][0]["development_cases"] == [
        "case-00",
        "case-01",
        "case-04",
        "case-05",
    ]
    assert {number for call in server.calls for number in numbers_shown(call)} == {0, 4}


def test_the_instruments_own_examples_are_still_one_word_away(
    write_rated: Write, server: LoopbackServer
) -> None:
    study = write_rated(examples=True, instrument="concordance", dimensions=None, humans=None)
    cases = [{"id": "a", "candidate": text(1), "reference": "R.", "texts": {"question": "Q?"}}]
    (study.parent / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    server.endpoint.behaviours = None
    assert run(study) == "complete"
    told = manifest_of(study)["judges"][0]
    assert told["examples"] == 2 and "development_cases" not in told
    assert len(server.calls[0].json["messages"]) == 6


def test_changed_ratings_of_an_example_are_another_question_and_unchanged_ones_cost_nothing(
    write_rated: Write, server: LoopbackServer
) -> None:
    study = write_rated(examples={"shots": 1, "cases": ["case-00", "case-04"]})
    assert run(study) == "complete" and len(server.calls) == 40
    humans = study.parent / "humans.csv"
    humans.write_text(humans.read_text().replace("case-04,a,Dr 0,accuracy,5", "case-04,a,Dr 0,accuracy,1"))
    before = {call.body for call in server.calls}
    assert run(study) == "complete"
    new = server.calls[40:]
    assert new and all(numbers_shown(call) == [4] for call in new), (
        "only those who are shown it are asked again"
    )
    assert not before & {call.body for call in new}


def test_a_redacted_study_shows_redacted_examples(write_rated: Write, server: LoopbackServer) -> None:
    study = write_rated(
        examples=1, comment="Jane Roe is mentioned.", redact={"names": "names.txt", "presidio": False}
    )
    (study.parent / "names.txt").write_text("Jane Roe\n")
    assert run(study) == "complete"
    assert all(b"Jane" not in call.body and b"[NAME-1]" in call.body for call in server.calls)


@pytest.mark.parametrize(
    ("settings", "line", "told"),
    [
        ({"examples": {"shots": 3}, "humans": None}, 6, "names no ratings of theirs; add `humans`"),
        ({"examples": {"shots": 13}}, 7, "13 examples for every case need 15 or more training answers"),
        ({"examples": {"shots": 3, "clinicians": 3}}, 7, "40 not used: fewer than 3 clinicians rated"),
        ({"examples": {"cases": ["case-0"]}}, 7, "'case-0' is not a case that a clinician rated; did you"),
        ({"examples": {"cases": "absent.txt"}}, 7, "it holds one case id per line"),
        ({"examples": {"draw": "stratified", "dimension": "acuracy"}}, 7, "did you mean 'accuracy'"),
        ({"examples": {"share": 0.2, "cases": ["case-00"]}}, 7, "keep one of them"),
        ({"examples": "three"}, 7, "is a number of shots, `true` for"),
        ({"judge": {"strategy": ["repeats"]}}, 5, "judges[0].strategy: is a word such as `repeats`"),
        ({"examples": {"shot": 2}}, 7, "examples.shot: no such setting"),
        ({"examples": {"draw": "nearst"}}, 7, "examples.draw"),
        ({"judge": {"examples": {"shots": 30}}}, 5, "judges[0].examples: 30 examples for every case"),
        ({"judge": {"examples": 2, "strategy": "adaptive"}}, 5, "strategy adaptive shows no examples"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_told_with_its_line_before_any_call(
    settings: dict[str, Any], line: int, told: str, write_rated: Write, server: LoopbackServer,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    study = write_rated(**settings)
    assert run_without_report(study) == 2
    error = capsys.readouterr().err
    assert told in error and f"study.yaml, line {line}:" in error
    assert not server.calls and not (study.parent / "runs").exists()


def test_examples_of_the_whole_study_pass_by_a_strategy_that_shows_none(
    write_rated: Write, server: LoopbackServer
) -> None:
    study = write_rated(judge={"strategy": "adaptive", "temperature": 1}, examples=1, max_unscored=1.0)
    loaded = load_study(study)
    assert not loaded.jury.judges[0].describe().get("drawn_examples")
    assert "examples: the strategy adaptive shows no examples; judges with it are asked" in loaded.notes[0]


def test_a_deliberation_shows_them_in_every_call_and_its_training_cases_validate_nothing(
    write_rated: Write, server: LoopbackServer
) -> None:
    server.endpoint.behaviours = None
    strategy = {"name": "deliberation", "max_turns": 1, "when_agreed": "discuss"}
    study = write_rated(judge={"strategy": strategy}, examples={"shots": 2, "share": 0.3}, max_unscored=1.0)
    judge = load_study(study).jury.judges[0].describe()
    assert run(study) in ("complete", "failed")
    training = {int(item[-2:]) for item in judge["development_cases"]}
    assert judge["drawn_examples"]["shots"] == 2 and training
    for call in server.calls:
        users = [each["content"] for each in call.json["messages"] if each["role"] == "user"]
        shown = [int(re.findall(r"Summary number (\d+)\.", text)[0]) for text in users[:2]]
        asked = int(re.findall(r"Summary number (\d+)\.", users[2])[0])
        assert set(shown) <= training and asked not in shown
        worked = [
            json.loads(each["content"]) for each in call.json["messages"] if each["role"] == "assistant"
        ]
        assert [each["accuracy"]["score"] for each in worked[:2]] == [grade(number) for number in shown]
    assert manifest_of(study)["judges"][0]["development_cases"] == judge["development_cases"]


def test_of_all_the_cases_only_training_texts_are_kept(write_rated: Write) -> None:
    study = write_rated(examples={"shots": 1, "share": 0.1})
    (judge,) = load_study(study).jury.judges
    assert isinstance(judge, Judge) and judge.drawn is not None
    split = judge.drawn.split
    assert len(split.examples) == 4 and split.held_out == 36
    kept = {int(re.findall(r"Summary number (\d+)", each.question)[0]) for each in split.examples}
    assert {f"case-{number:02d}" for number in kept} == set(split.development)


def test_a_killed_run_with_examples_goes_on_where_it_stopped(
    write_rated: Write, server: LoopbackServer
) -> None:
    study = write_rated(examples={"shots": 2, "draw": "nearest"}, judge={"concurrency": 1})
    killed_at(study, server, lambda call: len(server.calls) > 10)
    asked = len(server.calls)
    assert run(study) == "complete"
    assert len(server.calls) - asked <= 30 and len({call.body for call in server.calls}) == 40


def test_development_cases_that_are_no_cases_are_told_and_all_wrong_ones_refused(
    write_rated: Write, server: LoopbackServer
) -> None:
    plan = check_study(load_study(write_rated(gate={"development_cases": ["case-01", "case 02"]})))
    assert any(
        "1 of 2 names are not cases of this study" in note and "'case 02'" in note for note in plan.notes
    )
    study = load_study(write_rated(gate={"development_cases": ["1", "2"]}))
    with pytest.raises(MedjuryError, match="none of the 2 names is a case of this study"):
        check_study(study)
    with pytest.raises(MedjuryError, match="none of the 2 names"):
        run_study(study)
    assert not server.calls


def test_own_examples_that_would_not_be_shown_are_told_and_not_passed_over(
    write_rated: Write, server: LoopbackServer
) -> None:
    def told(**settings: Any) -> str:
        with pytest.raises(MedjuryError) as refused:
            load_study(write_rated(dimensions=None, humans=None, **settings))
        return str(refused.value)

    own = {"examples": True}
    assert "line 4: judges[0].examples: the strategy claims shows no examples" in told(
        instrument="grounding", judge={**own, "strategy": "claims"}
    )
    assert "the instrument grounding has no examples of its own" in told(instrument="grounding", judge=own)
    assert "say `strategy: {name: concordance, examples: false}`" in told(
        instrument="concordance", judge={"examples": False, "strategy": "concordance"}
    )
    study = load_study(write_rated(dimensions=None, humans=None, instrument="grounding", examples=True))
    assert study.notes == (
        "examples: the instrument grounding has no examples of its own; judges are asked without any",
    )
    assert not server.calls
