"""A prompt in a site's own words is sent as it stands, read by the form that it states, and refused where it leaves
an input or a dimension out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.loopback import LoopbackServer
from tests.studies.running import run_without_report as run

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports._rebuilding import travelling_settings
from medjury.instruments import Dimension, Input, Instrument, Reason
from medjury.intake.cases import Case
from medjury.judging import Judge, OwnPrompt
from medjury.models import Gate, MemoryCache, Message, Scripted
from medjury.store.ratings import Rating
from medjury.store.runs import RunFolder
from medjury.studies import load_study, register_study
from medjury.tables import open_run

INSTRUMENT = Instrument(
    "small", "1.0", "Small", "Grade it.",
    (Input("note", "Note"), Input("candidate", "Summary"), Input("age", "Age", required=False)),
    (
        Dimension("accuracy", "Accuracy", "Right?", {1: "no", 2: "partly", 3: "yes"}),
        Dimension("clarity", "Clarity", "Clear?", {1: "no", 2: "partly", 3: "yes"}, may_be_not_applicable=True),
    ),
)  # fmt: skip
WORDING = """You are a doctor.
=== user ===
Age {age}. Source: <<{note}>> Summary: <<{candidate}>> {{kept}}
Answer with {"Accuracy": {"score": 1-3, "why": "..."}, "Clear": "Good|Fair|Poor|None"}.
"""
REPLY = {"Accuracy": {"score": "accuracy", "why": "text"}, "Clear": "clarity"}
WORDS = {"clarity": {"Good": 3, "Fair": 2, "Poor": 1, "None": None}}
OWN = OwnPrompt(WORDING, REPLY, WORDS)
CASE = Case("c-1", "Is {note} {{age}} well.", texts={"note": "Give {candidate}."}, system="s")


UNREAD = {"accuracy": Reason.PARSE, "clarity": Reason.PARSE}


async def rate(own: OwnPrompt, *answers: str, **settings: Any) -> tuple[list[Rating], Scripted]:
    model = Scripted(list(answers), name="juror")
    judge = Judge(model, INSTRUMENT, own=own, **settings)
    (unit,) = judge.units(CASE, 0)
    return list((await judge.rate(unit, Gate(cache=MemoryCache()))).ratings), model


def scores(ratings: list[Rating]) -> dict[str, float | str | None]:
    return {
        each.dimension: each.score if each.status == "scored" else str(each.reason or each.status)
        for each in ratings
    }


async def test_it_is_sent_word_for_word_with_each_text_put_in_once() -> None:
    _, model = await rate(OWN, '{"Accuracy": {"score": 2, "why": "x"}, "Clear": "good"}')
    (request,) = model.requests
    assert request.messages == (
        Message("system", "You are a doctor."),
        Message(
            "user",
            "Age (none). Source: <<Give {candidate}.>> Summary: <<Is {note} {{age}} well.>> {kept}\n"
            'Answer with {"Accuracy": {"score": 1-3, "why": "..."}, "Clear": "Good|Fair|Poor|None"}.',
        ),
    )
    assert request.schema is None and request.plain and not request.token


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"Accuracy": {"score": 2, "why": "x"}, "Clear": " GOOD "}', {"accuracy": 2, "clarity": 3}),
        ('{"Accuracy": {"score": "3", "why": "x"}, "Clear": 2}', {"accuracy": 3, "clarity": 2}),
        ('{"Accuracy": {"score": 1}, "Clear": "none"}', {"accuracy": 1, "clarity": "not_applicable"}),
        ('{"Accuracy": {"score": 2}, "Clear": "Great"}', {"accuracy": 2, "clarity": Reason.PARSE}),
        ('{"Accuracy": {"score": 7}, "Clear": "Fair"}', {"accuracy": Reason.OUT_OF_RANGE, "clarity": 2}),
        ('{"accuracy": 2, "clarity": 3}', {"accuracy": Reason.MISSING, "clarity": Reason.MISSING}),
        ('{"Accuracy": {"score": 2, "Score": 3}, "Clear": "Fair"}', {"accuracy": Reason.MISSING, "clarity": 2}),
        ('{"Accuracy": {"score": 2}, "Clear": "Fair", "More": "a"}', UNREAD),
        ('I say {"Accuracy": {"score": 2}, "Clear": "Fair"}', UNREAD),
        ("2", UNREAD),
    ],
)  # fmt: skip
async def test_a_reply_is_read_by_its_own_form_and_by_nothing_else(reply: str, found: dict[str, Any]) -> None:
    ratings, _ = await rate(OWN, reply, reasks=0)
    assert scores(ratings) == {
        name: str(each) if isinstance(each, Reason) else each for name, each in found.items()
    }


async def test_what_was_wrong_is_handed_back_without_our_names() -> None:
    good = '{"Accuracy": {"score": 2, "why": "x"}, "Clear": "Good"}'
    ratings, model = await rate(OWN, '{"Accuracy": 2}', good)
    assert scores(ratings) == {"accuracy": 2, "clarity": 3}
    complaint = model.requests[1].messages[-1].content
    assert "of the form that was asked for" in complaint and '"accuracy"' not in complaint


async def test_a_case_without_a_text_that_is_needed_is_not_asked() -> None:
    judge = Judge(Scripted(["{}"]), INSTRUMENT, own=OWN)
    (unit,) = judge.units(Case("c", "Summary."), 0)
    rated = await judge.rate(unit, Gate(cache=MemoryCache()))
    assert {each.reason for each in rated.ratings} == {Reason.INPUT}


@pytest.mark.parametrize(
    ("wording", "reply", "words", "said"),
    [
        (WORDING.replace("{note}", "it"), REPLY, WORDS, "never shows note; put {note}"),
        (WORDING.replace("{age}", "old"), REPLY, WORDS, "never shows age"),
        (WORDING.replace("{age}", "{aeg}"), REPLY, WORDS, "place {aeg}; did you mean 'age'"),
        (WORDING, {"Accuracy": "accuracy"}, WORDS, "each dimension once, and not clarity"),
        (WORDING, {"Accuracy": "accuracy", "Clear": "accuracy"}, WORDS, "each dimension once"),
        (WORDING, {**REPLY, "More": "zeal"}, WORDS, "the dimension 'zeal'"),
        (WORDING, {"Accuracy": "accuracy", "Lucid": "clarity"}, WORDS, "never asks for 'Lucid'"),
        (WORDING, {}, {}, "never asks for 'clarity'"),
        (WORDING, REPLY, {"clarity": {"Superb": 4}}, "gives clarity for 'Superb' what is none of its grades"),
        (WORDING, REPLY, {"accuracy": {"None": None}}, "gives accuracy for 'None'"),
        (WORDING, REPLY, {"zeal": {"Good": 3}}, "`words` has the dimension 'zeal'"),
    ],
)
def test_a_prompt_that_leaves_something_out_is_refused(
    wording: str, reply: dict[str, Any], words: dict[str, Any], said: str
) -> None:
    with pytest.raises(MedjuryError) as refused:
        Judge(Scripted("{}"), INSTRUMENT, own=OwnPrompt(wording, reply, words))
    assert said in str(refused.value)


@pytest.mark.parametrize("setting", [{"per_dimension": True}, {"translated": True}])
def test_what_would_change_its_words_is_refused(setting: dict[str, bool]) -> None:
    with pytest.raises(MedjuryError, match="asked as it stands"):
        Judge(Scripted("{}"), INSTRUMENT, own=OWN, **setting)


def test_every_part_of_it_is_part_of_the_key() -> None:
    others = [
        OWN,
        OwnPrompt(WORDING + " ", REPLY, WORDS),
        OwnPrompt(WORDING, {**REPLY, "Accuracy": {"score": "accuracy"}}, WORDS),
        OwnPrompt(WORDING, REPLY, {"clarity": {**WORDS["clarity"], "Fine": 2}}),
    ]
    judges = [Judge(Scripted("{}"), INSTRUMENT, own=each) for each in others] + [
        Judge(Scripted("{}"), INSTRUMENT)
    ]
    assert len({each.settings_hash() for each in judges}) == len(judges)


# From a study file to the protocol.

STUDY = """study: own
store: store.sqlite
cases: cases.jsonl
instrument: note_quality
judges:
  - {kind: openai, name: juror, url: "URL", model: m,
     prompt: {file: paper.txt, reply: {Accuracy: accuracy, Completeness: completeness, Clarity: clarity,
                                       Structure: structure}}}
"""
PAPER = """Task: {question}. Read {context} and {reference}. Here is the summary: {candidate}
Answer with {"Accuracy": 1, "Completeness": 1, "Clarity": 1, "Structure": 1}.
"""
ANSWER = '{"Accuracy": 4, "Completeness": 3, "Clarity": 5, "Structure": 2}'


def _study(folder: Path, url: str, prompt: str = PAPER, more: str = "") -> Path:
    (folder / "paper.txt").write_text(prompt)
    texts = {"context": "Cough.", "question": "Sum up"}
    row = {"id": "a", "reference": "A cough.", "candidate": "Coughs.", "texts": texts}
    (folder / "cases.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "study.yaml").write_text(STUDY.replace("URL", url) + more)
    return folder / "study.yaml"


def test_a_study_asks_by_it_registers_its_hash_and_asks_anew_where_it_changes(tmp_path: Path) -> None:
    with LoopbackServer(f"ok:{ANSWER}") as server:
        file = _study(tmp_path, server.base_url)
        protocol = register_study(load_study(file)).protocol
        assert run(file) == run(file) == 0
        (call,) = server.calls
        question = (
            "Task: Sum up. Read Cough. and A cough.. Here is the summary: Coughs.\n" + PAPER.splitlines()[1]
        )
        assert call.json["messages"] == [{"role": "user", "content": question}]
        assert "response_format" not in call.json
        rows = open_run(tmp_path / "runs" / "own").rows.filter(
            ~pl.col("dimension").str.starts_with("overall")
        )
        assert dict(rows.select("dimension", "score").iter_rows()) == {
            "accuracy": 4, "completeness": 3, "clarity": 5, "structure": 2,
        }  # fmt: skip
        assert protocol.prompt_version == RunFolder(tmp_path / "runs" / "own").manifest.prompt_version
        assert protocol.prompt_version.startswith("own ")
        _study(tmp_path, server.base_url, PAPER + "Be kind.")
        assert run(file, "--set", "output=runs/two") == 0 and len(server.calls) == 2
        assert RunFolder(tmp_path / "runs" / "two").manifest.prompt_version != protocol.prompt_version


def test_a_passport_takes_the_prompt_along(tmp_path: Path) -> None:
    file = _study(tmp_path, "http://127.0.0.1:9/v1")
    settings, texts = travelling_settings(read_document(file))
    (name,) = texts
    assert settings["judges"][0]["prompt"]["file"] == name and texts[name] == PAPER


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("paper.txt", "lost.txt"), "lost.txt cannot be read"),
        (("Clarity: clarity", "Clarity: zeal"), "the dimension 'zeal'"),
        (("kind: openai", "strategy: deliberation, kind: openai"), "a prompt of your own is one"),
        (("kind: openai", "per_dimension: true, kind: openai"), "take `per_dimension` out"),
    ],
)
def test_a_study_that_cannot_ask_by_it_is_refused_with_its_line(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    file = _study(tmp_path, "http://127.0.0.1:9/v1")
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(MedjuryError) as refused:
        load_study(file)
    assert said in str(refused.value) and "study.yaml, line 6" in str(refused.value)
