"""One deliberation from the first gradings to the decision: whose turn it is, when it ends, what is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from medjury.instruments import TRANSIENT, Outcome, Reason, Unscored, output_schema
from medjury.judging._asking import Asked, Speaker, ask_for
from medjury.judging._deliberation.answers import (
    Choice,
    choice_schema,
    read_choice,
    read_decision,
    read_opening,
    read_turn,
    turn_schema,
)
from medjury.judging._deliberation.personas import Agent, Rules
from medjury.judging._deliberation.prompts import (
    choice_question,
    decision_question,
    failed_words,
    opening_question,
    opening_words,
    question_words,
    transcript,
    turn_question,
    turn_words,
)
from medjury.judging._deliberation.record import (
    Act,
    DeliberationBody,
    Ending,
    Grades,
    Heard,
    LostAgent,
    RecordedPersona,
    RecordedStep,
    changed,
    disputed,
    outside,
    plain_grades,
    recorded_step,
)
from medjury.judging._prompt import CLOSING
from medjury.judging._rater import Unit
from medjury.models import Answer, Gate, Message

_NOT_ITS_FAULT = TRANSIENT | {Reason.CONTEXT}
_Value = TypeVar("_Value")


class Failed(Exception):  # noqa: N818 - it is not an error of the program
    """A step failed without which there is no decision."""

    def __init__(self, failure: Unscored) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Course:
    """The state of one deliberation. Its questions follow from the case and from earlier replies alone, so a
    course that was stopped finds those replies in the cache and goes on where it was."""

    def __init__(self, plan: Rules, unit: Unit, messages: Sequence[Message], gate: Gate) -> None:
        self.plan, self.unit, self.gate = plan, unit, gate
        self.opening = tuple(messages[:-1])
        self.texts = messages[-1].content.removesuffix(CLOSING).rstrip()  # what to do with them is said last
        self.dimensions = unit.dimensions
        self.steps: list[RecordedStep] = []
        self.answers: list[Answer] = []
        self.present: dict[str, Agent] = {agent.persona.name: agent for agent in plan.agents}
        self.standing: dict[str, Grades] = {}
        self.words: list[str] = []  # of the first gradings, as the others see them
        self.turns: list[str] = []
        self.heard = Heard()
        self.stalls = 0
        self.ending: Ending = "failed"
        self.agreed_at_once = False
        self.decided: dict[str, Outcome] = {}

    async def run(self) -> Mapping[str, Outcome]:
        """The outcome of every dimension. Only a fatal `ModelError` is raised."""
        try:
            await self._open()
            self.ending = await self._discuss()
            await self._decide()
        except Failed as failed:
            self.ending = "failed"
            return dict.fromkeys(self.dimensions, failed.failure)
        without = self._without()
        return {name: _remarked(outcome, without) for name, outcome in self.decided.items()}

    def _without(self) -> str:
        """Who was lost on the way, for the rating: a decision of two is not one of three."""
        lost = [
            f"{each.persona} ({'first grading' if each.act == 'opening' else f'turn {each.turn}'}: "
            f"{each.reason}, {each.message})"
            for each in self._lost()
        ]
        agents = f"{len(self.present)} of {len(self.plan.agents)} agents"
        return f"Decided by {agents}, without {'; '.join(lost)}." if lost else ""

    def _lost(self) -> tuple[LostAgent, ...]:
        return tuple(
            LostAgent(persona=step.persona, act=step.act, turn=step.turn, **step.failure.content())
            for step in self.steps
            if step.failure is not None and step.persona is not None
        )

    def _keep(
        self,
        act: Act,
        turn: int,
        agent: Agent | None,
        asked: Asked[Any],
        grades: Grades,
        said: str = "",
        **details: object,
    ) -> None:
        """A step, of an agent or of the orchestrator, and what it took."""
        self.answers += asked.answers
        speaker = self.plan.orchestrator if agent is None else agent.speaker
        who = None if agent is None else agent.persona.name
        self.steps.append(recorded_step(act, turn, who, speaker, asked, grades, said, **details))

    async def _open(self) -> None:
        """Every agent grades on its own, all at once."""
        schema = output_schema(self.plan.instrument, self.dimensions, explain=True)
        read = read_opening(self.plan.instrument, self.dimensions)
        agents = self.plan.agents
        await asyncio.sleep(0)  # calls at once need an event loop: who steps through without one stops here
        asked = await asyncio.gather(
            *(
                self._ask(
                    agent.speaker,
                    opening_question(agent.persona, len(agents)),
                    schema,
                    read,
                    "opening",
                    agent.persona.name,
                    alone=True,
                )
                for agent in agents
            ),
            return_exceptions=True,
        )
        for each in asked:  # all have ended: nothing is still being paid for when an error leaves here
            if isinstance(each, BaseException):
                raise each
        results = [each for each in asked if not isinstance(each, BaseException)]
        for agent, each in zip(agents, results, strict=True):
            self._keep("opening", 0, agent, each, each.value or {})
        failures = []
        for agent, each in zip(agents, results, strict=True):
            name = agent.persona.name
            if each.failure is not None or each.value is None:
                failures.append(self._exclude(agent, each.failure, "first grading"))
                continue
            self.standing[name] = each.value
            self.words.append(opening_words(name, each.value))
            self.heard.add(self.words[-1])
        self._require_quorum(failures)
        self.agreed_at_once = len(self.standing) > 1 and not self._open_dimensions()

    async def _discuss(self) -> Ending:
        number, ledger = 0, False
        while True:
            if self.plan.when_agreed == "stop" and not self._open_dimensions():
                return "agreed"
            if self.stalls >= self.plan.max_stalls:
                return "max_stalls"
            if number >= self.plan.max_turns:
                return "max_turns"
            choice = await self._choose(number, ledger=ledger)
            if ledger:
                self._note_ledger(choice)
                if self.stalls >= self.plan.max_stalls:
                    return "max_stalls"
            if choice.speaker is None:
                return "orchestrator"
            number, ledger = number + 1, True
            await self._turn(number, choice)

    async def _choose(self, number: int, *, ledger: bool) -> Choice:
        plan, speakers = self.plan, list(self.present)
        question = choice_question(
            self.standing, self._open_dimensions(), self.dimensions, plan.max_turns - number, ledger=ledger
        )
        asked = await self._ask(
            plan.orchestrator,
            question,
            choice_schema(speakers, self.dimensions, ledger=ledger),
            read_choice(plan.instrument, speakers, self.dimensions, self._open_dimensions(), ledger=ledger),
            "question",
        )
        choice = asked.value
        details: dict[str, object] = {"open": self._open_dimensions()}
        if choice is not None:
            details |= {"to": choice.speaker, "about": list(choice.about), "assessment": choice.assessment}
            if ledger:
                details["progress"] = choice.progress
        self._keep("question", number + 1, None, asked, {}, choice.question if choice else "", **details)
        if choice is None:
            raise Failed(_named(asked.failure, f"the orchestrator, before turn {number + 1}"))
        return choice

    async def _turn(self, number: int, choice: Choice) -> None:
        plan, name = self.plan, choice.speaker
        assert name is not None
        agent, own = self.present[name], self.standing[name]
        self.turns.append(question_words(number, name, choice.about, choice.question))
        self.heard.add(choice.question)
        asked = await self._ask(
            agent.speaker,
            turn_question(
                agent.persona,
                len(plan.agents),
                [plan.instrument.dimension(each) for each in choice.about],
                own,
            ),
            turn_schema(plan.instrument, choice.about),
            read_turn(plan.instrument, choice.about),
            "turn",
            name,
            *choice.about,
        )
        if asked.value is None:
            self.stalls += 1
            self._keep("turn", number, agent, asked, {}, changed=[], new_words=False, stall=True)
            self.turns[-1] += f"\n\n{failed_words(number, name)}"
            self._require_quorum([self._exclude(agent, asked.failure, f"turn {number}")])
            return
        words, grades = asked.value
        moved, new = changed(own, grades), self.heard.is_new(words)
        stall = not moved and not new
        if moved:
            self.stalls = 0
        elif stall:
            self.stalls += 1
        self._keep("turn", number, agent, asked, grades, words, changed=moved, new_words=new, stall=stall)
        self.standing[name] = {**own, **grades}
        self.turns[-1] += f"\n\n{turn_words(number, name, words, grades)}"
        self.heard.add(words)

    def _note_ledger(self, choice: Choice) -> None:
        """The orchestrator's own word on the last turn: new words that it calls no progress are a stall too. A
        changed grade is progress, and mere repetition a stall, whatever it says."""
        place = max(number for number, step in enumerate(self.steps) if step.act == "turn")
        last = self.steps[place]
        if last.changed or last.stall:
            return
        stall = choice.progress is False
        self.stalls = self.stalls + 1 if stall else 0
        self.steps[place] = last.replaced(stall=stall)

    async def _decide(self) -> None:
        plan, where = self.plan, "the orchestrator's decision"
        asked = await self._ask(
            plan.orchestrator,
            decision_question(self.standing, self.dimensions),
            output_schema(plan.instrument, self.dimensions, explain=True),
            read_decision(plan.instrument, self.dimensions),
            "decision",
        )
        if asked.value is not None:
            self.decided = dict(asked.value)
        elif asked.failure is not None and (asked.failure.reason in TRANSIENT or not asked.so_far):
            self.decided = dict.fromkeys(self.dimensions, _named(asked.failure, where))
        else:  # what was well decided is kept; the rest says why it is not
            self.decided = {
                name: _named(each, where) if isinstance(each, Unscored) else each
                for name, each in (asked.so_far or {}).items()
            }
        beyond = outside(self.decided, self.standing.values())
        self._keep("decision", self._turns_taken(), None, asked, self.decided, outside=beyond)

    async def _ask(
        self,
        speaker: Speaker,
        question: str,
        schema: Mapping[str, Any],
        read: Callable[[Any], _Value],
        *step: str,
        alone: bool = False,
    ) -> Asked[_Value]:
        """One step. Who answers alone sees nothing of what the others said."""
        said = [] if alone else [transcript(self.words, self.turns, self.plan.turns_shown)]
        standing = {} if alone else {name: plain_grades(graded) for name, graded in self.standing.items()}
        about = [*step, self.unit.case.fingerprint(), self.dimensions[0], len(self.turns), said, standing]
        content = "\n\n".join((self.texts, *said, question))
        messages = (*self.opening, Message("user", content))
        return await ask_for(self.gate, speaker, messages, schema, read, self.unit.sample, about)

    def _exclude(self, agent: Agent, failure: Unscored | None, where: str) -> Unscored:
        """An agent without a usable answer speaks no more and its grades no longer count. Where it is not to
        blame, because it may answer later or because the prompt does not fit it, the whole unit has no score
        instead: to decide without it would be to decide by an outage or by the length of a record."""
        name = agent.persona.name
        del self.present[name]
        self.standing.pop(name, None)
        named = _named(failure, f"agent {name}, {where}")
        if named.reason in _NOT_ITS_FAULT:
            raise Failed(named)
        return named

    def _require_quorum(self, failures: Sequence[Unscored]) -> None:
        left, needed = len(self.present), self.plan.agents_needed
        if failures and left < needed:
            first, agents = failures[0], len(self.plan.agents)
            message = f"{first.message}; {left} of {agents} agents are left, {needed} are needed"
            raise Failed(Unscored(first.reason, message))

    def _open_dimensions(self) -> list[str]:
        return disputed(self.standing.values(), self.dimensions)

    def _turns_taken(self) -> int:
        return sum(step.act == "turn" for step in self.steps)

    def record(self) -> DeliberationBody:
        """The whole course."""
        plan = self.plan
        return DeliberationBody(
            dimensions=tuple(self.dimensions),
            personas=tuple(
                RecordedPersona(
                    name=agent.persona.name, text=agent.persona.text, model=agent.speaker.model.name
                )
                for agent in plan.agents
            ),
            orchestrator=plan.orchestrator.model.name,
            max_turns=plan.max_turns,
            max_stalls=plan.max_stalls,
            turns_shown=plan.turns_shown,
            ended=self.ending,
            agreed_at_once=self.agreed_at_once,
            turns=self._turns_taken(),
            stalled_turns=sum(step.stall for step in self.steps),
            failed=self._lost(),
            final={name: plain_grades(graded) for name, graded in self.standing.items()},
            decided=plain_grades(self.decided),
            outside=tuple(outside(self.decided, self.standing.values())),
            steps=tuple(self.steps),
        )


def _remarked(outcome: Outcome, remark: str) -> Outcome:
    """The outcome with a remark before its words."""
    if not remark:
        return outcome
    if isinstance(outcome, Unscored):
        return replace(outcome, message=f"{remark} {outcome.message}".rstrip())
    return replace(outcome, explanation=f"{remark} {outcome.explanation}".rstrip())


def _named(failure: Unscored | None, where: str) -> Unscored:
    assert failure is not None
    return Unscored(failure.reason, f"{where}: {failure.message}")
