"""A question in a site's own words: the prompt of a paper, or the official wording of an instrument.

It is sent as it stands, with the texts of the case in its places. So there are no markers around a text and no
token behind the question: a text that asks for a grade is held off by nothing but the site's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.foundation.hashes import json_hash
from medjury.instruments import Instrument, Reason, Unscored, closed_object, output_schema, same_key
from medjury.intake.cases import Case, clean_text
from medjury.judging._prompt import shows_images
from medjury.models import Message

_PLACE = re.compile(r"\{\{(\w+)\}\}|\{(\w+)\}")  # the first is text in braces, and stays
_QUESTION = re.compile(r"(?m)^=== user ===[ \t]*\n?")
TEXT = "text"  # what a reply has under this key is read by nobody
_NOTHING = "(none)"
Leaves = Iterator[tuple[tuple[str, ...], str]]


@dataclass(frozen=True)
class OwnPrompt:
    """The words of the prompt, the reply that they ask for (`{Accuracy: {score: accuracy, why: text}}`; without it
    each dimension under its name), and grades in words (`{accuracy: {Good: 5}}`)."""

    wording: str
    reply: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)

    def fingerprint(self) -> str:
        return json_hash([self.wording, self.reply, self.words])

    def check(self, instrument: Instrument) -> None:
        """Refuse a prompt that leaves an input or a dimension out, or a reply that nobody asked for."""
        inputs = [each.name for each in instrument.inputs]
        names = [each.name for each in instrument.dimensions]
        used = {inner for _, inner in _PLACE.findall(self.wording) if inner}
        for name in sorted(used - set(inputs)):
            raise MedjuryError(
                f"the prompt has the place {{{name}}}; {nearest(name, inputs)} (write {{{{{name}}}}} where "
                "the braces are to stay)"
            )
        if lost := [name for name in inputs if name not in used]:
            raise MedjuryError(
                f"the prompt never shows {', '.join(lost)}; put {{{lost[0]}}} where the judge is to read it"
            )
        leaves = list(self._leaves(instrument))
        asked = [leaf for _, leaf in leaves if leaf != TEXT]
        for name in asked:
            if name not in names:
                raise MedjuryError(f"the reply has the dimension {name!r}; {nearest(name, names)}")
        if lost := [name for name in names if asked.count(name) != 1]:
            raise MedjuryError(f"the reply must have each dimension once, and not {', '.join(lost)}")
        said = same_key(self.wording)
        for path, leaf in leaves:
            if leaf != TEXT and any(same_key(key) not in said for key in path):
                raise MedjuryError(
                    f"the prompt never asks for {'.'.join(path)!r}, under which the reply is to have the grade of "
                    f"{leaf}; say in the prompt how to answer, or `reply:` where the grade lies"
                )
        for name, grades in self.words.items():
            if name not in names:
                raise MedjuryError(f"`words` has the dimension {name!r}; {nearest(name, names)}")
            dimension = instrument.dimension(name)
            known = {
                *dimension.values,
                *([None] if dimension.may_be_not_applicable or dimension.skip else []),
            }
            if odd := [word for word, grade in grades.items() if grade not in known]:
                raise MedjuryError(f"`words` gives {name} for {odd[0]!r} what is none of its grades")

    def messages(self, case: Case, instrument: Instrument) -> tuple[Message, ...] | Unscored:
        """What is asked about one case, or why it cannot be: a required input is absent."""
        for wanted in instrument.inputs:
            if wanted.required and not case.input(wanted.name):
                problem = f"the case has no {wanted.name!r}, which {instrument.name} needs"
                return Unscored(Reason.INPUT, problem)

        def put(found: re.Match[str]) -> str:
            literal, name = found.groups()
            return f"{{{literal}}}" if literal else clean_text(case.words(name)) or _NOTHING

        # Each text is put in once: what looks like a place within it stays as it is.
        *before, question = (
            _PLACE.sub(put, part).strip() for part in _QUESTION.split(self.wording, maxsplit=1)
        )
        images = case.images if shows_images(instrument) else ()
        return (
            *(Message("system", each) for each in before if each),
            Message("user", question, images=images),
        )

    def schema(self, instrument: Instrument) -> Mapping[str, Any]:
        """The form of the reply, which is not sent: the prompt says it in its own words."""
        return _schema(self.reply) if self.reply else output_schema(instrument, explain=False)

    def graded(self, reply: object, instrument: Instrument) -> object:
        """The reply as one of ours: every grade under the name of its dimension, words as grades."""
        if not isinstance(reply, dict):
            return reply
        found: dict[str, object] = {}
        for path, leaf in self._leaves(instrument):
            value: object = reply
            for key in path:
                inside = (
                    [each for name, each in value.items() if same_key(str(name)) == same_key(key)]
                    if isinstance(value, dict)
                    else []
                )
                value = inside[0] if len(inside) == 1 else _ABSENT
            if leaf != TEXT and value is not _ABSENT:
                found[leaf] = self._grade(leaf, value)
        return found

    def _grade(self, dimension: str, value: object) -> object:
        grades = self._folded.get(dimension, {})
        word = " ".join(value.split()).casefold() if isinstance(value, str) else None
        return grades.get(word, value)

    @cached_property
    def _folded(self) -> Mapping[str, Mapping[str | None, int | None]]:
        return {
            name: {" ".join(word.split()).casefold(): grade for word, grade in grades.items()}
            for name, grades in self.words.items()
        }

    def _leaves(self, instrument: Instrument) -> Leaves:
        return _walk(self.reply or {each.name: each.name for each in instrument.dimensions})


_ABSENT = object()


def _walk(reply: Mapping[str, Any], above: Sequence[str] = ()) -> Leaves:
    for key, value in reply.items():
        if isinstance(value, Mapping):
            yield from _walk(value, (*above, str(key)))
        else:
            yield (*above, str(key)), str(value)


def _schema(reply: Mapping[str, Any]) -> dict[str, Any]:
    return closed_object(
        {str(key): _schema(value) if isinstance(value, Mapping) else {} for key, value in reply.items()}
    )
