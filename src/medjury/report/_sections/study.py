"""What was judged, by whom, on what."""

from __future__ import annotations

from medjury.analysis.audits import corpus
from medjury.foundation.errors import MedjuryError
from medjury.report._html import Cell, Html, bullets, definitions, element, joined, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import counted, moment, shown
from medjury.store.runs import ManifestHumans, ManifestJury, ManifestReread
from medjury.tables import RatingTable, case_column

# The corpus table: which answers, of what kind, how long, and whether development and held-out ones differ.

_MOST = 6
ALTERED = "The run folder is not as the run wrote it. Nothing below can be relied on."


def corpus_table(material: Material) -> Html:
    table = material.evidence.table
    try:
        found = corpus(table)
    except MedjuryError:
        return Html("")
    groups = found.groups
    lines = found.shown_rows()
    if len(lines) < 2 and len(groups) < 2:
        return Html("")  # the number of answers alone is stated above
    tested = any(line["p"] for line in lines)
    columns = (*groups, *(("p", "test") if tested else ()))
    rows: list[dict[str, Cell]] = [
        {
            "characteristic": str(line["characteristic"]) + (f": {line['level']}" if line["level"] else ""),
            **{name: line[name] for name in columns},
        }
        for line in lines
    ]
    made = material.exhibits.table(
        "corpus",
        rows,
        caption="What was rated: counts (share) and median (quartiles)"
        + (", with χ² for counts and Welch's t, or F, for numbers" if tested else ""),
        folded=len(rows) > 20 or len(groups) > _MOST,
        shown=80,
    )
    own = [each for each in found.warnings if each not in table.warnings and tested]
    return Html(element("h3", "The corpus") + made + bullets(own))


_CHANGED = ("changed", "gained", "lost", "reason", "added")


def study(material: Material) -> Section:
    evidence, manifest, table = material.evidence, material.evidence.manifest, material.evidence.table
    instrument, humans = manifest.instrument, manifest.humans or ManifestHumans()
    items = int(table.everything[case_column(table.everything)].n_unique())
    facts = [
        ("Cases", f"{material.judged}, {items:,} different cases"),
        ("Cases left out", f"{manifest.cases_skipped:,} could not be read"),
        ("Systems", ", ".join(table.systems[:12]) + _more(len(table.systems) - 12) or "not named"),
        ("Instrument", f"{instrument.name or 'not known'} {instrument.version}".strip()),
        ("Dimensions", ", ".join(each.label for each in table.dimensions)),
        ("Judges", ", ".join(table.judges) or "none"),
        *_juries(material),
        ("Clinicians", _clinicians(evidence.clinicians, humans)),
        *_roles(table, humans),
    ]
    facts += [("Clinicians' ratings left out", shown(humans.left_out))] if humans.left_out else []
    facts += [("Read again", _read_again(manifest.reread))] if manifest.reread else []
    lacking = manifest.cases_lacking_input
    notes = [*table.notes, *table.warnings, *humans.warnings]
    notes += [f"{lacking:,} cases lack an input that the instrument names"] if lacking else []
    return Section(
        "study",
        "The study and its cases",
        Html(
            definitions(facts)
            + corpus_table(material)
            + _registration(material)
            + _integrity(material)
            + bullets(notes)
        ),
    )


def _registration(material: Material) -> Html:
    """Every protocol for these cases, the first first; what was erased of them; and the line to check it by."""
    stand, protocol = material.evidence.standing, material.evidence.manifest.protocol
    if not (stand.others or stand.erasures or stand.anchor):
        return Html("")
    own = () if protocol is None else (protocol.listed(),)
    every = sorted([*own, *stand.others], key=lambda each: (not each.line, each.line, each.registered_at))
    rows: list[dict[str, Cell]] = [
        {
            "line": str(each.line or "–"),
            "registered": moment(each.registered_at),
            "protocol": each.hash[:16],
            "study": each.study or "–",
            "answers": each.cases or None,
            "": "this run" if each in own else "the first: its rules count" if each is every[0] else "",
        }
        for each in every
    ]
    table = material.exhibits.table(
        "protocols",
        rows,
        caption="Every protocol that was registered for these cases, or for some of them",
    )
    erased = [
        paragraph(
            f"{moment(each.at)}: {counted(each.cases, 'registered answer')} erased (line {each.line:,})."
        )
        for each in stand.erasures
    ]
    if not stand.anchor:
        return joined([table, *erased])
    line = element("p", element("code", stand.anchor))
    return joined(
        [table, *erased, paragraph("The line of the registration, to compare with the published one:"), line]
    )


def _integrity(material: Material) -> Html:
    checks = material.evidence.checks
    rows: list[dict[str, Cell]] = [
        {
            "file": check.what,
            "state": "sound" if check.sound else "NOT SOUND",
            "detail": check.detail,
        }
        for check in checks
    ]
    table = material.exhibits.table("folder", rows, caption="The run folder, checked against its manifest")
    if all(check.sound for check in checks):
        return table
    return Html(paragraph(ALTERED, class_="note") + table)


def _read_again(reread: ManifestReread) -> str:
    source = reread.source
    same = sum(int(row.get("same", 0)) for row in reread.changes)
    gone = sum(int(row.get("removed", 0)) for row in reread.changes)
    rows = [count for row in reread.changes for name, count in row.items() if name in _CHANGED]
    when, version = source.finished_at[:10] or "an unknown day", source.medjury or "of an unknown version"
    return (
        f"The stored replies of the run {source.run!r} (of {when}, read by Medjury {version}) were read again; "
        f"no model was asked. {same:,} ratings are as they were, {sum(map(int, rows)):,} changed, "
        f"{gone:,} are in the earlier run only."
    )


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _juries(material: Material) -> list[tuple[str, str]]:
    manifest, table = material.evidence.manifest, material.evidence.table
    if not table.juries and len(table.judges) > 1:
        return [("Jury", "none: each judge is judged by itself")]
    if len(manifest.all_juries) < 2:
        return [("Jury", _jury(len(manifest.jury.members or table.judges), manifest.jury))]
    return [
        (f"Jury {each.name}", f"{_jury(len(each.members), each)}: {', '.join(each.members)}")
        for each in manifest.all_juries
    ]


def _roles(table: RatingTable, humans: ManifestHumans) -> list[tuple[str, str]]:
    """Who is who among the clinicians, as far as the study states it."""
    text = []
    if table.people.second_panel:
        name = f"{humans.second_panel.name}: " if humans.second_panel is not None else ""
        members = ", ".join(table.people.second_panel)
        text.append(("Second panel", f"{name}{members}; compared with the reference, and not part of it"))
    if table.people.consensus != "mean":
        settles = f" by {table.people.adjudicator}" if table.people.adjudicator else ""
        text.append(("Consensus", f"{table.people.consensus}{settles}"))
    named = {*table.default_reference, *table.people.second_panel, table.people.adjudicator}
    if idle := [name for name in table.clinicians if name not in named]:
        text.append(("Clinicians without a part", ", ".join(idle)))
    if humans.labels:
        text.append(("Labels", ", ".join(sorted(humans.labels))))
    return text


def _jury(judges: int, jury: ManifestJury) -> str:
    if judges == 1:
        return "one judge, no jury"
    quorum = (
        f", where {jury.quorum} or more gave a score"
        if jury.quorum
        else ", where more than half gave a score"
    )
    return f"{jury.rule} of {judges} judges, {counted(jury.repeats, 'repeat')} each{quorum}"


def _clinicians(names: tuple[str, ...], humans: ManifestHumans) -> str:
    if not names:
        return "none: how far the scores agree with clinicians cannot be known from this run"
    text = ", ".join(names[:12]) + _more(len(names) - 12)
    text += " (illustrative: made up for a demonstration)" if humans.illustrative else ""
    return f"{text}; {humans.blinding}"
