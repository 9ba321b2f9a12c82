"""Prompt optimisation by `gepa`: reflect on misses, keep what helps, choose by the validation cases."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.tuning._labelled_cases import Labelled
from medjury.tuning._lineage import Ancestor, Judged
from medjury.tuning._objective import Objective, feedback
from medjury.tuning._prompt_texts import (
    case_inputs,
    editable_texts,
    read_proposal,
    reflection_messages,
    why_refused,
    with_texts,
)
from medjury.tuning._session import Session
from medjury.tuning._settings import TuningPart, rollouts


def candidate_id(instrument: Instrument) -> str:
    """What a candidate is known by: the hash of every word that may change a judgement."""
    return instrument.fingerprint()[:12]


@dataclass(frozen=True)
class Trajectory:
    """One case, what the judge's answer to it is worth, and what is said of that."""

    case: Labelled
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
        return Trajectory(case, reward, regret, feedback(case, judged.outcomes, self.objective))

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
        return " ".join(filter(None, (case.case.words(wanted.name) for wanted in self.instrument.inputs)))


# Prompt optimisation by `gepa`: reflect on misses, keep what helps, choose by the validation cases.


def need(package: str) -> None:
    """Refuse where the extra is not installed, before anything is asked."""
    if importlib.util.find_spec(package) is None:
        raise MedjuryError(f"tuning needs {package}; install it with: pip install 'medjury[tuning]'")


@dataclass(frozen=True)
class Found:
    """What a search found: the best instrument by the validation cases, its score there and the starting one's.

    `memorised` is the candidate whose ancestors gained most on the training cases they were written for, where it
    was not chosen: what it loses on other cases is what a prompt that learns its cases by heart would have fooled
    us by.
    """

    best: Instrument
    start: Instrument
    validation: float | None
    start_validation: float | None
    memorised: Instrument | None = None
    tried: int = 0


def search_texts(
    instrument: Instrument,
    training: Sequence[Labelled],
    validation: Sequence[Labelled],
    objective: Objective,
    session: Session,
    part: TuningPart,
) -> Found:
    """Run `gepa` to the end of its budget, from another thread than the session's loop. With the same seed it takes
    the same way again, so that a tuning that was killed goes on where it was."""
    if not validation:
        raise MedjuryError(
            "there are no validation cases, and the prompt that fits the training cases best would be "
            "chosen; label more"
        )
    optimize: Any = importlib.import_module("gepa").optimize
    sampling: Any = importlib.import_module("gepa.strategies.proposal_sampling")
    texts = editable_texts(instrument, part.texts)
    adapter = InstrumentAdapter(instrument, objective, session, training, part.may_quote)
    notes = _Notes(adapter, validation)

    class SameMisses:
        """Several proposals for one parent and one batch of misses: they are drawn, not asked differently."""

        def sample_tasks(self, state: Any, selector: Any, sampler: Any, trainset: Any) -> list[Any]:
            parent = selector.select_candidate_idx(state)
            ids = sampler.next_minibatch_ids(trainset, state)
            task = sampling.ProposalTask(parent, state.program_candidates[parent], ids, trainset.fetch(ids))
            return [task] * part.candidates

    try:
        optimize(
            seed_candidate=texts,
            trainset=list(training),
            valset=list(validation),
            adapter=adapter,
            candidate_selection_strategy=part.selection,
            skip_perfect_score=part.skip_perfect,
            perfect_score=0.0,
            reflection_minibatch_size=min(part.minibatch, len(training)),
            max_metric_calls=rollouts(part.budget, len(texts), len(validation)),
            stop_callbacks=[lambda state: session.stopped is not None],
            callbacks=[notes],
            selection_strategy=notes,
            sampling_strategy=SameMisses(),
            logger=_Silent(),
            seed=part.seed,
            raise_on_exception=True,
            track_best_outputs=False,
        )
    except Exception:
        if session.stopped is not None:
            raise session.stopped from None
        raise
    if session.stopped is not None:
        raise session.stopped
    return notes.found(texts)


class _Silent:
    """The search says nothing: what it prints may hold clinical text."""

    def log(self, message: str) -> None:
        return None


class _Notes:
    """Looks on, and writes every ancestor into the lineage; also what `gepa` asks which proposals to keep."""

    def __init__(self, adapter: InstrumentAdapter, validation: Sequence[Labelled]) -> None:
        self._adapter = adapter
        self._validation = list(validation)
        self._pending: dict[str, Any] = {}
        self._kept: list[Instrument] = []

    def select(self, proposals: list[Any], state: Any, acceptance_criterion: Any) -> list[Any]:
        chosen = []
        for each in proposals:
            made = self._adapter.instrument_of(each.candidate)
            parents = [
                self._adapter.instrument_of(state.program_candidates[at]) for at in each.parent_program_ids
            ]
            if candidate_id(made) in map(candidate_id, parents):
                continue  # nothing new was proposed
            if acceptance_criterion.should_accept(each, state):
                chosen.append(each)
                self._pending[candidate_id(made)] = (each, parents)
            else:
                self._adapter.session.lineage.note(
                    self._ancestor(
                        made, parents, each, None, "dropped", "no better on the misses it was written for"
                    )
                )
        return chosen

    def on_valset_evaluated(self, event: Any) -> None:
        made = self._adapter.instrument_of(event["candidate"])
        proposal, parents = self._pending.pop(candidate_id(made), (None, []))
        self._keep(made, parents, proposal, event["candidate_idx"])

    def _keep(self, made: Instrument, parents: Sequence[Instrument], proposal: Any, number: int) -> None:
        while len(self._kept) <= number:
            self._kept.append(made)
        self._kept[number] = made
        self._adapter.session.lineage.note(self._ancestor(made, parents, proposal, number, "kept", ""))

    def _ancestor(
        self,
        made: Instrument,
        parents: Sequence[Instrument],
        proposal: Any,
        number: int | None,
        status: str,
        why: str,
    ) -> Ancestor:
        session, name = self._adapter.session, candidate_id(made)
        texts = editable_texts(made)
        before = editable_texts(parents[0]) if parents else texts
        seen: list[Trajectory] = proposal.eval_before.trajectories if proposal else []
        after: list[Trajectory] = proposal.eval_after.trajectories if proposal else []
        scores = self._on_validation(name)
        return Ancestor(
            hash=name,
            number=number,
            parents=tuple(map(candidate_id, parents)),
            texts=texts,
            changed=tuple(each for each in texts if texts[each] != before[each]),
            before=_mean(seen),
            after=_mean(after),
            validation=scores[0] if number is not None else None,
            whole=scores[1] if number is not None else None,
            status=status,
            why=why,
            feedback=tuple(each.feedback for each in seen if each.regret < 0),
            cases=tuple(each.case.key for each in seen),
            cost=None if session.unknown_cost else session.spent.get(name, 0.0),
            calls=session.calls[name],
        )

    def _on_validation(self, name: str) -> tuple[float | None, float | None]:
        """Mean reward and objective on the validation cases, as far as they were judged."""
        known = self._adapter.session.lineage.judged
        if any((name, each.key, 0) not in known for each in self._validation):
            return None, None
        said = [known[name, each.key, 0].outcomes for each in self._validation]
        objective = self._adapter.objective
        rewards = [objective.reward(case, each) for case, each in zip(self._validation, said, strict=True)]
        return float(np.mean(rewards)), objective.whole(self._validation, said)

    def found(self, texts: dict[str, str]) -> Found:
        """The best by the objective on the validation cases; the earliest of equals, so that nothing is changed for
        nothing."""
        start = self._adapter.instrument_of(texts)
        if not self._kept:  # the starting prompt is not announced as a new one
            self._kept.append(start)
        scores = {
            candidate_id(each): self._on_validation(candidate_id(each)) for each in (start, *self._kept)
        }

        def worth(each: Instrument) -> tuple[float, float]:
            mean, whole = scores[candidate_id(each)]
            return (-np.inf if whole is None else whole, -np.inf if mean is None else mean)

        pool = [start, *(each for each in self._kept if candidate_id(each) != candidate_id(start))]
        best = max(pool, key=worth)
        gains = self._gains()
        fitting = max(pool, key=lambda each: gains.get(candidate_id(each), 0.0))
        chosen = (candidate_id(best), candidate_id(start))
        other = gains.get(candidate_id(fitting), 0.0) > 0 and candidate_id(fitting) not in chosen
        return Found(
            best,
            start,
            scores[candidate_id(best)][1],
            scores[candidate_id(start)][1],
            fitting if other else None,
            len(pool) - 1,
        )

    def _gains(self) -> dict[str, float]:
        """What each kept text and its ancestors gained on the misses that they were written for."""
        gains: dict[str, float] = {}
        for each in self._adapter.session.lineage.kept:
            own = (each.after or 0.0) - (each.before or 0.0)
            gains[each.hash] = own + max((gains.get(parent, 0.0) for parent in each.parents), default=0.0)
        return gains


def _mean(traces: Sequence[Trajectory]) -> float | None:
    return float(np.mean([each.reward for each in traces])) if traces else None
