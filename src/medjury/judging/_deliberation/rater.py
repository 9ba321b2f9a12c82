"""The deliberation: raters with points of view grade, discuss under an orchestrator, and the orchestrator decides.

After Croxford et al., Evaluating clinical AI summaries with large language models as judges (npj Digit Med 2025):
agents that grade on their own first, rounds bounded in turns and in stalls, a decision with reasons and without
averaging. The orchestrator, the words and the rules for what goes wrong are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from medjury.instruments import Unscored
from medjury.judging._asking import Speaker
from medjury.judging._deliberation.course import Course
from medjury.judging._deliberation.personas import Rules
from medjury.judging._deliberation.prompts import DELIBERATION_VERSION
from medjury.judging._judge import groups_of
from medjury.judging._prompt import FIRST_VERSION, Prompt
from medjury.judging._rater import (
    COMPLAINT,
    FRAME,
    Expected,
    PlainRater,
    Rated,
    Unit,
    Used,
    most_prompt,
    most_question,
)
from medjury.judging._rows import rows_of
from medjury.models import ChatModel, Gate, Message, estimate_tokens

# For a plan: tokens of one explained grade, of a statement with its grades, and of a question.
_EXPLAINED, _STATEMENT, _QUESTION = 57, 180, 120
_ROLE = 250  # a role's part of the prompt


class Deliberation(Rules, PlainRater):
    """Agents who grade alone, then speak when the orchestrator asks them; the orchestrator decides.

    At most `max_turns` agents' turns, and no more after `max_stalls` stalled ones in a row: a stall is a turn
    that changed no grade and brought nothing new. Where all agree, `when_agreed` ends the discussion ("stop") or
    lets the orchestrator question them nevertheless ("discuss"). `quorum` agents must remain able to answer (by
    default more than half). `turns_shown` bounds what a prompt holds of the discussion to its last turns; first
    gradings are always shown. `examples` are shown with every case, `drawn` ones are chosen for each.
    """

    @cached_property
    def _prompts(self) -> Mapping[tuple[str, ...], Prompt]:
        return {
            group: Prompt.build(self.instrument, group, explain=True, examples=self.examples)
            for group in groups_of(self.instrument, self.per_dimension)
        }

    def _stated(self) -> Mapping[str, object]:
        settings = {
            **self._settings(),
            "instrument": self.instrument.fingerprint(),
            "prompt": [
                FIRST_VERSION,
                [[m.role, m.content] for p in self._prompts.values() for m in p.opening],
            ],
            "orchestrator": self.orchestrator.settings(),
            "agents": [
                [each.persona.name, each.persona.text, each.speaker.settings()] for each in self.agents
            ],
        }
        if self.drawn is not None:
            settings["drawn"] = self.drawn.fingerprint()
        return settings

    @property
    def models(self) -> Sequence[ChatModel]:
        speakers = (self.orchestrator, *(agent.speaker for agent in self.agents))
        return tuple({id(each.model): each.model for each in speakers}.values())

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The dimensions that are deliberated together."""
        return tuple(self._prompts)

    def describe(self) -> Mapping[str, object]:
        settings: dict[str, object] = {} if self.drawn is None else dict(self.drawn.described())
        return {
            **settings,
            **self._settings(),
            "orchestrator": _described(self.orchestrator),
            "personas": [
                {"name": each.persona.name, "text": each.persona.text, **_described(each.speaker)}
                for each in self.agents
            ],
            "examples": len(self.examples),
        }

    def _settings(self) -> dict[str, object]:
        return {
            "strategy": "deliberation",
            "version": DELIBERATION_VERSION,
            "max_turns": self.max_turns,
            "max_stalls": self.max_stalls,
            "when_agreed": self.when_agreed,
            "quorum": self.agents_needed,
            "turns_shown": self.turns_shown,
            "per_dimension": self.per_dimension,
        }

    def expected(self, unit: Unit) -> Expected | Unscored:
        """Assumes that half of the allowed turns are taken, and that nothing is asked twice. Agents who agree at
        once need fewer calls, agents who never do up to twice the turns."""
        messages = self._messages(unit)
        if isinstance(messages, Unscored):
            return messages
        base = sum(estimate_tokens(message.content) for message in messages) + _ROLE
        graded = _EXPLAINED * len(unit.dimensions)
        said = len(self.agents) * graded  # what every later prompt holds of the first gradings
        turns = -(-self.max_turns // 2)
        tokens_in, tokens_out = len(self.agents) * base, said
        for turn in range(turns):
            shown = turn if self.turns_shown is None else min(turn, self.turns_shown)
            tokens_in += 2 * (base + said + shown * (_QUESTION + _STATEMENT)) + _QUESTION
            tokens_out += _QUESTION + _STATEMENT
        shown = turns if self.turns_shown is None else min(turns, self.turns_shown)
        tokens_in += base + said + shown * (_QUESTION + _STATEMENT)
        calls = len(self.agents) + 2 * turns + 1
        return Expected(calls, tokens_in, tokens_out + graded, self._most(messages))

    def _most(self, messages: Sequence[Message]) -> Used:
        """As if every turn were taken, and everybody spoke at the greatest length. What a role is given holds the
        instrument's words again, and its own."""
        own = max(len(agent.persona.text.encode()) for agent in self.agents)
        prompt = 2 * most_prompt(messages) + own + COMPLAINT + FRAME * len(self.agents)
        talkative = max((agent.speaker for agent in self.agents), key=lambda each: each.max_tokens)
        patient = max((agent.speaker.reasks for agent in self.agents), default=0)
        agent = replace(talkative, reasks=patient)
        said = len(self.agents) * (agent.max_tokens + FRAME)
        turn = self.orchestrator.max_tokens + agent.max_tokens + 2 * FRAME
        used = Used().plus(most_question(prompt, agent), len(self.agents))
        for number in range(self.max_turns):
            heard = prompt + said + number * turn
            used = used.plus(most_question(heard, self.orchestrator)).plus(most_question(heard + turn, agent))
        return used.plus(most_question(prompt + said + self.max_turns * turn, self.orchestrator))

    def _messages(self, unit: Unit) -> tuple[Message, ...] | Unscored:
        """The instrument, worked examples and the case: what every call begins with."""
        shown = (
            () if self.drawn is None else self.drawn.messages_for(unit.case, unit.dimensions, explain=True)
        )
        if isinstance(shown, Unscored):
            return shown
        return self._prompts[unit.dimensions].messages(unit.case, shown)

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        messages = self._messages(unit)
        if isinstance(messages, Unscored):
            return Rated(rows_of(unit, dict.fromkeys(unit.dimensions, messages), None))
        course = Course(self, unit, messages, gate)
        outcomes = await course.run()
        return Rated(rows_of(unit, outcomes, course.answers), course.record())


def _described(speaker: Speaker) -> dict[str, object]:
    return {"role_model": speaker.model.name, **speaker.settings()}
