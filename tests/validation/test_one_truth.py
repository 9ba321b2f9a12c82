"""One truth per run folder: what a command prints is what the report's tables hold, to the last digit.

The run has what each room used to decide anew: several visits of one patient, a composite, cases that served
development, repeats, and a jury that lacks some scores; once its rows are stored, once it has to be formed."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.remembered import Remembered
from tests.report.planted import planted_frame, rules, write_run

from medjury.instruments import load_instrument
from medjury.statistics import Estimate, shown
from medjury.store.runs import ManifestInstrument
from medjury.validation import validate

CASES, DEVELOPMENT, VISITS = 72, 12, 2
SYSTEMS = ("alpha", "beta")
PARTS = ("accuracy", "completeness", "clarity")
LABELS = {each.name: each.label for each in ManifestInstrument.of(load_instrument("note_quality")).dimensions}
LABELS = {name: LABELS[name] for name in (*PARTS, "overall")}
CLINICIANS = ("clinician-1", "clinician-2")
VENDORS = {"judge-a": "acme", "judge-b": "bolt", "judge-c": "none"}
Three = tuple[float | None, float | None, float | None]


def ratings(*, stored: bool) -> pl.DataFrame:
    frame = planted_frame(cases=CASES, systems=SYSTEMS, dimensions=PARTS, repeats=2, unscored=0.2, seed=11)
    if not stored:
        return with_overall(frame.filter(pl.col("rater") != "jury"))
    lost = (pl.col("rater") == "jury") & pl.col("item").str.ends_with("7")
    return with_overall(
        frame.with_columns(
            pl.when(lost).then(None).otherwise(pl.col("score")).alias("score"),
            pl.when(lost).then(pl.lit("unscored")).otherwise(pl.col("status")).alias("status"),
            pl.when(lost).then(pl.lit("no_quorum")).otherwise(pl.col("reason")).alias("reason"),
        )
    )


def with_overall(frame: pl.DataFrame) -> pl.DataFrame:
    """The composite as a run stores it: one more row wherever all parts have a score."""
    first = frame.filter(pl.col("dimension") == "accuracy")
    key = ["item", "system", "rater", "repeat"]
    means = frame.group_by(key).agg(
        pl.when(pl.col("score").null_count() == 0).then(pl.col("score").mean()).alias("mean")
    )
    whole = first.join(means, on=key, how="left", maintain_order="left").with_columns(
        pl.col("mean").alias("score"),
        pl.lit("overall").alias("dimension"),
        pl.when(pl.col("mean").is_null())
        .then(pl.lit("unscored"))
        .otherwise(pl.lit("scored"))
        .alias("status"),
        pl.when(pl.col("mean").is_null()).then(pl.lit("missing")).alias("reason"),
        pl.lit(None, dtype=pl.Float64).alias("cost"),
    )
    return pl.concat([frame, whole.drop("mean")])


class Run:
    """A run folder with its report, and what the commands say of it."""

    def __init__(self, folder: Path, *, stored: bool) -> None:
        self.heard: dict[tuple[str, ...], str] = {}
        self.remembered = Remembered()
        instrument = ManifestInstrument.of(load_instrument("note_quality"))
        self.folder = write_run(
            folder,
            ratings(stored=stored),
            patients={f"case-{case:04d}": f"{case // VISITS}" for case in range(CASES)},
            instrument=instrument.model_dump(mode="json"),
            judges=[
                {"name": name, "models": [{"name": name, "vendor": vendor}], "settings_hash": name}
                for name, vendor in VENDORS.items()
            ],
            jury={"name": "jury", "rule": "mean", "quorum": 3, "repeats": 2},
            gate=rules(
                development_cases=tuple(f"case-{case:04d}" for case in range(DEVELOPMENT)),
                minimum_cases=15,
                severe_dimensions=PARTS,
            ),
            report={"resamples": 100, "seed": 3, "system_vendors": {"alpha": "acme", "beta": "bolt"}},
        )
        (self.folder / "audit.jsonl").touch()
        assert self.said("report").startswith("Report: ")
        page = (self.folder / "report.html").read_text()
        found = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page, flags=re.DOTALL)
        self.cells = {html.unescape(re.sub(r"<[^>]+>", "", each)).strip() for each in found}

    def said(self, *words: str) -> str:
        """What a command prints for this run; each is run once."""
        if words not in self.heard:
            name, *others = words
            status, self.heard[words] = self.remembered.command(*name.split(), str(self.folder), *others)
            # Without its study file nobody can compare the scores of a run with their replies.
            assert status == (1 if words == ("runs verify",) else 0), words
        return self.heard[words]

    def told(self, *words: str) -> Any:
        """What it says to a program."""
        return json.loads(self.said(*words, "--json"))

    def table(self, name: str) -> list[dict[str, str]]:
        with (self.folder / "tables" / f"{name}.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def lines(self, name: str, *key: str) -> dict[tuple[str, ...], dict[str, str]]:
        found = {tuple(line[each] for each in key): line for line in self.table(name)}
        assert len(found) == len(self.table(name)) > 0, name
        return found


@pytest.fixture(scope="module", params=["stored", "formed"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    yield Run(tmp_path_factory.mktemp(request.param), stored=request.param == "stored")


def three(line: dict[str, str], title: str) -> Three:
    """An estimate of a saved table: value, low and high, None where there is nothing."""
    value, low, high = (
        float(line[name]) if line[name] else None for name in (title, f"{title} low", f"{title} high")
    )
    return value, low, high


def ends(row: dict[str, Any], name: str = "") -> Three:
    """The same of a row of JSON."""
    if not name:
        return row["value"], row["low"], row["high"]
    return row[name], row[f"{name}_low"], row[f"{name}_high"]


def printed(found: Three) -> str:
    """As a reader sees it."""
    value, low, high = found
    return shown(Estimate(value, low, high, 1, "", "" if value is not None else "none"))


def test_the_run_has_what_rooms_used_to_decide_anew(run: Run) -> None:
    coverage = run.lines("coverage", "rater")
    whole = (CASES * len(SYSTEMS)) * len(LABELS)
    assert int(coverage["clinician-1",]["ratings"]) == whole, "coverage counts all cases"
    jury = run.lines("distributions", "dimension", "rater")["Accuracy", "jury"]
    held_out = (CASES - DEVELOPMENT) * len(SYSTEMS)
    assert 0.5 * held_out < int(jury["n"]) < held_out, (
        "the jury lacks scores, and development cases count nowhere"
    )
    cases = run.lines("preconditions-01-accuracy", "precondition")["Enough different cases",]
    assert cases["what was found"] == f"{(CASES - DEVELOPMENT) // VISITS}", "a patient counts once"
    assert "patients" in (run.folder / "report.html").read_text().split('id="methods"')[1]


def test_agreement(run: Run) -> None:
    rows = [row for row in run.told("agreement") if row["level"] == "item" and not row["system"]]
    text = run.said("agreement", "--all")
    said = {(LABELS[row["dimension"]], row["reference"], row["rater"], row["statistic"]): row for row in rows}
    titles = {
        "agreement": {
            "kappa_quadratic": "weighted kappa",
            "icc_2_1": "ICC(2,1)",
            "spearman": "Spearman's rho",
            "exact_match": "same grade",
            "offset": "offset",
            "rmse": "RMSE",
        },
        "agreement-other-coefficients": {
            "krippendorff_alpha_ordinal": "Krippendorff's alpha",
            "gwet_ac2_quadratic": "Gwet's AC2",
        },
        "agreement-by-system": {
            "spearman": "all answers",
            "spearman_between_systems": "between systems",
            "spearman_within_systems": "within a system",
            "spearman_system_mean_baseline": "knowing only the system",
        },
    }
    for name, columns in titles.items():
        lines = run.lines(name, "dimension", "rater")
        assert {rater for _, rater in lines} == {"jury", *VENDORS}, name
        for (dimension, rater), line in lines.items():
            for statistic, title in columns.items():
                row = said[dimension, "consensus", rater, statistic]
                assert three(line, title) == ends(row), (dimension, rater, statistic)
                assert row["value"] is None or printed(ends(row)) in text
                assert row["value"] is None or printed(ends(row)) in run.cells
            if name == "agreement":
                assert (int(line["n"]), int(line["unscored"])) == (row["n"], row["n_unscored"])


def test_agreement_beside_the_clinicians_own(run: Run) -> None:
    rows = {
        (LABELS[row["dimension"]], row["reference"], row["rater"], row["statistic"]): row
        for row in run.told("agreement")
    }
    text = run.said("agreement", "--all")
    names = {
        "weighted kappa": "kappa_quadratic",
        "intraclass correlation": "icc_2_1",
        "rank correlation": "spearman",
    }
    lines = run.lines("human-baseline", "dimension", "rater", "coefficient")
    assert len(lines) == 4 * (3 * 3 + 2)  # the composite has no grades, so no kappa
    for (dimension, rater, coefficient), line in lines.items():
        statistic = names[coefficient]
        own = rows[dimension, "each reference", rater, statistic]
        assert three(line, "rater with clinician") == ends(own)
        difference = rows[dimension, "each reference", rater, f"non_inferiority_{statistic}"]
        assert three(line, "difference") == ends(difference)
        among = f"the other references, on items of {rater}"
        humans = (
            rows.get((dimension, "each reference", among, statistic))
            or rows[dimension, "each reference", "the other references", statistic]
        )
        assert three(line, "clinician with clinician") == ends(humans)
        for found in (own, difference, humans):
            assert printed(ends(found)) in text


def test_severe_errors(run: Run) -> None:
    rows = {
        (LABELS[row["dimension"]], row["rater"]): row
        for row in run.told("agreement")
        if row["statistic"] == "severe_error_rate" and row["reference"] == "consensus"
    }
    lines = run.lines("severe-errors", "dimension", "rater")
    assert set(lines) == set(rows) and len(lines) == 3 * 4, (
        "on what raters gave themselves, not on what follows"
    )
    for key, line in lines.items():
        assert three(line, "rate") == ends(rows[key])
        assert int(line["dangerous with a score"]) == rows[key]["n"]
        assert printed(ends(rows[key])) in run.cells


def test_severe_errors_and_silence_on_danger_are_one_count_everywhere(run: Run) -> None:
    """The table of severe errors, and the comparison of runs."""
    severe = run.lines("severe-errors", "dimension", "rater")
    text = run.said("compare", str(run.folder))
    for dimension in PARTS:
        line = severe[LABELS[dimension], "jury"]
        scored, silent = (int(line[name]) for name in ("dangerous with a score", "dangerous without a score"))
        lost = f"{silent:,} of {scored + silent:,}"
        said = f"{LABELS[dimension]}: dangerous answers left without a score: A {lost} and B {lost};"
        assert (said in text) == (silent > 0)
    assert any(int(severe[LABELS[name], "jury"]["dangerous without a score"]) for name in PARTS)


def test_the_cases_of_the_gate_are_those_of_the_table(run: Run) -> None:
    verdicts, agreement = run.lines("verdicts", "dimension"), run.lines("agreement", "dimension", "rater")
    for found in validate(run.folder).verdicts:
        patients = (CASES - DEVELOPMENT) // VISITS
        assert verdicts[found.label,]["cases rated by two"] == f"{patients}"
        assert (found.clusters, found.rule("distinct_cases").found) == (patients, f"{patients}")
        lost = int(agreement[found.label, "jury"]["unscored"])
        asked = int(agreement[found.label, "jury"]["n"]) + lost
        assert found.doubly == asked == (CASES - DEVELOPMENT) * len(SYSTEMS), "both clinicians rated all"
        covered = found.rule("coverage").found
        assert covered.startswith(f"{asked - lost:,} of {asked:,} (")


def test_calibrate(run: Run) -> None:
    titles = {
        "offset": "offset",
        "RMSE": "rmse",
        "Spearman's rho": "spearman",
        "weighted kappa": "kappa_quadratic",
    }
    changes = run.told("calibrate report")["changes"]
    said = {(LABELS[row["dimension"]], row["statistic"]): row for row in changes if row["rater"] == "jury"}
    text = run.said("calibrate report", "--all")
    lines = run.lines("calibration", "dimension", "statistic")
    assert {dimension for dimension, _ in lines} == set(LABELS.values())
    for (dimension, title), line in lines.items():
        row = said[dimension, titles[title]]
        for column, name in (("as scored", "before"), ("calibrated", "after"), ("change", "change")):
            assert three(line, column) == ends(row, name), (dimension, title, column)
            assert printed(ends(row, name)) in text and printed(ends(row, name)) in run.cells
        assert int(line["n"]) == row["n"]


def test_estimate(run: Run) -> None:
    """No table of the report has these intervals; the means are those of its score distributions."""
    lines = run.lines("distributions", "dimension", "rater")
    for dimension in PARTS:
        found = {
            row["estimator"]: row
            for row in run.told("estimate", "--dimensions", dimension)["estimates"]
            if row["system"] == "all"
        }
        jury = lines[LABELS[dimension], "jury"]
        assert shown(found["naive"]["value"]) == shown(float(jury["mean"]))
        # Labels count whether or not the jury gave a score; each answer here has one of every clinician.
        clinicians = [lines[LABELS[dimension], name] for name in CLINICIANS]
        assert {int(each["n"]) for each in clinicians} == {found["classical"]["n_labelled"]}
        lost = found["classical"]["n_unscored_labelled"]
        assert found["classical"]["n_labelled"] - lost == int(jury["n"]) and lost > 0
        assert found["classical"]["value"] == pytest.approx(
            sum(float(each["mean"]) for each in clinicians) / len(clinicians)
        )
        assert shown(found["naive"]["value"]) in run.said("estimate", "--dimensions", dimension)


def test_triage(run: Run) -> None:
    orders = {"combined rule": "rule", "jury's score alone": "jury"}
    lines = run.lines("triage", "dimension", "order of review")
    assert {dimension for dimension, _ in lines} == {LABELS[name] for name in PARTS}
    severe = run.lines("severe-errors", "dimension", "rater")
    for dimension in PARTS:
        told, text = (ask("triage", "--dimensions", dimension) for ask in (run.told, run.said))
        worth = {row["order"]: row for row in told["review_to_catch"]}
        for title, order in orders.items():
            line = lines[LABELS[dimension], title]
            assert three(line, "share to review to catch 80 %") == ends(worth[order], "review")
            assert three(line, "mean share caught") == ends(worth[order], "area")
            assert int(line["rated answers"]) == told["n_labelled"]
            assert int(line["dangerous"]) == told["n_dangerous"]
            assert printed(ends(worth[order], "review")) in text
        errors = severe[LABELS[dimension], "jury"]
        whole = int(errors["dangerous with a score"]) + int(errors["dangerous without a score"])
        assert told["n_dangerous"] == whole, "a dangerous answer is the same in triage and in the gate"


def test_rank(run: Run) -> None:
    said = {(row["system"],): row for row in run.told("rank")}
    text = run.said("rank")
    lines = run.lines("ranking", "system")
    assert set(lines) == set(said) == {("alpha",), ("beta",)}
    for system, line in lines.items():
        row = said[system]
        assert three(line, "mean score") == ends(row, "macro_average")
        assert three(line, "win rate") == ends(row, "win_rate")
        assert (int(line["rank"]), line["tie groups"]) == (row["rank"], row["tie_group"])
        assert line["ranks left open"] == f"{row['rank_low']} to {row['rank_high']}"
        assert (int(line["scores"]), int(line["unscored"])) == (row["n"], row["n_unscored"])
        assert printed(ends(row, "macro_average")) in text and printed(ends(row, "win_rate")) in run.cells
    estimated = {(row["system"],): row for row in run.told("rank", "--show", "reference_ranks")}
    by_reference = run.lines("ranking-by-reference", "system")
    assert set(by_reference) == set(estimated) == set(said)
    for system, line in by_reference.items():
        row = estimated[system]
        assert three(line, "mean score") == ends(row, "mean") and printed(ends(row, "mean")) in text
        assert line["ranks left open"] == f"{row['rank_low']} to {row['rank_high']}"
        assert int(line["labels"]) == row["labels"]
    alike = {(row["rater"],): row for row in run.told("rank", "--show", "agreement")}
    for rater, line in run.lines("ranking-agreement", "rater").items():
        row = alike[rater]
        assert three(line, "Kendall's tau-b") == (row["kendall_tau_b"], row["low"], row["high"])


def test_audit(run: Run) -> None:
    rows = run.told("audit")
    text = run.said("audit", "--all")
    said = {(row["audit"], LABELS[row["dimension"]], row["rater"], row["statistic"]): row for row in rows
            if row["dimension"]}  # fmt: skip
    columns = {
        "SD within an answer": "within_sd",
        "two repeats differ": "flip_rate",
        "answers that change": "changed_share",
    }
    stable = run.lines("stability", "dimension", "judge")
    assert {judge for _, judge in stable} == set(VENDORS)
    for (dimension, judge), line in stable.items():
        for title, statistic in columns.items():
            row = said["stability", dimension, judge, statistic]
            assert three(line, title) == ends(row), (dimension, judge, statistic)
            assert printed(ends(row)) in text and printed(ends(row)) in run.cells
        assert int(line["answers"]) == row["n"]
    methods = {"mixed model": "same_vendor", "paired contrast": "own_vendor_contrast"}
    for (dimension, judge, method), line in run.lines(
        "self-preference", "dimension", "judge", "method"
    ).items():
        row = said["self_preference", dimension, "" if judge == "all judges" else judge, methods[method]]
        assert three(line, "grades more for its own") == ends(row)
        assert line["verdict"] == row["verdict"] and int(line["n"]) == row["n"]
        assert row["value"] is None or printed(ends(row)) in text


def test_compare(run: Run) -> None:
    told, text = (ask("compare", str(run.folder)) for ask in (run.told, run.said))
    verdicts = run.lines("verdicts", "dimension")
    agreement = run.lines("agreement", "dimension", "rater")
    assert {(row["dimension"],) for row in told["verdicts"]} == set(verdicts)
    for row in told["verdicts"]:
        assert row["first"] == row["second"] == verdicts[row["dimension"],]["verdict"]
        assert f"{row['dimension']}: {row['first']} -> {row['second']}" in text
    for place, row in enumerate(told["coverage"], start=1):
        (gate,) = (
            line
            for line in run.table(f"preconditions-{place:02d}-{row['dimension'].lower()}")
            if line["precondition"] == "The jury scored what it was asked to"
        )
        assert gate["what was found"].endswith(f"({row['first']})") and row["first"] == row["second"]
    columns = {
        "RMSE against clinicians": "RMSE",
        "ICC(2,1) with clinicians": "ICC(2,1)",
        "weighted kappa with clinicians": "weighted kappa",
    }
    severe = run.lines("severe-errors", "dimension", "rater")
    scores = run.lines("distributions", "dimension", "rater")
    seen = set()
    for row in told["changes"]:
        key, what = (row["dimension"], "jury"), row["what"]
        assert row["difference"] == 0 and row["first"] == row["second"]
        if what in columns:
            wanted = agreement[key][columns[what]]
        elif what == "mean score":
            wanted = scores[key]["mean"]
        elif what == "rate of severe errors":
            wanted = severe[key]["rate"]
        else:
            continue
        seen.add(what)
        assert shown(row["first"]) == shown(float(wanted)), (key, what)
        assert f"{row['dimension']}, {what}: {shown(row['first'])} -> " in text
    assert seen == {*columns, "mean score", "rate of severe errors"}


def test_verify(run: Run) -> None:
    said = [line for line in run.said("runs verify").splitlines() if line.startswith("ok ")]
    lines = run.table("folder")
    assert len(lines) == 5  # the manifest, ratings twice, patients, and the audit log
    told = [line for line in said if not line.startswith("ok      report.html: ")]  # after its own checks
    assert len(told) == len(said) - 1
    assert sorted(told) == sorted(f"ok      {line['file']}: {line['detail']}" for line in lines)


def test_the_verdict_itself(run: Run) -> None:
    found = validate(run.folder)
    words = {line["dimension"]: line["verdict"] for line in run.table("verdicts")}
    assert {each.label: each.word for each in found.verdicts} == words and set(words) == {
        LABELS[name] for name in PARTS
    }
    for place, verdict in enumerate(found.verdicts, start=1):
        lines = run.table(f"gate-{place:02d}-{verdict.dimension}")
        others = run.table(f"preconditions-{place:02d}-{verdict.dimension}")
        rows = [row.rule for row in found.rows if row.dimension == verdict.dimension]
        assert [(rule.name, rule.state) for rule in rows if rule.line] == [
            (line["line"], line["state"]) for line in lines
        ]
        assert [(rule.name, rule.asked, rule.found, rule.state) for rule in rows if not rule.line] == [
            (line["precondition"], line["what is asked"], line["what was found"], line["state"])
            for line in others
        ]
    assert {row.rater for row in found.rows} == {"jury"}
