"""What was judged, by whom, on what; and what was done, for a paper: the methods paragraph."""

from __future__ import annotations

from medjury.analysis.audits import corpus
from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import not_known_text
from medjury.report._html import Cell, Html, bullets, definitions, element, joined, paragraph
from medjury.report._material import Material, Section
from medjury.statistics import counted, moment, percent, shown
from medjury.store.runs import (
    Manifest,
    ManifestHumans,
    ManifestJury,
    ManifestModel,
    ManifestReread,
    from_files_words,
)
from medjury.tables import RatingTable, case_column
from medjury.validation import Evidence

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


# Patients or cases: it depends on the run.
_WHOLE = "whole clusters resampled"
_CITATIONS = (
    (
        "weighted kappa",
        "κ = 1 − Σ w·observed / Σ w·expected, w = (i − j)², over the full scale",
        "Cohen (1968) Psychol Bull 70:213-220",
    ),
    (
        "ICC(2,1)",
        "two-way random effects, absolute agreement, single rater",
        "Shrout & Fleiss (1979) Psychol Bull 86:420-428",
    ),
    (
        "Krippendorff's alpha",
        "α = 1 − observed / expected disagreement, ordinal metric",
        "Hayes & Krippendorff (2007) Commun Methods Meas 1:77-89",
    ),
    (
        "Gwet's AC2",
        "chance agreement from the mean share of each grade, quadratic weights",
        "Gwet (2014) Handbook of Inter-Rater Reliability",
    ),
    ("Spearman's rho", "Pearson's correlation of mid-ranks", "Spearman (1904) Am J Psychol 15:72-101"),
    (
        "offset, limits of agreement",
        "mean difference ± 1.96 SD of differences",
        "Bland & Altman (1986) Lancet 327:307-310",
    ),
    (
        "bootstrap interval",
        f"bias-corrected and accelerated at Student's quantiles, never narrower than the jackknife's, {_WHOLE}",
        "Efron (1987) J Am Stat Assoc 82:171-185; Hesterberg (2015) Am Stat 69:371-386",
    ),
    (
        "interval of a rate",
        "exact binomial, for as many answers as those of one case or patient are worth together; for severe errors "
        "the upper end, and Jeffreys' lower end",
        "Clopper & Pearson (1934) Biometrika 26:404-413; Korn & Graubard (1998) Surv Methodol 24:193-201; "
        "Brown, Cai & DasGupta (2001) Stat Sci 16:101-133",
    ),
    (
        "tie groups of a ranking",
        "single-step maximum over all pairs; compact letters",
        "Romano & Wolf (2005) JASA 100:94-108; Piepho (2004) J Comput Graph Stat 13:456-466",
    ),
    (
        "calibration",
        "isotonic regression, cross-fitted in folds of whole cases",
        "Barlow et al. (1972) Statistical Inference under Order Restrictions",
    ),
)


def methods(material: Material) -> Section:
    """The methods paragraph: what was done, with seeds, versions, formulas and citations, ready for a paper."""
    evidence, manifest = material.evidence, material.evidence.manifest
    packages = (f"{name} {version}" for name, version in manifest.packages.items())
    facts = [
        ("medjury", manifest.medjury),
        ("run", manifest.run),
        ("started, finished", f"{moment(manifest.started_at or '–')}, {moment(manifest.finished_at or '–')}"),
        ("Python and packages", ", ".join([f"Python {manifest.python or '–'}", *packages])),
        ("hash of the study file", manifest.study_file_hash),
        *([("set in place of the study file", "; ".join(manifest.overrides))] if manifest.overrides else []),
        ("hash of the data", manifest.data_hash),
        ("instrument fingerprint", manifest.instrument.fingerprint),
        ("prompt version", manifest.prompt_version),
        (
            "seed and resamples of the intervals",
            f"{evidence.table.seed(None)}, {evidence.table.resamples(None):,}",
        ),
        ("hosts allowed", ", ".join(manifest.allow_hosts) or "none: everything stayed on this machine"),
        ("redacted before judging", _redacted(manifest)),
    ]
    listed = definitions((name, value or "–") for name, value in facts)
    whole = f"whole {resampled_units(evidence)} resampled"
    rows: list[dict[str, Cell]] = [
        {
            "statistic": name,
            "formula": formula.replace(_WHOLE, whole),
            "reference": source,
        }
        for name, formula, source in _CITATIONS
    ]
    table = material.exhibits.table("methods", rows, caption="What the numbers are")
    return Section(
        "methods",
        "Methods",
        Html(paragraph(_paragraph(material)) + _judges(material) + table + listed),
    )


def resampled_units(evidence: Evidence) -> str:
    """What is drawn again and again: patients, where some have several cases."""
    return "patients" if evidence.table.rows.height and evidence.table.by_patient else "cases"


def _redacted(manifest: Manifest) -> str:
    not_known = not_known_text(manifest.redaction_not_known)
    return f"{shown(manifest.redacted)}{', but ' if not_known else ''}{not_known}"


def _paragraph(material: Material) -> str:
    evidence = material.evidence
    manifest, rules, table = evidence.manifest, evidence.rules, evidence.table
    instrument, jury = manifest.instrument, manifest.jury
    humans = counted(len(evidence.clinicians), "clinician") if evidence.clinicians else "no clinician"
    named = (
        f"the instrument {instrument.name} {instrument.version}" if instrument.name else "no known instrument"
    )
    text = (
        f"{material.judged}{',' if table.pairs else ''} were graded with {named} by "
        f"{counted(len(table.judges), 'judge' if manifest.from_files else 'language-model judge')}, "
        f"{counted(jury.repeats, 'repeat')} each, "
    )
    if len(table.judges) > 1:
        text += f"whose votes were {manifest.voting_words()}, "
    text += (
        f"and by {humans}. A call that failed, was refused or could not be read was kept as missing with its "
        "reason and never given a score. "
    )
    text += "".join(f"{each} " for each in from_files_words(manifest.judges))
    if evidence.clinicians and manifest.humans is not None:
        text += f"Of the clinicians: {manifest.humans.blinding}. "
    if len(evidence.clinicians) > 1 and table.people.consensus != "mean":
        text += f"The reference is {evidence.reference_words}. "
    if table.people.second_panel:
        members = counted(len(table.people.second_panel), "clinician")
        text += (
            f"A second panel of {members} rated the same answers; it was "
            "compared with the reference like the judges, and is not part of it. "
        )
    if evidence.clinicians:
        units = resampled_units(evidence)
        if table.left_aside:
            text += f"{counted(table.left_aside, 'case')} used for development were left out of all numbers. "
        text += (
            "Agreement was computed on held-out cases over the full scale of the instrument; "
            f"{percent(evidence.confidence)} intervals are bias-corrected and accelerated bootstrap intervals "
            "at Student's quantiles, never narrower than the jackknife's "
            f"({table.resamples(None):,} resamples of whole {units}, seed {table.seed(None)}); coefficients that "
            "count matches or ranks of grades have the jackknife's alone, and shares of independent answers "
            "Wilson's. Scores between grades were rounded half up where grades are counted. The jury's agreement "
            "with single clinicians was "
            "compared with the clinicians' own on the same cases and the same resamples, with a non-inferiority "
            f"margin of {rules.margin:g}. A severe error is an answer that clinicians placed in the worst "
            f"{percent(rules.danger)} of the scale and the jury at least {percent(rules.gap)} of the scale kinder. "
        )
        if len(table.judges) > 1:
            text += (
                "Ways of judging were compared on the answers that clinicians and every rater had scored, by the "
                f"mean over dimensions of the same statistic; differences come from the same resamples of {units}. "
            )
    return f"{text}Analyses were made with Medjury {manifest.medjury}."


def _judges(material: Material) -> Html:
    rows: list[dict[str, Cell]] = [
        {
            "judge": judge.name,
            "endpoint": model.kind or "–",
            "model": model.title,
            "vendor": model.vendor or "–",
            "host": model.host or _where(model),
            "temperature": str(judge.others.get("temperature", "–")),
            "seed": str(judge.others.get("seed", "–")),
            "settings": judge.settings_hash[:12] or "–",
        }
        for judge in material.evidence.manifest.judges
        for model in judge.models
    ]
    table = material.exhibits.table(
        "judges",
        rows,
        caption="The judges",
    )
    # Every score of such a file is accounted for here, and by its hash the file can be found.
    files = [f"{each.text()}. SHA-256 {each.hash}" for each in material.evidence.manifest.scores]
    return Html(table + (paragraph("Files of scores") + bullets(files) if files else ""))


def _where(model: ManifestModel) -> str:
    if model.scores is not None:
        return "a file of scores, of unknown making"
    return "recorded answers" if model.recorded else "this machine"
