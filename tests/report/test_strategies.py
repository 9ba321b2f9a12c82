"""Ways of judging on the same answers: planted quality and price are found, and no more is claimed than shown."""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.report.planted import page_of, planted_frame, rules, write_run
from tests.report.ways import WAYS, Planted, judges_of, ways_frame

from medjury.analysis.agreement import agreement, kappa_statistics, severe_errors
from medjury.analysis.agreement._pairs_of_humans import mean_over_pairs
from medjury.report import write_page
from medjury.statistics import bootstrap, clustered_proportion, combined, compare, shown
from medjury.tables import grades_of, open_run
from medjury.validation import Ways, compare_ways

DIMENSIONS = ("accuracy", "clarity")
HUMANS = ("clinician-1", "clinician-2")


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "tables" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def words(page: str) -> str:
    start = page.index('id="strategies"')
    part = re.sub(r"<svg.*?</svg>", "", page[start : page.index("</section>", start)], flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", part)))


def ways_of(folder: Path) -> Ways:
    found = compare_ways(open_run(folder, resamples=200))
    assert found is not None
    return found


def scores(ratings: pl.DataFrame, dimension: str) -> pl.DataFrame:
    one = ratings.filter(pl.col("dimension") == dimension)
    return one.pivot(on="rater", index=["item", "system"], values="score").sort("item", "system")


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, pl.DataFrame, str]]:
    folder = tmp_path_factory.mktemp("ways")
    ratings = ways_frame(cases=110, systems=("alpha", "beta"), dimensions=DIMENSIONS, unscored=0.02)
    write_run(folder, ratings, judges=judges_of(), gate=rules(severe_dimensions=DIMENSIONS))
    yield folder, ratings, write_page(folder, cases_shown=2).read_text()


def test_the_planted_order_is_found_and_only_what_is_shown_is_said(
    golden: tuple[Path, pl.DataFrame, str],
) -> None:
    folder, _, page = golden
    said = words(page)
    assert "Every difference is to plain (single)" in said
    assert "panel earns its cost and agrees better than plain" in said
    assert "twice is not shown to be better than plain" in said
    assert "fool agrees worse than plain" in said
    assert "panel agrees better than plain" in said and "it takes 12 times the cost" in said
    front = {line["rater"]: line["unbeaten"] for line in table(folder, "ways-of-judging")}
    assert front["plain"] == front["panel"] == "yes" and front["fool"] == front["jury"] == "no"


def test_every_rater_stands_on_the_same_answers(golden: tuple[Path, pl.DataFrame, str]) -> None:
    folder, ratings, page = golden
    left_out = set()
    for dimension in DIMENSIONS:
        whole = scores(ratings, dimension)
        kept = whole.drop_nulls()
        left_out |= set(whole.join(kept, on=["item", "system"], how="anti").select("item", "system").rows())
        lines = [
            each
            for each in table(folder, "ways-of-judging-by-dimension")
            if each["dimension"] == dimension.capitalize()
        ]
        assert {int(each["answers"]) for each in lines} == {kept.height}
        assert {int(each["left out"]) for each in lines} == {whole.height - kept.height}
        assert len(lines) == len(WAYS) + 1
    assert f"{len(left_out)} answers that clinicians rated are left out" in words(page)


def test_agreement_by_dimension_is_that_of_the_statistics_functions(
    golden: tuple[Path, pl.DataFrame, str],
) -> None:
    folder, ratings, page = golden
    kept = scores(ratings, "clarity").drop_nulls()
    grades = grades_of((1, 5))
    kappa = kappa_statistics(grades.values, ["quadratic"])
    rows = grades.grade(kept.select(*HUMANS, "panel", "plain").to_numpy())
    both = combined(
        mean_over_pairs(kappa, [(0, 2), (1, 2)], "panel "), mean_over_pairs(kappa, [(0, 3), (1, 3)], "plain ")
    )
    direct = compare(
        rows, both, "panel kappa_quadratic", "plain kappa_quadratic", clusters=kept["item"].to_list(),
        resamples=4000,
    )  # fmt: skip
    line = next(
        each
        for each in table(folder, "ways-of-judging-by-dimension")
        if (each["dimension"], each["rater"]) == ("Clarity", "panel")
    )
    assert float(line["agreement"]) == pytest.approx(direct.first.value)
    assert float(line["difference"]) == pytest.approx(direct.difference.value)
    # Other resamples, the same interval but for their noise.
    assert float(line["difference low"]) == pytest.approx(direct.difference.low, abs=0.03)
    assert float(line["difference high"]) == pytest.approx(direct.difference.high, abs=0.03)
    assert shown(float(line["agreement"])) in words(page)


def test_the_mean_over_dimensions_resamples_whole_cases(golden: tuple[Path, pl.DataFrame, str]) -> None:
    folder, ratings, _ = golden
    by_dimension = [
        float(each["agreement"])
        for each in table(folder, "ways-of-judging-by-dimension")
        if each["rater"] == "panel"
    ]
    line = next(each for each in table(folder, "ways-of-judging") if each["rater"] == "panel")
    assert float(line["agreement"]) == pytest.approx(np.mean(by_dimension))
    grades = grades_of((1, 5))
    kappa = kappa_statistics(grades.values, ["quadratic"])
    wide = None
    for dimension in DIMENSIONS:
        complete = scores(ratings, dimension).drop_nulls().select("item", "system", *HUMANS, "panel")
        named = complete.rename({name: f"{dimension} {name}" for name in (*HUMANS, "panel")})
        wide = named if wide is None else wide.join(named, on=["item", "system"], how="full", coalesce=True)
    assert wide is not None
    parts = [
        mean_over_pairs(kappa, [(start, start + 2), (start + 1, start + 2)], f"{start} ") for start in (0, 3)
    ]

    def mean(rows: Any) -> Any:
        reads = [each(rows) for each in parts]

        def read(weights: Any) -> Any:
            values = [value for each in reads for value in each(weights).values()]
            return {"mean": np.mean(values, axis=0)}

        return read

    table_of = grades.grade(wide.drop("item", "system").to_numpy().astype(float))
    direct = bootstrap(table_of, mean, clusters=wide["item"].to_list(), resamples=4000)["mean"]
    assert float(line["agreement"]) == pytest.approx(direct.value)
    assert float(line["agreement low"]) == pytest.approx(direct.low, abs=0.02)
    assert float(line["agreement high"]) == pytest.approx(direct.high, abs=0.02)


def test_severe_errors_are_counted_over_answers(golden: tuple[Path, pl.DataFrame, str]) -> None:
    folder, ratings, _ = golden
    dangerous, harmed = set(), set()
    for dimension in DIMENSIONS:
        kept = scores(ratings, dimension).drop_nulls()
        reference = kept.select(pl.min_horizontal(*HUMANS)).to_series().to_numpy()
        found = severe_errors(reference, kept["plain"].to_numpy(), threshold=2, gap=2)
        units = kept.select("item", "system").rows()
        dangerous |= {unit for unit, low in zip(units, reference <= 2, strict=True) if low}
        harmed |= {unit for unit, flag in zip(units, found.flags, strict=True) if flag}
        line = next(
            each
            for each in table(folder, "ways-of-judging-by-dimension")
            if (each["dimension"], each["rater"]) == (dimension.capitalize(), "plain")
        )
        assert (int(line["errors"]), int(line["dangerous"])) == (found.errors, found.dangerous)
    line = next(each for each in table(folder, "ways-of-judging") if each["rater"] == "plain")
    ordered = sorted(dangerous)
    direct = clustered_proportion([unit in harmed for unit in ordered], [item for item, _ in ordered])
    assert int(line["errors"]) == len(harmed) > 0
    assert float(line["rate"]) == pytest.approx(direct.value)
    assert float(line["rate high"]) == pytest.approx(direct.high)


def test_calls_seconds_and_cost_are_those_planted_and_the_jury_takes_them_all(
    golden: tuple[Path, pl.DataFrame, str],
) -> None:
    folder, _, page = golden
    lines = {each["rater"]: each for each in table(folder, "ways-of-judging")}
    for name, way in WAYS.items():
        assert float(lines[name]["calls"]) == way.calls
        assert float(lines[name]["cost (USD)"]) == pytest.approx(way.cost)
        assert float(lines[name]["seconds"]) == pytest.approx(way.seconds)
    assert float(lines["jury"]["calls"]) == sum(way.calls for way in WAYS.values())
    assert float(lines["jury"]["cost (USD)"]) == pytest.approx(sum(way.cost for way in WAYS.values()))
    assert "whoever paid for them" in words(page)
    cost = {each["rater"]: each for each in table(folder, "cost")}
    assert float(cost["panel"]["calls"]) == 9


def agreed(folder: Path, statistic: str, people: tuple[str, ...] = HUMANS) -> float:
    """The mean of the jury's agreement with each clinician."""
    found = [
        agreement(open_run(folder), raters="jury", reference=one, statistics=[statistic], resamples=0)
        for one in people
    ]
    return float(np.mean([each.rows[0].estimate.value for each in found]))


def test_where_nothing_is_left_out_the_jury_has_its_number_of_agreement(tmp_path: Path) -> None:
    folder = write_run(tmp_path, ways_frame(cases=60, dimensions=("accuracy",)), judges=judges_of())
    write_page(folder, cases_shown=0)
    way = table(folder, "ways-of-judging")[-1]
    assert way["rater"] == "jury"
    assert float(way["agreement"]) == pytest.approx(agreed(folder, "kappa_quadratic"))


def test_settings_and_strategies_come_from_the_manifest(golden: tuple[Path, pl.DataFrame, str]) -> None:
    lines = {each["rater"]: each for each in table(golden[0], "ways-of-judging-settings")}
    assert (
        lines["panel"]["way of judging"] == "deliberation" and lines["jury"]["way of judging"] == "jury of 4"
    )
    assert 'rounds: {"most": 9}' in lines["panel"]["settings"] and "hash" not in lines["panel"]["settings"]


def test_without_clinicians_the_table_has_what_each_takes_and_says_what_is_missing(tmp_path: Path) -> None:
    ratings = ways_frame(cases=20, dimensions=("accuracy",), clinicians={})
    folder = write_run(tmp_path, ratings, judges=judges_of(), humans=None)
    said = words(write_page(folder).read_text())
    assert "nobody knows which way of judging agrees with clinicians" in said and "earns" not in said
    line = table(folder, "ways-of-judging")[0]
    assert "agreement" not in line and float(line["calls"]) == 2
    assert not (folder / "figures" / "ways-of-judging.svg").exists()


def test_cases_used_for_development_are_left_out(tmp_path: Path) -> None:
    ratings = ways_frame(cases=60, dimensions=("accuracy",))
    shown_ones = ("case-0000", "case-0001", "case-0002")
    # As examples they would be known by heart, and dear.
    known = pl.col("item").is_in(shown_ones) & (pl.col("rater") == "plain")
    spoilt = ratings.with_columns(cost=pl.when(known).then(99.0).otherwise(pl.col("cost")))
    folder = write_run(
        tmp_path, spoilt, judges=judges_of(), gate=rules(development_cases=shown_ones, minimum_cases=10)
    )
    ways = ways_of(folder)
    assert ways.cases == 57 and ways.find(rater="plain").spending.cost == pytest.approx(0.001)
    assert "3 cases used for development are left out" in words(page_of(folder))


def test_a_rater_that_judged_other_answers_is_compared_with_nobody_and_spoils_nothing(tmp_path: Path) -> None:
    ratings = ways_frame(cases=60, dimensions=("accuracy",))
    panel = pl.col("rater") == "panel"
    moved = ratings.with_columns(system=pl.when(panel).then(pl.lit("rewritten")).otherwise("system"))
    ways = ways_of(write_run(tmp_path, moved, judges=judges_of()))
    alone = ways.find(rater="panel")
    assert alone.agreement is not None and alone.agreement.value is None and alone.on_front is None
    assert alone.difference is None and alone.severe is None and alone.spending.calls == 9
    assert ways.cases == 60 and ways.find(rater="plain").agreement.value > 0.3  # type: ignore[union-attr,operator]


def test_a_rater_without_a_single_score_spoils_nothing_either(tmp_path: Path) -> None:
    ratings = ways_frame(cases=40, dimensions=("accuracy",))
    fool = pl.col("rater") == "fool"
    silent = ratings.with_columns(
        pl.when(fool).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(fool).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(fool).then(pl.lit("parse")).otherwise(pl.col("reason")).alias("reason"),
    )
    folder = write_run(tmp_path, silent, judges=judges_of())
    ways = ways_of(folder)
    assert ways.find(rater="fool").unscored == 1 and ways.answers == 40
    assert "fool has no agreement to compare: Accuracy: it scored none" in words(page_of(folder))


def test_costs_that_are_all_nothing_leave_the_calls_as_the_price(tmp_path: Path) -> None:
    local = {name: way._replace(cost=0.0) for name, way in WAYS.items()}
    folder = write_run(
        tmp_path, ways_frame(local, cases=50, dimensions=("accuracy",)), judges=judges_of(local)
    )
    ways = ways_of(folder)
    assert (
        ways.price == "calls" and ways.find(rater="plain").on_front and not ways.find(rater="fool").on_front
    )
    assert "it takes 9 times the calls" in words(page_of(folder))


def test_a_run_that_knows_neither_costs_nor_calls_has_no_front(tmp_path: Path) -> None:
    ratings = planted_frame(cases=50, dimensions=("accuracy",)).with_columns(
        pl.lit(None, dtype=pl.Float64).alias("cost")
    )
    folder = write_run(tmp_path, ratings)
    ways = ways_of(folder)
    assert ways.price is None and ways.find(rater="judge-a").spending.cost is None
    assert "earns" not in words(page_of(folder))


def test_an_unknown_cost_of_some_answers_is_told_and_is_in_no_mean(tmp_path: Path) -> None:
    ratings = ways_frame(cases=50, dimensions=("accuracy",))
    failed = (pl.col("item") < "case-0004") & (pl.col("rater") == "twice")
    unknown = ratings.with_columns(cost=pl.when(failed).then(None).otherwise(pl.col("cost")))
    folder = write_run(tmp_path, unknown, judges=judges_of())
    assert ways_of(folder).find(rater="twice").spending.cost == pytest.approx(0.002)
    assert "twice: the cost of 4 of 50 answers is not known" in words(page_of(folder))


def test_a_better_rater_that_is_beaten_does_not_earn_its_cost(tmp_path: Path) -> None:
    ways = {
        "plain": Planted("single", 2.0, 1, 0.001),
        "good": Planted("claims", 0.2, 3, 0.003),
        "dear": Planted("deliberation", 0.6, 9, 0.009),
    }
    ratings = ways_frame(ways, cases=150, dimensions=("accuracy",))
    said = words(page_of(write_run(tmp_path, ratings, judges=judges_of(ways))))
    assert "good earns its cost and agrees better than plain" in said
    assert "dear and jury agree better than plain, but another does so for less" in said


def test_a_few_cases_show_nothing_however_clear_they_look(tmp_path: Path) -> None:
    ways = {"plain": Planted("single", 5.0, 1, 0.001), "panel": Planted("deliberation", 0.01, 9, 0.01)}
    ratings = ways_frame(ways, cases=29, dimensions=("accuracy",), clinicians={"doctor": 0.01})
    found = ways_of(write_run(tmp_path, ratings, judges=judges_of(ways)))
    clear = found.find(rater="panel").difference
    assert clear is not None and clear.low is not None and clear.low > 0.1
    assert not any(found.sure_of(each) for each in found.rows)
    assert "With fewer than 30 cases no difference is called shown" in words(page_of(tmp_path))


def test_one_judge_alone_is_told_how_to_compare(tmp_path: Path) -> None:
    one = {"panel": WAYS["panel"]}
    folder = write_run(tmp_path, ways_frame(one, cases=30, dimensions=("accuracy",)), judges=judges_of(one))
    said = words(page_of(folder))
    assert "One way of judging was run" in said and "earns its cost," in said
    write_page(folder, cases_shown=0)
    assert [each["rater"] for each in table(folder, "ways-of-judging")] == ["panel"]


@pytest.mark.parametrize("statistic", ["icc_2_1", "spearman"])
def test_the_statistic_of_the_gate_is_the_one_compared(tmp_path: Path, statistic: str) -> None:
    folder = write_run(
        tmp_path,
        ways_frame(cases=60, dimensions=("accuracy",)),
        judges=judges_of(),
        gate=rules(statistic=statistic),
    )
    write_page(folder, cases_shown=0)
    assert float(table(folder, "ways-of-judging")[-1]["agreement"]) == pytest.approx(
        agreed(folder, statistic)
    )


def test_one_clinician_is_compared_with_and_makes_no_colleague(tmp_path: Path) -> None:
    ratings = ways_frame(cases=60, dimensions=("accuracy",), clinicians={"doctor": 0.5})
    folder = write_run(tmp_path, ratings, judges=judges_of())
    write_page(folder, cases_shown=0)
    way, verdict = table(folder, "ways-of-judging")[-1], table(folder, "verdicts")[0]
    assert float(way["agreement"]) == pytest.approx(agreed(folder, "kappa_quadratic", ("doctor",)))
    assert not verdict["jury with clinician"], "a colleague's chair is unknown where one clinician rated"


def test_a_dimension_on_which_clinicians_all_say_the_same_is_in_nobodys_mean(tmp_path: Path) -> None:
    ratings = ways_frame(cases=60, dimensions=("accuracy", "clarity"))
    flat = (pl.col("dimension") == "clarity") & (pl.col("rater_kind") == "clinician")
    same = ratings.with_columns(score=pl.when(flat).then(5.0).otherwise(pl.col("score")))
    folder = write_run(tmp_path, same, judges=judges_of(), gate=rules(statistic="spearman"))
    ways = ways_of(folder)
    assert ways.uncounted == ("Clarity",)
    only = [each.agreement.value for each in ways.details if each.part.dimension.name == "accuracy"]
    assert [each.agreement.value for each in ways.rows if each.agreement] == pytest.approx(only)
    assert "not every rater's agreement exists there: Clarity" in words(page_of(folder))


def test_examples_are_part_of_the_name_of_a_way_and_the_plain_judge_stays_the_yardstick(
    tmp_path: Path,
) -> None:
    ways = dict.fromkeys(("shown", "drawn", "plain"), WAYS["plain"])
    first, second, third = judges_of(ways)
    judges = [
        {**first, "examples": 2},
        {
            **second,
            "examples": 0,
            "drawn_examples": {"shots": 5},
            "development_cases": ["case-0001", "case-0002"],
        },
        {**third, "examples": 0},
    ]
    folder = write_run(tmp_path, ways_frame(ways, cases=20, dimensions=("accuracy",)), judges=judges)
    found = ways_of(folder)
    assert [each.strategy for each in found.rows[:3]] == [
        "single, 2 examples",
        "single, 5 examples",
        "single",
    ]
    assert found.yardstick == "plain"
    write_page(folder, hide_texts=True)
    assert not [file for file in (folder / "tables").glob("*.csv") if "case-00" in file.read_text()]


def test_a_rater_of_some_dimensions_is_compared_on_these_and_so_are_all_others(tmp_path: Path) -> None:
    ratings = ways_frame(cases=60, dimensions=DIMENSIONS)
    rated = ratings.filter((pl.col("rater") != "fool") | (pl.col("dimension") == "accuracy"))
    folder = write_run(tmp_path, rated, judges=judges_of())
    ways = ways_of(folder)
    assert ways.uncounted == ("Clarity",)
    on_accuracy = {each.rater: each for each in ways.details if each.part.dimension.name == "accuracy"}
    for way in ways.rows:
        assert way.agreement is not None and way.agreement.value == on_accuracy[way.rater].agreement.value
        found = on_accuracy[way.rater].severe
        assert found is not None and (way.errors, way.severe.n) == (found.errors, found.dangerous)  # type: ignore[union-attr]
    assert ways.find(rater="fool").difference is not None
    # What is left of the other dimension is still told.
    other = {each.rater: each for each in ways.details if each.part.dimension.name == "clarity"}
    assert other["panel"].difference is not None and other["fool"].agreement.value is None


def test_where_the_plain_judge_never_scored_the_next_plainest_is_the_yardstick(tmp_path: Path) -> None:
    ratings = ways_frame(cases=40, dimensions=("accuracy",))
    folder = write_run(tmp_path, ratings.filter(pl.col("rater") != "plain"), judges=judges_of())
    assert ways_of(folder).yardstick == "twice"
    silent = (pl.col("rater") == "plain") & (pl.col("rater_kind") == "judge")
    lost = ratings.with_columns(
        pl.when(silent).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(silent).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(silent).then(pl.lit("refusal")).otherwise(pl.col("reason")).alias("reason"),
    )
    found = ways_of(write_run(tmp_path / "lost", lost, judges=judges_of()))
    assert found.yardstick == "twice" and found.find(rater="panel").difference is not None


def picky_frame(ways: dict[str, Planted], picky: str, *, keeps: float) -> pl.DataFrame:
    """Ratings of which the picky rater gives none where it would be far off: it scores what is easy."""
    ratings = ways_frame(ways, cases=120, dimensions=("accuracy",))
    truth = (
        ratings.filter(pl.col("rater_kind") == "clinician")
        .group_by("item")
        .agg(pl.col("score").mean().alias("truth"))
    )
    ratings = ratings.join(truth, on="item", how="left", maintain_order="left")
    off = (pl.col("score") - pl.col("truth")).abs()
    mine = ratings.filter(pl.col("rater") == picky)
    limit = mine.select(off.quantile(keeps, "higher")).item()
    lost = (pl.col("rater") == picky) & (off > limit)
    return ratings.with_columns(
        pl.when(lost).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(lost).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(lost).then(pl.lit("refusal")).otherwise(pl.col("reason")).alias("reason"),
    ).drop("truth")


def test_a_rater_that_fails_on_what_is_hard_does_not_earn_its_cost_by_that(tmp_path: Path) -> None:
    ways = {
        "plain": Planted("single", 1.6, 1, 0.001),
        "picky": Planted("claims", 1.6, 2, 0.002),
        "sound": Planted("deliberation", 1.2, 4, 0.004),
    }
    ratings = picky_frame(ways, "picky", keeps=0.6)
    write_run(tmp_path, ratings, judges=judges_of(ways))
    found = ways_of(tmp_path)
    picky = found.find(rater="picky")
    assert found.sure_of(picky) and picky.difference is not None and picky.difference.value > 0.1  # type: ignore[operator]
    assert (
        picky.unscored is not None and picky.unscored > 0.2 and not picky.covers and picky.on_front is False
    )
    told = words(page_of(tmp_path))
    assert "picky agrees better than plain where it gave a score, but left too much unscored" in told
    assert "picky earns" not in told
    assert (
        f"it left {100 * picky.unscored:.1f} % unscored (plain 0.0 %), and is compared without them" in told
    )
    # It beats nobody either, however cheap it is where it answers.
    assert found.find(rater="sound").on_front is True


def test_dangerous_answers_without_a_score_are_told(tmp_path: Path) -> None:
    ways = {"plain": Planted("single", 0.3, 1, 0.001), "shy": Planted("claims", 0.3, 2, 0.002)}
    ratings = ways_frame(ways, cases=100, dimensions=("accuracy",))
    dangerous = (
        ratings.filter(pl.col("rater_kind") == "clinician")
        .group_by("item")
        .agg(pl.col("score").min())
        .filter(pl.col("score") <= 2)["item"]
        .sort()
    )
    lost = (pl.col("rater") == "shy") & pl.col("item").is_in(dangerous[:4].to_list())
    ratings = ratings.with_columns(
        pl.when(lost).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(lost).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
        pl.when(lost).then(pl.lit("refusal")).otherwise(pl.col("reason")).alias("reason"),
    )
    write_run(tmp_path, ratings, judges=judges_of(ways))
    shy = ways_of(tmp_path).find(rater="shy")
    assert (shy.blind, shy.dangerous) == (4, len(dangerous))
    assert (
        f"shy gave no score to 4 of the {len(dangerous)} answers that clinicians called dangerous"
        in words(page_of(tmp_path))
    )


def test_a_rater_that_scored_less_than_half_is_compared_with_nobody_and_spoils_nothing(
    tmp_path: Path,
) -> None:
    ways = {
        "plain": Planted("single", 1.2, 1, 0.001),
        "panel": Planted("deliberation", 0.4, 9, 0.01),
        "broken": Planted("claims", 0.4, 5, 0.006),
    }
    ratings = picky_frame(ways, "broken", keeps=0.1)
    write_run(tmp_path, ratings, judges=judges_of(ways))
    found = ways_of(tmp_path)
    broken = found.find(rater="broken")
    assert found.answers > 100, "the others keep their answers"
    assert broken.agreement is not None and broken.agreement.value is None
    scored = ratings.filter((pl.col("rater") == "broken") & (pl.col("status") == "scored")).height
    assert f"it scored only {scored} of the 120 answers that clinicians scored" in broken.agreement.reason


def test_the_number_of_answers_is_that_of_the_dimensions_in_the_mean(tmp_path: Path) -> None:
    ratings = ways_frame(cases=60, dimensions=DIMENSIONS)
    # On clarity clinicians rated thirty more cases, and all of them alike: there is no agreement to have.
    clinician = pl.col("rater_kind") == "clinician"
    ratings = ratings.filter(
        ~(clinician & (pl.col("dimension") == "accuracy") & (pl.col("item") >= "case-0030"))
    )
    ratings = ratings.with_columns(
        pl.when(clinician & (pl.col("dimension") == "clarity"))
        .then(4.0)
        .otherwise(pl.col("score"))
        .alias("score")
    )
    write_run(tmp_path, ratings, judges=judges_of(), gate=rules(statistic="spearman"))
    found = ways_of(tmp_path)
    assert found.uncounted == ("Clarity",)
    panel = found.find(rater="panel")
    assert found.answers == found.cases == 30
    assert panel.agreement is not None and panel.difference is not None
    assert panel.agreement.n == panel.difference.n == 30


def test_of_many_equal_raters_none_is_called_better_by_its_own_interval_alone(tmp_path: Path) -> None:
    ways = {
        f"way-{n}": Planted("single" if not n else "repeats", 1.0, 1 + n, 0.001 + n / 1000) for n in range(8)
    }
    lucky = None
    for seed in range(30):  # a rater that is no better, whose own 95 % interval says that it is
        ratings = ways_frame(ways, cases=60, dimensions=("accuracy",), seed=seed)
        found = compare_ways(
            open_run(write_run(tmp_path / str(seed), ratings, judges=judges_of(ways)), resamples=400)
        )
        assert found is not None
        rest = [each for each in found.rows if each.strategy == "repeats" and each.difference is not None]
        by_chance = [each for each in rest if each.difference.low > 0 or each.difference.high < 0]  # type: ignore
        if by_chance and not any(found.sure_of(each) for each in rest):
            lucky = by_chance[0]
            break
    assert lucky is not None and lucky.strict is not None and lucky.difference is not None
    assert lucky.strict.low < lucky.difference.low and lucky.strict.high > lucky.difference.high  # type: ignore[operator]
    told = words(page_of(tmp_path / str(seed)))
    assert f"{lucky.rater} is not shown to be better or worse than way-0" in told
    assert "by itself this interval leaves zero out, which among 8 comparisons may be chance" in told
    assert "an interval of 99.38 %, 5 % of error split among 8 comparisons" in told
