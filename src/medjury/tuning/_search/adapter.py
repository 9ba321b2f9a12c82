"""The adapter between `gepa` and an instrument: a candidate is the instrument's editable texts, nothing else."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from medjury.instruments import Instrument
from medjury.tuning._labelled import Labelled
from medjury.tuning._objective import Objective
from medjury.tuning._search.feedback import feedback
from medjury.tuning._search.lineage import Ancestor, Judged
from medjury.tuning._search.reflection import case_inputs, read_proposal, reflection_messages
from medjury.tuning._search.texts import why_refused, with_texts
from medjury.tuning._session import Session


def candidate_id(instrument: Instrument) -> str:
    """What a candidate is known by: the hash of every word that may change a judgement."""
    return instrument.fingerprint()[:12]


@dataclass(frozen=True)
class Trajectory:
    """One case, what the judge made of it, and what is said of that."""

    case: Labelled
    judged: Judged
    reward: float
    regret: float
    feedback: str


@dataclass
class InstrumentAdapter:
    """What `gepa` asks: judge a batch by a candidate, say what went wrong, and write a better text.

    Scores are regrets: 0 is what the clinicians said, less is worse, and a failure is worst. No item raises.
    """

    instrument: Instrument
    objective: Objective
    session: Session
    training: Sequence[Labelled]
    may_quote: bool = False
    refused: list[Ancestor] = field(default_factory=list)

    def instrument_of(self, candidate: Mapping[str, str]) -> Instrument:
        return with_texts(self.instrument, candidate)

    def evaluate(
        self, batch: list[Labelled], candidate: dict[str, str], capture_traces: bool = False
    ) -> Any:  # an EvaluationBatch, which only gepa knows
        batches: Any = importlib.import_module("gepa.core.adapter")
        made = self.instrument_of(candidate)
        judged = self.session.wait_for(self.session.judge(made, candidate_id(made), batch))
        traces = [self.trajectory(case, each) for case, each in zip(batch, judged, strict=True)]
        scores = [each.regret for each in traces]
        return batches.EvaluationBatch(judged, scores, traces if capture_traces else None)

    def trajectory(self, case: Labelled, judged: Judged) -> Trajectory:
        reward = self.objective.reward(case, judged.outcomes)
        regret = self.objective.regret(case, judged.outcomes)
        return Trajectory(case, judged, reward, regret, feedback(case, judged.outcomes, self.objective))

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Any, components_to_update: list[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """The misses of a batch; of a batch without any, all of it."""
        del candidate
        traces: list[Trajectory] = eval_batch.trajectories
        misses = [each for each in traces if each.regret < 0] or traces
        records = [
            {"inputs": case_inputs(self.instrument, each.case.case), "feedback": each.feedback}
            for each in misses
        ]
        return dict.fromkeys(components_to_update, records)

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Another version of each text; one that cannot be used leaves the text as it is, and is written down."""
        parent = candidate_id(self.instrument_of(candidate))
        found = {}
        for name in components_to_update:
            records = reflective_dataset[name]
            messages = reflection_messages(self.instrument, name, candidate[name], records)
            text = read_proposal(self.session.wait_for(self.session.write(messages, parent)))
            texts = [self._texts(each) for each in self.training]
            if why := why_refused(text, texts, may_quote=self.may_quote):
                self._refuse(parent, name, text, why, [str(each["feedback"]) for each in records])
                text = candidate[name]
            found[name] = text
        return found

    def _refuse(self, parent: str, name: str, text: str, why: str, told: Sequence[str]) -> None:
        """What a refused text says is not kept where it quotes a patient; that it was refused is."""
        kept = "" if "quotes" in why else text
        ancestor = Ancestor(
            "", None, (parent,), {name: kept}, (name,), status="refused", why=why, feedback=tuple(told)
        )
        self.refused.append(ancestor)
        self.session.lineage.note(ancestor)

    def _texts(self, case: Labelled) -> str:
        return " ".join(
            value if isinstance(value, str) else " ".join(note.text for note in value)
            for wanted in self.instrument.inputs
            if (value := case.case.input(wanted.name))
        )
