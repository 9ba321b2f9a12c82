"""The whole page: the verdict first, then every section that has something to say."""

from __future__ import annotations

from medjury.report._document import document
from medjury.report._exhibits import Exhibits
from medjury.report._html import Html, element, paragraph
from medjury.report._material import Material, Section, SectionMaker
from medjury.report._sections import (
    adaptive,
    agreement,
    answering,
    attributes,
    calibration,
    cases,
    claims,
    classes,
    closed_loop,
    confusion,
    cost,
    coverage,
    cut_texts,
    deliberations,
    differences,
    dimensions,
    distributions,
    errors,
    methods,
    preference,
    ranking,
    raters,
    repeats,
    scatter,
    second_panel,
    self_preference,
    severe,
    stability,
    strategies,
    study,
    text_metrics,
    triage,
    tripod,
    verdict,
)
from medjury.statistics import counted, moment
from medjury.validation import Evidence, validation_of

SECTIONS: tuple[SectionMaker, ...] = (
    verdict.section,
    study.section,
    answering.section,
    coverage.section,
    cut_texts.section,
    distributions.section,
    agreement.section,
    attributes.section,
    classes.section,
    scatter.section,
    confusion.section,
    differences.section,
    severe.section,
    second_panel.section,
    stability.section,
    repeats.section,
    calibration.section,
    dimensions.section,
    raters.section,
    text_metrics.section,
    strategies.section,
    claims.section,
    deliberations.section,
    adaptive.section,
    preference.section,
    closed_loop.section,
    ranking.section,
    self_preference.section,
    errors.section,
    triage.section,
    cost.section,
    cases.section,
    methods.section,
    tripod.section,
)
# What weights clinicians' ratings by the probability of their answers, or shows single answers, or none of theirs.
_WEIGHTED = (
    verdict.section,
    study.section,
    answering.section,
    coverage.section,
    cut_texts.section,
    agreement.section,
    severe.section,
    cost.section,
    cases.section,
    methods.section,
)


def compose(evidence: Evidence, exhibits: Exhibits) -> str:
    """The page as text; `exhibits` collects its figures and tables."""
    material = Material(evidence, validation_of(evidence), exhibits)
    exhibits.speak = material.about
    weighted = evidence.table.weighted
    makers = [make for make in SECTIONS if not weighted or make in _WEIGHTED]
    sections = [section for make in makers if (section := make(material)) is not None]
    if weighted:
        sections.insert(1, _drawn(evidence))
    manifest = evidence.manifest
    study_name, instrument = manifest.study, manifest.instrument
    parts = (
        counted(manifest.cases, "answer"),
        f"instrument {instrument.name or 'not known'} {instrument.version}".strip(),
        counted(len(evidence.table.judges), "judge"),
        counted(len(evidence.clinicians), "clinician"),
        "no run"
        if evidence.table.manifest is None
        else f"run finished {moment(manifest.finished_at or 'never')}",
    )
    subtitle = " · ".join(parts)
    links = [element("li", element("a", each.title, href=f"#{each.id}")) for each in sections]
    first, rest = sections[0], sections[1:]
    main = (
        element("header", element("h1", study_name), element("p", subtitle, class_="soft"))
        + _whole(first)
        + element("nav", element("ul", *links[1:]), aria_label="Sections of this report")
        + "".join(_whole(each) for each in rest)
    )
    return document(f"Medjury: {study_name}", element("main", Html(main)))


def _drawn(evidence: Evidence) -> Section:
    """What a reader must know of a review whose answers were drawn with unequal probabilities."""
    said = " ".join(
        f"The answers that {name} rated were drawn with probabilities from {least:.3g} to {most:.3g}."
        for name, (least, most) in evidence.table.unequal.items()
    )
    meant = (
        "Agreement, severe errors and the verdict weight every rating by one over its probability, so that they "
        "hold for all answers and not for those that were looked at. Counts are of ratings as they are. Figures "
        "and tables that do not weight would mislead and are left out of this report."
    )
    return Section("drawn", "How the answers were drawn for review", Html(paragraph(said) + paragraph(meant)))


def _whole(section: Section) -> Html:
    return element("section", element("h2", section.title, id=f"{section.id}-title"), section.body, id=section.id,
                   aria_labelledby=f"{section.id}-title")  # fmt: skip
