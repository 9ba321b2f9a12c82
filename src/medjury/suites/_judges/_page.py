"""The table of real judges for a reader: one page that opens from disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from medjury.report import (
    Html,
    bullets,
    definitions,
    document,
    element,
    joined,
    paragraph,
    section_html,
    sentence,
    table_html,
)
from medjury.statistics import Printable, counted, percent, shown
from medjury.suites._judges._entries import UNKNOWN, Entry
from medjury.suites._judges._files import FoundFile
from medjury.suites._judges._results import (
    ONE_HUMAN,
    JudgeRow,
    SourceResult,
    agreed,
    beside,
    missed,
)
from medjury.validation import MEANING, ORDER, STATISTICS, Rule

_TITLE = "Real judges on public data"
_STYLE = """
summary h4 { display: inline; margin: 0; font-size: 1rem; } .facts dd { overflow-wrap: anywhere; }
"""
_LINES = (
    ("agreement", "Agreement"), ("missed_danger", "Missed danger"), ("offset", "Offset"),
    ("within_case", "Order within a case"), ("within_system", "Order within a system"),
    ("consensus_danger", "Danger that all saw"), ("colleagues", "Clinicians' own agreement"),
)  # fmt: skip
# More rows than these are folded.
_FEW = 12
_SHARES = ("missed_danger", "consensus_danger")


def left_out(entry: Entry, data: Path) -> str:
    """What is not there, and how it would be."""
    hosts = sorted({part.address.split("/")[2] for part in entry.files if part.address})
    fetch = f", or fetch its files with --fetch {hosts[0]}" if hosts else ""
    return (
        f"Left out: {entry.part.title}. Put a checkout of {entry.part.repository} into "
        f"{data / entry.part.folders[0]}{fetch}."
    )


def page(sources: Sequence[SourceResult], absent: Sequence[Entry]) -> str:
    """The whole page; `absent` are the entries whose files are not there."""
    judges = sum(len(each.judges) for each in sources)
    words = [each.worst(judge).verdict.word for each in sources for judge in each.judges]
    counts = ", ".join(f"{words.count(word)} {word}" for word in ORDER if word in words)
    head = [
        element("h1", _TITLE),
        paragraph(
            f"{counted(len(sources), 'source')} · {counted(judges, 'verdict')}: {counts}", class_="soft"
        ),
        paragraph(
            "May a judge take a colleague's chair? Every judge is set beside the clinicians who graded the same "
            "answers by the colleague test, with the same limits for all. Public tables do not say whether rules "
            "were stated before the scores, so the best word here is AUXILIARY: to be used beside a clinician."
        ),
    ]
    sections = [("table", "The judges", _overview(sources))]
    sections += [(each.entry.part.name, each.entry.part.title, _source(each)) for each in sources]
    if absent:
        lines = bullets(left_out(each, Path("FOLDER")) for each in absent)
        sections.append(("left-out", "Left out", lines))
    sections.append(("reading", "How to read this page", _reading()))
    links = [element("li", element("a", title, href=f"#{name}")) for name, title, _ in sections]
    main = joined(
        [
            element("header", *head),
            element("nav", element("ul", *links), aria_label="Sections of this page"),
            *(section_html(*each) for each in sections),
        ]
    )
    return document(_TITLE, element("main", main), style=_STYLE)


def _word(word: str) -> Html:
    return element("span", word, class_=f"badge {word.lower().replace(' ', '-')}")


def _overview(sources: Sequence[SourceResult]) -> Html:
    rows: list[Sequence[Printable]] = []
    for each in sources:
        for judge in each.judges:
            row, most = each.worst(judge), each.most_missed(judge)
            rows.append(
                (
                    judge,
                    element("a", each.entry.part.title, href=f"#{each.entry.part.name}"),
                    each.answers,
                    row.verdict.doubly,
                    _word(row.verdict.word),
                    agreed(each, row),
                    missed(each, most),
                    each.entry.part.licence,
                )
            )
    head = (
        "judge",
        "source",
        "answers",
        "by two clinicians",
        "worst word",
        "agrees",
        "misses danger",
        "licence",
    )
    body = table_html(
        head, rows,
        caption="In brackets is a clinician's colleague on the same answers. Of each judge the dimension with the "
        "worst word (and there the least agreement), and the dimension on which it misses most danger",
    ) if rows else paragraph("No judge could be read.")  # fmt: skip
    lines = [
        joined([element("a", each.entry.part.title, href=f"#{each.entry.part.name}"), ": ",
                each.why_not or "no judge; the clinicians beside each other"])
        for each in sources
        if not each.judges
    ]  # fmt: skip
    return joined([body, bullets(lines)])


def _source(each: SourceResult) -> Html:
    part = each.entry.part
    parts: list[object] = [paragraph(part.about)]
    if each.why_not:
        parts.append(paragraph(each.why_not, class_="note"))
    if each.one_human and not each.why_not:
        parts.append(paragraph(ONE_HUMAN, class_="note"))
    parts += [paragraph(text, class_="note") for text in each.lacking]
    parts.append(_facts(each))
    if each.alone:
        parts += [paragraph(part.no_judge), bullets(alone_lines(each))]
    if each.rows:
        parts += [_verdicts(each), bullets(filter(None, map(_severe, each.rows)))]
        parts += [_judge(each, judge) for judge in each.judges]
        parts += [_worth(each), _calibration(each)]
    notes = [*part.notes, *(text for one in each.entry.added for text in one.notes)]
    if notes:
        parts += [element("h3", "What to know of these data"), bullets(map(sentence, notes))]
    if each.notes:
        read = element("summary", element("h4", "How the files were read"))
        parts.append(element("details", read, bullets(dict.fromkeys(each.notes))))
    return joined(parts)


def _place(file: FoundFile) -> str:
    """The file's name in the source, or the one under which it is there."""
    there, named = file.path and file.path.name, Path(file.part.name).name
    return file.part.name if there in (None, named) else str(there)


def _facts(each: SourceResult) -> Html:
    part = each.entry.part
    files = [
        joined([_place(file), ": ", f"sha256 {file.sha256 or 'none'}, {file.state}"]) for file in each.files
    ]
    danger = (
        part.danger.means if part.danger else "No danger is claimed: nothing is shown about missed danger."
    )
    scale = (
        f"as in the instrument {part.instrument}" if part.scale is None
        else f"{min(part.scale):g} to {max(part.scale):g}"
    )  # fmt: skip
    commit = part.commit if part.commit != UNKNOWN else "commit unknown"
    facts = [
        ("Source", joined([part.repository, " at ", commit, f". {part.citation}" if part.citation else ""])),
        (
            "Licence",
            part.licence if part.licence != UNKNOWN else "unknown: ask its authors before you publish more",
        ),
        ("Answers", f"{each.answers:,}, graded by {counted(each.clinicians, 'clinician')}"),
        ("Scale", scale),
        ("Danger", danger),
        ("Files", bullets(files)),
    ]
    facts += [
        ("Judges added", f"{one.title}: {one.about} {one.repository} at {one.commit}, {one.licence}")
        for one in each.entry.added
    ]
    return definitions(facts, class_="facts")


def _verdicts(each: SourceResult) -> Html:
    head = ["judge", "dimension", "word", "by two clinicians", "agrees", "misses danger", "why not better"]
    rows: list[list[Printable]] = []
    for row in each.rows:
        assert each.validation is not None
        first = next(iter(row.verdict.not_met), None)
        why = "" if first is None else each.validation.about(first.why, row.judge)
        rows.append(
            [
                row.judge, row.verdict.label, _word(row.verdict.word), row.verdict.doubly,
                beside(row.line("agreement"), digits=2),
                beside(row.line("missed_danger")) if row.verdict.danger else "not claimed",
                why,
            ]
        )  # fmt: skip
    if each.one_human:
        head[3:6] = ["agreement with the human", "by rank", "by rank, whose answer alone"]
        for made, row in zip(rows, each.rows, strict=True):
            made[3:6] = [row.agreed, row.ranked, row.baseline]
    statistics = STATISTICS["kappa_quadratic"]
    caption = f"Agreement is {statistics}; in brackets is a clinician's colleague on the same answers"
    if each.one_human:
        caption = (
            f"Agreement is {statistics}, by rank Spearman's correlation; the last is that of a score that knows "
            "only whose answer it is"
        )
    whole = table_html(head, rows, caption=caption, digits=2)
    if len(rows) <= _FEW:
        return whole
    return element("details", element("summary", element("h4", "Every judge and dimension")), whole)


def _judge(each: SourceResult, judge: str) -> Html:
    """The colleague test of one judge, line by line, and its scope, folded."""
    own = [row for row in each.rows if row.judge == judge]
    rows: list[Sequence[Printable]] = []
    for row in own:
        for name, title in _LINES:
            rule = row.line(name)
            rows.append((row.verdict.label, title, *_line(rule), rule.state))
    head = ("dimension", "line", "judge", "colleague", "difference", "bounds", "limit", "state")
    lines = table_html(
        head, rows, caption=f"{judge}: each line of the colleague test, one-sided at 5 %; a difference is judge "
        "minus colleague, and danger is a share that is missed",
    )  # fmt: skip
    scopes = []
    for row in own:
        scope = row.verdict.scope.text() if row.verdict.word not in ("NOT VALIDATED", "INCOMPLETE") else ""
        said = f"{row.verdict.label}: {row.verdict.word}."
        if scope:
            said += f" Scope: {scope}."
        elif row.verdict.word == "NOT VALIDATED":
            said += " No scope: there are no answers for which the word is earned."
        scopes.append(said)
    summary = element("summary", element("h4", f"{judge}: the colleague test line by line"))
    return element("details", summary, lines, bullets(scopes))


def _severe(row: JudgeRow) -> str:
    """Severe misses in words, beside the experts' own."""
    rule, danger, where = row.line("missed_danger"), row.verdict.danger, row.verdict.label
    if danger and rule.jury is not None and rule.colleague is not None:
        return (
            f"Severe misses on {where}: of what one clinician calls dangerous ({danger}) {row.judge} misses "
            f"{percent(rule.jury, 1)}, another clinician {percent(rule.colleague, 1)}."
        )
    alone = row.line("consensus_danger")
    if danger and alone.jury is not None:
        return f"Severe misses on {where} ({danger}): {row.judge} misses {alone.found}."
    return ""


def _line(rule: Rule) -> tuple[Printable, Printable, Printable, Printable, Printable]:
    """Judge, colleague, difference, bounds and limit of a line."""
    share = rule.id in _SHARES

    def one(value: float | None) -> str:
        return "" if value is None else percent(value, 1) if share else shown(value, 2)

    ends_of = (
        "" if rule.low is None and rule.high is None else f"{one(rule.low) or '…'} to {one(rule.high) or '…'}"
    )
    return one(rule.jury), one(rule.colleague), one(rule.value), ends_of, one(rule.limit)


def _worth(each: SourceResult) -> Html:
    if not each.juries:
        why = (
            "One judge forms no jury." if len(each.judges) == 1 else "No jury can be formed of these judges."
        )
        return joined([element("h3", "Effective votes"), paragraph(why)])
    noise = (
        "" if each.clinicians > 1
        else " The one human's own noise is in every judge's error and makes the judges look alike, so the votes "
        "are too low here."
    )  # fmt: skip
    rows: list[Sequence[Printable]] = [
        (
            " + ".join(row.jurors), row.dimension, row.n, len(row.jurors), row.votes, row.best, row.difference,
        )
        for row in each.juries
    ]  # fmt: skip
    head = ("jury", "dimension", "answers", "judges", "effective votes", "best judge", "jury less best judge")
    most = max((row for row in each.juries), key=lambda row: len(row.jurors))
    of_all = [
        row.votes.value for row in each.juries if len(row.jurors) == len(most.jurors) and row.votes.value
    ]
    lead = (
        f"All {len(most.jurors)} judges together are worth {min(of_all):.1f} to {max(of_all):.1f} votes, by "
        "dimension."
        if of_all
        else ""
    )
    folded = element(
        "details",
        element("summary", element("h4", "Every jury that the judges can form")),
        table_html(
            head, rows, caption="How many judges with unrelated errors would do as well as the jury", digits=2
        ),
    )
    return joined([element("h3", "Effective votes"), paragraph(lead, noise), folded])


def _calibration(each: SourceResult) -> Html:
    rows: list[Sequence[Printable]] = []
    for row in each.rows:
        found = row.calibration or (None, None, None)
        rows.append((row.judge, row.verdict.label, *found, row.helps or "not known"))
    against = "the one human" if each.one_human else "the clinicians' mean"
    head = ("judge", "dimension", "agreement before", "after", "change of error", "helps")
    folded = element(
        "details",
        element("summary", element("h4", "Before and after, judge by judge")),
        table_html(
            head, rows, digits=2,
            caption=f"Isotonic maps learned on other cases; agreement and root mean square error are against "
            f"{against}. It helps where the error is shown to shrink",
        ),
    )  # fmt: skip
    known = [row.helps for row in each.rows if row.calibration is not None]
    helped = known.count("yes")
    lead = (
        f"Calibration is shown to make the error smaller for {helped} of {len(known)} judges and dimensions."
    )
    return joined([element("h3", "Calibration that would help"), paragraph(lead), folded])


def alone_lines(each: SourceResult) -> list[str]:
    """What the clinicians of a source without a judge show of each other."""
    lines = []
    for one in each.alone:
        alike = "not known" if one["value"] is None else shown(one["value"], 2)
        worst = "" if one["low"] is None else f" (at worst {shown(one['low'], 2)})"
        text = (
            f"{one['dimension']}: clinicians agree {alike}{worst} with one another, "
            f"{counted(one['answers'], 'answer')}, {counted(one['cases'], 'case')}"
        )
        if (missed := one["missed_by_a_colleague"]) is not None:
            share = percent(missed, 1)
            text += f"; a colleague misses {share} of what a clinician calls dangerous ({one['danger']})"
        lines.append(f"{text}.")
    return lines


def _reading() -> Html:
    words = [f"{word}: {MEANING[word]}" for word in ORDER]
    lines = [
        "Agreement: the judge beside one clinician, and another clinician beside the same one, on answers that two "
        "clinicians graded. 1 is perfect, 0 is chance.",
        "Missed danger: of what one clinician calls dangerous, the share that the judge grades far too kindly or "
        "not at all, and the share that a colleague does.",
        "Effective votes: how many judges with unrelated errors would do as well as the jury.",
        "A hash that is as stated means that the file is the one that was looked at when the entry was written.",
        "A judge or a source is added by one file: docs/real-judges.md says how.",
    ]
    return joined([bullets(words), bullets(lines)])
