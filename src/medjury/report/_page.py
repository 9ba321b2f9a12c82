"""The page about a run: page one for those who decide, the evidence behind it, and all the rest folded. To add a
section: write it in `_sections/`, and name it in `EVIDENCE`, `FURTHER` or `APPENDIX`; one that says nothing of
pairs in `_OF_SINGLE_ANSWERS` too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files as packaged
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.report._exhibits import Exhibits
from medjury.report._html import Html, element, joined, paragraph, section_html, sentence, table_html, text
from medjury.report._material import Material, Section, SectionMaker
from medjury.report._sections.adaptive import adaptive_juries
from medjury.report._sections.agreement import agreement
from medjury.report._sections.audits import (
    error_effects,
    injection,
    repeats,
    self_preference,
    stability_of_judges,
)
from medjury.report._sections.board import board_memo, board_page
from medjury.report._sections.calibration import beside_second_panel, best_judge, calibration
from medjury.report._sections.claims import claims
from medjury.report._sections.closed_loop import closed_loop
from medjury.report._sections.coverage import answering_models, cost, coverage, shortened_records
from medjury.report._sections.deliberations import deliberations
from medjury.report._sections.distributions import dimensions, distributions
from medjury.report._sections.first_page import first_page
from medjury.report._sections.governance import STYLE as GOVERNANCE_STYLE
from medjury.report._sections.governance import governance_page, refuse_another, reporting_checklist
from medjury.report._sections.grades import confusion, differences, order_against_grade
from medjury.report._sections.other_agreement import attributes, classes
from medjury.report._sections.preference import preference, preferred_systems
from medjury.report._sections.ranking import ranking
from medjury.report._sections.raters import who_agrees
from medjury.report._sections.rule_by_rule import criteria, gate
from medjury.report._sections.severe import cases, severe_errors
from medjury.report._sections.strategies import ways_of_judging
from medjury.report._sections.study import ALTERED, methods, study
from medjury.report._sections.text_metrics import text_metrics
from medjury.report._sections.triage import triage_of_answers
from medjury.statistics import counted, moment, one_thread_each
from medjury.store.runs import Check, Manifest, RunFolder, files
from medjury.tables import open_run
from medjury.validation import Evidence, RunComparison, Validation, evidence_of, validation_of

# Before each section: how many are done, of how many, and which is next.
Step = Callable[[int, int, str], None]
# What a reader needs who doubts page one, in the order in which doubts come up.
EVIDENCE: tuple[SectionMaker, ...] = (
    preferred_systems, gate, criteria, study, coverage, shortened_records, agreement, injection, severe_errors,
)  # fmt: skip
# Folded: what else the run can tell, one click away.
FURTHER: tuple[SectionMaker, ...] = (
    answering_models, best_judge, beside_second_panel, calibration, ways_of_judging, claims, deliberations,
    adaptive_juries, preference, closed_loop, ranking, triage_of_answers, cost, cases,
)  # fmt: skip
# Folded: for those who write about the study, or check it.
APPENDIX: tuple[SectionMaker, ...] = (
    distributions, attributes, classes, order_against_grade, confusion, differences, stability_of_judges, repeats,
    dimensions, who_agrees, text_metrics, self_preference, error_effects, methods, reporting_checklist,
)  # fmt: skip
# What weights clinicians' ratings by the probability of their answers, or shows single answers, or none of theirs.
_WEIGHTED = (
    preferred_systems, gate, study, answering_models, coverage, shortened_records, agreement, severe_errors, cost,
    cases, methods,
)  # fmt: skip
# What grades systems, or takes the two orders of a pair for repeats, has no meaning where answers were compared.
_OF_SINGLE_ANSWERS = (
    calibration, preference, ranking, triage_of_answers, order_against_grade, stability_of_judges, repeats,
    self_preference, error_effects,
)  # fmt: skip
# Whatever a text may hold, the page loads nothing and talks to nobody.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)


def write_page(
    folder: str | Path,
    *,
    evidence: Evidence | None = None,
    validation: Validation | None = None,
    checks: Sequence[Check] = (),
    step: Step | None = None,
    board: bool = False,
    governance: bool = False,
    passport: str | Path | None = None,
    **settings: Any,
) -> Path:
    """Write `report.html` into a run folder, with its figures and tables beside it, and return its path. With
    `board`, or where one was written before, the memo for the board is written as a page of its own too; so is,
    with `governance`, what frames of governance ask, filled in from the run's files and its `passport`.

    `checks` are findings about the folder beyond the hashes of its files, such as those of its audit log;
    `settings` replace what the study file says under `report:`. Ratings that come from no run are given as their
    `evidence`, and the folder is any that may be written to. `validation` are the verdicts on that evidence, where
    they have been reached already. `step` is called before each section is made.
    """
    for name, least in (("resamples", 200), ("cases_shown", 0)):
        if settings.get(name) is not None and settings[name] < least:
            raise MedjuryError(f"{name} must be {least} or more, not {settings[name]}")
    place, card = Path(folder), None if passport is None else Path(passport)
    if card is not None:
        refuse_another(card, place)
    exhibits = Exhibits()
    with one_thread_each():
        if evidence is None:
            evidence = evidence_of(open_run(place, **settings), checks=checks)
        page, memo = compose(evidence, exhibits, step, validation)
    table = evidence.table
    exhibits.write(place)
    write_whole(place / files.REPORT, page)
    if board or (place / files.BOARD).is_file():
        write_whole(place / files.BOARD, memo)
    if (
        governance or (place / files.GOVERNANCE).is_file()
    ):  # an older one would name values that are no longer there
        study, note = evidence.manifest.study, table.settings.note
        if not all(check.sound for check in evidence.checks):
            note = f"{ALTERED} {note}"
        asked = governance_page(place, evidence.rater, study, note, card)
        title = f"Medjury: {study}, governance"
        write_whole(place / files.GOVERNANCE, document(title, asked, style=GOVERNANCE_STYLE))
    try:
        if table.settings.png:
            from medjury.report._pdf_and_png import write_pngs

            write_pngs(sorted((place / files.FIGURES).glob("*.svg")))
    finally:
        if table.run.manifest is not None:  # ratings from no run leave no manifest to write it into
            RunFolder(place).record_report()
    return place / files.REPORT


def compose(
    evidence: Evidence, exhibits: Exhibits, step: Step | None = None, validation: Validation | None = None
) -> tuple[str, str]:
    """The page and the board's memo as text; `exhibits` collects figures and tables. `validation` is what
    `validation_of(evidence)` found, where it has been asked already."""
    material = Material(evidence, validation or validation_of(evidence), exhibits)
    exhibits.speak = material.about
    first = first_page(material)
    layers = _made(material, step)
    if evidence.table.weighted:
        layers[0].insert(0, _drawn(evidence))
    manifest = evidence.manifest
    study_name, instrument = manifest.study, manifest.instrument
    parts = (
        material.judged,
        f"instrument {instrument.name or 'not known'} {instrument.version}".strip(),
        counted(len(evidence.table.judges), "judge"),
        counted(len(evidence.clinicians), "clinician"),
        "no run" if evidence.table.run.manifest is None else _ended(manifest),
    )
    titles = ("The evidence", "Further analyses", "Appendix")
    fold = paragraph(
        "Press a title to unfold it. What is unfolded is printed. ", element("span", id="unfold"),
        class_="soft screen",
    )  # fmt: skip
    left = "Folded parts of this report are not printed: unfold them in report.html, or `medjury report RUN --pdf "
    left += "--whole`."
    main = joined(
        [
            element("div", board_memo(material), class_="paper"),
            element("header", element("h1", study_name), element("p", " · ".join(parts), class_="soft")),
            section_html(first.id, first.title, first.body),
            element("nav", *map(_links, titles, layers), aria_label="Sections of this report"),
            element("h2", titles[0], class_="layer"),
            *(section_html(each.id, each.title, each.body) for each in layers[0]),
        ]
        + [element("p", sentence(left), class_="soft left-out")]
        + [
            element(
                "div", element("h2", title, class_="layer"), hint, *map(_folded, sections), class_="folds"
            )
            for title, sections, hint in zip(titles[1:], layers[1:], (fold, Html("")), strict=True)
            if sections
        ]
    )
    memo = document(f"Medjury: {study_name}, memo for the board", board_page(material))
    return document(f"Medjury: {study_name}", element("main", main)), memo


def document(title: str, main: Html, *, style: str = "", script: str | None = None) -> str:
    """The whole page that shows `main`: head, style and script inside it. `style` is added to that of every page;
    `script` takes the place of the one that sorts tables."""
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{text(_POLICY)}">'
        f"<title>{text(title)}</title><style>{_own('page.css')}{style}</style></head>"
    )
    return (
        f"{head}<body>{main}<script>{_own('sort.js') if script is None else script}</script></body></html>\n"
    )


def write_comparison(comparison: RunComparison, path: str | Path) -> Path:
    """Write a comparison of two runs as a self-contained page."""
    parts = [element("h1", "Two runs compared")]
    parts += [element("p", f"A: {comparison.first}"), element("p", f"B: {comparison.second}")]
    parts += [element("p", warning, class_="note") for warning in comparison.warnings]
    for title, rows in comparison.parts:
        if rows:
            parts.append(table_html(("", "A", "B"), rows, caption=title, sort=False))
    if changes := comparison.shown_rows():
        lines = [tuple(row.values()) for row in changes]
        parts.append(table_html(list(changes[0]), lines, caption=comparison.caption))
    target = Path(path)
    write_whole(target, document("Medjury: two runs compared", element("main", *parts)))
    return target


def _own(name: str) -> str:
    return packaged("medjury.report").joinpath(name).read_text(encoding="utf-8")


def _ended(manifest: Manifest) -> str:
    if not manifest.finished_at:
        return "run not finished"
    ended = {"complete": "finished", "failed": "failed"}.get(manifest.status, "stopped")
    return f"run {ended} {moment(manifest.finished_at)}"


def _made(material: Material, step: Step | None) -> list[list[Section]]:
    """The sections of each layer; `step` hears of each before it is made."""
    weighted, pairs = material.evidence.table.weighted, material.evidence.table.pairs
    layers: list[list[Section]] = []
    done, every = 0, len(EVIDENCE) + len(FURTHER) + len(APPENDIX)
    for makers in (EVIDENCE, FURTHER, APPENDIX):
        layers.append([])
        for make in makers:
            done += 1
            if (weighted and make not in _WEIGHTED) or (pairs and make in _OF_SINGLE_ANSWERS):
                continue
            if step is not None:
                step(done - 1, every, make.__name__.replace("_", " "))
            if (section := make(material)) is not None:
                layers[-1].append(section)
    return layers


def _links(title: str, sections: Sequence[Section]) -> Html:
    links = [element("li", element("a", each.title, href=f"#{each.id}")) for each in sections]
    return joined([paragraph(title), element("ul", *links)]) if links else Html("")


def _drawn(evidence: Evidence) -> Section:
    """What a reader must know of a review whose answers were drawn with unequal probabilities."""
    drawn = " ".join(
        f"The answers that {name} rated were drawn with probabilities from {least:.3g} to {most:.3g}."
        for name, (least, most) in evidence.table.unequal.items()
    )
    meant = (
        "Agreement, severe errors and the verdict weight every rating by one over its probability, so that they "
        "hold for all answers and not for those that were looked at. Counts are of ratings as they are. Figures "
        "and tables that do not weight would mislead and are left out of this report."
    )
    return Section("drawn", "How the answers were drawn for review", joined(map(paragraph, (drawn, meant))))


def _folded(section: Section) -> Html:
    """A link to the section opens it: browsers unfold whatever holds the place that a link leads to."""
    title = element("summary", element("h2", section.title, id=f"{section.id}-title"))
    inside = element("section", section.body, id=section.id, aria_labelledby=f"{section.id}-title")
    return element("details", title, inside, class_="appendix")
