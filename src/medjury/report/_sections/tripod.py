"""The TRIPOD-LLM checklist, filled from the manifest where it can be; what only people know is named as open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from medjury.report._html import Cell, Html, element, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import counted
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
        f"{len(rows) - left} of {len(rows)} topics are filled from the manifest, {left} are left to the "
        "authors. Wording and "
        "subitems are the guideline's own: check them there before submission."
    )
    body = element("details", element("summary", "Show the checklist"), table)
    return Section("tripod", "TRIPOD-LLM checklist", Html(paragraph(lead) + body))


def checklist(evidence: Evidence) -> list[tuple[str, str, str]]:
    """Item, topic, and what the manifest says about it; empty where only people know."""
    manifest = evidence.manifest
    instrument, jury = manifest.get("instrument", {}), manifest.get("jury", {})
    covered, humans = manifest.get("coverage", {}), manifest.get("humans") or {}
    models = ", ".join(
        f"{model.get('model') or model.get('name')} ({model.get('vendor', 'vendor not known')})"
        for judge in manifest.get("judges", ())
        for model in judge.get("models", ())
    )
    annotators = ""
    if evidence.clinicians:
        annotators = f"{len(evidence.clinicians)} clinicians rated with the same instrument as the judges"
        annotators += "; their ratings are illustrative" if humans.get("illustrative") else ""
    missing = ", ".join(
        f"{count:,} {reason}" for reason, count in covered.get("unscored_by_reason", {}).items()
    )
    return [
        ("1", "title: that a language model is evaluated, the task, the setting", ""),
        ("2", "abstract", ""),
        ("3", "background: the clinical need and what is known", ""),
        (
            "4",
            "objectives",
            f"study {manifest.get('study', '')!r}: grade answers on "
            f"{', '.join(each.label for each in evidence.gated)}",
        ),
        (
            "5",
            "data: source, dates, selection",
            f"{manifest.get('cases', 0):,} answers, hash "
            f"{str(manifest.get('data_hash', ''))[:12]}; source and dates are open",
        ),
        (
            "5",
            "data: preparation and missing data",
            f"{manifest.get('cases_skipped', 0):,} rows could not "
            f"be read; redacted before judging: {'yes' if manifest.get('redacted') else 'no'}",
        ),
        ("6", "analytical methods: models, versions, settings", models),
        (
            "6",
            "analytical methods: inference settings and seeds",
            "; ".join(
                f"{judge.get('name')}: "
                f"temperature {judge.get('temperature', 'not stated')}, seed {judge.get('seed', 'not stated')}"
                for judge in manifest.get("judges", ())
            ),
        ),
        (
            "6",
            "analytical methods: statistics",
            "see Methods: coefficients, intervals, margin and gate, stated before the run"
            if (manifest.get("gate") or {}).get("stated_at")
            else "see Methods",
        ),
        (
            "7",
            "output: what the model gives and how it is scored",
            f"instrument {instrument.get('name')} "
            f"{instrument.get('version', '')}, combined by {jury.get('rule', 'mean')}, "
            f"{counted(int(jury.get('repeats', 1)), 'repeat')}",
        ),
        ("8", "annotation: who, how many, by which instructions", annotators),
        ("8", "annotation: training and background of the annotators", ""),
        (
            "9",
            "prompting",
            f"prompt version {manifest.get('prompt_version')}, instrument fingerprint "
            f"{str(instrument.get('fingerprint', ''))[:12]}"
            if manifest.get("prompt_version")
            else "",
        ),
        (
            "10",
            "summarisation: preparation of texts",
            _texts_given(manifest),
        ),
        (
            "11",
            "instruction tuning and alignment",
            "no model was tuned in this run"
            if not evidence.rules.development_cases
            else f"{len(evidence.rules.development_cases):,} development cases are named and left out of "
            "the gate",
        ),
        (
            "12",
            "compute",
            f"{manifest.get('calls', 0):,} calls, machine "
            f"{manifest.get('machine', 'not known')}, cost "
            f"{manifest.get('cost') if manifest.get('cost') is not None else 'not known'} "
            f"{manifest.get('prices', {}).get('currency', '')}",
        ),
        ("13", "ethics approval", ""),
        ("14", "open science: funding, conflicts, protocol, registration", ""),
        (
            "14",
            "open science: data and code",
            f"medjury {manifest.get('medjury', '')}, run {manifest.get('run', '')}; sharing of data is open",
        ),
        ("15", "patient and public involvement", ""),
        (
            "16",
            "participants and cases: numbers and flow",
            f"{covered.get('scored', 0):,} of "
            f"{covered.get('ratings', 0):,} ratings scored" + (f"; unscored: {missing}" if missing else ""),
        ),
        (
            "17",
            "performance with intervals, and by group",
            "see Agreement and Severe errors" if evidence.clinicians else "",
        ),
        ("18", "updating of the model", ""),
        ("19", "discussion: interpretation, limitations, use in practice", ""),
    ]


def _texts_given(manifest: Mapping[str, Any]) -> str:
    shortened = manifest.get("coverage", {}).get("shortened", {})
    if not shortened:
        return "texts were given to the judges whole, as the cases hold them"
    told = "; ".join(
        f"{rater}: {each['units']:,} answers on a shortened record, {each['characters']:,} characters left out"
        for rater, each in shortened.items()
    )
    return f"texts too long for a model were shortened by the study's rule ({told}), the rest given whole"
