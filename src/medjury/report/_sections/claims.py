"""Claims: how many each answer makes, what the reference says of them, which evidence was invented, and how well
their supported share agrees with the clinicians."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from medjury.analysis.agreement import area_under_curve, roc_curve
from medjury.report._exhibits import COLOURS
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, element, paragraph, table_html
from medjury.report._material import Material, Section, cut, most_interesting, one_by_one, short
from medjury.report._svg import SOFT
from medjury.statistics import Estimate, Floats, counted, percent
from medjury.store.runs import Record, files
from medjury.validation import Evidence

if TYPE_CHECKING:
    from medjury.judging import ClaimsBody, ClaimStatistics, RecordedClaim

    ClaimsRecord = Record[ClaimsBody]


AnswerId = tuple[str, str]  # item and system
_SAME = 1e-9  # a mean of equal shares is that share, whatever its last digits


@dataclass(frozen=True)
class ShareCurve:
    """The curve of one judge's share against the clinicians' majority, and what could not be used: answers
    without a share (also those that the judge could not decide), and answers on which the clinicians are tied."""

    rater: str
    dimension: str
    threshold: float
    truth: tuple[float, ...]
    shares: tuple[float, ...]
    sensitivity: Floats
    specificity: Floats
    area: Estimate
    without_share: int
    tied: int

    def at(self, threshold: float) -> tuple[int, int, int, int]:
        """True and false positives, false and true negatives where a share of `threshold` is concordant."""
        truth, called = np.asarray(self.truth) == 1, np.asarray(self.shares) >= threshold - _SAME
        counts = (truth & called, ~truth & called, truth & ~called, ~truth & ~called)
        return tuple(int(each.sum()) for each in counts)  # type: ignore[return-value]


def share_curve(
    evidence: Evidence,
    rater: str,
    dimension: str,
    shares: Mapping[AnswerId, Sequence[float]],
    threshold: float,
) -> ShareCurve | None:
    """None where no clinician rated the dimension, or where it has more grades than yes and no. Repeats of one
    answer are averaged; cases that served development do not count."""
    table = evidence.table
    known = {each.name: each.grades for each in table.dimensions}
    grades = known.get(dimension)
    if not evidence.clinicians or dimension not in known or (grades and set(grades.values) - {0.0, 1.0}):
        return None
    grid = evidence.grid(dimension)
    mean = evidence.reference(grid)
    truth: list[float] = []
    found: list[float] = []
    clusters: list[str] = []
    without = tied = 0
    for item, system, cluster, rated in zip(grid.items, grid.systems, grid.clusters, mean, strict=True):
        if np.isnan(rated):
            continue
        given = shares.get((str(item), str(system)))
        if rated == 0.5:
            tied += 1
        elif not given:
            without += 1
        else:
            truth.append(float(rated > 0.5))
            found.append(float(np.mean(given)))
            clusters.append(str(cluster))
    if not truth:
        return None
    _, sensitivity, specificity = roc_curve(truth, found)
    area = area_under_curve(
        truth,
        found,
        clusters=clusters,
        resamples=table.resamples(None),
        confidence=evidence.confidence,
        seed=table.seed(None),
    )
    curve = (sensitivity, specificity, area)
    return ShareCurve(rater, dimension, threshold, tuple(truth), tuple(found), *curve, without, tied)


_VERDICTS = {
    "supported": "supported",
    "contradicted": "contradicted",
    "not_addressed": "not addressed",
    "unverified": "not verified",
}
_IMPORTANCE = {1: "1 background", 2: "2 supporting", 3: "3 decisive"}
_THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
_CHARACTERS = 600


@dataclass
class _Group:
    """One judge on one dimension: its records counted, and the share of every answer."""

    tally: ClaimStatistics
    shares: dict[AnswerId, list[float]] = field(default_factory=dict)
    threshold: float | None = None

    def note(self, record: ClaimsRecord) -> None:
        body = record.body
        self.tally.note(body)
        if body.threshold is not None:
            self.threshold = body.threshold
            # The share of the few claims that could be verified is no share of the answer.
            if body.share is not None and body.outcome.status == "scored":
                self.shares.setdefault((record.item, record.system), []).append(body.share)


def claims(material: Material) -> Section | None:
    if not material.records.kinds():
        return None
    from medjury.judging import ClaimsBody, ClaimStatistics

    groups: dict[tuple[str, str], _Group] = {}

    def note(record: ClaimsRecord) -> None:
        groups.setdefault((record.rater, record.body.dimension), _Group(ClaimStatistics())).note(record)

    chosen = most_interesting(material, ClaimsBody, note, _interest)
    if not groups:
        return None
    found = {key: group.tally for key, group in groups.items()}
    lead = (
        "Each answer was taken apart into claims, and every claim was compared with the text that it should agree "
        "with. A verdict counts only where the quotation that it rests on was found in that text; a refused "
        "quotation is reported to the judge once, and where none can be shown the claim stays unverified."
    )
    if material.evidence.table.settings.hide_texts:
        lead += " Names of cases, claims and quotations are left out of this copy."
    total = sum(len(each.per_answer) + each.failed for each in found.values())
    body = (
        paragraph(lead)
        + _counts(material, found)
        + _verdicts(material, found)
        + _evidence(material, found)
        + _roc(material, groups)
        + _answers(material, chosen, total)
    )
    return Section("claims", "Claims", Html(body))


def _interest(record: ClaimsRecord) -> tuple[float, ...]:
    """What a reader should see first: evidence that stayed invented, then decisive claims without support."""
    claims = record.body.claims
    decisive = Counter(each.verdict for each in claims if each.importance == 3)
    unfounded = sum(each.unfounded for each in claims)
    return (unfounded, decisive["contradicted"], decisive["not_addressed"], -record.line)


def _counts(material: Material, found: Mapping[tuple[str, str], ClaimStatistics]) -> Html:
    rows: list[dict[str, Cell]] = []
    listed: list[dict[str, Cell]] = []
    for (rater, dimension), each in found.items():
        label = material.evidence.label(dimension)
        fewest, most = each.range or (None, None)
        rows.append(
            {
                "judge": rater,
                "dimension": label,
                "answers": len(each.per_answer),
                "not taken apart": each.failed,
                "claims": each.claims,
                "mean each": each.mean,
                "fewest": fewest,
                "most": most,
            }
        )
        listed.append(
            {
                "judge": rater,
                "dimension": label,
                "repeated": each.repeats,
                "too slight to look for": each.set_aside,
                "not found in their text": each.unlocated,
                "with a number their text lacks": each.with_stray_numbers,
            }
        )
    table = material.exhibits.table(
        "claims-per-answer", rows, caption="Claims of each answer; repeated ones count once", digits=1
    )
    listing = material.exhibits.table(
        "claims-listing",
        listed,
        caption="What became of the lists. A claim that was not found in its text, or has a number that is "
        "nowhere in it, may be the judge's own",
    )
    return Html(table + listing)


def _verdicts(material: Material, found: Mapping[tuple[str, str], ClaimStatistics]) -> Html:
    rows: list[dict[str, Cell]] = []
    for (rater, dimension), each in found.items():
        for importance in (None, 1, 2, 3):
            shares = {title: each.share(name, importance) for name, title in _VERDICTS.items()}
            rows.append(
                {
                    "judge": rater,
                    "dimension": material.evidence.label(dimension),
                    "importance": "all" if importance is None else _IMPORTANCE[importance],
                    "claims": sum(each.count(name, importance) for name in _VERDICTS),
                    **{f"{title} (%)": None if own is None else 100 * own for title, own in shares.items()},
                }
            )
    return material.exhibits.table(
        "claims-verdicts",
        rows,
        caption="What the other text says of the claims, by importance; the four shares of a row sum to 100 %",
        digits=1,
    )


def _evidence(material: Material, found: Mapping[tuple[str, str], ClaimStatistics]) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "judge": rater,
            "dimension": material.evidence.label(dimension),
            "quotations": each.quotations,
            "refused": each.refused,
            "refused (%)": 100 * each.refused / each.quotations if each.quotations else None,
            "claims told": each.told,
            "of these corrected": each.mended,
            "left without evidence": each.unfounded,
        }
        for (rater, dimension), each in found.items()
    ]
    return material.exhibits.table(
        "claims-evidence",
        rows,
        caption="Quotations that were looked up. A refused one does not occur in the text, is too short to show "
        "anything, or leaves out a negation",
        digits=1,
    )


def _roc(material: Material, groups: Mapping[tuple[str, str], _Group]) -> Html:
    curves = [
        curve
        for (rater, dimension), group in groups.items()
        if group.threshold is not None
        and (curve := share_curve(material.evidence, rater, dimension, group.shares, group.threshold))
    ]
    if not curves:
        return Html("")
    table = material.exhibits.table(
        "claims-area",
        [
            {
                "judge": each.rater,
                "answers": len(each.truth),
                "concordant": int(sum(each.truth)),
                "no share": each.without_share,
                "clinicians tied": each.tied,
                "area under the curve": each.area,
                "threshold used": each.threshold,
            }
            for each in curves
        ],
        caption="How well the supported share alone tells answers that clinicians call concordant (majority) from "
        "the others; 0.5 is chance. A veto of a decisive claim is not part of it; `no share` counts answers that "
        "could not be decided too",
    )
    drawn = [each for each in curves if len(each.sensitivity) and len(each.specificity)]
    figure = Html("")
    if drawn:
        figure = material.exhibits.figure(
            "claims-roc",
            (4.6, 4.0),
            lambda figure: _draw(figure, drawn),
            caption="Sensitivity and specificity of the supported share at every threshold; the marks are the "
            "thresholds in use, the dotted line is chance.",
            alt="; ".join(
                f"{each.rater}: area {each.area.value:.2f}" for each in drawn if each.area.value is not None
            )
            or "Curves of sensitivity against 1 - specificity.",
        )
    return Html(element("h3", "Share and clinicians") + table + figure + _thresholds(material, curves))


def _thresholds(material: Material, curves: Sequence[ShareCurve]) -> Html:
    rows: list[dict[str, Cell]] = []
    for each in curves:
        for threshold in sorted({*_THRESHOLDS, each.threshold}):
            hit, raised, missed, clear = each.at(threshold)
            rows.append(
                {
                    "judge": each.rater,
                    "threshold": threshold,
                    "called concordant": hit + raised,
                    "sensitivity": _ratio(hit, hit + missed),
                    "specificity": _ratio(clear, clear + raised),
                    "accuracy": _ratio(hit + clear, len(each.truth)),
                    "F1": _ratio(2 * hit, 2 * hit + raised + missed),
                }
            )
    table = material.exhibits.table(
        "claims-thresholds",
        rows,
        caption="The same answers at other thresholds",
        folded=True,
    )
    note = "A threshold chosen from this table must be tried on other cases before its figures are trusted."
    return Html(table + paragraph(note, class_="soft"))


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _draw(figure: Figure, curves: Sequence[ShareCurve]) -> None:
    axes = figure.axes(
        x_name="1 − specificity", y_name="sensitivity", x_limits=(-0.02, 1.02), y_limits=(-0.02, 1.02)
    )
    axes.line([0, 1], [0, 1], SOFT, width=0.8, dash=":")
    for number, each in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        away = (1 - each.specificity).tolist()
        axes.line(away, each.sensitivity.tolist(), colour, label=short(each.rater))
        hit, raised, missed, clear = each.at(each.threshold)
        axes.points([raised / (raised + clear)], [hit / (hit + missed)], colour, size=4)


def _answers(material: Material, chosen: Sequence[ClaimsRecord], total: int) -> Html:
    note = (
        f"{counted(len(chosen), 'answer')} of {total:,}, first those with evidence that stayed invented and with "
        f"decisive claims that are contradicted or not addressed. All are in {files.RECORDS}."
    )
    made = [_answer(material, number, record) for number, record in enumerate(chosen, start=1)]
    return one_by_one("Answers claim by claim", note, made)


def _answer(material: Material, number: int, record: ClaimsRecord) -> Html:
    body, hide = record.body, material.evidence.table.settings.hide_texts
    case = record.title(f"answer {number}", hide=hide)
    title = f"{case}: {material.evidence.label(body.dimension)} {_result(body)}"
    rows: list[tuple[Cell, ...]] = [
        (
            claim.number,
            "left out" if hide else cut(claim.claim, _CHARACTERS),
            _IMPORTANCE.get(claim.importance, str(claim.importance)),
            _VERDICTS[claim.verdict or "unverified"],
            _shown_evidence(claim, hide),
        )
        for claim in body.claims
    ]
    head = ("claim", "what it says", "importance", "verdict", "evidence")
    table = (
        table_html(head, rows, caption=f"Claims of {case}", sort=False) if rows else paragraph("No claim.")
    )
    return element("details", element("summary", title), table)


def _result(body: ClaimsBody) -> str:
    outcome = body.outcome
    score = (
        (outcome.reason or outcome.status).replace("_", " ")
        if outcome.score is None
        else f"{outcome.score:g}"
    )
    return score if body.share is None else f"{score}, share {percent(body.share)}"


def _shown_evidence(claim: RecordedClaim, hide: bool) -> str:
    parts = [
        "a quotation that occurs" if hide else f"“{cut(each.quote, _CHARACTERS)}” [{each.source}]"
        for each in claim.evidence
    ]
    for refused in claim.invented:
        words = "" if hide or not refused.quote else f" “{cut(refused.quote, _CHARACTERS)}”"
        parts.append(f"refused{words}: {refused.why}")
    if claim.failure and not claim.unfounded:
        parts.append(f"not verified ({claim.failure.reason.replace('_', ' ')}): {claim.failure.message}")
    return "; ".join(parts) or "none needed"
