"""The jury of a card in the hands of another program: one case in, scores or the reasons why there are none out."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import Passport, ReadyJury, RefusedError
from medjury.instruments import Instrument
from medjury.intake.cases import Case, case_from_row
from medjury.store.ratings import Rating
from medjury.studies import record_answers

# What is shown of a vote.
VOTE = ("rater", "rater_kind", "dimension", "repeat", "score", "status", "reason", "explanation")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The jury's word on one case. A dimension has either a score, calibrated where the card says how, or in
    `unscored` the reason why it has none. `outside_because` says how the case differs from the validated ones."""

    card: str
    force: str
    item: str
    scores: Mapping[str, float]
    unscored: Mapping[str, str] = field(default_factory=dict)
    outside_because: tuple[str, ...] = ()
    votes: tuple[Mapping[str, Any], ...] = ()

    def content(self) -> dict[str, Any]:
        """All of it as plain JSON values. The explanations of the votes may quote the case."""
        return {
            "card": self.card,
            "force": self.force,
            "scores": dict(self.scores),
            "unscored": dict(self.unscored),
            "inside": not self.outside_because,
            "outside_because": list(self.outside_because),
            "votes": [dict(each) for each in self.votes],
        }

    def because(self) -> str:
        """Why a dimension has no score, and the judges' explanations, one to a line."""
        said = [f"{name}: UNSCORED: {why}" for name, why in self.unscored.items()]
        judges = [each for each in self.votes if each["rater_kind"] == "judge"]
        said += [f"{each['rater']}: {each['explanation']}" for each in judges if each["explanation"]]
        return "\n".join(said)


class CardJury:
    """The jury of a card. Opening it is refused where the card was edited, has expired or was not validated, and
    where the jury that would judge here has another model, prompt, instrument, setting or rule.

    The judges are those of the `study`: a study file with the very same jury, or a file that says how the card's
    judges are reached here. With recorded `answers` nobody is asked. What is stored lies beside the card, or in
    `folder`; with recorded answers nothing is left there. Cases are judged in turn."""

    def __init__(
        self,
        card: str | Path,
        *,
        study: str | Path | None = None,
        answers: str | Path | None = None,
        folder: str | Path | None = None,
        signers: str | Path | None = None,
    ) -> None:
        file, self._again = Path(card), ""
        place = Path(folder) if folder else file.with_name(f"{file.stem}.jury")
        if answers is not None:  # what an earlier file of answers said is not this one's word
            try:
                place = Path(tempfile.mkdtemp(prefix=".medjury-", dir=folder or file.resolve().parent))
            except OSError as error:
                raise MedjuryError(f"{file}: nothing can be written beside it ({error.strerror})") from None
            self._again = str(place)
        try:
            self._ready = ReadyJury.open(
                file, place, None if answers else study, answers=answers, signers=signers
            )
            self._ready.refuse_expired()
        except BaseException:
            self.close()
            raise
        self._turn = threading.Lock()
        self._rated: list[Rating] = []

    @property
    def card(self) -> Passport:
        return self._ready.passport

    @property
    def instrument(self) -> Instrument:
        return self._ready.study.instrument

    def __enter__(self) -> CardJury:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget what recorded answers said."""
        if self._again:
            shutil.rmtree(self._again, ignore_errors=True)

    def judge(self, case: Case | Mapping[str, Any]) -> Judgement:
        """The jury's word on a case, or on a row as a file of cases has it. A failure of a judge, an endpoint or
        the budget is the reason of every dimension that has no score for it; only where the jury is not the card's
        is there an error."""
        asked = case if isinstance(case, Case) else case_from_row(case)
        try:
            with self._turn:
                found = self._ready.judge(asked)
        except RefusedError:
            raise
        except MedjuryError as error:
            unscored = {each.dimension: str(error) for each in self.card.verdicts}
            return Judgement(self.card.hash, self.card.force, asked.id, {}, unscored)
        self._rated += found.votes
        scores: dict[str, float] = {}
        unscored = {}
        for row in found.rows:
            score, name = row["score"] if row["calibrated"] is None else row["calibrated"], row["dimension"]
            if score is None:
                failed = [
                    f"{each.rater}: {each.reason}"
                    for each in found.votes
                    if each.rater_kind == "judge" and each.dimension == name and each.reason
                ]
                unscored[name] = "; ".join([row["reason"] or row["status"], *failed])
            else:
                scores[name] = float(score)
        votes = tuple({name: getattr(each, name) for name in VOTE} for each in found.votes)
        outside = found.placed.reasons
        return Judgement(self.card.hash, self.card.force, asked.id, scores, unscored, outside, votes)

    def record(self, out: str | Path) -> int:
        """Write what the judges answered to a file of recorded answers, beside those that it holds."""
        return record_answers(self._ready.study, self._rated, out) if self._rated else 0
