"""Lessons from clinicians' ratings: what is asked, what is answered, what is rejected, and who counts how much."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.loopback import LoopbackServer
from tests.studies.running import run_without_report

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, Score, load_instrument, read_answer
from medjury.judging import Consensus
from medjury.store.runs import RunFolder
from medjury.studies import load_study
from medjury.tuning.training import Rejection, make_lessons, read_lessons
from medjury.tuning.training._lessons import upsampled
from medjury.tuning.training._questions import rejected_grades

Write = Callable[..., Path]
VERDICT = re.compile(r'"verdict": "([0-9a-f]{10})"')
ALL = {"held_out": 0.0, "development": 0.0}


def grades(right: int = 3, short: int = 2, risk: int = 2, kind: int = 0) -> dict[str, int]:
    return {"right": right, "short": short, "risk": risk, "kind_words": kind}


def answer(message: list[dict[str, str]]) -> dict[str, int]:
    return dict(json.loads(message[0]["content"]))


def made(study: Path, method: Any = "sft", **options: Any) -> Any:
    return make_lessons(load_study(study), method, **{**ALL, **options})


class TestTheQuestion:
    def test_is_to_the_letter_what_the_judge_sends(self, write_study: Write) -> None:
        with LoopbackServer() as server:
            endpoint = {"kind": "openai", "url": server.url, "model": "m"}
            study = write_study({"ann": {"one": grades()}}, **endpoint)
            assert run_without_report(study) in (0, 3)
            sent = server.calls[0].json["messages"]
        prompt = made(study).train[0]["prompt"]
        own, theirs = (VERDICT.findall(each[-1]["content"]) for each in (prompt, sent))
        assert len(own) == len(theirs) == 1 and own != theirs  # each has a token of its own
        sent[-1]["content"] = sent[-1]["content"].replace(theirs[0], own[0])
        assert prompt == sent

    def test_is_answered_in_the_form_that_the_judge_reads(self, write_study: Write) -> None:
        said = grades(4, 1, 3, 1)
        study = write_study({"ann": {"one": said}}, explain=True)
        completion = made(study).train[0]["completion"]
        assert completion[0]["role"] == "assistant"
        read = read_answer(load_study(study).instrument, completion[0]["content"])
        assert {name: each.value for name, each in read.items() if isinstance(each, Score)} == said

    def test_explains_in_the_clinicians_words_or_the_rubrics(self, write_study: Write) -> None:
        said = {"ann": {"one": grades()}, "ben": {"one": grades()}}
        study = write_study(said, explain=True, comments={"ann": "because of the dose"})
        by_rater = {row["rater"]: answer(row["completion"])["right"] for row in made(study).train}
        assert by_rater["ann"] == {"explanation": "because of the dose", "score": 3}
        assert by_rater["ben"] == {"explanation": "half", "score": 3}

    def test_comments_are_redacted_where_the_study_redacts(self, write_study: Write) -> None:
        study = write_study(
            {"ann": {"one": grades()}}, explain=True, comments={"ann": "write to ann@example.org"},
            settings={"redact": {"presidio": False}},
        )  # fmt: skip
        text = json.dumps(made(study).train)
        assert "ann@example.org" not in text and "write to" in text


class TestCompletions:
    def test_there_is_one_for_every_clinician(self, write_study: Write) -> None:
        said = {"ann": {"one": grades(1)}, "ben": {"one": grades(4)}, "cat": {"one": grades(5)}}
        rows = made(write_study(said)).train
        assert {row["rater"]: answer(row["completion"])["right"] for row in rows} == {
            "ann": 1,
            "ben": 4,
            "cat": 5,
        }

    def test_half_an_answer_is_left_out_and_counted(self, write_study: Write) -> None:
        lessons = made(write_study({"ann": {"one": grades(), "two": {"right": 3}}, "ben": {"one": grades()}}))
        assert sorted(row["item"] for row in lessons.train) == ["one", "one"]
        assert sum(lessons.facts["left_out"].values()) == 1
        assert "left out: 1 (a clinician did not grade every dimension" in lessons.text()

    def test_no_rater_dominates(self, write_study: Write) -> None:
        said = {
            "ann": {f"case {n}": grades() for n in range(5)},
            "ben": {f"case {n}": grades() for n in range(3)},
            "cat": {"case 0": grades()},
        }
        study = write_study(said)
        shown = Counter((row["rater"], row["item"]) for row in made(study).train)
        assert Counter(rater for rater, _ in shown.elements()) == {"ann": 5, "ben": 5, "cat": 5}
        assert {shown["ann", f"case {n}"] for n in range(5)} == {1}
        assert sorted(shown["ben", f"case {n}"] for n in range(3)) == [1, 2, 2]
        assert shown["cat", "case 0"] == 5
        plain = made(study, even=False)
        assert Counter(row["rater"] for row in plain.train) == {"ann": 5, "ben": 3, "cat": 1}

    def test_the_same_seed_copies_the_same(self) -> None:
        rows = [
            {"rater": rater, "item": str(n)} for rater, many in (("ann", 7), ("ben", 4)) for n in range(many)
        ]
        assert upsampled(rows, 1) == upsampled(rows, 1)
        drawn = {
            tuple(row["item"] for row in upsampled(rows, seed) if row["rater"] == "ben") for seed in range(20)
        }
        assert len(drawn) > 1 and all(len(each) == 7 for each in drawn)
        assert upsampled([], 0) == []


class TestPreferences:
    def pair(self, study: Path, **options: Any) -> tuple[dict[str, int], dict[str, int]]:
        row = made(study, "dpo", **options).train[0]
        return answer(row["chosen"]), answer(row["rejected"])

    def test_the_median_is_chosen_and_one_higher_rejected(self, write_study: Write) -> None:
        seven = (1, 2, 2, 3, 4, 4, 5)
        said = {f"rater {n}": {"one": grades(right, 1, 1, 0)} for n, right in enumerate(seven)}
        assert self.pair(write_study(said)) == (grades(3, 1, 1, 0), grades(4, 2, 2, 0))

    def test_between_two_grades_the_higher_is_chosen(self, write_study: Write) -> None:
        said = {"ann": {"one": grades(2)}, "ben": {"one": grades(3)}}
        assert self.pair(write_study(said))[0]["right"] == 3

    def test_at_the_top_of_the_scale_a_grade_stays(self, write_study: Write) -> None:
        said = {name: {"one": grades(5, 2, 3, 0)} for name in ("ann", "ben")}
        study = write_study(said)
        assert self.pair(study) == (grades(5, 2, 3, 0), grades(5, 3, 3, 0))
        assert "2 grades of rejected answers stayed as chosen" in made(study, "dpo").text()

    def test_a_pair_of_equals_is_dropped_and_counted(self, write_study: Write) -> None:
        said = {name: {"top": grades(5, 3, 3, 0), "low": grades(1, 1, 1, 0)} for name in ("ann", "ben")}
        lessons = made(write_study(said), "dpo")
        assert [row["item"] for row in lessons.train] == ["low"]
        assert [count for why, count in lessons.facts["left_out"].items() if "the same answer" in why] == [1]

    def test_nothing_but_equals_is_an_error_that_says_so(self, write_study: Write) -> None:
        said = {name: {"top": grades(5, 3, 3, 0)} for name in ("ann", "ben")}
        with pytest.raises(
            MedjuryError, match="nothing to learn from: chosen and rejected would be the same"
        ):
            made(write_study(said), "dpo")

    @pytest.mark.parametrize(("chosen", "rejected"), [(0, 1), (1, 1)])
    def test_two_grades_are_no_scale_unless_said(
        self, write_study: Write, chosen: int, rejected: int
    ) -> None:
        study = write_study({name: {"one": grades(kind=chosen)} for name in ("ann", "ben")})
        assert self.pair(study)[1]["kind_words"] == chosen
        changed = self.pair(study, rejection=Rejection(binary="change"))
        assert changed[1]["kind_words"] == rejected

    def test_fewer_clinicians_than_asked_for_make_no_median(self, write_study: Write) -> None:
        said = {"ann": {"one": grades(), "two": grades()}, "ben": {"one": grades()}}
        lessons = made(write_study(said), "dpo")
        assert [row["item"] for row in lessons.train] == ["one"]
        assert lessons.facts["left_out"] == {"fewer than 2 clinicians rated every dimension": 1}
        assert len(made(write_study(said), "dpo", clinicians=1).train) == 2

    @pytest.mark.parametrize(
        ("rule", "expected"),
        [("one_higher", grades(4, 3, 3)), ("one_lower", grades(2, 1, 1)), ("one_better", grades(4, 3, 1))],
    )
    def test_other_rules_go_other_ways(self, write_study: Write, rule: Any, expected: dict[str, int]) -> None:
        study = write_study({name: {"one": grades(3, 2, 2)} for name in ("ann", "ben")})
        assert self.pair(study, rejection=Rejection(rule)) == (grades(3, 2, 2), expected)

    def test_where_higher_is_worse_one_higher_is_told_to_be_stricter(self, write_study: Write) -> None:
        study = write_study({name: {"one": grades()} for name in ("ann", "ben")})
        assert "a higher grade is worse on risk" in made(study, "dpo").text()
        assert "worse" not in made(study, "dpo", rejection=Rejection("one_better")).text()

    def test_a_random_grade_is_never_the_chosen_one_and_hangs_on_seed_and_case(
        self, write_study: Write
    ) -> None:
        items = {f"case {n}": grades() for n in range(12)}
        study = write_study({"ann": items, "ben": items})
        first, again, other = (
            [
                answer(row["rejected"])
                for row in made(study, "dpo", rejection=Rejection("random", seed=seed)).train
            ]
            for seed in (1, 1, 2)
        )
        assert first == again != other
        assert all(each[name] != grades()[name] for each in first for name in ("right", "short", "risk"))
        assert {each["right"] for each in first} == {1, 2, 4, 5}

    def test_the_worst_judges_own_answer(self, write_study: Write) -> None:
        """Of three judges the one farthest from the clinicians is rejected; where it agrees, or gave no answer,
        there is no pair."""
        near, far = json.dumps(grades(3, 2, 2)), json.dumps(grades(5, 3, 1))
        items = {"one": grades(3, 2, 2), "two": grades(5, 3, 1)}
        study = write_study({"ann": items, "ben": items})
        judges = [
            {"kind": "scripted", "name": name, "answers": said, "explain": False}
            for name, said in (("near", near), ("far", far))
        ]
        text = study.read_text().splitlines()
        lines = [f"judges: {json.dumps(judges)}" if line.startswith("judges:") else line for line in text]
        study.write_text("\n".join(lines) + "\n")
        with pytest.raises(MedjuryError, match="the study was not run yet; run it first"):
            made(study, "dpo", rejection=Rejection("worst_judge"))
        assert run_without_report(study) == 0
        # Both judges are right once; on "two" the near one is farther away than the far one on "one".
        lessons = made(study, "dpo", rejection=Rejection("worst_judge"))
        assert len(lessons.train) == 1 and "the judge farthest from the clinicians" in lessons.text()
        assert lessons.facts["left_out"] == {"the worst judge gave the clinicians' own answer": 1}
        row = lessons.train[0]
        assert answer(row["chosen"]) == items[row["item"]] != answer(row["rejected"])


class TestSkippedDimensions:
    """`synthesized` of PDSQI-9 does not apply exactly where `abstraction` is 0."""

    def consensus(self, instrument: Instrument, abstraction: int, synthesized: int | None) -> Consensus:
        scores: dict[str, int | None] = {each.name: each.lowest for each in instrument.dimensions}
        scores |= {"abstraction": abstraction, "synthesized": synthesized}
        return Consensus(scores, dict.fromkeys(scores, "why"))

    def test_what_decides_whether_another_applies_is_kept(self) -> None:
        instrument = load_instrument("pdsqi9")
        chosen = self.consensus(instrument, 0, None)
        other, _ = rejected_grades(chosen, instrument, Rejection(binary="change"), "")
        assert (other.scores["abstraction"], other.scores["synthesized"]) == (0, None)
        assert other.scores["stigmatizing_summary"] == 1
        assert all(other.scores[name] == 2 for name in ("citation", "accurate", "thorough", "useful"))

    def test_a_rejected_answer_is_one_that_the_instrument_allows(self) -> None:
        instrument = load_instrument("pdsqi9")
        chosen = self.consensus(instrument, 1, 4)
        other, ends = rejected_grades(chosen, instrument, Rejection(), "")
        read = read_answer(instrument, json.dumps(other.scores))
        assert all(isinstance(each, Score) for each in read.values())
        assert other.scores["synthesized"] == 5 and ends == 0
        assert other.explanations["synthesized"] == instrument.dimension("synthesized").grades[5]

    def test_grades_with_gaps_go_to_the_next_grade(self) -> None:
        instrument = load_instrument("pdsqi9")
        accurate = replace(instrument.dimension("accurate"), grades={1: "a", 3: "b", 5: "c"})
        gapped = replace(instrument, dimensions=(accurate,))
        other, _ = rejected_grades(Consensus({"accurate": 3}, {"accurate": ""}), gapped, Rejection(), "")
        assert other.scores == {"accurate": 5}


class TestSides:
    def many(self, count: int) -> dict[str, dict[str, dict[str, int]]]:
        items = {f"case {n}": grades() for n in range(count)}
        return {"ann": items, "ben": items}

    def test_forty_of_two_hundred_are_held_out(self, write_study: Write) -> None:
        sides = made(write_study(self.many(200)), "dpo", held_out=0.2, development=0.1).facts["sides"]
        assert {name: len(items) for name, items in sides.items()} == {
            "training": 144, "development": 16, "held_out": 40,
        }  # fmt: skip
        assert len({*sides["training"], *sides["development"], *sides["held_out"]}) == 200

    def test_the_seed_decides(self, write_study: Write) -> None:
        study = write_study(self.many(20))
        first, again, other = (made(study, held_out=5, seed=seed).facts["sides"] for seed in (0, 0, 1))
        assert first == again != other
        assert len(first["held_out"]) == 5

    def test_a_patient_is_on_one_side(self, write_study: Write) -> None:
        said = self.many(40)
        patients = {f"case {n}": f"patient {n % 10}" for n in range(40)}
        sides = made(write_study(said, patients=patients), held_out=0.3, development=0.2).facts["sides"]
        found = [{patients[item] for item in items} for items in sides.values()]
        assert sum(map(len, found)) == len(set().union(*found)) == 10
        assert all(found)

    def test_what_is_held_out_is_not_touched(self, write_study: Write, tmp_path: Path) -> None:
        study = write_study(self.many(20))
        lessons = made(study, held_out=0.25, development=0.2)
        lessons.write(tmp_path / "lessons")
        touched = json.loads((tmp_path / "lessons" / "touched.json").read_text())
        sides = lessons.facts["sides"]
        hashes = {case.id: case.fingerprint() for case in load_study(study).cases}
        assert set(touched["case_hashes"]) == {
            hashes[item] for item in (*sides["training"], *sides["development"])
        }
        assert not {hashes[item] for item in sides["held_out"]} & set(touched["case_hashes"])
        text = (tmp_path / "lessons" / "train.jsonl").read_text()
        assert not [
            item for item in (*sides["held_out"], *sides["development"]) if f"Text of {item}." in text
        ]

    def test_no_later_run_counts_them_in_its_validation(self, write_study: Write, tmp_path: Path) -> None:
        """Not even under other names: a case is known again by its text."""
        said = self.many(12)
        lessons = made(write_study(said), held_out=4, development=2)
        lessons.write(tmp_path / "runs" / "taught-sft")
        sides = lessons.facts["sides"]
        study = write_study(said, answers=json.dumps(grades()))
        cases = tmp_path / "cases.jsonl"
        cases.write_text(cases.read_text().replace('"id": "case', '"id": "kase'))
        humans = tmp_path / "humans.csv"
        humans.write_text(humans.read_text().replace("case ", "kase "))
        assert run_without_report(study) == 0
        run = RunFolder(tmp_path / "runs" / "taught").manifest
        touched = sorted(each.replace("case", "kase") for each in (*sides["training"], *sides["development"]))
        assert sorted(run.touched_cases) == touched
        assert set(touched) <= set(run.rules.development_cases)
        assert run.touched[0].what == "the training of a judge (taught-sft)"

    def test_nothing_left_is_an_error(self, write_study: Write) -> None:
        with pytest.raises(MedjuryError, match="nothing is left to learn from"):
            made(write_study(self.many(3)), held_out=3)


class TestFiles:
    def test_lessons_are_read_as_they_were_written(self, write_study: Write, tmp_path: Path) -> None:
        lessons = made(write_study({"ann": {"one": grades()}}))
        lessons.write(tmp_path / "lessons")
        assert read_lessons(tmp_path / "lessons") == lessons
        assert (tmp_path / "lessons" / "train.jsonl").stat().st_mode & 0o077 == 0

    def test_changed_lessons_are_refused(self, write_study: Write, tmp_path: Path) -> None:
        made(write_study({"ann": {"one": grades()}})).write(tmp_path / "lessons")
        file = tmp_path / "lessons" / "train.jsonl"
        file.write_text(file.read_text().replace("3", "5", 1))
        with pytest.raises(MedjuryError, match=r"train\.jsonl is not what data\.json says"):
            read_lessons(tmp_path / "lessons")

    def test_the_command_writes_them_and_says_what_they_are(
        self, write_study: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        study = write_study({name: {f"case {n}": grades() for n in range(10)} for name in ("ann", "ben")})
        assert main(["train", "sft", str(study), "--data-only", "--out", str(tmp_path / "out")]) == 0
        assert "14 lessons from 7 cases, 2 to look at from 1; 2 cases are held out" in capsys.readouterr().out
        assert len(read_lessons(tmp_path / "out").train) == 14

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"humans": None}, "the study names no ratings of theirs; add `humans`"),
            (
                {
                    "judges": [
                        {
                            "kind": "scripted",
                            "answers": "{}",
                            "strategy": {"name": "deliberation", "personas": "moderated"},
                        }
                    ]
                },
                "asks in several steps",
            ),
        ],
    )
    def test_a_study_that_cannot_teach_is_refused(
        self, write_study: Write, change: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(MedjuryError, match=message):
            made(write_study({"ann": {"one": grades()}}, settings=change))


def test_a_study_that_names_development_cases_learns_from_those_alone(write_study: Write) -> None:
    said = {f"c{n}": grades(1 + n % 5) for n in range(12)}
    patients = {f"c{n}": f"p{n // 2}" for n in range(12)}
    named = [f"c{n}" for n in range(7)]  # c7 is of the patient of c6
    study = write_study({"ann": said}, patients=patients, settings={"gate": {"development_cases": named}})
    found = make_lessons(load_study(study), "sft", held_out=0.5, development=0.25)
    sides = found.facts["sides"]
    assert sorted(sides["training"] + sides["development"]) == named and 2 <= len(sides["development"]) <= 3
    assert sides["held_out"] == ["c10", "c11", "c8", "c9"]
    assert {row["item"] for row in (*found.train, *found.development)} == set(named) == set(found.items)
