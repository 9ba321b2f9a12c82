"""Which notes and which laboratory values a draft is written from: a stated rule, not a search.

The most recent long notes, the consulted specialty's own first, and the most recent values. What has no date, or
one that cannot be read, comes last and is counted; what is left out is counted by why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from medjury.intake.cases import Case, Note
from medjury.judging._dates import Period, moment_of, period_of
from medjury.judging._labs import Lab, labs_of

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SelectionRules:
    """How many notes of more than so many characters, whether the specialty's come first, how many values.

    With `as_of`, the moment of the question, nothing later is given, lest the answer be in it; what cannot be
    shown to be earlier, for want of a date or of one as exact, is left out too. `max_age_days` counts back from
    there. With `kinds` only notes whose kind names one of them are given.
    """

    notes: int = 3
    minimum_characters: int = 3500
    specialty_first: bool = True
    labs: int = 20
    max_age_days: int | None = None
    kinds: tuple[str, ...] = ()

    def settings(self) -> dict[str, object]:
        """For the key of a draft: what is not stated leaves no trace."""
        return {name: value for name, value in asdict(self).items() if name != "kinds" or value}


@dataclass(frozen=True, slots=True)
class Selection:
    """What a draft is given, and the counts of what it is not."""

    notes: tuple[Note, ...]
    labs: tuple[Lab, ...]
    labs_text: str  # free text that is no list: given whole
    counts: dict[str, int]
    unreadable_dates: tuple[str, ...]  # ids of notes


def select_sources(
    case: Case, rules: SelectionRules, *, specialty: str | None = None, as_of: str | None = None
) -> Selection:
    """The notes and values for a draft; `as_of` is a date as it is written. Notes come the specialty's first, then
    by date, newest first, then by id; values by date, newest first, then by name and place. The same case always
    gives the same selection."""
    asked = [
        note
        for note in case.notes
        if not rules.kinds or any(of_specialty(note, kind) for kind in rules.kinds)
    ]
    long = [note for note in asked if len(note.text) > rules.minimum_characters]
    in_time = [note for note in long if _in_time(note.date, as_of, rules.max_age_days)]
    wanted = (specialty or "").strip().casefold() if rules.specialty_first else ""

    def rank(note: Note) -> tuple[bool, float, str]:
        return not (wanted and of_specialty(note, wanted)), -_age_key(note.date), note.id

    chosen = tuple(sorted(in_time, key=rank)[: rules.notes])
    labs, unreadable, free_text = labs_of(case)
    timely = [lab for lab in labs if _in_time(lab.date, as_of, rules.max_age_days)]
    places = {id(lab): place for place, lab in enumerate(timely)}
    values = sorted(timely, key=lambda lab: (-_age_key(lab.date), lab.name.casefold(), places[id(lab)]))
    return Selection(
        notes=chosen,
        labs=tuple(values[: rules.labs]),
        labs_text=free_text if rules.labs and as_of is None else "",  # its values have no dates to go by
        counts={
            "notes": len(case.notes),
            "notes_given": len(chosen),
            "notes_too_short": len(asked) - len(long),
            "notes_out_of_time": len(long) - len(in_time),
            "notes_without_date": sum(not note.date for note in long),
            "notes_of_specialty_given": sum(bool(wanted) and of_specialty(note, wanted) for note in chosen),
            "labs": len(labs),
            "labs_given": min(rules.labs, len(values)),
            "labs_out_of_time": len(labs) - len(timely),
            "labs_without_readable_date": sum(moment_of(lab.date) is None for lab in labs),
            "labs_unreadable": unreadable,
            "labs_text_out_of_time": int(bool(free_text) and as_of is not None),
            **({"notes_of_another_kind": len(case.notes) - len(asked)} if rules.kinds else {}),
        },
        unreadable_dates=tuple(note.id for note in long if note.date and moment_of(note.date) is None),
    )


def of_specialty(note: Note, specialty: str) -> bool:
    """Whether the note's kind names the specialty, as whole words and whatever the case.

    >>> of_specialty(Note("1", "...", kind="Hematology Progress Note"), "hematology")
    True
    >>> of_specialty(Note("1", "...", kind="Neurology"), "urology")
    False
    """
    kind, wanted = _words(note.kind or ""), _words(specialty)
    return bool(wanted) and any(
        kind[start : start + len(wanted)] == wanted for start in range(len(kind) - len(wanted) + 1)
    )


def _words(text: str) -> Sequence[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text.casefold()).split()


def _in_time(written: str | None, as_of: str | None, max_age_days: int | None) -> bool:
    if as_of is None:
        return True
    period, asked = period_of(written), period_of(as_of)
    if period is None or asked is None or not period.surely_by(asked):
        return False
    return max_age_days is None or _age(period, asked) <= timedelta(days=max_age_days)


def _age(period: Period, asked: Period) -> timedelta:
    first, then = period.first, asked.first
    if (first.tzinfo is None) != (then.tzinfo is None):
        first, then = first.replace(tzinfo=None), then.replace(tzinfo=None)  # on the same clock
    return then - first


def _age_key(written: str | None) -> float:
    """Seconds since the beginning of the calendar: larger is newer, and what has no date is oldest."""
    return ((moment_of(written) or _NEVER) - _NEVER).total_seconds()
