"""The recipe `pdsqi9`, run offline: attributes, errors and draws, computed again here from the physicians' file and
the generator's truth."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
import recipes.pdsqi9 as planted
from recipes._pdsqi9_texts import COURSES
from scipy import stats
from tests.recipes.compared import amount, note, read_table
from tests.recipes.offline import run_recipe

from medjury.cli import main
from medjury.instruments import load_instrument

LABELS = {each.name: each.label for each in load_instrument("pdsqi9").dimensions}
POOLED = "all graded dimensions, pooled"
HELD_OUT = [number for number in range(planted.CASES) if not planted.is_development(number)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipe, written and run by the command line while no socket can be connected."""
    return run_recipe(tmp_path_factory, "pdsqi9")


def lines(folder: Path, name: str) -> list[dict[str, str]]:
    return read_table(folder / "runs" / "pdsqi9" / "tables" / f"{name}.csv")


def physicians(folder: Path, dimension: str) -> np.ndarray:
    """Held-out summaries x physicians, from the file that ships."""
    with (folder / "physicians.csv").open(encoding="utf-8") as file:
        said = {(row["summary"], row["physician"]): row[dimension] for row in csv.DictReader(file)}
    return np.array(
        [
            [float(said[planted.item(number), name] or "nan") for name in planted.PHYSICIANS]
            for number in HELD_OUT
        ]
    )


def judged(judge: str, dimension: str) -> np.ndarray:
    said = [planted.judge_grades(judge, number)[dimension] for number in HELD_OUT]
    return np.array([np.nan if grade is None else float(grade) for grade in said])


def both(folder: Path, judge: str, dimension: str) -> tuple[np.ndarray, np.ndarray]:
    """The physicians' median and the judge's grade of every summary that has both."""
    people, grades = physicians(folder, dimension), judged(judge, dimension)
    known = ~np.isnan(people).all(axis=1) & ~np.isnan(grades)
    return np.nanmedian(people[known], axis=1), grades[known]


def pooled(folder: Path, judge: str) -> tuple[np.ndarray, np.ndarray]:
    sides = [both(folder, judge, dimension) for dimension in planted.GRADED]
    return np.concatenate([side[0] for side in sides]), np.concatenate([side[1] for side in sides])


def mean_squares(first: np.ndarray, second: np.ndarray) -> tuple[float, float, float]:
    """Of summaries, of raters, and of the rest."""
    table = np.column_stack([first, second])
    n, k = table.shape
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    rest = table - rows - columns + table.mean()
    return (
        float(k * ((rows - table.mean()) ** 2).sum() / (n - 1)),
        float(n * ((columns - table.mean()) ** 2).sum() / (k - 1)),
        float((rest**2).sum() / ((n - 1) * (k - 1))),
    )


def signed_rank_p(difference: np.ndarray) -> float:
    """Two-sided, by every way of giving signs to the mid-ranks; by the normal curve above 200 differences."""
    left = difference[difference != 0]
    ranks = np.rint(2 * stats.rankdata(np.abs(left))).astype(int)
    above = int(ranks[left > 0].sum())
    if len(left) > 200:
        z = (above - ranks.sum() / 2) / np.sqrt((ranks.astype(float) ** 2).sum() / 4)
        return float(2 * stats.norm.sf(abs(z)))
    ways = np.zeros(ranks.sum() + 1)
    ways[0] = 1.0
    for rank in ranks:
        ways[rank:] = ways[rank:] / 2 + ways[: len(ways) - rank] / 2 if rank else ways[rank:]
        ways[:rank] /= 2
    tail = min(ways[: above + 1].sum(), ways[above:].sum())
    return float(min(1.0, 2 * tail))


def printed(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


@pytest.mark.parametrize("judge", planted.JUDGES)
def test_attribute_by_attribute(folder: Path, judge: str) -> None:
    found = {line["dimension"]: line for line in lines(folder, "attributes") if line["rater"] == judge}
    sides = {LABELS[name]: both(folder, judge, name) for name in planted.DIMENSIONS}
    for label, (people, grades) in {POOLED: pooled(folder, judge), **sides}.items():
        line, difference = found[label], grades - people
        between, _, rest = mean_squares(people, grades)
        assert amount(line["n"]) == len(difference)
        assert amount(line["ICC(3,k)"]) == pytest.approx((between - rest) / between)
        assert amount(line["median difference"]) == np.median(difference)
        ends = (float(end.replace("−", "-")) for end in line["IQR"].split(" to "))
        assert tuple(ends) == pytest.approx(tuple(np.quantile(difference, [0.25, 0.75])), abs=0.005)
        if difference.any():
            assert line["signed-rank p"] == printed(signed_rank_p(difference)), label
    assert amount(found[POOLED]["n"]) == sum(len(sides[LABELS[name]][0]) for name in planted.GRADED)


def test_the_planted_faults_are_what_a_reader_sees(folder: Path) -> None:
    """The five-shot judge agrees best of the single ones, the small one worst, and the agents err on both sides."""
    icc = {
        line["rater"]: float(line["ICC(3,k)"])
        for line in lines(folder, "attributes")
        if line["dimension"] == POOLED
    }
    assert max(icc, key=icc.__getitem__) == "reasoner-five-shot"
    assert min(icc, key=icc.__getitem__) == "small-zero-shot"
    for dimension in planted.HARD_FOR_GENERAL:
        people, grades = both(folder, "general-zero-shot", dimension)
        others = [name for name in planted.GRADED if name not in planted.HARD_FOR_GENERAL]
        rest = [np.subtract(*both(folder, "general-zero-shot", name)[::-1]).mean() for name in others]
        assert (grades - people).mean() > max(rest)


@pytest.mark.parametrize("judge", planted.JUDGES)
def test_what_moves_the_error(folder: Path, judge: str) -> None:
    """The effects are those of generalised least squares under the variances that the table states, at which the
    restricted likelihood is level; ends are robust to what the ratings of a case share, p-values Holm's."""
    found = {line["effect"]: line for line in lines(folder, "errors") if line["rater"] == judge}
    cases = [planted.case(number) for number in HELD_OUT]
    specialty = [COURSES[number % len(COURSES)][0] for number in HELD_OUT]
    rows = []
    for component, name in enumerate(planted.GRADED):
        people, grades = physicians(folder, name), judged(judge, name)
        for place, physician in np.argwhere(~np.isnan(people) & ~np.isnan(grades)[:, None]):
            rows.append((grades[place] - people[place, physician], place, physician, component))
    error, places, physician, component = (np.array(column) for column in zip(*rows, strict=True))
    columns = [np.ones(len(error))]
    names = ["mean error"]
    for effect in found:
        kind, _, level = effect.partition(": ")
        if " against " in effect:
            values = specialty if kind == "specialty" else [str(case["system"]) for case in cases]
            columns.append(
                np.array([values[place] == level.split(" against ")[0] for place in places], float)
            )
        elif "per doubling" in effect:
            key = "length" if effect.startswith("length of the answer") else "note_length"
            size = np.log2([cases[place]["metadata"][key] for place in places])  # type: ignore[index]
            columns.append(size - size.mean())
        else:
            continue
        names.append(effect)
    assert len(names) == 1 + 4 + 2 + 2
    design = np.column_stack(columns)
    sigma, *spreads = (
        float(found[f"variance of the {each}"]["points"]) for each in ("residual", "physician", "component")
    )
    marks = [(each[:, None] == np.unique(each)).astype(float) for each in (physician, component)]
    z = np.hstack(marks)
    ratios = np.repeat(spreads, [each.shape[1] for each in marks]) / sigma
    inner = np.linalg.inv(np.diag(1 / ratios) + z.T @ z)

    def over_variance(values: np.ndarray) -> np.ndarray:
        return (values - z @ (inner @ (z.T @ values))) / sigma

    weighted = over_variance(design)
    bread = np.linalg.inv(design.T @ weighted)
    effects = bread @ weighted.T @ error
    for name, effect in zip(names, effects, strict=True):
        assert amount(found[name]["points"]) == pytest.approx(effect, abs=1e-6), name
    rest = over_variance(error - design @ effects)
    # The variances are those at which the restricted likelihood is level.
    levels = [each.T @ over_variance(each) - each.T @ weighted @ bread @ weighted.T @ each for each in marks]
    for each, level, name in zip(marks, levels, ("physician", "component"), strict=True):
        assert np.sum((each.T @ rest) ** 2) == pytest.approx(np.trace(level), rel=1e-4), name
        note(found[f"variance of the {name}"], "points")
    free = (len(error) - np.sum(inner * (z.T @ z))) / sigma - np.sum(bread * (weighted.T @ weighted))
    assert np.sum(rest**2) == pytest.approx(free, rel=1e-6)
    # Ends allow for whatever the ratings of one case share, and for the intercepts as the model has them.
    sums = np.array(
        [(weighted * (sigma * rest)[:, None])[places == place].sum(axis=0) for place in np.unique(places)]
    )
    # Each case as a fit without it would see it: its own part of the information is taken away.
    whole = np.linalg.inv(bread)
    for place, own in enumerate(np.unique(places)):
        part = design[places == own].T @ weighted[places == own]
        sums[place] = whole @ np.linalg.solve(whole - (part + part.T) / 2, sums[place])
    many = len(sums)
    of_levels = weighted.T @ z * np.sqrt(ratios * sigma)
    robust = bread @ (of_levels @ of_levels.T + (many - 1) / many * sums.T @ sums) @ bread
    errors = np.sqrt(np.diag(robust))
    reach = stats.t.ppf(0.975, many - 1) * errors
    for name, effect, half in zip(names, effects, reach, strict=True):
        ends = [amount(found[name][f"points {end}"]) for end in ("low", "high")]
        assert ends == pytest.approx([effect - half, effect + half], abs=1e-6), name
    p = 2 * stats.t.sf(np.abs(effects / errors), many - 1)[1:]
    held = 0.0
    for step, place in enumerate(np.argsort(p)):
        held = max(held, min(1.0, p[place] * (len(p) - step)))
        assert found[names[1:][place]]["adjusted p"] == printed(held), names[1:][place]
    surgeons = found[f"specialty: {planted.KIND_TO} against primary care"]
    assert (surgeons["the rater is"] == "kinder") == (judge == "reasoner-zero-shot")


def test_the_draws_and_the_physicians_behind_them(folder: Path) -> None:
    found = {(line["dimension"], line["judge"]): line for line in lines(folder, "stability")}
    for judge in [name for name in planted.JUDGES if name != "agents"]:
        for name in planted.GRADED[:7]:
            draws = np.array(
                [
                    [planted.drawn_grades(judge, number, draw)[name] for draw in range(planted.DRAWS)]
                    for number in HELD_OUT
                ],
                dtype=float,
            )
            assert (np.median(draws, axis=1) == judged(judge, name)).all()
            within = float(found[LABELS[name], judge]["SD within an answer"])
            assert within == pytest.approx(np.sqrt(draws.var(axis=1, ddof=1).mean()))
    assert {line["rater"]: line["years"] for line in lines(folder, "raters")} == {
        name: str(years) for name, (_, _, years, _) in planted.PHYSICIANS.items()
    }
    assert [line["system"] for line in lines(folder, "ranking")] == list(planted.SYSTEMS)


def test_a_judge_as_one_more_physician_and_in_place_of_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--raters", "agents", "--statistics", "icc_3_k_change_added,icc_3_k_change_replaced"]
    assert main(["agreement", str(folder / "runs" / "pdsqi9"), *asked, "--json"]) == 0
    found = [row for row in json.loads(capsys.readouterr().out) if row["dimension"] == "accurate"]
    people, judge = physicians(folder, "accurate"), judged("agents", "accurate")
    (added,) = [row["value"] for row in found if row["statistic"] == "icc_3_k_change_added"]
    assert added == pytest.approx(icc_3_k(np.column_stack([people, judge])) - icc_3_k(people))
    replaced = sorted(row["value"] for row in found if row["statistic"] == "icc_3_k_change_replaced")
    swapped = (np.column_stack([np.delete(people, place, axis=1), judge]) for place in range(7))
    assert replaced == pytest.approx(sorted(icc_3_k(table) - icc_3_k(people) for table in swapped))


def icc_3_k(table: np.ndarray) -> float:
    n, k = table.shape
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    between = k * ((rows - table.mean()) ** 2).sum() / (n - 1)
    rest = ((table - rows - columns + table.mean()) ** 2).sum() / ((n - 1) * (k - 1))
    return float((between - rest) / between)


def test_the_first_judge_is_compared_with_a_clinician_by_its_name(folder: Path) -> None:
    report = (folder / "runs" / "pdsqi9" / "report.html").read_text(encoding="utf-8")
    (cost,) = [row["cost (USD)"] for row in lines(folder, "cost") if row["rater"] == "reasoner-zero-shot"]
    told = f"evaluation costs 50.00 USD, reasoner-zero-shot&#x27;s {float(cost):.4f} USD: "
    assert told in report.replace("&#39;", "&#x27;").replace("'", "&#x27;")


def test_no_list_says_a_thing_twice(folder: Path) -> None:
    report = (folder / "runs" / "pdsqi9" / "report.html").read_text(encoding="utf-8")
    for listed in re.findall(r"<ul>(.*?)</ul>", report, re.DOTALL):
        points = re.findall(r"<li>(.*?)</li>", listed, re.DOTALL)
        assert len(points) == len(set(points)), points
