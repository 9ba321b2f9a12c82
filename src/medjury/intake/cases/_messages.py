"""Messages of a conversation with an assistant, in turns: who wrote what, which tools were called, what they gave.

All that one side does until the other writes is one turn: the assistant's turn holds its words, its calls of tools
and their results. Turns are numbered from 1, and a message keeps its number when others are left out. Instructions
(a system message) belong to no turn.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

# The text of a case that holds what was said before the answer under judgement.
CONVERSATION = "conversation"
# The one that holds laboratory values, one JSON object per value.
LABS = "labs"
Kind = Literal["system", "user", "assistant", "call", "result", "left out"]
OF_THE_ASSISTANT = frozenset({"assistant", "call", "result"})


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message: instructions, words of either side, the call of a tool (`text` is its arguments, as JSON) or its
    result. `name` is the tool's or the speaker's, `call` ties a result to its call."""

    kind: Kind
    text: str
    turn: int = 0
    name: str = ""
    call: str = ""
    at: str = ""
    failed: bool = False

    @property
    def heading(self) -> str:
        """What it is, in words: no part of it is anybody's free text."""
        name = f" {self.name}" if self.name else ""
        what = {
            "system": "instructions to the assistant (system)",
            "left out": "messages that were left out",
            "call": f"assistant calls the tool{name}",
            "result": f"{'error' if self.failed else 'result'} of the tool{name}",
        }.get(self.kind, f"{self.kind}{name and f' ({self.name})'}")
        return "".join((f"turn {self.turn}, " if self.turn else "", what, f", {self.at}" if self.at else ""))

    @property
    def heading_line(self) -> str:
        """The line above it in a text of all messages."""
        return f"{self.heading[0].upper()}{self.heading[1:]}:\n"


def in_turns(messages: Iterable[ChatMessage], first: int = 1) -> tuple[ChatMessage, ...]:
    """The messages with the numbers of their turns, from that of the first."""
    of_the_assistant, found = None, []
    turn = first - 1
    for each in messages:
        if each.kind == "system":
            found.append(each)
            continue
        if (each.kind in OF_THE_ASSISTANT) is not of_the_assistant:
            turn, of_the_assistant = turn + 1, each.kind in OF_THE_ASSISTANT
        found.append(replace(each, turn=turn))
    return tuple(found)


def text_of(messages: Iterable[ChatMessage]) -> str:
    """All of it as one text, for what reads words and not turns: search, marks, text metrics."""
    return "\n\n".join(map(_lines, messages))


# Each turn of a conversation is a case with all turns before it: what is made of a message is made once.
_AT_HAND = 8192


@lru_cache(_AT_HAND)
def _lines(message: ChatMessage) -> str:
    return f"{message.heading_line}{message.text}"


@lru_cache(_AT_HAND)
def _json(message: ChatMessage) -> str:
    each = message
    return json.dumps([each.kind, each.text, each.turn, each.name, each.call, each.at, each.failed])


def messages_json(messages: Iterable[ChatMessage]) -> str:
    """The messages in ASCII, the same for the same messages."""
    return f"[{', '.join(map(_json, messages))}]"


def as_rows(messages: Iterable[ChatMessage]) -> list[dict[str, Any]]:
    """The messages as chat completions write them, one object each, with their turns: the reader makes the same
    messages of them."""
    return [_row(each) for each in messages]


def _row(message: ChatMessage) -> dict[str, Any]:
    row: dict[str, Any]
    if message.kind == "call":
        function = {"name": message.name, "arguments": message.text}
        call = {"id": message.call, "type": "function", "function": function}
        row = {"role": "assistant", "content": None, "tool_calls": [call]}
    elif message.kind == "result":
        row = {"role": "tool", "tool_call_id": message.call, "name": message.name, "content": message.text}
    else:
        row = {"role": message.kind, "content": message.text, "name": message.name}
    row |= {"timestamp": message.at, "is_error": message.failed, "turn": message.turn}
    return {name: value for name, value in row.items() if value or name == "content"}
