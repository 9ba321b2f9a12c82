"""What is judged of a conversation: all of it, the assistant's last turn, or each of its turns.

Each turn is a case of its own, with the conversation so far as its source. Turns of one conversation are not
independent, so they have one patient: the conversation's own, else the conversation itself. Agreement, folds and
intervals then count conversations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from medjury.intake.cases._case import Case
from medjury.intake.cases._chat_forms import UNSEEN
from medjury.intake.cases._messages import CONVERSATION, OF_THE_ASSISTANT, ChatMessage, in_turns

Unit = Literal["conversation", "last", "turn"]
AFTER = "message after the last turn of the assistant, left out"
_WAYS = "name the column that holds it in the mapping (messages: COLUMN)"


def judged_units(
    case: Case, unit: Unit, problems: list[tuple[str, str]], remarks: Counter[str]
) -> Iterator[Case]:
    """The cases that are judged of one conversation; nothing, and why, where there is nothing to judge."""
    messages = (*case.messages.get(CONVERSATION, ()), *_answer(case))
    turns = sorted({each.turn for each in messages if each.kind in OF_THE_ASSISTANT})
    if CONVERSATION not in case.messages and "candidate" not in case.messages:
        problems.append((CONVERSATION, f"holds no messages, so no {unit} of it can be judged; {_WAYS}"))
    elif not turns:
        problems.append((CONVERSATION, "holds no message of the assistant, so there is nothing to judge"))
    elif unit == "conversation":
        yield _judged(case, (), messages)
    else:
        last = max(place for place, each in enumerate(messages) if each.kind in OF_THE_ASSISTANT)
        remarks[AFTER] += len(messages) - 1 - last
        for turn in turns if unit == "turn" else turns[-1:]:
            places = [place for place, each in enumerate(messages) if each.turn == turn]
            found = _judged(case, messages[: places[0]], messages[places[0] : places[-1] + 1])
            yield (
                found
                if unit == "last"
                else replace(found, id=f"{case.id}#{turn}", patient=case.patient or f"conversation {case.id}")
            )


def _answer(case: Case) -> tuple[ChatMessage, ...]:
    """The answer that lies beside the conversation, as its next turn."""
    before = max((each.turn for each in case.messages.get(CONVERSATION, ())), default=0)
    own = case.messages.get("candidate", ())
    if not own and case.candidate is not None:
        own = (ChatMessage("assistant", case.candidate),)
    return in_turns(own, before + 1)


def _judged(case: Case, before: tuple[ChatMessage, ...], answer: tuple[ChatMessage, ...]) -> Case:
    """The case with this part of its conversation as the answer under judgement, and what came before as its
    source. A turn without a word and without a call is no answer."""
    texts = {name: text for name, text in case.texts.items() if name != CONVERSATION}
    messages = {name: own for name, own in case.messages.items() if name not in (CONVERSATION, "candidate")}
    messages |= {CONVERSATION: before} if before else {}
    own = [each for each in answer if each.kind in OF_THE_ASSISTANT]
    said = any(UNSEEN.sub("", each.text).strip() or each.kind == "call" for each in own)
    messages |= {"candidate": answer} if said else {}
    return replace(case, candidate=None, texts=texts, messages=messages)
