"""The recipe `medhelm-jury`: every planted number is in the report, computed here from the planted scores alone."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import defaultdict
from html import unescape
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from recipes._medhelm_texts import ITEMS, NOTES, name_of, reference
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import CHRF
from scipy.stats import norm, spearmanr
from tests.recipes.compared import amount, read_table
from tests.recipes.interval_checks import agreement_is_right, whole_grades
from tests.recipes.offline import run_recipe
from tests.recipes.rated import Rated

from medjury.cli import main
from medjury.texts.transcripts import normalise
from recipes import medhelm_jury as planted

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "recipes" / "medhelm-jury.md"
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


def clinicians(folder: Path) -> dict[str, np.ndarray]:
    """What each clinician said of each item, from the file: axes by name, and `overall`, the mean of the three."""
    said: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    with (folder / "clinicians.csv").open(encoding="utf-8", newline="") as file:
        for each in csv.DictReader(file):
            said[each["rater"], each["item"]][each["dimension"]] = float(each["score"])
    names = sorted({rater for rater, _ in said})
    assert len(names) == 12
    tables = {axis: np.full((len(ITEMS), len(names)), np.nan) for axis in (*planted.AXES, "overall")}
    for (rater, item), scores in said.items():
        place = next(n for n in range(len(ITEMS)) if name_of(n) == item), names.index(rater)
        for axis in planted.AXES:
            tables[axis][place] = scores[axis]
        tables["overall"][place] = sum(scores.values()) / 3
    return tables


def judges(answers: list[tuple[int, str]], axis: str) -> dict[str, np.ndarray]:
    """Each judge's planted scores of these answers, and the jury's: the mean of three, or of nine."""
    found = {}
    for judge in planted.JUDGES:
        scores = [planted.judged(judge, number, system) for number, system in answers]
        found[judge] = np.array(
            [np.mean(list(each.values())) if axis == "overall" else each[axis] for each in scores]
        )
    return found | {"jury": np.mean(list(found.values()), axis=0)}


def rouge_l(number: int, system: str) -> float:
    """F1 of the longest common subsequence of words."""
    said, heard = (
        re.findall("[a-z0-9]+", normalise(text))
        for text in (reference(number), planted.TEXTS[number, system])
    )
    lengths = [0] * (len(heard) + 1)
    for word in said:
        before = lengths[:]
        for place, other in enumerate(heard, start=1):
            lengths[place] = (
                before[place - 1] + 1 if word == other else max(before[place], lengths[place - 1])
            )
    return 2 * lengths[-1] / (len(said) + len(heard))


def icc_3_2(one: np.ndarray, other: np.ndarray) -> float:
    """(MS items − MS error) / MS items of two columns, by the textbook's sums."""
    both = np.column_stack([one, other])
    both = both[~np.isnan(both).any(axis=1)]
    items, raters, grand = both.mean(axis=1), both.mean(axis=0), both.mean()
    between = 2 * ((items - grand) ** 2).sum() / (len(both) - 1)
    rest = ((both - items[:, None] - raters[None, :] + grand) ** 2).sum() / (len(both) - 1)
    return float((between - rest) / between)


def icc_2_1(one: np.ndarray, other: np.ndarray) -> float:
    """Absolute agreement of single ratings, by the textbook's mean squares of two columns."""
    both = np.column_stack([one, other])
    n, items, raters, grand = len(both), both.mean(axis=1), both.mean(axis=0), both.mean()
    between = 2 * ((items - grand) ** 2).sum() / (n - 1)
    columns = n * ((raters - grand) ** 2).sum()
    rest = ((both - items[:, None] - raters[None, :] + grand) ** 2).sum() / (n - 1)
    return float((between - rest) / (between + rest + 2 * (columns - rest) / n))


def z(column: np.ndarray) -> np.ndarray:
    return (column - np.nanmean(column)) / np.nanstd(column, ddof=1)


def mean_by_item(scores: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.nansum(scores, axis=1) / (~np.isnan(scores)).sum(axis=1)


@pytest.mark.parametrize(
    ("run", "items"),
    [("medhelm-jury", slice(0, 56)), ("medhelm-notes", slice(0, 31)), ("medhelm-replies", slice(31, 56))],
)
def test_the_icc_on_z_scores_in_both_orders(folder: Path, run: str, items: slice) -> None:
    """Table 2: jury, judges and ROUGE-L with the clinicians, and the clinicians with one another."""
    answers = EVERYTHING if run == "medhelm-jury" else READ[items]
    human = clinicians(folder)["overall"][items]
    said = np.column_stack([z(column) for column in human.T])
    raters = judges(answers, "overall") | {"rouge_l": np.array([rouge_l(*each) for each in answers])}
    where = [answers.index(each) for each in READ[items]]
    found = table(folder, "standardised", run)
    for name, scores in raters.items():
        shown = row(found, rater=name, dimension=OVERALL)
        assert amount(shown["n"]) == len(human)
        first = icc_3_2(mean_by_item(said), z(scores)[where])
        assert amount(shown["each rater first"]) == pytest.approx(first, abs=1e-6), name
        averaged = icc_3_2(z(mean_by_item(human)), z(scores[where]))
        assert amount(shown["averaged first"]) == pytest.approx(averaged, abs=1e-6), name
    pairs = [
        icc_3_2(said[:, one], said[:, other])
        for one, other in combinations(range(12), 2)
        if (~np.isnan(said[:, [one, other]]).any(axis=1)).sum() > 1
    ]
    shown = row(found, rater="clinicians with one another", dimension=OVERALL)
    assert amount(shown["each rater first"]) == pytest.approx(np.mean(pairs), abs=1e-6)
    assert shown["pairs"] == f"{len(pairs)} of 66 pairs of raters"
    assert f"resamples of {len(pairs)} pairs of raters" in shown["each rater first method"]
    assert -10 < float(shown["each rater first low"]) < float(shown["each rater first high"]) <= 1


def test_offset_order_and_distance_of_each_rater(folder: Path) -> None:
    found, apart, human = table(folder, "agreement"), table(folder, "differences"), clinicians(folder)
    for axis in (*planted.AXES, "overall"):
        label = LABELS.get(axis, OVERALL)
        wanted = mean_by_item(human[axis])
        for rater, scores in judges(READ, axis).items():
            shown = row(found, dimension=label, rater=rater)
            gap = scores - wanted
            assert amount(shown["offset"]) == pytest.approx(gap.mean(), abs=1e-6)
            assert amount(shown["RMSE"]) == pytest.approx(np.sqrt((gap**2).mean()), abs=1e-6)
            if axis != "overall":  # equal means may differ in the last digit, which ranks see
                assert amount(shown["Spearman's rho"]) == pytest.approx(
                    spearmanr(scores, wanted)[0], abs=1e-6
                )
        gap = judges(READ, axis)["jury"] - wanted
        shown = row(apart, dimension=label)
        assert amount(shown["mean difference"]) == pytest.approx(gap.mean(), abs=1e-6)
        for name, side in (("lower limit", -1), ("upper limit", 1)):
            assert amount(shown[name]) == pytest.approx(
                gap.mean() + side * 1.959964 * gap.std(ddof=1), abs=1e-5
            )
    offsets = {judge: float(row(found, dimension=OVERALL, rater=judge)["offset"]) for judge in planted.JUDGES}
    assert offsets["juror-east"] > offsets["juror-north"] > offsets["juror-south"]


def test_severe_errors_and_which_judges_share_them(folder: Path) -> None:
    """Dangerous: a clinician gave 2 or less. Severe: two grades or more above the lowest of them."""
    human = clinicians(folder)["accuracy"]
    dangerous = (human <= 2).any(axis=1)
    wanted = np.nanmin(human, axis=1)
    found = table(folder, "severe-errors")
    errors = {}
    for rater, scores in judges(READ, "accuracy").items():
        errors[rater] = dangerous & (scores - wanted >= 2 - 1e-9)
        shown = row(found, rater=rater)
        assert amount(shown["dangerous answers"]) == dangerous.sum()
        assert amount(shown["errors"]) == errors[rater].sum()
        assert amount(shown["rate"]) == pytest.approx(errors[rater].sum() / dangerous.sum())
    assert {name_of(n) for n in np.flatnonzero(errors["jury"])} == set(planted.OVERLOOKED)
    together = np.column_stack([errors[judge] for judge in planted.JUDGES])
    shared = row(table(folder, "severe-error-overlap"), judges="3")
    assert amount(shared["answers"]) == together.all(axis=1).sum() == 2


def test_the_scores_and_how_many_there_are(folder: Path) -> None:
    found, coverage = table(folder, "distributions"), table(folder, "coverage")
    for axis in planted.AXES:
        for rater, scores in judges(EVERYTHING, axis).items():
            shown = row(found, dimension=LABELS[axis], rater=rater)
            assert amount(shown["n"]) == 224
            assert amount(shown["mean"]) == pytest.approx(scores.mean(), abs=1e-6)
            assert amount(shown["SD"]) == pytest.approx(scores.std(ddof=1), abs=1e-6)
            assert amount(shown["median"]) == pytest.approx(np.median(scores), abs=1e-6)
    read = (~np.isnan(clinicians(folder)["overall"])).sum(axis=0)
    for place, (name, *_) in enumerate(planted.CLINICIANS):
        assert amount(row(coverage, rater=name)["scored"]) == 4 * read[place]  # three axes and their mean
    for rater in (*planted.JUDGES, "jury", "rouge_l", "chrf"):
        assert amount(row(coverage, rater=rater)["scored"]) == 4 * 224
    people = table(folder, "raters")
    assert [(each["rater"], each["specialty"], amount(each["years"])) for each in people] == [
        each[:3] for each in planted.CLINICIANS
    ]


def test_grades_of_jury_and_clinicians_counted(folder: Path) -> None:
    found, human = table(folder, "confusion"), clinicians(folder)
    for axis in planted.AXES:
        pairs = np.column_stack([mean_by_item(human[axis]), judges(READ, axis)["jury"]])
        grades = np.floor(pairs + 0.5 + 1e-9).astype(int)
        for said, given in product(range(1, 6), range(1, 6)):
            shown = row(found, dimension=LABELS[axis], clinicians=f"{said}.0", jury=f"{given}.0")
            assert amount(shown["answers"]) == ((grades[:, 0] == said) & (grades[:, 1] == given)).sum()
        same = row(table(folder, "agreement"), dimension=LABELS[axis], rater="jury")["same grade"]
        assert amount(same) == pytest.approx((grades[:, 0] == grades[:, 1]).mean())


def test_intraclass_correlations_and_medians_of_each_axis(folder: Path) -> None:
    found, agreement, human = table(folder, "attributes"), table(folder, "agreement"), clinicians(folder)
    for axis in (*planted.AXES, "overall"):
        wanted = mean_by_item(human[axis])
        for rater, scores in judges(READ, axis).items():
            shown = row(found, dimension=LABELS.get(axis, OVERALL), rater=rater)
            assert amount(shown["ICC(3,k)"]) == pytest.approx(icc_3_2(wanted, scores), abs=1e-6)
            assert amount(shown["median difference"]) == pytest.approx(np.median(scores - wanted), abs=1e-6)
            single = row(agreement, dimension=LABELS.get(axis, OVERALL), rater=rater)["ICC(2,1)"]
            assert amount(single) == pytest.approx(icc_2_1(wanted, scores), abs=1e-6)


def test_the_order_of_systems_on_the_answers_that_were_read(folder: Path) -> None:
    """Means as shares of the scale, over three axes, of the answers that both sides scored."""
    human = clinicians(folder)
    for system in planted.SYSTEMS:
        mine = [number for number, own in READ if own == system]
        shown = row(table(folder, "ranking-beside-clinicians"), system=system)
        theirs = np.mean([mean_by_item(human[axis])[mine].mean() for axis in planted.AXES])
        given = np.mean([judges(READ, axis)["jury"][mine].mean() for axis in planted.AXES])
        assert amount(shown["clinicians' mean"]) == pytest.approx((theirs - 1) / 4, abs=1e-6)
        assert amount(shown["jury's mean"]) == pytest.approx((given - 1) / 4, abs=1e-6)


def test_how_far_the_axes_go_together(folder: Path) -> None:
    found = table(folder, "dimension-correlations")
    for one, other in combinations(planted.AXES, 2):
        shown = row(found, dimension=LABELS[one], **{"with": LABELS[other]})
        pair = [np.round(judges(EVERYTHING, axis)["jury"], 9) for axis in (one, other)]
        assert amount(shown["jury"]) == pytest.approx(spearmanr(*pair)[0], abs=1e-6)


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


def test_the_gate_says_that_made_up_ratings_prove_nothing(folder: Path) -> None:
    for label in LABELS.values():
        shown = row(table(folder, "verdicts"), dimension=label)
        assert shown["verdict"] == "NOT VALIDATED" and shown["cases rated by two"] == "56"


def test_the_dry_run_tells_what_the_study_can_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(folder / "study.yaml"), "--dry-run"]) == 0
    told = capsys.readouterr().out
    assert (
        "224 cases, 4 systems" in told and "no model is asked" in told and "In all 672 calls expected" in told
    )
    assert "56 cases rated, 56 of them by two clinicians or more; cases that every clinician calls" in told


def test_everything_that_the_page_names_is_in_the_report(folder: Path) -> None:
    """Tables of the page have the heads of their CSV; figures have their name as id."""
    words = PAGE.read_text(encoding="utf-8")
    named: dict[str, set[str]] = {"table": set(), "figure": set()}
    for kind, names in re.findall(r"\b(table|figure)s?\s+((?:`[a-z-]+`(?:\s+and\s+)?)+)", words):
        named[kind] |= set(re.findall("`([a-z-]+)`", names))
    assert {"standardised", "ranking", "cost", "raters"} <= named["table"] and len(named["figure"]) > 3
    for run in ("medhelm-jury", "medhelm-notes", "medhelm-replies"):
        page = (folder / "runs" / run / "report.html").read_text(encoding="utf-8")
        heads = [
            [
                re.sub("<[^>]+>", "", head)
                for head in re.findall("<th[^>]*>(.*?)</th>", part.split("</thead>")[0])
            ]
            for part in page.split("<thead>")[1:]
        ]
        for name in named["table"] if run == "medhelm-jury" else {"standardised"}:
            columns = set(table(folder, name, run)[0])
            assert any(set(map(unescape, each)) <= columns and len(each) > 2 for each in heads), name
        for name in named["figure"] if run == "medhelm-jury" else ():
            assert f'id="figure-{name}"' in page, name


def test_every_interval_of_agreement_a_second_time(folder: Path) -> None:
    people = tuple(name for name, *_ in planted.CLINICIANS)
    rated = Rated(folder / "runs" / "medhelm-jury", people, lambda votes: float(np.mean(votes)))
    agreement_is_right(rated, LABELS | {"overall": OVERALL}, whole_grades(1, 5), "jury")


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
