"""Records of ways of judging of several steps: read line by line, by kind, each in its own form or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from medjury.foundation.errors import MedjuryError
from medjury.judging import (
    AdaptiveBody,
    ClaimsBody,
    ClosedLoopBody,
    ConcordanceBody,
    DeliberationBody,
    RepeatsBody,
)
from medjury.store.ratings import StoredRecord, write_records
from medjury.store.runs import Body, Records

# One or more of every kind.
RECORDED = Path(__file__).parent / "records.jsonl"
KINDS: dict[str, type[Body]] = {
    "adaptive": AdaptiveBody,
    "claims": ClaimsBody,
    "closed_loop": ClosedLoopBody,
    "concordance": ConcordanceBody,
    "deliberation": DeliberationBody,
    "repeats": RepeatsBody,
}


class TalkBody(Body):
    kind: str = "talk"
    turns: tuple[str, ...]


class OtherBody(Body):
    kind: str = "other"


def line(number: int, kind: str = "talk", **changes: Any) -> dict[str, Any]:
    return {
        "key": f"key-{number}",
        "item": f"case-{number:04d}",
        "system": "",
        "rater": "panel",
        "repeat": 0,
        "kind": kind,
        "body": {"kind": kind, "turns": [f"the words of turn {number}\u2028on two lines"]},
        **changes,
    }


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)


def written(path: Path, text: str) -> Records:
    path.write_text(text, encoding="utf-8")
    return Records(path)


def test_records_come_by_kind_in_the_order_of_the_file(tmp_path: Path) -> None:
    records = written(
        tmp_path / "records.jsonl",
        lines(line(1), line(2, "other"), line(3)) + "\n" + lines(line(4, "other", rater="checker")),
    )
    assert records.kinds() == {"talk": 2, "other": 2}
    assert [(each.item, each.line) for each in records.of(OtherBody)] == [("case-0002", 2), ("case-0004", 5)]
    assert next(records.of(TalkBody)).body.turns == ("the words of turn 1\u2028on two lines",)
    assert [each.item[-1] for each in records] == ["1", "2", "3", "4"]
    assert list(records.of(ClaimsBody)) == []


def test_a_run_without_the_file_has_none(tmp_path: Path) -> None:
    for records in (Records(), Records(tmp_path / "records.jsonl")):
        assert records.kinds() == {} and list(records) == [] and list(records.of(ClaimsBody)) == []


def test_a_file_is_read_only_as_far_as_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    records = written(path, lines(*(line(number) for number in range(50))))
    assert records.kinds() == {"talk": 50}
    # The index stands; a broken tail is met only by a reader who gets there.
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    wanted = records.of(TalkBody)
    assert next(wanted).item == "case-0000"
    with pytest.raises(MedjuryError, match="line 50"):
        list(wanted)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("{broken\n", "it is not JSON"),
        ("[1, 2]\n", "it is not a JSON object"),
        ("[" * 100_000 + "\n", "it is not JSON"),
        (lines({**line(3), "body": "words"}), "its 'body' is missing or is not an object"),
        (lines({**line(3), "repeat": True}), "its 'repeat' is missing or is not a whole number"),
        (lines({name: value for name, value in line(3).items() if name != "kind"}), "its 'kind' is missing"),
    ],
)
def test_a_line_that_is_no_record_is_refused_with_its_number_and_without_its_words(
    tmp_path: Path, bad: str, why: str
) -> None:
    records = written(tmp_path / "records.jsonl", lines(line(1), line(2)) + bad)
    with pytest.raises(MedjuryError, match="line 3: this is not a record") as refused:
        records.kinds()
    assert why in str(refused.value) and "the words of turn" not in str(refused.value)


def test_bytes_that_are_no_text_are_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(lines(line(1)).encode() + b"\xff\xfe\n")
    with pytest.raises(MedjuryError, match="line 2"):
        list(Records(path).of(TalkBody))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "turns: Field required"),
        ({"turns": "Mrs Smith"}, "turns: Input should be a valid tuple"),
        ({"turns": [{"of": "Mrs Smith"}]}, "turns.0: Input should be a valid string"),
        ({"turns": [], "context": {"truncate": "Mrs Smith"}}, "context.notes_left_out: Field required"),
    ],
)
def test_a_body_of_another_form_is_refused_with_the_place_and_without_its_words(
    tmp_path: Path, body: dict[str, Any], why: str
) -> None:
    records = written(tmp_path / "records.jsonl", lines(line(1), line(2, body=body)))
    with pytest.raises(MedjuryError, match="line 2: this is not a record of the kind 'talk'") as refused:
        list(records.of(TalkBody))
    said = str(refused.value)
    assert f"({why}" in said and "run the study again" in said and "Smith" not in said


def test_records_of_every_kind_are_read() -> None:
    records = Records(RECORDED)
    assert set(records.kinds()) == {*KINDS, "context"}
    for name, kind in KINDS.items():
        found = list(records.of(kind))
        assert len(found) == records.kinds()[name] and {each.body.kind for each in found} == {name}
        assert not any(each.body.others for each in found), f"{name}: every name is known"
    cuts = [each.body.context for each in records if each.body.context]
    assert [(len(each.notes_left_out), each.characters_left_out) for each in cuts] == [(5, 26_100)]


def test_what_is_read_and_written_again_is_the_same() -> None:
    said = [json.loads(each) for each in RECORDED.read_text(encoding="utf-8").splitlines()]
    for each in said:
        body = KINDS.get(each["kind"], Body).model_validate(each["body"])
        assert json.loads(json.dumps(body.content())) == each["body"]


def test_half_a_surrogate_pair_reaches_the_store_and_leaves_no_trace_in_the_file(tmp_path: Path) -> None:
    body = TalkBody(turns=("half \ud800 a pair",))
    stored = StoredRecord("k", "i", "", "r", 0, json.dumps(body.content(), ensure_ascii=False), "2026")
    assert write_records([stored], tmp_path / "records.jsonl") == 1
    [record] = Records(tmp_path / "records.jsonl").of(TalkBody)
    assert record.body.turns == ("half \ufffd a pair",)
