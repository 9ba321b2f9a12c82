"""The memo for a board, one page of paper: which product was judged, is it any good, for which patients, how far
the jury may be trusted, who decides what, and when one looks again.

It repeats the verdict and adds none: where the jury is not validated the grades are the clinicians' alone, and
where the run did not finish there are none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from medjury.foundation.errors import MedjuryError
from medjury.report._html import Html, definitions, element, joined, paragraph, sentence, table_of
from medjury.report._material import Material, cut_short
from medjury.report._sections.first_page import headline
from medjury.report._sections.next_steps import listed
from medjury.report._sections.preference import board_shares
from medjury.report._sections.ranking import ranked_by
from medjury.statistics import Estimate, counted, moment, percent, percent_of_limit, shown
from medjury.store.runs import files
from medjury.tables import Measured
from medjury.validation import MEANING, Rule, Scope, Verdict, Word

# What fits on one page: dimensions, systems, names of missed answers, and the signs of a sentence.
_DIMENSIONS, _SYSTEMS, _NAMES, _SIGNS, _SENTENCE = 9, 4, 6, 210, 240
# From so many signs on the memo is in smaller print.
_ROOM = 2200
# What a rule may be, the worst first, and what it is called.
_STATES = {
    "fails": "fails",
    "not known": "not known",
    "open": "not proven",
    "holds": "holds",
    "does not apply": "does not apply",
}
_NONE_RATED = "No clinician rated, so nothing is known about danger."
_LINE = Html('<span class="blank" role="img" aria-label="to be filled in by hand"></span>')
_NO_GRADE: Mapping[Word, str] = {
    "INCOMPLETE": "The run did not finish, so nothing is shown about the product.",
    "NOT VALIDATED": "No clinician rated these answers and the jury is not validated, so nothing is shown about "
    "the product.",
}


def board_memo(material: Material, page: str = "") -> Html:
    """The memo; its links lead into the report at `page`, which is the page it is on where none is named."""

    def heading(words: str, name: str = "h2", kind: str = "part") -> Html:
        # In the report it is on paper alone, before the heading of the page.
        return element(name if page else "p", words, class_=kind)

    evidence = material.evidence
    manifest, said = evidence.manifest, evidence.table.settings
    verdicts = material.validation.of(evidence.rater)
    worst, words = headline(verdicts)
    run = "no run" if evidence.table.run.manifest is None else f"judged {moment(manifest.started_at)[:10]}"
    about = " · ".join((cut_short(manifest.study, 80), run, material.judged,
                        counted(len(evidence.clinicians), "clinician")))  # fmt: skip
    note = [paragraph(manifest.report.note, class_="note")] if manifest.report.note else []
    others = [rater for rater in material.tried if rater != evidence.rater]
    beside = "; ".join(
        f"{cut_short(each, 30)}: {headline(material.validation.of(each))[0]}" for each in others[:3]
    )
    beside = f" Beside it: {beside}{' and more' if len(others) > 3 else ''}." if beside else ""
    trusted = f"The numbers are of {cut_short(evidence.rater, 40)}.{beside}" if others else ""
    meant = material.about(f"{MEANING[worst]} {trusted}".strip(), evidence.rater)
    decided = (
        ("Owner", said.owner),
        ("Decision", said.decision),
        ("Next look", said.review_by),
        ("Date and signature", ""),
    )
    parts = joined(
        [
            heading("Memo for the board", "h1", "title"),
            paragraph(about, class_="soft"),
            *note,
            _fields((("Product judged", said.product),)),
            heading("How good is it?"),
            _grades(material, verdicts, worst),
            heading(material.about("How far may the jury's grades be trusted?")),
            element("p", cut_short(words, 150), class_=f"word badge {worst.lower().replace(' ', '-')}"),
            paragraph(meant),
            _scope(verdicts, worst),
            heading("Danger"),
            _danger(material, verdicts, page),
            heading(f"The {'jury' if evidence.table.juries else 'judge'} beside a colleague"),
            _numbers(material, verdicts),
            heading("What is decided"),
            paragraph("The owner decides; Medjury measures.", class_="soft"),
            _fields(decided),
        ]
    )
    dense = " dense" if len(re.sub("<[^>]+>", "", parts)) > _ROOM else ""  # small print, and still one page
    return element("section", parts, class_=f"board{dense}", aria_label="Memo for the board")


def _fields(stated: Sequence[tuple[str, str]]) -> Html:
    """What the study file states; what it does not is a line to fill in by hand."""
    return definitions((name, " ".join(value.split()) or _LINE) for name, value in stated)


def _grades(material: Material, verdicts: Sequence[Verdict], worst: Word) -> Html:
    """The mean grade of every system on every dimension, as clinicians gave it or would have."""
    from medjury.analysis.calibration import estimate

    evidence = material.evidence
    if worst == "INCOMPLETE" or (not evidence.clinicians and worst != "VALIDATED"):
        return paragraph(_NO_GRADE["INCOMPLETE" if worst == "INCOMPLETE" else "NOT VALIDATED"])
    if evidence.table.pairs:
        return board_shares(material, by_jury=worst == "VALIDATED") or paragraph(_NO_GRADE["NOT VALIDATED"])
    ranked = [each for each in ranked_by(material) if not each.derived or evidence.table.rank_by]
    systems = evidence.table.systems
    try:
        found = estimate(
            evidence.table,
            raters=None if evidence.table.juries else evidence.rater or None,
            reference=evidence.named[1],
            dimensions=[each.name for each in ranked],
            by_system=len(systems) > 1,
            confidence=evidence.confidence,
        )
    except MedjuryError as error:
        return paragraph(cut_short(f"The mean grade is not known: {error}", _SIGNS))
    known = {(each.dimension, each.system): each.found for each in found.estimates}
    useless = {each.dimension for each in verdicts if each.word == "NOT VALIDATED"}
    # What follows from a dimension is worth no more than that.
    useless |= {
        each.name for each in ranked if each.derived and not (each.weights or {}).keys().isdisjoint(useless)
    }
    columns = list(systems[:_SYSTEMS]) if len(systems) > 1 else ["all"]
    settled = len(evidence.clinicians) > 1 and evidence.table.people.consensus in ("adjudicated", "majority")
    labelled = "with a label" if settled else "rated"
    powered, rows = False, []
    for dimension in ranked[:_DIMENSIONS]:
        cells = [element("th", _named(dimension), scope="row")]
        for system in columns:
            here = known.get((dimension.name, system))
            if here is None or not here.n_labelled:
                cells.append(element("td", "not known"))
                continue
            alone = dimension.name in useless or not here.n_unlabelled
            powered |= not alone
            mean = here.classical if alone else here.power_tuned
            every = here.n_labelled + here.n_unlabelled + here.n_unscored - here.n_unscored_labelled
            rated = f" {here.n_labelled:,} of {every:,} {labelled}"
            shown_as = shown(_on_the_scale(mean, dimension), 2) if mean.defined else "not known"
            cells.append(element("td", shown_as, element("span", rated, class_="soft")))
        rows.append(element("tr", *cells))
    titles = [cut_short(each, 24) for each in columns] if len(systems) > 1 else ["all answers"]
    head = [element("th", title, scope="col") for title in ("mean grade", *titles)]
    by = evidence.reference_words if len(evidence.clinicians) > 1 else "the clinician's grades"
    whose = f"Mean of {by} over the answers, with {percent(evidence.confidence)} interval."
    if powered:
        if evidence.table.weighted:
            drawn = "each counts by how likely it was to be drawn"
        else:
            drawn = f"that holds if the answers {labelled} are a random draw"
        whose += (
            f" Where only some are {labelled}, it is estimated from these and the jury's scores of all answers "
            f"(prediction-powered); {drawn}."
        )
    if useless:
        whose += " Where the jury is not validated, its scores are left out."
    more = [
        f"{counted(count - shown_, f'more {what}')} {'is' if count - shown_ == 1 else 'are'} in the report."
        for count, shown_, what in (
            (len(ranked), len(rows), "dimension"),
            (len(systems), len(columns), "system"),
        )
        if count > shown_
    ]
    table = table_of("Mean grade of each system", head, rows)
    return joined([table, paragraph(material.about(" ".join([whose, *more])), class_="soft")])


def _on_the_scale(mean: Estimate, dimension: Measured) -> Estimate:
    """No mean lies beyond the ends of its scale, whatever an interval by normal theory says."""
    if dimension.grades is None or mean.low is None or mean.high is None:
        return mean
    least, most = dimension.grades.lowest, dimension.grades.highest
    return replace(mean, low=max(mean.low, least), high=min(mean.high, most))


def _named(dimension: Measured) -> str:
    if dimension.grades is None:
        return cut_short(dimension.label, 40)
    least, most = dimension.grades.lowest, dimension.grades.highest
    turned = "" if dimension.higher_is_better else ", low is good"
    return f"{cut_short(dimension.label, 40)} ({least:g} to {most:g}{turned})"


def _scope(verdicts: Sequence[Verdict], worst: Word) -> Html:
    """Of all dimensions: it holds where every one does, and fails where any does."""
    scopes = [each.scope for each in verdicts if each.word not in ("INCOMPLETE", "NOT VALIDATED")]
    if worst == "INCOMPLETE" or not scopes:
        return _fields((("Scope", "none: there is no kind of case for which the scores may be relied on"),))
    every = list(
        dict.fromkeys(name for each in scopes for name in (*each.holds, *each.fails, *each.not_known))
    )
    fails = tuple(name for name in every if any(name in each.fails for each in scopes))
    holds = tuple(name for name in every if all(name in each.holds for each in scopes))
    cases: dict[str, int] = {}
    for each in scopes:
        cases |= each.cases
    rest = tuple(name for name in every if name not in (*fails, *holds))
    words = Scope(holds, fails, rest, cases).words()
    kept = [verdict.label for verdict in verdicts if verdict.word not in ("INCOMPLETE", "NOT VALIDATED")]
    which = f"Scope of {listed(kept)}: " if len(kept) < len(verdicts) else ""
    shown_as = (
        ("Holds for", words["holds"] or ("nothing that was looked at" if every else "cases like these")),
        ("Fails for", words["fails"] or "no part that was looked at"),
        ("Not known for", words["not_known"] or "every other kind of case"),
    )
    return joined(
        [paragraph(which) if which else "", _fields([(a, cut_short(b, _SIGNS)) for a, b in shown_as])]
    )


def _danger(material: Material, verdicts: Sequence[Verdict], page: str) -> Html:
    claimed = [each for each in verdicts if each.danger]
    if not claimed:
        return paragraph(
            "No dimension of this study is marked as dangerous, so nothing is claimed about danger."
        )
    by_words: dict[str, list[str]] = {}
    for each in claimed:
        by_words.setdefault(each.danger, []).append(each.label)
    defined = "; ".join(f"{listed(labels)} {words}" for words, labels in by_words.items())
    gap = material.evidence.rules.gap
    meant = (
        f"A grade is dangerous: {cut_short(defined, 160)}. The jury misses it with a grade that is kinder by "
        f"{percent_of_limit(gap)} of the scale, one grade at least (of two grades, half of one), or with no grade."
    )
    missed, dangerous = material.danger
    none = f"There is no answer that {material.whose_danger} called dangerous."
    if not dangerous:
        return paragraph(
            material.about(f"{meant} {_NONE_RATED if not material.evidence.clinicians else none}")
        )
    links = [material.case_link(each.item, each.system, page, 50) for each in missed[:_NAMES]]
    more = f" and {len(missed) - _NAMES:,} more" if len(missed) > _NAMES else ""
    counts = material.of_marks(
        f"{len(missed):,} of {counted(dangerous, 'answer')} that {material.whose_danger} called dangerous"
    )
    tail = joined([": ", Html(", ".join(links)), more, "."]) if missed else "."
    return joined(
        [paragraph(material.about(meant)), paragraph(material.about("Missed by the jury: "), counts, tail)]
    )


def _numbers(material: Material, verdicts: Sequence[Verdict]) -> Html:
    """Each line of the colleague test in one sentence, on the dimension where it is worst."""
    lines: dict[str, list[tuple[Rule, Verdict]]] = {}
    for verdict in verdicts:
        for rule in verdict.rules:
            if rule.line:
                lines.setdefault(rule.id, []).append((rule, verdict))
    if not lines:
        return paragraph("There is no comparison yet.")
    rows = []
    for found in lines.values():
        rule, verdict = min(found, key=lambda each: ([*_STATES].index(each[0].state), _room(each[0])))
        where = f"{cut_short(verdict.label, 30)}: " if len(verdicts) > 1 else ""
        words = material.about(rule.why or f"{rule.name}: {rule.found}{_allowed(rule)}.", verdict.rater)
        made = sentence(cut_short(f"{where}{words}", _SENTENCE))
        rows.append(element("tr", element("th", _STATES[rule.state], scope="row"), element("td", made)))
    return element("table", element("caption", "The colleague test"), element("tbody", *rows), class_="lines")


def _allowed(rule: Rule) -> str:
    if rule.limit is None or rule.value is None:
        return ""
    limit = percent_of_limit(rule.limit) if rule.danger else f"{rule.limit:g}".replace("-", "−")
    return f"; {limit} is {'needed' if rule.id == 'colleagues' else 'allowed'}"


def _room(rule: Rule) -> float:
    """How far the bound that decides is from the limit; the least room is the worst."""
    if rule.limit is None:
        return 0.0
    ends = [abs(each) for each in (rule.low, rule.high) if each is not None]
    if rule.id == "offset":
        return rule.limit - max(ends, default=0.0)
    if rule.danger:
        return rule.limit - (rule.high if rule.high is not None else 1.0)
    return (rule.low if rule.low is not None else -1.0) - rule.limit


def board_page(material: Material) -> Html:
    """The memo as a page of its own, beside the report."""
    back = element("p", element("a", "The whole report", href=files.REPORT), class_="screen")
    return element("main", board_memo(material, files.REPORT), back)
