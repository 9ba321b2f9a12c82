"""Rounds as the database keeps them: set up once from the study file, and from then on as they were then, with the
instrument as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from sqlalchemy import select, update

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.panel._design._form import Question, form_of_instrument
from medjury.panel._language import language
from medjury.panel._tables import made, rounds_table

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
