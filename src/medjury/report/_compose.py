"""The whole page in layers: a first page for those who decide, then the evidence, then the appendix, folded."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from medjury.report._exhibits import Exhibits
from medjury.report._html import Html, element, joined, paragraph, text
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
    gate,
    injection,
    jury_worth,
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
from medjury.store.runs import Manifest
from medjury.validation import Evidence, Validation, validation_of

# A whole page: its head, its style and its script inside it, and a policy that lets it load nothing.

# Whatever a text may hold, the page loads nothing and talks to nobody.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)


def document(title: str, main: Html, *, style: str = "", script: str | None = None) -> str:
    """The page that shows `main`. `style` is added to that of every page; `script` stands in place of the one that
    sorts tables."""
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{text(_POLICY)}">'
        f"<title>{text(title)}</title><style>{_own('page.css')}{style}</style></head>"
    )
    return (
        f"{head}<body>{main}<script>{_own('sort.js') if script is None else script}</script></body></html>\n"
    )


def _own(name: str) -> str:
    return files("medjury.report").joinpath(name).read_text(encoding="utf-8")


# What a reader needs who doubts the first page, in the order in which doubts come up.
Step = Callable[[int, int, str], None]
EVIDENCE: tuple[SectionMaker, ...] = (
    gate.section,
    study.section,
    answering.section,
    coverage.section,
    cut_texts.section,
    agreement.section,
    jury_worth.section,
    injection.section,
    severe.section,
    second_panel.section,
    calibration.section,
    strategies.section,
    claims.section,
    deliberations.section,
    adaptive.section,
    preference.section,
    closed_loop.section,
    ranking.section,
    triage.section,
    cost.section,
    cases.section,
)
# Folded: for those who write about the study, or check it.
APPENDIX: tuple[SectionMaker, ...] = (
    distributions.section,
    attributes.section,
    classes.section,
    scatter.section,
    confusion.section,
    differences.section,
    stability.section,
    repeats.section,
    dimensions.section,
    raters.section,
    text_metrics.section,
    self_preference.section,
    errors.section,
    methods.section,
    tripod.section,
)
# What weights clinicians' ratings by the probability of their answers, or shows single answers, or none of theirs.
_WEIGHTED = (
    gate.section,
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


def compose(
    evidence: Evidence, exhibits: Exhibits, step: Step | None = None, validation: Validation | None = None
) -> str:
    """The page as text; `exhibits` collects its figures and tables. `step` is told of each section before it is
    made: how many are done, of how many, and which is next. `validation` is what `validation_of(evidence)` found,
    where it has been asked already."""
    material = Material(evidence, validation or validation_of(evidence), exhibits)
    exhibits.speak = material.about
    first = verdict.section(material)
    evidences, appendix = _made(material, EVIDENCE, 0, step), _made(material, APPENDIX, len(EVIDENCE), step)
    if evidence.table.weighted:
        evidences.insert(0, _drawn(evidence))
    manifest = evidence.manifest
    study_name, instrument = manifest.study, manifest.instrument
    parts = (
        counted(manifest.cases, "answer"),
        f"instrument {instrument.name or 'not known'} {instrument.version}".strip(),
        counted(len(evidence.table.judges), "judge"),
        counted(len(evidence.clinicians), "clinician"),
        "no run" if evidence.table.manifest is None else _ended(manifest),
    )
    subtitle = " · ".join(parts)
    main = (
        element("header", element("h1", study_name), element("p", subtitle, class_="soft"))
        + _whole(first)
        + element(
            "nav",
            _links("The evidence", evidences),
            _links("Appendix", appendix),
            aria_label="Sections of this report",
        )
        + element("h2", "The evidence", class_="layer")
        + joined(_whole(each) for each in evidences)
        + element("h2", "Appendix", class_="layer")
        + paragraph("Press a title to unfold it. On paper everything is unfolded.", class_="soft screen")
        + joined(_folded(each) for each in appendix)
    )
    return document(f"Medjury: {study_name}", element("main", Html(main)))


def _ended(manifest: Manifest) -> str:
    if not manifest.finished_at:
        return "run not finished"
    ended = {"complete": "finished", "failed": "failed"}.get(manifest.status, "stopped")
    return f"run {ended} {moment(manifest.finished_at)}"


def _made(
    material: Material, makers: tuple[SectionMaker, ...], before: int, step: Step | None
) -> list[Section]:
    weighted = material.evidence.table.weighted
    made = []
    for place, make in enumerate(makers):
        if weighted and make not in _WEIGHTED:
            continue
        if step is not None:
            name = make.__module__.rpartition(".")[2].replace("_", " ")
            step(before + place, len(EVIDENCE) + len(APPENDIX), name)
        if (section := make(material)) is not None:
            made.append(section)
    return made


def _links(title: str, sections: list[Section]) -> Html:
    links = [element("li", element("a", each.title, href=f"#{each.id}")) for each in sections]
    return joined([paragraph(title), element("ul", *links)])


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


def _folded(section: Section) -> Html:
    """A link to the section opens it: browsers unfold whatever holds the place that a link leads to."""
    title = element("summary", element("h2", section.title, id=f"{section.id}-title"))
    inside = element("section", section.body, id=section.id, aria_labelledby=f"{section.id}-title")
    return element("details", title, inside, class_="appendix")
