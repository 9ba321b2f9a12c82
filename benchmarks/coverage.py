"""Do the default intervals hold? `python -m benchmarks coverage` simulates studies and writes every cell to
docs/tables/coverage.csv, and what a reader needs of them to docs/tables/coverage.md.

A cell is the share of simulated studies (`STUDIES` of them, 500 unless that variable says
otherwise) whose 95 % interval holds the truth, among those that give one. It takes about an hour and a half of CPU.
Where the variable `COVERAGE_FILE` names a file, finished cells are kept there and not simulated again. Where
`COVERAGE_CELLS` names some, as in "One answer to a case 20; Two grades, one answer to a case 50", or whole designs
without a number, these alone are simulated and take their places in the file. `COVERAGE_STATISTICS` limits studies
of two raters to these: "fleiss_kappa,mcc" say, which is much quicker. `COVERAGE_SEED` draws other studies.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._audit_studies import (
    consistency_study,
    error_study,
    group_study,
    place_study,
    stability_study,
    text_study,
    vendor_study,
)
from benchmarks._calibrated_studies import calibrated_study
from benchmarks._clinician_studies import beside_study, fewer_study, together_study
from benchmarks._comparison_studies import (
    benchmark_study,
    candidate_study,
    contrast_study,
    harm_study,
    round_study,
    run_study,
)
from benchmarks._danger_studies import danger_study, powered_study, weighted_study
from benchmarks._jury_studies import estimated_study, panel_study, set_study, votes_study
from benchmarks._queue_studies import automatic_study, doubt_study, queue_study, reliability_study
from benchmarks._rate_studies import paired_study, share_study
from benchmarks._reason_studies import reason_study
from benchmarks._studies import (
    MARGIN,
    RATERS,
    RESAMPLES,
    Truthful,
    anchor_study,
    binary_study,
    called_non_inferior,
    incomplete_study,
    loop_study,
    pair_study,
    severe_study,
    statistics_asked,
    truths,
    weighted_severe_study,
)
from benchmarks._system_studies import system_study
from medjury.statistics import Estimate

# Not among the benchmarks that run where none is named.
ON_REQUEST = True
PAGE = Path(__file__).parents[1] / "docs" / "tables" / "coverage.md"
COLUMNS = ("design", "statistic", "n", "truth", "seed", "studies", "refused", "percent")
BEGIN, END = "<!-- coverage begins -->", "<!-- coverage ends -->"
SIZES = (20, 50, 200)
LOWEST, HIGHEST, ERROR = 0.92, 0.985, 0.06
NON_INFERIORITY = "called although the jury is the margin below"
# The studies on which methods were chosen, and others, on which they were only tried.
CHOSEN_ON = 7
# Cells outside are shown one by one on the page.
SHOWN_BELOW, SHOWN_ABOVE = 93.0, 98.0
# A study whose truth is its own, as that of maps which it fitted, gives it beside the estimate.
Study = Callable[[list[int], int, int], Mapping[str, Estimate] | Mapping[str, Truthful]]


# How many studies gave an interval, how many intervals held, and the truth, where all studies share one.
Tally = list[Any]
# A row of the file, by `COLUMNS`.
Cell = dict[str, str]


@dataclass(frozen=True)
class Design:
    """A kind of study; `answers` to a case, `suffix` of its statistics' names among the truths; of what takes long
    only a `part` of the studies is made."""

    name: str
    study: Study
    answers: int = 1
    suffix: str = ""
    only: tuple[str, ...] = ()
    part: float = 1.0

    def studies(self, stated: int) -> int:
        return round(stated * self.part)


_TWO_GRADES = ("sensitivity", "specificity", "precision", "f1", "auc", "mcc")
_WORDS = {4: "four", 8: "eight"}


def _variants(
    name: str,
    study: Study,
    answers: tuple[int, ...] = (1, 4, 8),
    *,
    one: str = "",
    what: str = "answers to a case",
    part: float = 1.0,
) -> tuple[Design, ...]:
    """A kind of study with one, four and eight answers to a case; `one` follows the name of the first."""
    return tuple(
        Design(f"{name}, {_WORDS[each]} {what}" if each > 1 else name + one, study, each, part=part)
        for each in answers
    )


_ONE = ", one answer to a case"
DESIGNS = (
    Design("One answer to a case", pair_study),
    Design("Four answers to a case", pair_study, 4),
    Design("Eight answers to a case", pair_study, 8),
    Design("Fifteen clinicians, two for each case", incomplete_study),
    Design("Two grades, one answer to a case", binary_study, 1, ", two grades", _TWO_GRADES),
    Design("Two grades, four answers to a case", binary_study, 4, ", two grades", _TWO_GRADES),
    Design("Two grades, eight answers to a case", binary_study, 8, ", two grades", _TWO_GRADES),
    Design("Gains of a closed loop", loop_study),
    Design("Anchors rated again by a stricter judge", anchor_study),
    *_variants(
        "Severe errors",
        severe_study,
        one=", one dangerous answer to a case",
        what="dangerous answers to a case",
    ),
    Design("Severe errors, answers drawn with unequal chances", weighted_severe_study),
    *_variants("Calibration", calibrated_study, one=_ONE),
    Design("Six systems", system_study),
    Design("A mean by n labels and ten times as many jury scores", estimated_study),
    *_variants("A mean by labels of n cases", estimated_study, (4, 8)),
    *_variants("Jury and second panel", panel_study, one=_ONE),
    *_variants("Sets of grades", set_study, one=_ONE),
    *_variants("Three clinicians", together_study, one=_ONE, part=0.5),
    *_variants("The jury beside three clinicians", beside_study, part=0.5),
    *_variants("A judge asked three times", stability_study, part=0.5),
    *_variants("Length of the answer", text_study, part=0.5),
    *_variants("A group of three cases in ten", group_study),
    Design("The joint model of the judge's error", error_study, part=0.5),
    *_variants("Pairs shown in both orders", place_study, what="pairs to a case", part=0.5),
    *_variants("Three dimensions of one judge", consistency_study, part=0.5),
    Design("Four judges and twelve systems of six vendors", vendor_study, part=0.5),
    *_variants("Review queues", queue_study, one=_ONE, part=0.5),
    *_variants("Decisions without a clinician", automatic_study),
    Design("Doubt in the routine diagnosis", doubt_study),
    *_variants("Where the jury says 4", reliability_study, one=_ONE, part=0.5),
    Design("Shares of dangerous answers by n labels and ten times as many jury scores", danger_study),
    *_variants("Shares of dangerous answers by labels of n cases", danger_study, (4, 8)),
    Design("Differences and mixtures by n labels and ten times as many jury scores", powered_study, part=0.5),
    *_variants("Differences and mixtures by labels of n cases", powered_study, (4, 8), part=0.5),
    Design("n labels drawn with unequal chances and ten times as many jury scores", weighted_study, part=0.5),
    *_variants("n labels drawn with unequal chances", weighted_study, (4, 8), part=0.5),
    *_variants("Counted shares", share_study, one=_ONE),
    *_variants("Two error rates on the same answers", paired_study),
    *_variants("Two runs on the same answers", run_study, part=0.5),
    *_variants("Offset by Student's t", contrast_study, one=_ONE),
    *_variants("A jury of two beside one of five", fewer_study, part=0.5),
    Design("Six systems on n benchmarks", benchmark_study, part=0.5),
    *_variants("A model beside a trivial answer", candidate_study, what="items to a patient"),
    *_variants(
        "A metric beside labels of harm",
        harm_study,
        what="pairs to a call",
        one=", one pair to a call",
        part=0.5,
    ),
    *_variants("A round so far", round_study, one=_ONE, part=0.5),
    *_variants("Votes of three judges", votes_study, one=_ONE, part=0.5),
    *_variants("Reasons that overlap", reason_study, (1, 4), one=_ONE, part=0.5),
)
TESTS = {
    "three clinicians, one answer to a case": (1, 3),
    "three clinicians, four answers to a case": (4, 3),
    "three clinicians, eight answers to a case": (8, 3),
    "fifteen clinicians, two for each case": (1, RATERS),
}


def run() -> Iterator[dict[str, Any]]:
    """One row for each cell of the tables; the tables are written when all are known."""
    studies = int(os.environ.get("STUDIES", "500"))
    kept = _Kept(os.environ.get("COVERAGE_FILE"))
    other = f" seed {named}" if (named := os.environ.get("COVERAGE_SEED")) else ""

    def tallied(design: Design, n: int) -> dict[str, Tally]:
        of = "".join(f" {name}" for name in statistics_asked() or ())
        made = design.studies(studies)
        found: dict[str, Tally] = kept(
            f"{design.name} {n} {made}{of}{other}", partial(coverage, design, n, made)
        )
        return found

    def error(name: str, n: int) -> float:
        rate: float = kept(
            f"error {name} {n} {studies}{other}", partial(type_one, *TESTS[name], n, 2 * studies)
        )
        return rate

    if named := os.environ.get("COVERAGE_CELLS"):
        for design, n in cells_named(named):
            if isinstance(design, str):
                rate = error(design, n)
                put_in(PAGE, [error_cell(design, n, rate, 2 * studies)])
                yield _test_row(design, n, rate, studies)
                continue
            found = tallied(design, n)
            put_in(PAGE, cells_of(design, n, found, studies))
            for name, tally in found.items():
                good = holds(tally, design.studies(studies))
                yield _row(f"{name}, {design.name.lower()}, n = {n}", tally, good)
        return
    tables = {design: {n: tallied(design, n) for n in SIZES} for design in DESIGNS}
    errors = {name: {n: error(name, n) for n in SIZES} for name in TESTS}
    write(
        PAGE,
        [
            row
            for design, cells in tables.items()
            for n in SIZES
            for row in cells_of(design, n, cells[n], studies)
        ]
        + [
            error_cell(name, n, rate, 2 * studies)
            for name, cells in errors.items()
            for n, rate in cells.items()
        ],
    )
    for design, cells in tables.items():
        for n, cell in cells.items():
            for name, tally in cell.items():
                good = holds(tally, design.studies(studies))
                yield _row(f"{name}, {design.name.lower()}, n = {n}", tally, good)
    for name, rates in errors.items():
        for n, rate in rates.items():
            yield _test_row(name, n, rate, studies)


def coverage(design: Design, n: int, studies: int, seed: int | None = None) -> dict[str, Tally]:
    """For each statistic, how many of the studies of `n` cases gave an interval, how many intervals held, and the
    truth: none where each study has its own."""
    found: dict[str, Tally] = {}
    seed = _seed() if seed is None else seed
    for place in range(studies):
        for name, made in design.study([seed, n, design.answers, place], n, design.answers).items():
            if design.only and name not in design.only:
                continue
            estimate, true = (made, truths()[name + design.suffix]) if isinstance(made, Estimate) else made
            tally = found.setdefault(name, [0, 0, float(true)])
            if tally[2] is not None and abs(tally[2] - true) > 1e-12:
                tally[2] = None
            if estimate.low is not None and estimate.high is not None:
                tally[0] += 1
                tally[1] += bool(estimate.low - 1e-9 <= true <= estimate.high + 1e-9)
    return found


def type_one(answers: int, raters: int, n: int, studies: int, seed: int | None = None) -> float:
    """How often a jury that is exactly the margin below the clinicians is called non-inferior."""
    seed = _seed() + 1 if seed is None else seed
    called = [
        called_non_inferior([seed, n, answers, raters, place], n, answers, raters)["kappa_quadratic"]
        for place in range(studies)
    ]
    return sum(called) / studies


def holds(tally: Tally, studies: int) -> bool:
    """Whether a cell is as it should be: 92 to 98.5 %, or refused."""
    given, held, *_ = tally
    return given < 0.1 * studies or LOWEST <= held / given <= HIGHEST


def cells_of(design: Design, n: int, found: Mapping[str, Tally], studies: int) -> list[Cell]:
    """The rows of the file for a design with `n` cases."""
    made = design.studies(studies)
    return [
        {
            "design": design.name,
            "statistic": name,
            "n": str(n),
            "truth": "its own" if true is None else f"{true:.3f}",
            "seed": str(_seed()),
            "studies": str(made),
            "refused": _refused(given, made),
            "percent": "" if given < 0.1 * made else f"{100 * held / given:.1f}",
        }
        for name, (given, held, true) in found.items()
    ]


def error_cell(name: str, n: int, rate: float, studies: int) -> Cell:
    """The row of a test of non-inferiority: its `truth` is the margin, its `percent` the share of wrong calls."""
    values = (
        name,
        NON_INFERIORITY,
        str(n),
        f"{MARGIN:g}",
        str(_seed()),
        str(studies),
        "",
        f"{100 * rate:.1f}",
    )
    return dict(zip(COLUMNS, values, strict=True))


def _refused(given: int, studies: int) -> str:
    """Of studies that gave no interval the percentage; from 90 % on the statistic counts as refused."""
    if given < 0.1 * studies:
        return "over 90"
    return f"{100 * (1 - given / studies):.0f}" if given < 0.95 * studies else ""


def text(cells: Iterable[Cell]) -> str:
    """What the page shows of the cells."""
    errors = [cell for cell in cells if cell["statistic"] == NON_INFERIORITY]
    intervals = [cell for cell in cells if cell["statistic"] != NON_INFERIORITY]
    given = [cell for cell in intervals if cell["percent"]]
    outside = [cell for cell in given if not SHOWN_BELOW <= float(cell["percent"]) <= SHOWN_ABOVE]
    lines = [
        f"{len(intervals):,} cells, {RESAMPLES} resamples in each study. In {len(intervals) - len(given)} the "
        f"interval is refused. Of the other {len(given):,} cells {len(given) - len(outside):,} lie between "
        f"{SHOWN_BELOW:g} and {SHOWN_ABOVE:g} %. [Every cell as a file](coverage.csv).",
        "",
        "### By statistic",
        "",
        "| statistic | cells | refused | studies | held % |",
        "|---|---|---|---|---|",
    ]
    # "kappa, clinicians" and "kappa, jury" are one statistic in several places.
    for name in sorted({_statistic(cell) for cell in intervals}):
        of_it = [cell for cell in intervals if _statistic(cell) == name]
        shares = [float(cell["percent"]) for cell in of_it if cell["percent"]]
        studies = sorted({int(cell["studies"]) for cell in of_it})
        held = f"{min(shares):.1f}–{max(shares):.1f}" if shares else "refused"
        drawn = "–".join(dict.fromkeys((str(studies[0]), str(studies[-1]))))
        lines.append(f"| `{name}` | {len(of_it)} | {len(of_it) - len(shares)} | {drawn} | {held} |")
    lines += [
        "",
        f"### Every cell outside {SHOWN_BELOW:g} to {SHOWN_ABOVE:g} %",
        "",
        "| design | statistic | n | studies | % |",
        "|---|---|---|---|---|",
        *(
            f"| {cell['design']} | `{cell['statistic']}` | {cell['n']} | {cell['studies']} | {cell['percent']} |"
            for cell in outside
        ),
        "",
        "### Non-inferiority: called although the jury is the margin below",
        "",
        f"The level is 5 %, and {100 * ERROR:g} % the limit. The margin is {MARGIN:g}.",
        "",
        f"| design | {' | '.join(f'n = {n}' for n in SIZES)} |",
        "|---|---|---|---|",
        *(
            f"| {name} | " + " | ".join(f"{cell['percent']} % of {cell['studies']}" for cell in of_it) + " |"
            for name in TESTS
            if (of_it := [cell for cell in errors if cell["design"] == name])
        ),
    ]
    return "\n".join(lines)


def _statistic(cell: Cell) -> str:
    return cell["statistic"].split(", ")[0]


def read(page: Path) -> list[Cell]:
    """The cells in the file beside the page."""
    with page.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(page: Path, cells: Iterable[Cell]) -> None:
    """Write the file, and between the markers of the page what it shows of the file."""
    order = {name: place for place, name in enumerate([each.name for each in DESIGNS] + list(TESTS))}
    rows = sorted(cells, key=lambda cell: (order[cell["design"]], cell["statistic"], int(cell["n"])))
    with page.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(f"{before}{BEGIN}\n\n{text(rows)}\n\n{END}{after}", encoding="utf-8")


def put_in(page: Path, cells: Iterable[Cell]) -> None:
    """Put new cells into their places in the file, beside the others, and write the page again."""
    places = {(cell["design"], cell["statistic"], cell["n"]): cell for cell in (*read(page), *cells)}
    write(page, places.values())


def cells_named(words: str) -> list[tuple[Design | str, int]]:
    """The cells that a text such as "One answer to a case 20; Four answers to a case 50" names; a design without a
    number is all of its cells. A test of non-inferiority is named as in its table: "three clinicians, four answers
    to a case 20"."""
    found: list[tuple[Design | str, int]] = []
    whole: dict[str, Design | str] = {each.name: each for each in DESIGNS} | {name: name for name in TESTS}
    for word in filter(None, map(str.strip, words.split(";"))):
        if word in whole:
            found += [(whole[word], n) for n in SIZES]
            continue
        name, _, size = word.rpartition(" ")
        design = whole.get(name)
        if design is None or not size.isdigit() or int(size) not in SIZES:
            raise SystemExit(f"COVERAGE_CELLS: there is no cell {word!r}; name a design and one of {SIZES}.")
        found.append((design, int(size)))
    return found


def _seed() -> int:
    return int(os.environ.get("COVERAGE_SEED", CHOSEN_ON))


def _row(name: str, tally: Tally, good: bool) -> dict[str, Any]:
    given, held, *_ = tally
    ours = f"{100 * held / given:.1f} %" if given else "refused"
    return {
        "name": name,
        "ours": ours,
        "peer": f"{given} intervals",
        "ratio": "",
        "target": "92 - 98.5 %",
        "holds": good,
    }


def _test_row(name: str, n: int, rate: float, studies: int) -> dict[str, Any]:
    wrong = [2 * studies, round(2 * rate * studies), None]
    row = _row(f"non-inferiority, {name}, n = {n}", wrong, rate <= ERROR)
    return row | {"peer": f"{2 * studies} studies", "target": f"<= {ERROR:.0%}"}


class _Kept:
    """Finished cells, kept in a file where one is named."""

    def __init__(self, file: str | None) -> None:
        self._file = Path(file) if file else None
        known = self._file is not None and self._file.exists()
        self._cells: dict[str, Any] = json.loads(self._file.read_text()) if known and self._file else {}

    def __call__(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._cells:
            self._cells[name] = make()
            if self._file is not None:
                self._file.write_text(json.dumps(self._cells))
        return self._cells[name]
