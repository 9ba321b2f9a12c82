"""The recipe `medhelm-jury`: what its report has beyond the tables that `every_number` makes a second time."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from recipes._medhelm_texts import ITEMS, NOTES, name_of, reference
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import CHRF
from scipy.stats import norm
from tests.recipes.compared import amount, read_table
from tests.recipes.offline import run_recipe

from medjury.cli import main
from medjury.texts.transcripts import normalise
from recipes import medhelm_jury as planted

LABELS = {"accuracy": "Accuracy", "completeness": "Completeness", "clarity": "Clarity"}
OVERALL = "Mean of accuracy, completeness and clarity"
READ = [(number, planted.read_system(number)) for number in range(len(ITEMS))]
EVERYTHING = [(number, system) for number in range(len(ITEMS)) for system in planted.SYSTEMS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recipe, written and run through the command line with every socket shut."""
    return run_recipe(tmp_path_factory, "medhelm-jury")


def table(folder: Path, name: str, run: str = "medhelm-jury") -> list[dict[str, str]]:
    return read_table(folder / "runs" / run / "tables" / f"{name}.csv")


def row(rows: list[dict[str, str]], **wanted: str) -> dict[str, str]:
    (found,) = (each for each in rows if all(each[name] == value for name, value in wanted.items()))
    return found


def judges(answers: list[tuple[int, str]], axis: str) -> dict[str, np.ndarray]:
    """Each judge's planted scores of these answers, and the jury's: the mean of three, or of nine."""
    found = {}
    for judge in planted.JUDGES:
        scores = [planted.judged(judge, number, system) for number, system in answers]
        found[judge] = np.array(
            [np.mean(list(each.values())) if axis == "overall" else each[axis] for each in scores]
        )
    return found | {"jury": np.mean(list(found.values()), axis=0)}


def benchmark_means() -> dict[str, list[float]]:
    """Of each system: its jury's mean on notes and on replies."""
    made = {}
    for system in planted.SYSTEMS:
        nine = judges([(number, system) for number in range(len(ITEMS))], "overall")["jury"]
        notes = np.array([benchmark == NOTES for benchmark, _ in ITEMS])
        made[system] = [nine[notes].mean(), nine[~notes].mean()]
    return made


def test_the_ranking_in_the_report_weighs_both_benchmarks_alike(folder: Path) -> None:
    means = benchmark_means()
    for shown in table(folder, "ranking"):
        mine = means[shown["system"]]
        assert amount(shown["mean score"]) == pytest.approx(np.mean(mine), abs=1e-6)
        wins = [
            sum(mine[place] > other[place] for name, other in means.items() if name != shown["system"]) / 3
            for place in (0, 1)
        ]
        assert amount(shown["win rate"]) == pytest.approx(np.mean(wins), abs=1e-9)
    page = (folder / "runs" / "medhelm-jury" / "report.html").read_text(encoding="utf-8")
    assert "(the 2 benchmarks weigh alike)" in page
    letters = {each["system"]: each["tie groups"] for each in table(folder, "ranking")}
    assert letters["atlas"] == letters["borea"] and len(set(letters.values())) == 3


def scored_means() -> dict[str, list[float]]:
    """Of each system: five benchmarks from 0 to 1, open ones first."""
    return {
        system: [(mean - 1) / 4 for mean in two] + [each[system] / 40 for each in planted.CLOSED.values()]
        for system, two in benchmark_means().items()
    }


def ranked(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> list[dict[str, object]]:
    assert main(["rank", str(folder / "scores.csv"), "--json", *more]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("ties", ["half", "win"])
def test_win_rate_and_macro_average_by_both_rules_of_ties(
    folder: Path, capsys: pytest.CaptureFixture[str], ties: str
) -> None:
    """Table 1. Two benchmarks have a tie, so that the rules differ."""
    means = scored_means()
    rates = {}
    for shown in ranked(folder, capsys, "--by", "win_rate", "--ties", ties):
        name = str(shown["system"])
        others = [other for system, other in means.items() if system != name]
        shares = []
        for place, mine in enumerate(means[name]):
            ahead = sum(mine > other[place] + 1e-9 for other in others)
            level = sum(abs(mine - other[place]) < 1e-9 for other in others)
            shares.append((ahead + level * (1.0 if ties == "win" else 0.5)) / 3)
        rates[name] = shown["win_rate"]
        assert shown["win_rate"] == pytest.approx(np.mean(shares), abs=1e-9)
        assert shown["win_sd"] == pytest.approx(np.std(shares, ddof=1), abs=1e-9)
        assert shown["macro_average"] == pytest.approx(np.mean(means[name]), abs=1e-6)
        assert shown["macro_sd"] == pytest.approx(np.std(means[name], ddof=1), abs=1e-6)
    assert (sum(rates.values()) / 4 == pytest.approx(0.5)) is (ties == "half")


def test_the_smallest_detectable_difference_of_each_benchmark(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Table E4, with the sum over pairs divided by the number of pairs."""
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (folder / "scores.csv").open(encoding="utf-8", newline="") as file:
        for each in csv.DictReader(file):
            scores[each["benchmark"]][each["system"]].append(float(each["score"]))
    factor = norm.ppf(0.975) + norm.ppf(0.8)
    found = ranked(folder, capsys, "--show", "detectable")
    assert {each["benchmark"] for each in found} == set(scores)
    for each in found:
        systems = [np.array(column) for column in scores[str(each["benchmark"])].values()]
        pairs = [
            factor * (one - other).std(ddof=1) / np.sqrt(len(one)) for one, other in combinations(systems, 2)
        ]
        assert each["mde"] == pytest.approx(np.mean(pairs), abs=1e-9)
        assert each["mde_sd"] == pytest.approx(np.std(pairs, ddof=1), abs=1e-9)


def test_what_the_best_cost(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figure 5: atlas and borea are not told apart, and atlas is the cheaper of the two."""
    found = ranked(folder, capsys, "--cost", str(folder / "costs.csv"), "--show", "cost")
    assert {each["system"]: each["cost"] for each in found} == planted.COSTS
    assert [each["system"] for each in found if each["cheapest_of_best"]] == ["atlas"]
    assert {each["system"] for each in found if each["level_with_best"]} == {"atlas", "borea"}


def test_the_jurys_scores_in_the_ranking_are_those_of_the_run(folder: Path) -> None:
    with (folder / "runs" / "medhelm-jury" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        given = {
            (each["item"], each["system"]): float(each["score"])
            for each in csv.DictReader(file)
            if each["rater"] == "jury" and each["dimension"] == "overall"
        }
    with (folder / "scores.csv").open(encoding="utf-8", newline="") as file:
        open_ones = [each for each in csv.DictReader(file) if each["benchmark"] not in planted.CLOSED]
    assert len(open_ones) == len(given) == 224
    for each in open_ones:
        assert amount(each["score"]) == pytest.approx((given[each["item"], each["system"]] - 1) / 4, abs=1e-6)


def test_tokens_and_money_are_those_of_the_recording(folder: Path) -> None:
    """Table 3, the jury's part: tokens of the recorded answers at the prices of the study file."""
    price = {"north": (2.5, 10), "east": (3, 15), "south": (0.7, 0.7)}
    spent: dict[str, float] = defaultdict(float)
    with gzip.open(folder / "answers.jsonl.gz", "rt", encoding="utf-8") as file:
        next(file)
        for line in file:
            each = json.loads(line)
            name = each["model"].split("-")[1]
            into, out = price[name]
            spent[f"juror-{name}"] += (each["tokens_in"] * into + each["tokens_out"] * out) / 1e6
    found = table(folder, "cost")
    for judge in planted.JUDGES:
        assert amount(row(found, rater=judge)["total cost (USD)"]) == pytest.approx(spent[judge], rel=1e-9)
    whole = row(found, kind="jury")
    assert amount(whole["total cost (USD)"]) == pytest.approx(sum(spent.values()), rel=1e-9)
    assert amount(row(found, kind="clinician")["cost (USD)"]) == pytest.approx(120 * 4 / 60)


def test_the_figure_of_agreement_shows_the_coefficient_whose_floor_it_draws(folder: Path) -> None:
    drawn = (folder / "runs" / "medhelm-jury" / "figures" / "agreement.svg").read_text(encoding="utf-8")
    assert "Accuracy (intraclass correlation)" in drawn and "kappa" not in drawn


def test_the_metrics_beside_the_jury_are_those_of_their_libraries(folder: Path) -> None:
    """chrF and ROUGE-L of the normalised texts, answer by answer."""
    with (folder / "runs" / "medhelm-jury" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = [each for each in csv.DictReader(file) if each["rater"] in ("chrf", "rouge_l")]
    chrf, lengths = CHRF(word_order=0), RougeScorer(["rougeL"])
    texts = {name_of(number): normalise(reference(number)) for number in range(len(ITEMS))}
    heard = {(name_of(n), system): normalise(planted.TEXTS[n, system]) for n, system in EVERYTHING}
    found = {
        (item, system): {
            "chrf": chrf.sentence_score(said, [texts[item]]).score / 100,
            "rouge_l": lengths.score(texts[item], said)["rougeL"].fmeasure,
        }
        for (item, system), said in heard.items()
    }
    assert len(rows) == 2 * 4 * len(found)
    for each in rows:
        wanted = found[each["item"], each["system"]][each["rater"]]
        assert amount(each["score"]) == pytest.approx(wanted, abs=1e-9)


def test_the_judges_are_in_the_heat_map_though_there_are_too_many_raters_for_it(folder: Path) -> None:
    run = folder / "runs" / "medhelm-jury"
    drawn = (run / "figures" / "rater-kappas.svg").read_text(encoding="utf-8")
    assert all(
        f">{name}<" in drawn for name in ("jury", "juror-north", "juror-east", "juror-south", "clinician-08")
    )
    assert ">clinician-09<" not in drawn
    assert (
        "12 of 16 raters are drawn; all are in tables/rater-kappas.csv." in (run / "report.html").read_text()
    )
