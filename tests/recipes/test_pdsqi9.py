"""The recipe `pdsqi9`, run offline: every planted number is in the report's tables, computed again here from
the physicians' file and the generator's truth, and the page about it names only what the report holds."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import recipes.pdsqi9 as planted
from recipes._pdsqi9_texts import COURSES
from scipy import stats
from tests.recipes.compared import amount, note, read_table
from tests.recipes.interval_checks import agreement_is_right, whole_grades
from tests.recipes.offline import run_recipe
from tests.recipes.rated import Rated

from medjury.cli import main
from medjury.instruments import load_instrument

PAGE = Path(__file__).parent.parent.parent / "docs" / "recipes" / "pdsqi9.md"
LABELS = {each.name: each.label for each in load_instrument("pdsqi9").dimensions}
POOLED = "all graded dimensions, pooled"
HELD_OUT = [number for number in range(planted.CASES) if not planted.is_development(number)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipe, written and run by the command line while no socket can be connected."""
    folder = run_recipe(tmp_path_factory, "pdsqi9")
    told = (folder.parent / "told.txt").read_text(encoding="utf-8")
    assert "COMPLETE" in told and "0 unscored" in told
    return folder


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
def test_agreement_and_coefficients_beyond_chance(folder: Path, judge: str) -> None:
    plain = {line["dimension"]: line for line in lines(folder, "agreement") if line["rater"] == judge}
    others = {
        line["dimension"]: line
        for line in lines(folder, "agreement-other-coefficients")
        if line["rater"] == judge
    }
    for name in planted.GRADED:
        people, grades = both(folder, judge, name)
        line, difference, n = plain[LABELS[name]], grades - people, len(grades)
        between, raters, rest = mean_squares(people, grades)
        assert amount(line["n"]) == n
        assert amount(line["offset"]) == pytest.approx(difference.mean())
        assert amount(line["RMSE"]) == pytest.approx(np.sqrt((difference**2).mean()))
        assert amount(line["ICC(2,1)"]) == pytest.approx(
            (between - rest) / (between + rest + 2 * (raters - rest) / n)
        )
        assert amount(line["Spearman's rho"]) == pytest.approx(stats.spearmanr(people, grades).statistic)
        people = np.floor(people + 0.5)  # where six physicians scored, the median may lie between two grades
        assert amount(line["weighted kappa"]) == pytest.approx(weighted_kappa(people, grades))
        alpha, ac2 = ordinal_alpha(people, grades), gwet_ac2(people, grades)
        assert amount(others[LABELS[name]]["Krippendorff's alpha"]) == pytest.approx(alpha)
        assert amount(others[LABELS[name]]["Gwet's AC2"]) == pytest.approx(ac2)


def weighted_kappa(first: np.ndarray, second: np.ndarray) -> float:
    expected = ((first[:, None] - second[None, :]) ** 2).mean()
    return float(1 - ((first - second) ** 2).mean() / expected)


def ordinal_alpha(first: np.ndarray, second: np.ndarray) -> float:
    """1 - observed / expected disagreement, the distance of two grades being the share of values between them."""
    values = np.concatenate([first, second])
    counts = np.array([(values == grade).sum() for grade in range(1, 6)], dtype=float)
    middle = np.cumsum(counts) - counts / 2
    places = {grade: middle[grade - 1] for grade in range(1, 6)}
    one, two = (np.array([places[int(grade)] for grade in side]) for side in (first, second))
    everybody = np.concatenate([one, two])
    pairs = (everybody[:, None] - everybody[None, :]) ** 2
    expected = pairs.sum() / (len(everybody) * (len(everybody) - 1))
    return float(1 - ((one - two) ** 2).mean() / expected)


def gwet_ac2(first: np.ndarray, second: np.ndarray) -> float:
    grades = np.arange(1, 6)
    weights = 1 - (grades[:, None] - grades[None, :]) ** 2 / 16
    observed = (1 - (first - second) ** 2 / 16).mean()
    share = np.array([((first == grade).mean() + (second == grade).mean()) / 2 for grade in grades])
    chance = weights.sum() / 20 * (share * (1 - share)).sum()
    return float((observed - chance) / (1 - chance))


def test_the_corpus(folder: Path) -> None:
    found = {line["characteristic"]: line for line in lines(folder, "corpus")}
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
    development = set((folder / "development.txt").read_text().split())
    sides = {
        "development": [case for case in cases if case["id"] in development],
        "held out": [case for case in cases if case["id"] not in development],
    }
    assert {name: len(side) for name, side in sides.items()} == {"development": 12, "held out": 36}
    for name, value_of in (
        ("system", lambda case: case["system"]),
        ("specialty", lambda case: case["metadata"]["specialty"]),
        ("notes_read", lambda case: f"{len(case['notes'])} notes"),
    ):
        counts = {side: Counter(map(value_of, own)) for side, own in sides.items()}
        levels = sorted(set().union(*counts.values()))
        for level in levels:
            for side, own in sides.items():
                share = round(100 * counts[side][level] / len(own))
                assert found[f"{name}: {level}"][side] == f"{counts[side][level]} ({share} %)"
        table = [[counts[side][level] for side in sides] for level in levels]
        p = stats.chi2_contingency(table, correction=False).pvalue
        assert found[f"{name}: {levels[0]}"]["p"] == printed(p)
    for label, length in (
        ("words of the notes", lambda case: sum(planted.words(each["text"]) for each in case["notes"])),
        ("words of the answer", lambda case: planted.words(case["candidate"])),
    ):
        first, second = ([length(case) for case in own] for own in sides.values())
        assert found[label]["p"] == printed(stats.ttest_ind(first, second, equal_var=False).pvalue)
        middle, low, high = np.quantile(second, [0.5, 0.25, 0.75])
        assert [float(each) for each in re.findall(r"\d+", found[label]["held out"])] == pytest.approx(
            [middle, low, high], abs=0.51
        )


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


def test_time_and_money(folder: Path) -> None:
    found = {line["rater"]: line for line in lines(folder, "cost")}
    with gzip.open(folder / "answers.jsonl.gz", "rt", encoding="utf-8") as file:
        answers = [json.loads(line) for line in file][1:]
    prices = {"example-reasoner": (1.1, 4.4), "example-general": (2.5, 10.0), "example-small": (0.0, 0.0)}
    paid = Counter[str]()
    for each in answers:
        dear, dearer = prices[each["model"]]
        paid[each["model"]] += (each["tokens_in"] * dear + each["tokens_out"] * dearer) / 1e6  # type: ignore[assignment]
    total = {rater: amount(line["total cost (USD)"] or "nan") for rater, line in found.items()}
    assert total["general-zero-shot"] == pytest.approx(paid["example-general"])
    assert total["small-zero-shot"] == 0.0
    reasoning = [name for name in planted.JUDGES if name.startswith("reasoner")] + ["agents"]
    assert sum(total[name] for name in reasoning) == pytest.approx(paid["example-reasoner"])
    assert total["reasoner-five-shot"] > total["reasoner-zero-shot"]  # it reads five examples more
    for name, seconds in (("reasoner", 3.0), ("general", 1.5), ("small", 4.0)):
        assert amount(found[f"{name}-zero-shot"]["seconds"]) == pytest.approx(7 * seconds)
    calls = [4 if not disputed(number) else 7 - settled(number) for number in range(planted.CASES)]
    assert amount(found["agents"]["calls"]) == pytest.approx(np.mean(calls))
    assert amount(found["agents"]["seconds"]) == pytest.approx(3.0 * np.mean(calls))
    clinician = found["one clinician"]
    assert (amount(clinician["seconds"]), amount(clinician["cost (USD)"])) == (600.0, 50.0)
    assert amount(clinician["evaluations"]) == 36 * 7 + 12 * 3


def disputed(number: int) -> list[str]:
    said = [planted.agent_grades(name, number) for name in ("high_scorer", "low_scorer", "moderator")]
    return [name for name in planted.DIMENSIONS if len({each[name] for each in said}) > 1]


def settled(number: int) -> bool:
    """Whether all agree once the severe reader has taken its grades back: nobody is then asked who speaks next."""
    high, decided = planted.agent_grades("high_scorer", number), planted.judge_grades("agents", number)
    return bool(disputed(number)) and high == decided


def test_deliberations(folder: Path) -> None:
    (line,) = lines(folder, "deliberation-endings")
    at_once = [number for number in range(planted.CASES) if not disputed(number)]
    agreed = [number for number in range(planted.CASES) if number in at_once or settled(number)]
    assert amount(line["deliberations"]) == planted.CASES
    assert amount(line["agreed at once"]) == len(at_once)
    assert amount(line["ended agreed"]) == len(agreed)
    assert amount(line["by the orchestrator"]) == planted.CASES - len(agreed)
    assert (amount(line["failed"]), amount(line["decided outside"])) == (0, 0)
    personas = {each["persona"]: amount(each["turns"]) for each in lines(folder, "deliberation-personas")}
    assert personas == {"high_scorer": 0, "low_scorer": planted.CASES - len(at_once), "moderator": 0}


def test_confusion_and_severe_errors(folder: Path) -> None:
    counted = lines(folder, "confusion-by-rater")
    severe = {(line["dimension"], line["rater"]): line for line in lines(folder, "severe-errors")}
    for judge in planted.JUDGES:
        for name in planted.GRADED[:7]:
            people, grades = both(folder, judge, name)
            for line in counted:
                if (line["rater"], line["dimension"]) == (judge, LABELS[name]):
                    here = (people == float(line["clinicians"])) & (grades == float(line["grade"]))
                    assert amount(line["answers"]) == here.sum()
        for name in ("accurate", "thorough"):
            people, grades = both(folder, judge, name)
            dangerous = people <= 2
            line = severe[LABELS[name], judge]
            assert amount(line["dangerous answers"]) == dangerous.sum()
            assert amount(line["errors"]) == (dangerous & (grades >= people + 2)).sum()


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


def test_judges_stand_side_by_side_and_made_up_ratings_validate_none(folder: Path) -> None:
    verdicts = lines(folder, "verdicts")
    assert {line["rater"] for line in verdicts} == set(planted.JUDGES)
    assert {line["verdict"] for line in verdicts} == {"NOT VALIDATED"}
    assert "jury" not in {line["rater"] for line in lines(folder, "attributes")}


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


def test_the_dry_run_tells_what_the_study_can_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(folder / "study.yaml"), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert "48 cases, 3 systems" in told and "no model is asked" in told
    assert "12 of 48 rated answers may be shown" in told and "36 rated cases remain" in told
    needed = (~np.isnan(physicians(folder, "synthesized"))).sum(axis=1)
    cases, twice = (needed > 0).sum(), (needed > 1).sum()  # the attribute that the fewest summaries have
    shown = f"What this study can show: {cases} cases rated, {twice} of them by two clinicians or more"
    assert shown in told
    assert re.search(r"cases that every clinician calls dangerous to expect: about \d+ \(", told)
    assert "The study is not registered" in told


def test_every_exhibit_that_the_page_names_is_in_the_report(folder: Path) -> None:
    listed = set(re.findall(r"`(table|figure) ([a-z-]+)`", PAGE.read_text(encoding="utf-8")))
    assert len(listed) > 20
    report = (folder / "runs" / "pdsqi9" / "report.html").read_text(encoding="utf-8")
    for kind, name in sorted(listed):
        assert f'id="{kind}-{name}"' in report, name
        assert kind == "figure" or lines(folder, name), name


def test_every_interval_of_agreement_a_second_time(folder: Path) -> None:
    aside = frozenset((folder / "development.txt").read_text().split())
    people = tuple(planted.PHYSICIANS)
    rated = Rated(folder / "runs" / "pdsqi9", people, lambda votes: float(np.median(votes)), aside)
    composites = {each.name: each.label for each in load_instrument("pdsqi9").composites}
    agreement_is_right(rated, LABELS | composites, whole_grades(0, 5), next(iter(planted.JUDGES)))
