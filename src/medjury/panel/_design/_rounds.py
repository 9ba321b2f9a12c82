"""Rounds as the database keeps them: set up once from the study file, and from then on as they were then, with the
instrument as it was. What is there already stays: a second start changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from sqlalchemy import func, insert, select, update

from medjury.analysis.calibration import QueueRow
from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.instruments import DimensionWords, Instrument, Unscored, instrument_for, read_grade
from medjury.intake.cases import Case, pair_name, pair_of, read_written_criteria
from medjury.panel._access._trail import erased_among
from medjury.panel._design._form import (
    Passage,
    Question,
    form_of_instrument,
    hider,
    passages_to_row,
    shown_of,
    telling_words,
)
from medjury.panel._language import language
from medjury.panel._tables import inserted, items_table, made, rounds_table
from medjury.statistics import counted
from medjury.studies import HashedCases, RatedRound, RatedStudy

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Row


# What a form and its guidance need; the fingerprint names the whole.
_KEPT = {"name", "version", "title", "instructions", "inputs", "dimensions", "examples", "translations"}
_INSTRUMENT = TypeAdapter(Instrument)


def instrument_to_row(instrument: Instrument) -> dict[str, Any]:
    """An instrument as the database keeps it."""
    kept = _INSTRUMENT.dump_python(instrument, mode="json", include=_KEPT)
    return {**kept, "fingerprint": instrument.fingerprint()}


def instrument_from_row(row: Mapping[str, Any]) -> Instrument:
    """And back."""
    return _INSTRUMENT.validate_python(row)


# Where the state of a round may go; a calibration round is discussed before it is closed. Once raters have met over
# a round, and seen one another's grades, nobody rates in it again.
_FOLLOWING = {
    "waiting": ("open",),
    "open": ("discussing", "closed"),
    "discussing": ("open", "closed"),
    "closed": ("open", "met"),
    "met": (),
}


@dataclass(frozen=True)
class Round:
    """One round of a panel. `settings` is its part of the study file, with what the panel says for all rounds."""

    id: int
    name: str
    kind: str
    state: str
    settings: Mapping[str, Any]
    kept_instrument: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    @cached_property
    def instrument(self) -> Instrument:
        return instrument_from_row(self.kept_instrument)

    @property
    def shown(self) -> Instrument:
        """The instrument in the words that the rater reads."""
        return self.instrument.in_language(language())

    @property
    def questions(self) -> tuple[Question, ...]:
        """The form in the language of the request; what is asked and its values are the same in each."""
        if language() not in self._forms:
            self._forms[language()] = form_of_instrument(self.shown, self.settings["justification"])
        return self._forms[language()]

    @cached_property
    def _forms(self) -> dict[str, tuple[Question, ...]]:
        return {}

    def of(self, own: Mapping[str, Any] | None) -> Round:
        """The round as it asks about one item, which may have an instrument of its own: criteria of its case."""
        return self if own is None else replace(self, kept_instrument=own)

    @property
    def state_in_words(self) -> str:
        return "closed, its raters have met" if self.state == "met" else self.state

    @property
    def counts(self) -> bool:
        """Whether its ratings are part of the study. Those of training and calibration never are."""
        return self.kind in ("rating", "rescore")

    @property
    def seed(self) -> int:
        return int(self.settings["seed"])

    @property
    def idle_seconds(self) -> float:
        return 60 * float(self.settings["minutes_idle"])


def rounds(connection: Connection) -> list[Round]:
    """All rounds, in the order in which they are rated."""
    return [_round(row) for row in connection.execute(select(rounds_table).order_by(rounds_table.c.position))]


def round_by_id(connection: Connection, identity: int) -> Round:
    return _round(connection.execute(select(rounds_table).where(rounds_table.c.id == identity)).one())


def round_as_set_up(connection: Connection, identity: int, state: str, set_up_at: str) -> Round:
    """A round in this state. Its form never changes once it is set up, so a connection reads it once (what the
    coordinator is warned of may have changed since)."""
    known: dict[tuple[int, str, str], Round] = connection.info.setdefault("rounds", {})
    found = known.get((identity, state, set_up_at))
    if found is None:
        found = known[identity, state, set_up_at] = round_by_id(connection, identity)
    return found


def round_named(connection: Connection, name: str) -> Round:
    row = connection.execute(select(rounds_table).where(rounds_table.c.name == name)).first()
    if row is None:
        raise MedjuryError(f"there is no round called {name!r}")
    return _round(row)


def set_state(connection: Connection, round_: Round, state: str) -> None:
    """Open a round, let its raters discuss it (calibration only), close it, or let them meet over it."""
    allowed = _FOLLOWING[round_.state]
    fits = {"discussing": round_.kind == "calibration", "met": round_.counts}
    if state not in allowed or not fits.get(state, True):
        raise MedjuryError(f"a {round_.kind} round that is {round_.state} cannot become {state}")
    connection.execute(update(rounds_table).where(rounds_table.c.id == round_.id).values(state=state))


def _round(row: Row[Any]) -> Round:
    return made(Round, row, kept_instrument=row.instrument, warnings=tuple(row.warnings))


# The answers of a round that were drawn for review, held against the study: its answers, and its texts.


_Queue = Mapping[tuple[str, str], QueueRow]  # by id and system


def answers_of(each: RatedRound) -> tuple[list[Case], _Queue, list[str]] | None:
    """The cases that were drawn for the round, their rows of the queue, and what the coordinator should know; None
    where it is rated whole. A queue of another study, or of texts that have changed since, is refused: its
    probabilities are those of other answers."""
    if each.queue is None:
        return None
    rows = {(row.item, row.system): row for row in each.queue}
    hashed, cases, seen = HashedCases(each.cases), [], set()
    for case in hashed:
        key = _answer_of(case)
        seen.add(key)
        if key in rows and rows[key].drawn and _is_shown(case, each):
            cases.append(case)
    draw = f"the draw of the round {each.name!r}"
    if foreign := sorted(set(rows) - seen):
        item, system = foreign[0]
        answer = f"the case {item!r}" + (f" by {system!r}" if system else "")
        raise MedjuryError(
            f"{draw} names {answer}, which the case file lacks; draw from a run of this study "
            "(`medjury plan review`)"
        )
    if (data := each.queue[0].data) and data != hashed.hash:
        raise MedjuryError(
            f"{draw} was made for other cases: a text, a name or the order has changed since the run from which it "
            "was drawn. Put the case file back as it was, or run the study and draw again."
        )
    return cases, rows, _drawn_warnings(each, draw, len(seen - set(rows)), bool(data))


def _drawn_warnings(each: RatedRound, draw: str, never: int, is_held: bool) -> list[str]:
    notes = []
    if never:
        notes.append(
            f"{each.name}: {counted(never, 'answer')} of the study could not be drawn, because the jury did not "
            "judge them or they served development. What the review finds does not hold for them."
        )
    if not is_held:
        notes.append(
            f"{draw} was made from scores that belong to no run, so nobody can tell whether the texts are still "
            "the same. Draw from the run folder where there is one."
        )
    return notes


# Worked examples that raters see beside the form: the instrument's own, or those kept here for it.


def with_worked_examples(instrument: str, own: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The instrument's examples; where it has none, those of the file that bears its name in this folder.

    They are kept apart from the instrument because they are for people alone: an example in the instrument is part
    of every judge's question.
    """
    if own:
        return [dict(each) for each in own]
    file = resources.files("medjury.panel._design").joinpath("worked_examples", f"{instrument}.yaml")
    if not file.is_file():
        return []
    import yaml

    return list(yaml.safe_load(file.read_text(encoding="utf-8")))


_LISTED = 5
_GOES_ON = (
    "continues as it was set up; the study file now says something else. Give a changed round a new name."
)


def set_up(connection: Connection, study: RatedStudy, now: datetime) -> None:
    """Add the rounds of the study that are not there yet, with their items and what the coordinator should know of
    each. While drafts of criteria wait for a clinician, there is none: nobody rates by what may change."""
    if waiting_drafts(study):
        return
    known = {row.name: row for row in connection.execute(select(rounds_table))}
    for position, each in enumerate(study.rounds):
        settings, kept = _settings(study, each), _kept(study)
        if each.name in known:
            before = known[each.name]
            changed = (before.settings, before.instrument["fingerprint"]) != (settings, kept["fingerprint"])
            notes = [said for said in before.warnings if not said.endswith(_GOES_ON)]
            notes += [f"the round {each.name!r} {_GOES_ON}"] if changed else []
            if notes != list(before.warnings):
                table = rounds_table
                connection.execute(update(table).where(table.c.id == before.id).values(warnings=notes))
            continue
        rows, warned = _items(study, each)
        warned += _untranslated(study)
        if gone := erased_among(connection, {row["item"] for row in rows}):
            rows = [row for row in rows if row["item"] not in gone]
            warned.append(f"{each.name}: {counted(len(gone), 'case')} left out: erased from this panel.")
        values = {"name": each.name, "kind": each.settings.kind, "position": position, "settings": settings}
        values |= {"state": _first_state(study, each), "instrument": kept, "warnings": warned}
        identity = inserted(connection, rounds_table, **values, set_up_at=now.isoformat())
        connection.execute(insert(items_table), [{**row, "round": identity} for row in rows])


def waiting_drafts(study: RatedStudy) -> int:
    """How many criteria that a model proposed nobody has decided on."""
    file = study.settings.cases.criteria_in(study.file.resolve().parent)
    return sum(each.state == "draft" for each in read_written_criteria(file)) if file is not None else 0


def item_count(connection: Connection, round_id: int) -> int:
    query = select(func.count()).select_from(items_table).where(items_table.c.round == round_id)
    return connection.execute(query).scalar_one()


def _settings(study: RatedStudy, each: RatedRound) -> dict[str, Any]:
    panel = study.panel
    differences = panel.differences
    if differences is None:
        differences = study.instrument.name == "transcript_impact"
    common = panel.model_dump(mode="json", exclude={"rounds", "differences", "public_url"})
    own = each.settings.model_dump(mode="json", exclude={"name", "kind", "cases", "file", "key", "draw"})
    if each.queue is not None:
        own["draw"] = each.queue[0].digest
    return {**common, **own, "differences": differences}


def _kept(study: RatedStudy) -> dict[str, Any]:
    kept = instrument_to_row(study.instrument)
    if study.panel.examples:
        kept["examples"] = with_worked_examples(study.instrument.name, kept["examples"])
    else:
        kept["examples"] = []
    return kept


def _untranslated(study: RatedStudy) -> list[str]:
    """What raters read in English, because a translation of the instrument lacks it."""
    instrument = study.instrument
    found = {language: instrument.untranslated(language) for language in instrument.translations}
    return [
        f"The instrument's translation {language} lacks {', '.join(lacking)}. Raters read this in English."
        for language, lacking in found.items()
        if lacking
    ]


def _first_state(study: RatedStudy, each: RatedRound) -> str:
    """A re-score panel of a study that is rated as well begins when the coordinator says so."""
    rated = any(other.settings.kind == "rating" for other in study.rounds)
    return "waiting" if each.settings.kind == "rescore" and rated else "open"


def _items(study: RatedStudy, each: RatedRound) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a round's items, and what the coordinator should know of them."""
    pattern = hider(study.panel.blind_words)
    drawn = answers_of(each)
    if drawn is None:
        chosen = (case for case in each.cases if each.only is None or case.id in each.only)
        cases = [case for case in chosen if case.id not in each.without and _is_shown(case, each)]
        queue, notes = None, list[str]()
        _all_found(each, cases)
    else:
        cases, queue, notes = drawn
    names = {name for case in cases for name in (*(pair_of(case.system) or (case.system,)), case.vendor)}
    rows, lacking = [], []
    telling: dict[tuple[str, str], set[str]] = {}  # by answer, where there are any
    for case in cases:
        shown = shown_of(case, study.instrument, each.settings.show, pattern)
        if missing := _missing(study, each, case, shown):
            lacking.append(f"{case.id}: {', '.join(missing)}")
            continue
        if words := telling_words([text for passage in shown for text in passage.texts], names):
            telling[case.id, case.system] = words
        own, row = _own(study, case), queue[_answer_of(case)] if queue else None
        rows.append(
            {
                "item": case.id,
                "system": case.system,
                "fingerprint": case.fingerprint(),
                "shown": passages_to_row(shown),
                "instrument": own,
                "key": _key(each, case, own),
                "probability": row and row.probability,
                "place": row and row.place,
            }
        )
    if lacking:
        more = f" and {len(lacking) - _LISTED} more" if len(lacking) > _LISTED else ""
        raise MedjuryError(
            f"the round {each.name!r} has cases without what raters need: "
            f"{'; '.join(lacking[:_LISTED])}{more}. Add it, or leave these cases out."
        )
    return rows, [*_warnings(each, telling), *notes]


def _own(study: RatedStudy, case: Case) -> dict[str, Any] | None:
    """The instrument of this case alone, where the questions are its own criteria: each is asked in its own words,
    and its grades are in the raters' languages. Its points are kept only where the study lets raters see them."""
    if not (general := study.instrument).by_case:
        return None
    own = instrument_for(general, case)
    form = general.dimensions[0].name
    words = {
        language: replace(each, dimensions={
            one.name: DimensionWords(grades=each.dimensions.get(form, DimensionWords()).grades)
            for one in own.dimensions
        })
        for language, each in general.translations.items()
    }  # fmt: skip
    asked = tuple(replace(each, label=each.definition, definition="") for each in own.dimensions)
    kept = instrument_to_row(replace(own, dimensions=asked, translations=words))
    if study.panel.points:
        kept["points"] = {each.id: each.points for each in case.criteria}
    return kept


def _is_shown(case: Case, each: RatedRound) -> bool:
    """Whether people see it: a pair of answers in one of its two orders."""
    return each.once is None or (case.id, case.system) in each.once


def _answer_of(case: Case) -> tuple[str, str]:
    """What a queue calls it: a pair has one name there, whichever answer is first."""
    pair = pair_of(case.system)
    return case.id, case.system if pair is None else pair_name(*sorted(pair))


def _all_found(each: RatedRound, cases: Sequence[Case]) -> None:
    found = {case.id for case in cases}
    if unknown := sorted((each.only or frozenset()) - found):
        raise MedjuryError(
            f"the round {each.name!r} names the case {unknown[0]!r}, which the case file lacks"
        )
    if not cases:
        raise MedjuryError(f"the round {each.name!r} has no case left to rate")
    keyed = {key.case for key in each.settings.key}
    if unknown := sorted(keyed - found):
        raise MedjuryError(f"the key of {each.name!r} names the case {unknown[0]!r}, which the round lacks")


def _missing(study: RatedStudy, each: RatedRound, case: Case, shown: Sequence[Passage]) -> list[str]:
    there, show = {passage.name for passage in shown}, each.settings.show
    missing = []
    for needed in study.instrument.inputs:
        name = "answer" if needed.name == "candidate" else needed.name
        wanted = needed.required if show is None else name in show
        if wanted and name not in there:
            missing.append(needed.label)
    if study.instrument.by_case and not case.criteria:
        missing.append("criteria")
    return missing


def _key(each: RatedRound, case: Case, own: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if each.settings.kind != "training":
        return None
    for key in each.settings.key:
        if key.case == case.id and key.system in (None, case.system):
            if own is not None:
                _check_key(f"{each.name!r} for the case {case.id!r}", key.grades, instrument_from_row(own))
            return {"grades": dict(key.grades), "reason": key.reason}
    raise MedjuryError(f"the key of {each.name!r} has no grades for the case {case.id!r}; add them")


def _check_key(whose: str, grades: Mapping[str, int | None], instrument: Instrument) -> None:
    """The key of a case that has questions of its own names these, with grades that they have."""
    known = [dimension.name for dimension in instrument.dimensions]
    for name, grade in grades.items():
        what = f"the key of {whose}: "
        if name not in known:
            raise MedjuryError(f"{what}{name!r} is no criterion of it; {nearest(name, known)}")
        if isinstance(read := read_grade(instrument.dimension(name), grade), Unscored):
            raise MedjuryError(f"{what}{name}: {read.message}")


def _warnings(each: RatedRound, telling: Mapping[tuple[str, str], set[str]]) -> list[str]:
    if not telling:
        return []
    words = sorted(set().union(*telling.values()))
    cases = len(telling)
    texts = "1 case has a text that names" if cases == 1 else f"{cases} cases have texts that name"
    return [
        f"{each.name}: {texts} a system or a vendor ({', '.join(map(repr, words))}), so raters are not "
        "blind there. Put these words under `blind_words` in the study file before anyone rates, or report it."
    ]
