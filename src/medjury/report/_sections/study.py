"""What was judged, by whom, on what."""

from __future__ import annotations

from medjury.report._html import Cell, Html, bullets, element, joined, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import counted, shown


def section(material: Material) -> Section:
    evidence, manifest = material.evidence, material.evidence.manifest
    instrument, jury = manifest.get("instrument", {}), manifest.get("jury", {})
    humans = manifest.get("humans") or {}
    facts = [
        ("Cases", f"{manifest.get('cases', 0):,} answers, {_items(material):,} different cases"),
        ("Cases left out", f"{manifest.get('cases_skipped', 0):,} could not be read"),
        ("Systems", ", ".join(evidence.systems[:12]) + _more(len(evidence.systems) - 12) or "not named"),
        ("Instrument", f"{instrument.get('name', 'not known')} {instrument.get('version', '')}".strip()),
        ("Dimensions", ", ".join(each.label for each in evidence.dimensions)),
        ("Judges", ", ".join(evidence.judges) or "none"),
        ("Jury", _jury(material, jury)),
        ("Clinicians", _clinicians(material, humans)),
    ]
    facts += (
        [("Clinicians' ratings left out", shown(int(humans["left_out"])))] if humans.get("left_out") else []
    )
    body = joined(element("dt", name) + element("dd", value) for name, value in facts)
    lacking = manifest.get("cases_lacking_input") or {}
    notes = [*evidence.warnings, *humans.get("warnings", ())]
    notes += (
        [f"{count:,} cases lack the input {name!r}" for name, count in dict(lacking).items()]
        if isinstance(lacking, dict)
        else []
    )
    return Section(
        "study",
        "The study and its cases",
        Html(element("dl", Html(body)) + _integrity(material) + bullets(notes)),
    )


def _integrity(material: Material) -> Html:
    checks = material.evidence.checks
    if not checks:
        return Html("")
    rows: list[tuple[Cell, ...]] = [
        (check.what, "sound" if check.sound else "NOT SOUND", check.detail) for check in checks
    ]
    table = material.exhibits.table(
        "folder", ("file", "state", "detail"), rows, caption="The run folder, checked against its manifest"
    )
    if all(check.sound for check in checks):
        return table
    warning = paragraph(
        "The run folder is not as the run wrote it. Nothing below can be relied on.", class_="note"
    )
    return Html(warning + table)


def _items(material: Material) -> int:
    return int(material.evidence.ratings["item"].n_unique())


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _jury(material: Material, jury: dict[str, object]) -> str:
    count = len(material.evidence.judges)
    if count == 1:
        return "one judge, no jury"
    return (
        f"{jury.get('rule', 'mean')} of {count} judges, "
        f"{counted(int(str(jury.get('repeats', 1))), 'repeat')} each"
    )


def _clinicians(material: Material, humans: dict[str, object]) -> str:
    names = material.evidence.clinicians
    if not names:
        return "none: how far the scores agree with clinicians cannot be known from this run"
    text = ", ".join(names[:12]) + _more(len(names) - 12)
    return f"{text} (illustrative: made up for a demonstration)" if humans.get("illustrative") else text
