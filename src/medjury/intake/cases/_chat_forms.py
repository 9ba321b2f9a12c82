"""Reads messages as OpenAI's chat completions, Anthropic's messages and logs of Inspect have them.

What is read is the union of the three: a message has a role; its content is a text or a list of parts; calls of
tools are beside it or among its parts; results are messages of their own or parts of the user's. Nothing is
dropped: what has no words of its own is refused, or stated in its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from medjury.intake.cases._messages import ChatMessage, Kind, in_turns

MOST_MESSAGES = 20_000
_ROLES: Mapping[str, Kind] = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
    "model": "assistant", "ai": "assistant", "tool": "result", "function": "result",
}  # fmt: skip
_TIMES = ("timestamp", "created_at", "time", "at")
_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_REASONING = {"reasoning": "reasoning", "thinking": "thinking", "redacted_thinking": "data"}
_NAME = re.compile(
    r"(?:[\w .:/@+-]|\[[A-Z][A-Z0-9_]*-\d{1,6}\]){1,100}"
)  # or the placeholder of a redacted one
_THOUGHT = ("reasoning_content", "reasoning")  # beside the content, as some servers have it
_WORDS = "Leave the conversation out, or put what it holds into words"
# What is written in the place of reasoning: nobody said it.
_REASONED = "characters of the model's reasoning, which the user did not see, are left out here]"
UNSEEN = re.compile(rf"\[[\d,]+ {re.escape(_REASONED)}")
_FORMS = "write it as in chat completions: {role: user, content: a text}"

Problems = list[tuple[str, str]]


def look_like_messages(value: object) -> bool:
    """Whether a value is meant as messages: a list of objects of which one has a role, or an object around it."""
    if isinstance(value, Mapping):
        return isinstance(value.get("messages"), list | tuple)
    if not isinstance(value, list | tuple) or not all(isinstance(each, Mapping) for each in value):
        return False
    return any("role" in each for each in value)


def read_messages(value: object, where: str, problems: Problems) -> tuple[ChatMessage, ...]:
    """The messages in their turns; what is wrong with one is a problem that names its place."""
    if isinstance(value, Mapping) and look_like_messages(
        value
    ):  # a request as it is sent: the instructions are beside the messages
        given = [{"role": "system", "content": value["system"]}] if value.get("system") else []
        value = [*given, *value["messages"]]
    if not isinstance(value, list | tuple):
        problems.append((where, f"is no list of messages; {_FORMS}"))
        return ()
    if not value:
        problems.append((where, "holds no message"))
    if len(value) > MOST_MESSAGES:
        problems.append((where, f"has {len(value):,} messages; at most {MOST_MESSAGES:,} are read"))
        return ()
    reader = _Reader(where, problems)
    found = [replace(message, turn=_stated_turn(each)) for place, each in enumerate(value, 1)
             for message in reader.of(each, place)]  # fmt: skip
    stated = [each.turn for each in found if each.kind != "system"]
    counted = in_turns(found, stated[0] if stated and stated[0] else 1)
    # A part of a conversation that we wrote states its own turns; how another program counts is its own affair.
    same = stated == [each.turn for each in counted if each.kind != "system"]
    return counted if same else in_turns(found)


def _stated_turn(given: object) -> int:
    turn = given.get("turn") if isinstance(given, Mapping) else None
    return turn if isinstance(turn, int) and not isinstance(turn, bool) and turn > 0 else 0


@dataclass
class _Reader:
    where: str
    problems: Problems
    calls: dict[str, str] = field(default_factory=dict)  # the tool of each call that was made
    here: str = ""

    def of(self, given: object, place: int) -> Iterator[ChatMessage]:
        self.here = f"{self.where}[{place}]"
        if not isinstance(given, Mapping):
            self.refuse(f"is not an object; {_FORMS}")
            return
        role = given.get("role")
        kind = _ROLES.get(role) if isinstance(role, str) else None
        if kind is None:
            known = "system, developer, user, assistant and tool"
            what = "has no role" if role is None else "has a role that is not known"
            self.refuse(f"{what}; the roles are {known}")
            return
        at = self.time(given)
        if kind == "result":
            named = given.get("tool_call_id")
            error = given.get("error") or given.get("is_error")
            yield replace(self.result(named, given.get("content"), error, given), at=at)
            return
        name = self.name(given.get("name"), "name")
        thought = next((given[key] for key in _THOUGHT if given.get(key)), "")
        made = [ChatMessage(kind, _left_out(thought))] if thought else []
        made += [*self.content(given.get("content"), kind), *self.called(given)]
        if (refusal := given.get("refusal")) is not None:
            made += [ChatMessage(kind, self.text(refusal))]
        if given.get("audio"):
            self.refuse(f"holds sound, which cannot be judged. {_WORDS}")
        elif "content" not in given and not made:
            self.refuse(f"has no content; {_FORMS}")
        if kind != "assistant" and any(each.kind == "call" for each in made):
            self.refuse("calls a tool, which only the assistant does")
        for each in _joined(made) or [ChatMessage(kind, "")]:
            yield replace(each, at=at, name=name if each.kind == kind else each.name)

    def content(self, content: object, kind: Kind) -> Iterator[ChatMessage]:
        if content is None:
            return
        if isinstance(content, str):
            if content.strip():
                yield ChatMessage(kind, content)
            return
        for part in self.parts(content):
            form = part.get("type")
            if form == "tool_use":
                yield self.call(part.get("id"), part.get("name"), part.get("input"))
            elif form == "tool_result":
                yield self.result(part.get("tool_use_id"), part.get("content"), part.get("is_error"), {})
            else:
                yield ChatMessage(kind, self.words(part))

    def called(self, given: Mapping[str, Any]) -> Iterator[ChatMessage]:
        """The calls of tools beside the content."""
        calls = given.get("tool_calls") or ()
        if not isinstance(calls, list | tuple):
            self.refuse("tool_calls is not a list")
            return
        if given.get("function_call"):  # as it was before there were several
            calls = [*calls, {"function": given["function_call"]}]
        for each in calls:
            if not isinstance(each, Mapping):
                self.refuse("tool_calls holds something other than an object")
                continue
            function = each.get("function", each.get("custom"))
            inner = function if isinstance(function, Mapping) else each
            name = function if isinstance(function, str) else inner.get("name")
            yield self.call(each.get("id"), name, inner.get("arguments", inner.get("input")))

    def call(self, identifier: object, name: object, arguments: object) -> ChatMessage:
        tool = self.name(name, "the name of the tool")
        if not tool:
            self.refuse("calls a tool without a name")
        call = self.identifier(identifier)
        self.calls[call] = tool
        text = arguments if isinstance(arguments, str) else _json({} if arguments is None else arguments)
        return ChatMessage("call", text, name=tool, call=call)

    def result(
        self, identifier: object, content: object, error: object, given: Mapping[str, Any]
    ) -> ChatMessage:
        call = self.identifier(identifier)
        if call and call not in self.calls:
            self.refuse("holds a result of a tool that no earlier message calls")
        stated = self.name(given.get("name") or given.get("function"), "name")
        # A call without an id is known by its tool alone.
        tool = self.calls.get(call) or stated if call else stated or self.calls.get(call, "")
        if isinstance(content, str) or content is None:
            words = content or ""
        elif isinstance(content, list | tuple):
            words = "\n".join(map(self.words, self.parts(content)))
        else:
            words = _json(content)
        if isinstance(error, Mapping) and isinstance(message := error.get("message"), str):
            words = "\n".join(filter(None, (words, message)))
        return ChatMessage("result", self.text(words), name=tool, call=call, failed=bool(error))

    def parts(self, content: object) -> Iterator[Mapping[str, Any]]:
        listed = content if isinstance(content, list | tuple) else [content]
        for each in listed:
            if isinstance(each, str):
                yield {"type": "text", "text": each}
            elif isinstance(each, Mapping):
                yield each
            else:
                self.refuse(f"its content is neither a text nor a list of parts; {_FORMS}")

    def words(self, part: Mapping[str, Any]) -> str:
        """The words of a part of a content."""
        stated = part.get("type")
        form = stated if isinstance(stated, str) else ""
        if form in _REASONING:
            return _left_out(part.get(_REASONING[form]))
        if form in _TEXTS:
            return self.text(part.get(_TEXTS[form]))
        shown = form if _NAME.fullmatch(form) else "something else"
        self.refuse(
            f"holds a part that is no text ({shown}): what was said about it cannot be judged without it. {_WORDS}"
        )
        return ""

    def text(self, value: object) -> str:
        if not isinstance(value, str):
            self.refuse(f"has a part without a text; {_FORMS}")
            return ""
        return value

    def identifier(self, value: object) -> str:
        if value is None or (isinstance(value, str) and len(value) <= 200):
            return value or ""
        self.refuse("the id of a call is not a text of at most 200 characters")
        return ""

    def name(self, value: object, what: str) -> str:
        if value is None or value == "":
            return ""
        if isinstance(value, str) and _NAME.fullmatch(value):
            return value
        self.refuse(f"{what} is not a name: up to 100 letters, digits, blanks and . : / @ + - _")
        return ""

    def time(self, given: Mapping[str, Any]) -> str:
        value = next((given[name] for name in _TIMES if given.get(name)), None)
        if value is None:
            return ""
        if isinstance(value, str) and _NAME.fullmatch(value):
            return value
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, int | float) and 0 < value < 1e14:
            seconds = value / 1000 if value > 1e11 else value
            return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
        self.refuse("its time is neither a date nor seconds since 1970")
        return ""

    def refuse(self, problem: str) -> None:
        self.problems.append((self.here, problem))


def _left_out(reasoning: object) -> str:
    size = f"{len(str(reasoning or '')):,}"
    return f"[{size} {_REASONED}"


def _joined(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Words that follow each other in one message are one text."""
    found: list[ChatMessage] = []
    for each in messages:
        spoken = each.kind not in ("call", "result")
        if found and spoken and found[-1].kind == each.kind:
            found[-1] = replace(found[-1], text=f"{found[-1].text}\n{each.text}")
        else:
            found.append(each)
    return found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
