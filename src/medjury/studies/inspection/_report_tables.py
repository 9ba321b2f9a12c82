"""Which tables a study's report will have, known before a judge is asked; of the others, what they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from medjury.studies.inspection._study_facts import RANKED, StudyFacts

# What the report's own sections ask for: cases with a clinician's score for five folds of five, and of each system
# for an estimate of its mean; cases for a model of errors.
_CALIBRATED, _LABELLED, _MODELLED = 25, 5, 10
_ERROR_COLUMNS = ("specialty", "length", "note_length")
_FEW_GRADES = 3


@dataclass(frozen=True, slots=True)
class Need:
    """Tables of the report that come together, what they show, and what these files lack for them ("": nothing)."""

    tables: tuple[str, ...]
    about: str
    lacks: Callable[[StudyFacts], str]


@dataclass(frozen=True, slots=True)
class TableToCome:
    """A table by its name in `tables/`, what it shows, and what it needs that is not there ("": it will come)."""

    name: str
    about: str
    needs: str = ""


def tables_to_come(facts: StudyFacts) -> tuple[TableToCome, ...]:
    """Every table that a report can have, but for those of single rules of the gate and of what judges miss."""
    found = []
    for need in _NEEDS:
        lacks = need.lacks(facts)
        found += [TableToCome(name, need.about, lacks) for name in need.tables]
    return tuple(found)


_PEOPLE = "clinicians' ratings of these cases (`humans`)"
_PAIRS = "single answers: this study compares two"


def _nothing(_: StudyFacts) -> str:
    return ""


def _judged_beside_people(facts: StudyFacts) -> str:
    return "" if facts.clinicians else _PEOPLE


def _two_clinicians(facts: StudyFacts) -> str:
    return _judged_beside_people(facts) or (
        "" if facts.shared else "answers that two clinicians of the reference scored"
    )


def _asked(facts: StudyFacts) -> str:
    return "" if facts.asked else "a judge that asks a model: all scores are from files"


def _systems(facts: StudyFacts) -> str:
    return "" if len(facts.systems) > 1 else "answers of a second system (column `system`)"


def _systems_beside_people(facts: StudyFacts) -> str:
    return _judged_beside_people(facts) or _systems(facts)


def _ranked(facts: StudyFacts) -> str:
    return _PAIRS if facts.design == "pairs" else facts.why_not_ranked


def _ranked_beside_people(facts: StudyFacts) -> str:
    return _ranked(facts) or _judged_beside_people(facts)


def _both_orders(facts: StudyFacts) -> str:
    few = f"two systems with {RANKED} cases each that a clinician scored"
    return _ranked_beside_people(facts) or ("" if facts.ranked_by_people > 1 else few)


def _several_judges(facts: StudyFacts) -> str:
    return _judged_beside_people(facts) or ("" if facts.judges > 1 else "a second judge")


def _worth_reading(facts: StudyFacts) -> str:
    return "" if facts.clinicians or facts.judges > 1 else "clinicians, or a second judge to differ from"


def _calibrated(facts: StudyFacts) -> str:
    if facts.design == "pairs":
        return _PAIRS
    if facts.labelled < _CALIBRATED:
        return f"{_CALIBRATED} cases with a clinician's score on one dimension; there are {facts.labelled:,}"
    return _judged_beside_people(facts)


def _ranked_by_people(facts: StudyFacts) -> str:
    if "benchmark" in facts.columns:
        return "cases of one benchmark: the column `benchmark` has several"
    if why := _ranked_beside_people(facts):
        return why
    few = f"{_LABELLED} cases of every system with a clinician's score; one system has {facts.fewest:,}"
    return few if facts.fewest < _LABELLED else ""


def _dangerous(facts: StudyFacts) -> str:
    missing = "a dimension that carries danger: `gate: {severe_dimensions: [NAME]}`"
    return _judged_beside_people(facts) or ("" if facts.danger else missing)


def _overlap(facts: StudyFacts) -> str:
    return _dangerous(facts) or ("" if facts.judges > 1 else "a second judge")


def _reviewed(facts: StudyFacts) -> str:
    return _PAIRS if facts.design == "pairs" else "" if facts.labels else _dangerous(facts)


def _labels(facts: StudyFacts) -> str:
    return _judged_beside_people(facts) or (
        "" if facts.labels else "a column of labels of the cases: `humans: {labels: {NAME: COLUMN}}`"
    )


def _jury(facts: StudyFacts) -> str:
    return _judged_beside_people(facts) or (
        "" if facts.voters > 1 else "a jury of two judges or more (`jury`)"
    )


def _panel(facts: StudyFacts) -> str:
    return _judged_beside_people(facts) or (
        "" if facts.second_panel else "ratings of a second panel: `humans: {second_panel: NAME}`"
    )


def _panel_and_danger(facts: StudyFacts) -> str:
    return _panel(facts) or _dangerous(facts)


def _raters(facts: StudyFacts) -> str:
    return (
        "" if facts.profiles else "columns that describe the clinicians (specialty, years, seniority, panel)"
    )


def _three_raters(facts: StudyFacts) -> str:
    raters = facts.judges + (facts.voters > 1) + facts.clinicians
    return "" if raters > 2 else "a third rater"


def _classes(facts: StudyFacts) -> str:
    few = facts.by_case or any(len(each) <= _FEW_GRADES for each in facts.grades.values())
    return _judged_beside_people(facts) or ("" if few else f"a dimension of two or {_FEW_GRADES} grades")


def _classes_of_people(facts: StudyFacts) -> str:
    return _classes(facts) or _two_clinicians(facts)


def _dimensions(facts: StudyFacts) -> str:
    return "" if facts.by_case or len(facts.grades) > 1 else "a second dimension"


def _one_scale(facts: StudyFacts) -> str:
    graded = sum(len(each) > _FEW_GRADES - 1 for each in facts.grades.values())
    return "" if graded > 2 and not facts.by_case else "three dimensions of three grades or more"


def _repeated(facts: StudyFacts) -> str:
    if facts.design == "pairs":
        return _PAIRS
    return "" if facts.draws else "each judge asked several times: `repeats: 3`, or the strategy `repeats`"


def _repeated_by_people(facts: StudyFacts) -> str:
    return _repeated(facts) or ("" if facts.two_people else "an answer that two clinicians scored")


def _runs(facts: StudyFacts) -> str:
    return (
        _repeated(facts)
        or _judged_beside_people(facts)
        or ("" if facts.repeats else "`repeats` of the whole study: the strategy's own runs become one score")
    )


def _self_preference(facts: StudyFacts) -> str:
    if facts.design == "pairs":
        return _PAIRS
    if facts.judges < 2 or len(facts.systems) < 2:
        return "two judges and two systems"
    if not facts.vendors:
        return "who made the systems: `report: {system_vendors: {SYSTEM: VENDOR}}`"
    return "" if facts.own_vendor else "a judge whose `vendor` made one of the systems"


def _metrics(facts: StudyFacts) -> str:
    return _two_clinicians(facts) or (
        "" if facts.metrics else "text metrics beside the judges: `metrics: [chrf]`"
    )


def _metrics_beside_labels(facts: StudyFacts) -> str:
    if not facts.metrics:
        return "text metrics beside the judges: `metrics: [chrf]`"
    three = (0, 1, 2) in facts.grades.values()
    return _judged_beside_people(facts) or ("" if three else "a dimension with the grades 0, 1 and 2")


def _errors(facts: StudyFacts) -> str:
    if facts.design == "pairs":
        return _PAIRS
    if not facts.columns & set(_ERROR_COLUMNS):
        return f"one of the columns {', '.join(_ERROR_COLUMNS)} in the cases, with a few values or numbers"
    if facts.labelled < _MODELLED:
        return f"{_MODELLED} cases with a clinician's score; there are {facts.labelled:,}"
    graded = sum(len(each) > _FEW_GRADES for each in facts.grades.values())
    return _judged_beside_people(facts) or (
        "" if graded else f"a dimension of more than {_FEW_GRADES} grades"
    )


def _strategy(name: str) -> Callable[[StudyFacts], str]:
    def lacks(facts: StudyFacts) -> str:
        return "" if name in facts.strategies else f"a judge with `strategy: {name}`"

    return lacks


def _concordance(facts: StudyFacts) -> str:
    return "" if facts.grades.get("concordant") == (0, 1) else "a dimension `concordant` of 0 and 1"


def _preference(facts: StudyFacts) -> str:
    three = sorted(facts.grades.get("preference", ())) == [-1, 0, 1]
    why = "" if three else "a dimension `preference` of -1, 0 and 1"
    return _concordance(facts) or why or _strategy("concordance")(facts)


def _pairs(facts: StudyFacts) -> str:
    return "" if facts.design == "pairs" else "a study of pairs: `design: pairs`"


def _pairs_by_people(facts: StudyFacts) -> str:
    return _pairs(facts) or _judged_beside_people(facts)


def _criteria(facts: StudyFacts) -> str:
    return "" if facts.by_case else "criteria of each case: `instrument: criteria`"


def _injection(facts: StudyFacts) -> str:
    return "" if facts.injection else "`audits: {injection: {cases: 30}}`, which asks the judges again"


_NEEDS = (
    Need(("coverage", "unscored", "unscored-by-reason"), "what was scored, and what was not", _nothing),
    Need(("judges", "methods", "tripod-llm", "folder"), "how it was made", _nothing),
    Need(("cost",), "calls, tokens and money", _nothing),
    Need(("cost-by-system", "coverage-by-system"), "the same, system by system", _systems),
    Need(("answering-models",), "which models answered", _asked),
    Need(("corpus",), "what was rated", _nothing),
    Need(("distributions",), "which grades were given", _nothing),
    Need(("ways-of-judging", "ways-of-judging-settings"), "the judges beside one another", _nothing),
    Need(("verdicts",), "may the jury be trusted", _nothing),
    Need(
        ("agreement", "agreement-other-coefficients"), "agreement with the clinicians", _judged_beside_people
    ),
    Need(("attributes", "differences"), "differences from the clinicians", _judged_beside_people),
    Need(("confusion",), "which grade became which", _judged_beside_people),
    Need(("confusion-by-rater",), "the same of every judge", _several_judges),
    Need(("ways-of-judging-by-dimension",), "the judges on each dimension", _judged_beside_people),
    Need(("cases-worth-reading",), "where raters differ most", _worth_reading),
    Need(("human-baseline", "clinicians-together"), "clinicians with one another", _two_clinicians),
    Need(("rater-kappas",), "every two raters", _three_raters),
    Need(("raters",), "who the clinicians are", _raters),
    Need(("classes",), "accuracy and F1", _classes),
    Need(
        ("classes-clinicians", "classes-crossed"), "the clinicians' classes side by side", _classes_of_people
    ),
    Need(
        ("dimension-correlations", "dimension-correlations-by-rater"),
        "do dimensions measure different things",
        _dimensions,
    ),
    Need(("internal-consistency",), "do dimensions make one scale", _one_scale),
    Need(("severe-errors",), "danger that was missed", _dangerous),
    Need(("severe-error-overlap",), "judges that miss the same danger", _overlap),
    Need(("triage",), "which answers to read first", _reviewed),
    Need(("triage-labels", "triage-labels-by-system"), "cases with a label", _labels),
    Need(("jury-worth",), "the jury beside its best judge", _jury),
    Need(("second-panel", "second-panel-before-after"), "the jury beside a second panel", _panel),
    Need(("second-panel-severe-errors",), "danger beside a second panel", _panel_and_danger),
    Need(("calibration", "calibration-curves"), "calibration to the clinicians", _calibrated),
    Need(("agreement-by-system",), "agreement within each system", _systems_beside_people),
    Need(("ranking",), "the systems in order", _ranked),
    Need(
        ("ranking-beside-clinicians",), "jury's and clinicians' order of the systems", _ranked_beside_people
    ),
    Need(("ranking-agreement",), "how far both orders agree", _both_orders),
    Need(
        ("ranking-agreement-calibrated",),
        "both orders after calibration",
        lambda facts: _both_orders(facts) or _calibrated(facts),
    ),
    Need(("ranking-by-reference",), "the clinicians' order, estimated", _ranked_by_people),
    Need(("self-preference",), "does a judge favour its own vendor", _self_preference),
    Need(("stability", "stability-by-answer"), "the same judge asked again", _repeated),
    Need(("stability-people",), "clinicians beside it", _repeated_by_people),
    Need(("repeats",), "every run of a judge", _runs),
    Need(("standardised",), "ICC(3,k) on z-scores, with text metrics", _metrics),
    Need(("text-metrics",), "which text metric sees harm", _metrics_beside_labels),
    Need(("errors",), "what moves the error", _errors),
    Need(
        ("claims-per-answer", "claims-verdicts", "claims-evidence", "claims-listing"),
        "claims, one by one",
        _strategy("claims"),
    ),
    Need(
        ("claims-area", "claims-thresholds"),
        "thresholds of support",
        lambda facts: _strategy("claims")(facts) or _judged_beside_people(facts),
    ),
    Need(("deliberation-endings", "deliberation-personas"), "how agents decided", _strategy("deliberation")),
    Need(("preference",), "concordance and preference", _concordance),
    Need(("preference-orders",), "does the order of two answers decide", _preference),
    Need(("pairs", "pairs-raters"), "systems by preferences", _pairs),
    Need(("pairs-reference",), "systems by the clinicians' preferences", _pairs_by_people),
    Need(("criteria-scores", "criterion-verdicts"), "points of the criteria", _criteria),
    Need(("criteria-scores-by-tag", "criteria-tag-verdicts"), "the same by tag", _criteria),
    Need(("injection",), "planted instructions", _injection),
)
