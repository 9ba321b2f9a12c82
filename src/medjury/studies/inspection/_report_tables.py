"""Which tables a study's report will have, known before a judge is asked; of the others, what they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from medjury.analysis.audits import ERROR_COLUMNS
from medjury.studies.inspection._study_facts import RANKED, StudyFacts

# What the report's own sections ask for: cases with a clinician's score for five folds of five, and of each system
# for an estimate of its mean; cases for a model of errors.
_FOR_FOLDS, _LABELLED, _FOR_A_MODEL = 25, 5, 10
_FEW_GRADES = 3


Lacks = Callable[[StudyFacts], str]


@dataclass(frozen=True, slots=True)
class TableToCome:
    """A table by its name in `tables/`, what it shows, and what it needs that is not there ("": it will come)."""

    name: str
    about: str
    needs: str = ""


def tables_to_come(facts: StudyFacts) -> tuple[TableToCome, ...]:
    """Every table that a report can have, but for those of single rules of the gate and of what judges miss."""
    found = []
    for names, about, *wanted in _NEEDS:
        needs = next((words for each in wanted if (words := each(facts))), "")
        found += [TableToCome(name, about, needs) for name in names.split()]
    return tuple(found)


def _wanted(is_there: Callable[[StudyFacts], object], words: str) -> Lacks:
    """What is wanted in words, where it is not there."""
    return lambda facts: "" if is_there(facts) else words


def _labelled(least: int, what: str) -> Lacks:
    def lacks(facts: StudyFacts) -> str:
        return "" if facts.labelled >= least else f"{least} cases with {what}; there are {facts.labelled:,}"

    return lacks


def _graded(facts: StudyFacts, least: int) -> int:
    """How many dimensions have so many grades or more."""
    return sum(len(each) >= least for each in facts.grades.values())


_PEOPLE = _wanted(lambda facts: facts.clinicians, "clinicians' ratings of these cases (`humans`)")
_SHARED = _wanted(lambda facts: facts.shared, "answers that two clinicians of the reference scored")
_TWO_PEOPLE = _wanted(lambda facts: facts.two_people, "an answer that two clinicians scored")
_ASKED = _wanted(lambda facts: facts.asked, "a judge that asks a model: all scores are from files")
_SYSTEMS = _wanted(lambda facts: len(facts.systems) > 1, "answers of a second system (column `system`)")
_SINGLE = _wanted(lambda facts: facts.design != "pairs", "single answers: this study compares two")
_PAIRS = _wanted(lambda facts: facts.design == "pairs", "a study of pairs: `design: pairs`")
_JUDGES = _wanted(lambda facts: facts.judges > 1, "a second judge")
_TO_DIFFER = _wanted(
    lambda facts: facts.clinicians or facts.judges > 1, "clinicians, or a second judge to differ from"
)
_THREE_RATERS = _wanted(
    lambda facts: facts.judges + (facts.voters > 1) + facts.clinicians > 2, "a third rater"
)
_CALIBRATED = _labelled(_FOR_FOLDS, "a clinician's score on one dimension")
_ONE_BENCHMARK = _wanted(
    lambda facts: "benchmark" not in facts.columns,
    "cases of one benchmark: the column `benchmark` has several",
)
_BOTH_ORDERS = _wanted(
    lambda facts: facts.ranked_by_people > 1, f"two systems with {RANKED} cases each that a clinician scored"
)
_DANGER = _wanted(
    lambda facts: facts.danger, "a dimension that carries danger: `gate: {severe_dimensions: [NAME]}`"
)
_LABELS = _wanted(
    lambda facts: facts.labels, "a column of labels of the cases: `humans: {labels: {NAME: COLUMN}}`"
)
_JURY = _wanted(lambda facts: facts.voters > 1, "a jury of two judges or more (`jury`)")
_PANEL = _wanted(
    lambda facts: facts.second_panel, "ratings of a second panel: `humans: {second_panel: NAME}`"
)
_PROFILES = _wanted(
    lambda facts: facts.profiles,
    "columns that describe the clinicians (specialty, years, seniority, panel)",
)
_CLASSES = _wanted(
    lambda facts: facts.by_case or any(len(each) <= _FEW_GRADES for each in facts.grades.values()),
    f"a dimension of two or {_FEW_GRADES} grades",
)
_DIMENSIONS = _wanted(lambda facts: facts.by_case or len(facts.grades) > 1, "a second dimension")
_ONE_SCALE = _wanted(
    lambda facts: _graded(facts, _FEW_GRADES) > 2 and not facts.by_case,
    "three dimensions of three grades or more",
)
_DRAWS = _wanted(
    lambda facts: facts.draws, "each judge asked several times: `repeats: 3`, or the strategy `repeats`"
)
_REPEATS = _wanted(
    lambda facts: facts.repeats,
    "`repeats` of the whole study: the strategy's own runs become one score",
)
_TWO_OF_BOTH = _wanted(
    lambda facts: facts.judges > 1 and len(facts.systems) > 1, "two judges and two systems"
)
_VENDORS = _wanted(
    lambda facts: facts.vendors, "who made the systems: `report: {system_vendors: {SYSTEM: VENDOR}}`"
)
_OWN_VENDOR = _wanted(lambda facts: facts.own_vendor, "a judge whose `vendor` made one of the systems")
_METRICS = _wanted(lambda facts: facts.metrics, "text metrics beside the judges: `metrics: [chrf]`")
_IMPACT = _wanted(lambda facts: (0, 1, 2) in facts.grades.values(), "a dimension with the grades 0, 1 and 2")
_ERROR_COLUMN = _wanted(
    lambda facts: facts.columns & set(ERROR_COLUMNS),
    f"one of the columns {', '.join(ERROR_COLUMNS)} in the cases, with a few values or numbers",
)
_MODELLED = _labelled(_FOR_A_MODEL, "a clinician's score")
_MANY_GRADES = _wanted(
    lambda facts: _graded(facts, _FEW_GRADES + 1), f"a dimension of more than {_FEW_GRADES} grades"
)
_CONCORDANT = _wanted(
    lambda facts: facts.grades.get("concordant") == (0, 1), "a dimension `concordant` of 0 and 1"
)
_PREFERENCE = _wanted(
    lambda facts: sorted(facts.grades.get("preference", ())) == [-1, 0, 1],
    "a dimension `preference` of -1, 0 and 1",
)
_CRITERIA = _wanted(lambda facts: facts.by_case, "criteria of each case: `instrument: criteria`")
_INJECTION = _wanted(
    lambda facts: facts.injection, "`audits: {injection: {cases: 30}}`, which asks the judges again"
)


def _ranked(facts: StudyFacts) -> str:
    return facts.why_not_ranked


def _every_system(facts: StudyFacts) -> str:
    few = f"{_LABELLED} cases of every system with a clinician's score; one system has {facts.fewest:,}"
    return few if facts.fewest < _LABELLED else ""


def _reviewed(facts: StudyFacts) -> str:
    return "" if facts.labels else _PEOPLE(facts) or _DANGER(facts)


def _strategy(name: str) -> Lacks:
    return _wanted(lambda facts: name in facts.strategies, f"a judge with `strategy: {name}`")


# Tables that come together, what they show, and what must be there for them, in the order in which it is asked for.
_NEEDS: tuple[tuple[str, str, *tuple[Lacks, ...]], ...] = (
    ("coverage unscored unscored-by-reason", "what was scored, and what was not"),
    ("judges methods tripod-llm folder", "how it was made"),
    ("cost", "calls, tokens and money"),
    ("cost-by-system coverage-by-system", "the same, system by system", _SYSTEMS),
    ("answering-models", "which models answered", _ASKED),
    ("corpus", "what was rated"),
    ("distributions", "which grades were given"),
    ("ways-of-judging ways-of-judging-settings", "the judges beside one another"),
    ("verdicts", "may the jury be trusted"),
    ("agreement agreement-other-coefficients", "agreement with the clinicians", _PEOPLE),
    ("attributes differences", "differences from the clinicians", _PEOPLE),
    ("confusion", "which grade became which", _PEOPLE),
    ("confusion-by-rater", "the same of every judge", _PEOPLE, _JUDGES),
    ("ways-of-judging-by-dimension", "the judges on each dimension", _PEOPLE),
    ("cases-worth-reading", "where raters differ most", _TO_DIFFER),
    ("human-baseline clinicians-together", "clinicians with one another", _PEOPLE, _SHARED),
    ("rater-kappas", "every two raters", _THREE_RATERS),
    ("raters", "who the clinicians are", _PROFILES),
    ("classes", "accuracy and F1", _PEOPLE, _CLASSES),
    (
        "classes-clinicians classes-crossed",
        "the clinicians' classes side by side",
        _PEOPLE,
        _CLASSES,
        _SHARED,
    ),
    (
        "dimension-correlations dimension-correlations-by-rater",
        "do dimensions measure different things",
        _DIMENSIONS,
    ),
    ("internal-consistency", "do dimensions make one scale", _ONE_SCALE),
    ("severe-errors", "danger that was missed", _PEOPLE, _DANGER),
    ("severe-error-overlap", "judges that miss the same danger", _PEOPLE, _DANGER, _JUDGES),
    ("triage", "which answers to read first", _SINGLE, _reviewed),
    ("triage-labels triage-labels-by-system", "cases with a label", _PEOPLE, _LABELS),
    ("jury-worth", "the jury beside its best judge", _PEOPLE, _JURY),
    ("second-panel second-panel-before-after", "the jury beside a second panel", _PEOPLE, _PANEL),
    ("second-panel-severe-errors", "danger beside a second panel", _PEOPLE, _PANEL, _DANGER),
    ("calibration calibration-curves", "calibration to the clinicians", _SINGLE, _CALIBRATED, _PEOPLE),
    ("agreement-by-system", "agreement within each system", _PEOPLE, _SYSTEMS),
    ("ranking", "the systems in order", _SINGLE, _ranked),
    ("ranking-beside-clinicians", "jury's and clinicians' order of the systems", _SINGLE, _ranked, _PEOPLE),
    ("ranking-agreement", "how far both orders agree", _SINGLE, _ranked, _PEOPLE, _BOTH_ORDERS),
    (
        "ranking-agreement-calibrated",
        "both orders after calibration",
        _SINGLE,
        _ranked,
        _PEOPLE,
        _BOTH_ORDERS,
        _CALIBRATED,
    ),
    (
        "ranking-by-reference",
        "the clinicians' order, estimated",
        _ONE_BENCHMARK,
        _SINGLE,
        _ranked,
        _PEOPLE,
        _every_system,
    ),
    ("self-preference", "does a judge favour its own vendor", _SINGLE, _TWO_OF_BOTH, _VENDORS, _OWN_VENDOR),
    ("stability stability-by-answer", "the same judge asked again", _SINGLE, _DRAWS),
    ("stability-people", "clinicians beside it", _SINGLE, _DRAWS, _TWO_PEOPLE),
    ("repeats", "every run of a judge", _SINGLE, _DRAWS, _PEOPLE, _REPEATS),
    ("standardised", "ICC(3,k) on z-scores, with text metrics", _PEOPLE, _SHARED, _METRICS),
    ("text-metrics", "which text metric sees harm", _METRICS, _PEOPLE, _IMPACT),
    ("errors", "what moves the error", _SINGLE, _ERROR_COLUMN, _MODELLED, _PEOPLE, _MANY_GRADES),
    (
        "claims-per-answer claims-verdicts claims-evidence claims-listing",
        "claims, one by one",
        _strategy("claims"),
    ),
    ("claims-area claims-thresholds", "thresholds of support", _strategy("claims"), _PEOPLE),
    ("deliberation-endings deliberation-personas", "how agents decided", _strategy("deliberation")),
    ("preference", "concordance and preference", _CONCORDANT),
    (
        "preference-orders",
        "does the order of two answers decide",
        _CONCORDANT,
        _PREFERENCE,
        _strategy("concordance"),
    ),
    ("pairs pairs-raters", "systems by preferences", _PAIRS),
    ("pairs-reference", "systems by the clinicians' preferences", _PAIRS, _PEOPLE),
    ("criteria-scores criterion-verdicts", "points of the criteria", _CRITERIA),
    ("criteria-scores-by-tag criteria-tag-verdicts", "the same by tag", _CRITERIA),
    ("injection", "planted instructions", _INJECTION),
)
