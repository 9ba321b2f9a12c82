"""A reply taken apart: its objects, what is broken, the prose around them; reasoning is set aside.

What stands inside an object, in its texts above all, is never looked at here: a tag or a brace that an explanation
quotes is a part of that explanation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from medjury.instruments._lenient import JsonError, decode
from medjury.records import dataclass

TAG = re.compile(r"</?(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_MOST_OBJECTS = 100
# What is worth looking at: a brace after which an object may begin, a tag of reasoning, a fence.
_MARK = re.compile(
    rf"""(?P<object>\{{(?=\s*(?:["'“‘}}]|\w[\w .-]{{0,60}}["'”’]?\s*[:=]|$)))
      | (?P<tag>{TAG.pattern})
      | (?P<fence>```(?:[A-Za-z0-9_+-]{{0,12}}(?=[\s{{[]))?)""",
    re.VERBOSE | re.IGNORECASE,
)
_CUT_TAG = re.compile(r"</?[a-z]{0,9}$", re.IGNORECASE)
_BRACES = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_QUOTES = tuple("\"'`“”‘’")


@dataclass(slots=True)
class Parts:
    """The parts of a reply. `fences` counts their marks; `ended`: reasoning without a beginning was set aside;
    `unfinished`: the reasoning never ended; `too_many`: so many objects are no answer; `places` says before
    which piece of prose each object stands."""

    objects: list[dict[str, object]] = field(default_factory=list)
    broken: list[JsonError] = field(default_factory=list)
    prose: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    fences: int = 0
    ended: bool = False
    unfinished: bool = False
    too_many: bool = False

    def around(self, value: dict[str, object]) -> Iterator[tuple[str, str]]:
        """The words before and behind an object, wherever it stands, fences aside."""
        for each, place in zip(self.objects, self.places, strict=True):
            if each == value:
                inside = self.prose[place - 1].strip() == ""  # a fence, whose line is no blank one
                yield "".join(self.prose[: place - inside]), "".join(self.prose[place:])

    @property
    def alone(self) -> dict[str, object] | None:
        """The one object of a reply that is nothing else, bare or in one fence."""
        one = len(self.objects) == 1 and not self.broken and self.fences <= 2
        return self.objects[0] if one and not any(each.strip() for each in self.prose) else None


def take_apart(text: str) -> Parts:
    """The parts of a reply, in one pass from its beginning."""
    parts, at, start, fenced = Parts(), 0, 0, False
    while (mark := _MARK.search(text, at)) and not parts.unfinished:
        at = mark.end()
        if mark["tag"] and (fenced or _is_quoted(text, mark)):
            continue
        parts.prose.append(text[start : mark.start()])
        if mark["object"]:
            if len(parts.objects) + len(parts.broken) >= _MOST_OBJECTS:
                parts.too_many = True
                return parts
            at = _take_object(text, mark.start(), parts)
        elif mark["fence"]:
            parts.fences, fenced = parts.fences + 1, not fenced
        elif mark["tag"].startswith("</"):
            # Some endpoints strip the opening tag: an end tag closes all that stands before it.
            parts = Parts(ended=True)
        else:
            closed = re.compile(f"</{mark['tag'][1:]}", re.IGNORECASE).search(text, at)
            parts.unfinished = closed is None
            at = closed.end() if closed else len(text)
        start = at
    parts.prose.append(text[start:])
    parts.unfinished = parts.unfinished or _CUT_TAG.search(parts.prose[-1]) is not None
    return parts


def _take_object(text: str, start: int, parts: Parts) -> int:
    try:
        value, end = decode(text, start)
    except JsonError as error:
        parts.broken.append(error)
        return _end_of_broken(text, start)
    if isinstance(value, dict):
        parts.objects.append(value)
        parts.places.append(len(parts.prose))
    return end


def _is_quoted(text: str, tag: re.Match[str]) -> bool:
    """A tag that somebody writes about stands in quotes: `<think>`."""
    return text.startswith(_QUOTES, max(0, tag.start() - 1)) and text.startswith(_QUOTES, tag.end())


def _end_of_broken(text: str, start: int) -> int:
    """Where a broken object's braces balance; the end of the text where they never do."""
    depth = 0
    for token in _BRACES.finditer(text, start):
        if token.group() == "{":
            depth += 1
        elif token.group() == "}":
            depth -= 1
            if depth == 0:
                return token.end()
    return len(text)
