"""Every score in the ratings of the recipes' nine runs is the one that was planted, rater by rater, with what
follows from several: the jury's and the composites'. `every_number` makes the tables again from those ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from recipes._medhelm_texts import name_of
from recipes._transcript_calls import impacts
from tests.recipes import test_diagnosis_jury as diagnosis
from tests.recipes import test_medhelm_jury as medhelm
from tests.recipes.designs import RUNS
from tests.recipes.rated import Rated

from recipes import diagnosis_jury, econsult, medhelm_jury, pdsqi9, transcripts

# Item, system, rater, dimension and repeat of each; NaN where the rater has no score to give.
Planted = Iterator[tuple[tuple[str, str, str, str, int], float]]


def of_diagnosis(run: str) -> Planted:
    ward, repeats = run == "ward-reference", 10 if run == "stability" else 1
    panels = {"primary panel": diagnosis_jury.labelled, diagnosis.PANEL: diagnosis_jury.rescored}
    for number, system in diagnosis.ANSWERS:
        if ward and system not in diagnosis_jury.TESTED:
            continue
        if run == "stability" and not diagnosis_jury.rescored(number, system):
            continue
        case = f"case-{number + 1:02d}", system
        for name in diagnosis.LABELS:
            votes = [
                [diagnosis.said(judge, number, system, name, ward=ward, seed=seed) for seed in range(repeats)]
                for judge in diagnosis.JUDGES
            ]
            for judge, own in zip(diagnosis.JUDGES, votes, strict=True):
                yield from (((*case, judge, name, place), vote) for place, vote in enumerate(own))
            yield (*case, "jury", name, 0), float(np.mean(votes))
            for panel, asked in panels.items():
                if asked(number, system):
                    yield (*case, panel, name, 0), diagnosis.said(panel, number, system, name)


def of_medhelm(run: str) -> Planted:
    answers = medhelm.EVERYTHING
    if run != "medhelm-jury":
        answers = [each for each in medhelm.READ if name_of(each[0]).startswith(run[len("medhelm-") :][:4])]
    for name in (*medhelm_jury.AXES, "overall"):
        for judge, scores in medhelm.judges(answers, name).items():
            for (number, system), score in zip(answers, scores, strict=True):
                yield (name_of(number), system, judge, name, 0), score
        for number, system in answers:
            for place in medhelm_jury.readers(number) if system == medhelm_jury.read_system(number) else ():
                given = medhelm_jury.clinical(place, number)
                score = np.mean([*given.values()]) if name == "overall" else given[name]
                yield (name_of(number), system, medhelm_jury.CLINICIANS[place][0], name, 0), float(score)


def of_econsult(run: str) -> Planted:
    for consult in econsult.consults():
        for rater in (*econsult.PHYSICIANS, *econsult.READERS, econsult.CHECKER):
            case, concordant = (consult.id, econsult.SYSTEM, rater), econsult.verdict(rater, consult)
            if concordant is None:
                continue
            yield (*case, "concordant", 0), float(concordant)
            if rater != econsult.CHECKER:
                preferred = econsult.preference(rater, consult)
                yield (*case, "preference", 0), np.nan if preferred is None else float(preferred)


def of_pdsqi9(run: str) -> Planted:
    for number in range(pdsqi9.CASES):
        said = {judge: pdsqi9.judge_grades(judge, number) for judge in pdsqi9.JUDGES}
        said |= {name: pdsqi9.physician_grades(name, number) for name in pdsqi9.physicians_of(number)}
        for rater, grades in said.items():
            case = pdsqi9.item(number), pdsqi9.system(number), rater
            for name in pdsqi9.DIMENSIONS:
                yield (*case, name, 0), np.nan if (grade := grades[name]) is None else float(grade)
            known = [grade for name in pdsqi9.GRADED if (grade := grades[name]) is not None]
            yield (*case, "mean_quality", 0), float(np.mean(known))


def of_transcripts(run: str) -> Planted:
    for name, impact in impacts().items():
        system = "recogniser-a" if name.startswith("eye") else "recogniser-b"
        for who, wrong in transcripts.CLINICIANS.items():
            yield (name, system, who, "impact", 0), float(wrong.get(name, impact))
        yield (name, system, transcripts.ADJUDICATOR, "impact", 0), float(impact)
        for judge in transcripts.JUDGES:
            for place in range(transcripts.RUNS):
                yield (name, system, judge, "impact", place), float(transcripts.said(judge, name, place))


MADE: dict[str, Callable[[str], Planted]] = {
    "diagnosis-jury": of_diagnosis,
    "econsult": of_econsult,
    "medhelm-jury": of_medhelm,
    "pdsqi9": of_pdsqi9,
    "transcripts": of_transcripts,
}


@pytest.mark.parametrize("run", RUNS)
def test_every_score_is_the_planted_one(rated: Callable[[str], Rated], run: str) -> None:
    wanted = dict(MADE[RUNS[run]](run))
    rows = [row for row in rated(run).rows("ratings.csv") if row["rater_kind"] != "metric"]
    found = {
        (row["item"], row["system"], row["rater"], row["dimension"], int(row["repeat"])): float(
            row["score"] or "nan"
        )
        for row in rows
    }
    assert len(rows) == len(found) and found.keys() == wanted.keys()
    assert found == pytest.approx(wanted, abs=1e-9, nan_ok=True)
    assert {row["status"] for row in rows if not row["score"]} <= {"not_applicable"}
