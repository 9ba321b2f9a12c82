"""What a rater sees of a case: the inputs that the instrument and the round name, and nothing else. Words that
would tell whose answer it is are hidden; a coordinator learns of those that are left.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from medjury.instruments import Instrument
from medjury.intake.cases import IMAGES, Case, ChatMessage, Image, Note, text_of

HIDDEN = "[hidden]"
_SHORTEST = 3  # a name of two letters stands in every text


# Between the parts of a name: `quokka-scribe` is written quokka_scribe, Quokka Scribe and QuokkaScribe as well.
_BETWEEN = r"[\s_\-\u2010-\u2015]"


def hider(words: Sequence[str], followed_by: str = r"[^\W_]") -> re.Pattern[str] | None:
    """A pattern of the words to hide, longest first, however they are capitalised, spaced and hyphenated."""
    parted = ([part for part in re.split(f"{_BETWEEN}+", word) if part] for word in words)
    longest_first = sorted(filter(None, parted), key=lambda each: -len("".join(each)))
    ways = [f"{_BETWEEN}*".join(map(re.escape, word)) for word in longest_first]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(ways)})(?!{followed_by})", re.IGNORECASE) if ways else None


def hide(text: str, pattern: re.Pattern[str] | None) -> str:
    return text if pattern is None else pattern.sub(HIDDEN, text)


def telling_words(texts: Sequence[str], names: Iterable[str]) -> set[str]:
    """Names of systems and vendors that a rater would still read after hiding: for `blind_words`."""
    # With its version behind it, a name tells as much.
    patterns = {name: hider([name], r"[^\W\d_]") for name in names if len(name) >= _SHORTEST}
    return {name for name, each in patterns.items() if each and any(each.search(text) for text in texts)}


ANSWER = "answer"


@dataclass(frozen=True)
class ImageShown:
    """An image as a page has it: its content in its address, so that nothing has to be fetched, and its size."""

    address: str
    width: int
    height: int
    label: str = ""

    @classmethod
    def of(cls, image: Image) -> ImageShown:
        data = b64encode(image.content).decode("ascii")
        return cls(f"data:{image.media};base64,{data}", image.width, image.height, image.label)


@dataclass(frozen=True)
class Passage:
    """One text with its heading, or the notes of a record. Of a conversation `messages` are what `text` has in
    words, of images `images`."""

    name: str
    label: str
    text: str = ""
    notes: tuple[Note, ...] = ()
    messages: tuple[ChatMessage, ...] = ()
    images: tuple[ImageShown, ...] = ()

    @property
    def turns(self) -> list[tuple[ChatMessage, str, str]]:
        """Each message with the lines above and below it, which together are the text."""
        ends = ["\n\n"] * (len(self.messages) - 1) + [""]
        return [(each, each.heading_line, end) for each, end in zip(self.messages, ends, strict=False)]

    @property
    def is_answer(self) -> bool:
        return self.name == ANSWER

    @property
    def texts(self) -> list[str]:
        """Every text of it that a rater reads."""
        return [self.text, *(part for note in self.notes for part in (note.id, note.kind or "", note.text))]


def shown_of(
    case: Case, instrument: Instrument, show: Sequence[str] | None, pattern: re.Pattern[str] | None
) -> tuple[Passage, ...]:
    """The passages in the instrument's order; `show` narrows them. A text that the case lacks is left out."""
    passages = []
    for each in instrument.inputs:
        name = ANSWER if each.name == "candidate" else each.name
        if show is not None and name not in show:
            continue
        found = case.input(each.name)
        if isinstance(found, str):
            images = case.images if each.name == IMAGES else ()
            seen = tuple(replace(ImageShown.of(i), label=hide(i.label, pattern)) for i in images)
            passages.append(Passage(name, each.label, hide(found, pattern), images=seen))
        elif found and isinstance(found[0], ChatMessage):
            said = tuple(
                replace(m, text=hide(m.text, pattern), name=hide(m.name, pattern))
                for m in found
                if isinstance(m, ChatMessage)
            )
            passages.append(Passage(name, each.label, text_of(said), messages=said))
        elif found:
            notes = tuple(
                Note(hide(n.id, pattern), hide(n.text, pattern), n.date, hide(n.kind or "", pattern))
                for n in found
                if isinstance(n, Note)
            )
            passages.append(Passage(name, each.label, notes=notes))
    return tuple(passages)


def labelled(passages: Iterable[Passage], instrument: Instrument) -> tuple[Passage, ...]:
    """The passages with the headings of this instrument, which may be in another language."""
    labels = {ANSWER if each.name == "candidate" else each.name: each.label for each in instrument.inputs}
    return tuple(replace(each, label=labels.get(each.name, each.label)) for each in passages)


_PASSAGES = TypeAdapter(tuple[Passage, ...])


def passages_to_row(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    """Passages as the database keeps them."""
    return [asdict(each) for each in passages]


def passages_from_row(rows: Sequence[dict[str, Any]]) -> tuple[Passage, ...]:
    """And back."""
    return _PASSAGES.validate_python(rows)
