"""The TRIPOD-LLM checklist, filled from the manifest where it can be; what only people know is named as open."""

from __future__ import annotations

from medjury.report._html import Cell, Html, element, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import counted, moment, shown
from medjury.store.runs import Coverage, voting_words
from medjury.validation import Evidence

OPEN = "OPEN: for the authors"


def section(material: Material) -> Section:
    rows: list[tuple[Cell, ...]] = [
        (item, topic, text if text else OPEN, "filled" if text else "open")
        for item, topic, text in checklist(material.evidence)
    ]
    left = sum(1 for row in rows if row[3] == "open")
    table = material.exhibits.table(
        "tripod-llm",
        ("item", "topic", "what this run can say", "state"),
        rows,
        caption="The 19 items of TRIPOD-LLM (Gallifant et al. (2025) Nat Med 31:60-69), by topic",
    )
    lead = (
        f"{len(rows) - left} of {len(rows)} topics are filled from the manifest, {left} are left to the authors. "
        "Wording and subitems are the guideline's own: check them there before submission."
    )
    body = element("details", element("summary", "Show the checklist"), table)
    return Section("tripod", "TRIPOD-LLM checklist", Html(paragraph(lead) + body))


def checklist(evidence: Evidence) -> list[tuple[str, str, str]]:
    """Item, topic, and what the manifest says about it; empty where only people know."""
    manifest = evidence.manifest
    instrument, jury, covered = manifest.instrument, manifest.jury, manifest.coverage
    models = ", ".join(
        f"{model.title} ({model.vendor or 'vendor not known'})"
        for judge in manifest.judges
        for model in judge.models
    )
    annotators = ""
    if evidence.clinicians:
        annotators = f"{len(evidence.clinicians)} clinicians rated with the same instrument as the judges"
        if evidence.table.second_panel:
            annotators += f", and {len(evidence.table.second_panel)} more as a second panel"
        illustrative = manifest.humans is not None and manifest.humans.illustrative
        annotators += "; their ratings are illustrative" if illustrative else ""
    stated = manifest.humans is not None and manifest.humans.blinded is not None
    blinding = manifest.humans.blinding if manifest.humans is not None and stated else ""
    background = "see Who agrees with whom, tables/raters.csv" if evidence.table.profiles else ""
    missing = ", ".join(f"{count:,} {reason}" for reason, count in covered.unscored_by_reason.items())
    cost = "not known" if manifest.cost is None else f"{shown(manifest.cost)} {manifest.prices.currency}"
    return [
        ("1", "title: that a language model is evaluated, the task, the setting", ""),
        ("2", "abstract", ""),
        ("3", "background: the clinical need and what is known", ""),
        (
            "4",
            "objectives",
            f"study {manifest.study!r}: grade answers on "
            f"{', '.join(each.label for each in evidence.table.counted)}",
        ),
        (
            "5",
            "data: number and identity",
            f"{manifest.cases:,} answers, hash {manifest.data_hash[:12]}",
        ),
        ("5", "data: source, dates, selection", ""),
        (
            "5",
            "data: preparation and missing data",
            f"{manifest.cases_skipped:,} rows could not be read; redacted before judging: "
            f"{shown(manifest.redacted)}",
        ),
        ("6", "analytical methods: models, versions, settings", models),
        (
            "6",
            "analytical methods: inference settings and seeds",
            "; ".join(
                f"{judge.name}: temperature {judge.others.get('temperature', 'not stated')}, "
                f"seed {judge.others.get('seed', 'not stated')}"
                for judge in manifest.judges
            ),
        ),
        (
            "6",
            "analytical methods: statistics",
            f"see Methods; margin and gate were registered {moment(manifest.protocol.registered_at)}"
            if manifest.protocol
            else "see Methods; the rules of the gate were not registered",
        ),
        (
            "7",
            "output: what the model gives and how it is scored",
            f"instrument {instrument.name} {instrument.version}, {voting_words(manifest)}, "
            f"{counted(jury.repeats, 'repeat')}",
        ),
        ("8", "annotation: who, how many, by which instructions", annotators),
        ("8", "annotation: were the annotators blind to the judges' scores?", blinding),
        ("8", "annotation: training and background of the annotators", background),
        (
            "9",
            "prompting",
            f"prompt version {manifest.prompt_version}, instrument fingerprint {instrument.fingerprint[:12]}"
            if manifest.prompt_version
            else "",
        ),
        (
            "10",
            "summarisation: preparation of texts",
            _texts_given(covered),
        ),
        (
            "11",
            "instruction tuning and alignment",
            "no model was tuned in this run"
            if not evidence.rules.development_cases
            else f"{len(evidence.rules.development_cases):,} development cases are named and left out of all "
            "numbers",
        ),
        (
            "12",
            "compute",
            f"{manifest.calls:,} calls, machine {manifest.machine or 'not known'}, cost {cost}",
        ),
        ("13", "ethics approval", ""),
        ("14", "open science: funding, conflicts, protocol, registration", ""),
        (
            "14",
            "open science: code",
            f"medjury {manifest.medjury}, run {manifest.run}",
        ),
        ("14", "open science: sharing of data", ""),
        ("15", "patient and public involvement", ""),
        (
            "16",
            "participants and cases: numbers and flow",
            f"{covered.scored:,} of {covered.ratings:,} ratings scored"
            + (f"; unscored: {missing}" if missing else ""),
        ),
        (
            "17",
            "performance with intervals, and by group",
            "see Agreement and Severe errors" if evidence.clinicians else "",
        ),
        ("18", "updating of the model", ""),
        ("19", "discussion: interpretation, limitations, use in practice", ""),
    ]


def _texts_given(covered: Coverage) -> str:
    shortened = covered.shortened
    if not shortened:
        return "texts were given to the judges whole, as the cases hold them"
    told = "; ".join(
        f"{rater}: {each.units:,} answers on a shortened record, {each.characters:,} characters left out"
        for rater, each in shortened.items()
    )
    return f"texts too long for a model were shortened by the study's rule ({told}), the rest given whole"
