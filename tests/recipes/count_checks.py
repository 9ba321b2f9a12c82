"""Tables of a report that follow from its ratings by counting, made a second time from `ratings.csv`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from tests.recipes.compared import amount
from tests.recipes.exact_checks import both_vary
from tests.recipes.rated import Answer, Grading, Rated
from tests.recipes.second_opinion import Numbers, spearman


def near(shown: str, wanted: float) -> bool:
    return shown == "" if not np.isfinite(wanted) else amount(shown) == pytest.approx(wanted, abs=1e-9)


def at_once(statistic: object, n: int) -> float:
    with np.errstate(all="ignore"):
        return float(statistic(np.ones((1, n)))[0]) if n else float("nan")  # type: ignore[operator]


def shared(one: Mapping[Answer, float], two: Mapping[Answer, float]) -> tuple[Numbers, Numbers]:
    both = sorted(one.keys() & two.keys())
    return np.array([one[each] for each in both]), np.array([two[each] for each in both])


def counts_are_right(
    rated: Rated,
    labels: Mapping[str, str],
    grading: Grading,
    grades: Mapping[str, Sequence[float]],
    first: str,
) -> None:
    """The tables `confusion`, `confusion-by-rater`, `distributions`, `rater-kappas`, `coverage` and
    `answering-models`."""
    names = {label: name for name, label in labels.items()}
    raw = rated.rows("ratings.csv")
    for table, column in (("confusion", first), ("confusion-by-rater", "grade")):
        for row in rated.table(table):
            name = names[row["dimension"]]
            x, y, _ = rated.both(row.get("rater", first), name)
            here = (grading(name)(x) == float(row["clinicians"])) & (grading(name)(y) == float(row[column]))
            assert amount(row["answers"]) == here.sum(), row
    for row in rated.table("distributions"):
        name = names[row["dimension"]]
        scores = np.array([*rated.scores[row["rater"], name].values()])
        wanted = {"n": len(scores), "mean": scores.mean(), "median": np.median(scores)}
        wanted["SD"] = scores.std(ddof=1) if len(scores) > 1 else np.nan
        if name in grades:
            wanted["% at lowest grade"] = 100 * np.mean(scores == min(grades[name]))
            wanted["% at highest grade"] = 100 * np.mean(scores == max(grades[name]))
        assert all(near(row[column], float(value)) for column, value in wanted.items()), (wanted, row)
    clinicians = {row["rater"] for row in raw if row["rater_kind"] == "clinician"}
    for row in rated.table("rater-kappas"):
        if not str(row["who"]).startswith("with the "):
            among = sum(row[each] in clinicians for each in ("rater", "with"))
            assert row["who"] == ("judge with judge", "judge with human", "human with human")[among], row
        name = names[row["dimension"]]
        sides = [rated.scores.get((row[each], name), {}) for each in ("rater", "with")]
        if row["with"] == "majority vote":
            sides[1] = rated.reference(name)
        x, y = shared(*sides)
        assert amount(row["answers"]) == len(x)
        assert near(row["weighted kappa"], at_once(both_vary(grading(name)(x), grading(name)(y)), len(x))), (
            row
        )
        assert near(row["Spearman's rho"], at_once(spearman(x, y), len(x))), row
    told = Counter((row["rater"], row["status"]) for row in raw)
    for row in rated.table("coverage"):
        own = {status: count for (who, status), count in told.items() if who == row["rater"]}
        assert amount(row["ratings"]) == sum(own.values()), row
        assert amount(row["scored"]) == own.get("scored", 0) and amount(row["unscored"]) == own.get(
            "unscored", 0
        )
        assert amount(row["not applicable"]) == own.get("not_applicable", 0), (own, row)
    scored = {(row["rater"], row["system"], row["item"]) for row in raw if row["status"] == "scored"}
    whose = Counter((rater, system) for rater, system, _ in scored)
    kinds = {row["rater"] for row in raw if row["rater_kind"] in ("clinician", "judge")}
    for row in rated.table("coverage-by-system"):
        assert row.keys() - {"system"} == {rater for rater, *_ in scored if rater in kinds}
        for rater in row.keys() - {"system"}:
            every = sum(many for (who, _), many in whose.items() if who == rater)
            assert amount(row[rater]) == (every if row["system"] == "all" else whose[rater, row["system"]])
    answered = Counter((row["rater"], row["model_asked"], row["model_answered"]) for row in raw)
    for row in rated.table("answering-models"):
        assert amount(row["ratings"]) == answered[row["judge"], row["asked for"], row["answered"]], row
