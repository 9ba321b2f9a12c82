"""The case: what is judged, and everything a rater may look at while judging it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from medjury.intake.cases._images import IMAGES, Image, images_text
from medjury.intake.cases._messages import ChatMessage, messages_json, text_of

MetadataValue = str | int | float | bool
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True)


@dataclass(frozen=True, slots=True)
class Note:
    """One dated document of a record, with the id by which a summary may cite it."""

    id: str
    text: str
    date: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Criterion:
    """One statement of which a rater says whether the answer meets it. What the answer should not do has negative
    points. `tags` group criteria (`axis:accuracy`); `quote` is the passage of the source that it rests on."""

    id: str
    text: str
    points: float = 1.0
    tags: tuple[str, ...] = ()
    quote: str = ""


def ids_by_name(criteria: Sequence[Criterion]) -> dict[str, str]:
    """The ids of criteria by what a mark may call them: an id before words, and words that only one has."""
    times = Counter(each.text for each in criteria)
    found = {each.id: each.id for each in criteria}
    for each in criteria:
        if times[each.text] == 1:
            found.setdefault(each.text, each.id)
    return found


def id_of(ids: Mapping[str, str], name: str) -> str | None:
    """The id of the criterion that is called so; its words are known without the blanks around them."""
    return ids.get(name) or ids.get(name.strip())


def tags_of(case: Case) -> tuple[str, ...]:
    """What the case's metadata say in words, as tags: `theme:context_seeking`."""
    return tuple(f"{name}:{each}" for name, each in case.metadata.items() if isinstance(each, str))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a case was read from, so that an error can name file and row."""

    file: str
    row: int


@dataclass(frozen=True, slots=True)
class Case:
    """One answer of one system to one item, with the texts it must be judged against.

    `id` names the item; the pair (`id`, `system`) is unique in a study, so ten systems that answered the
    same item are ten cases with one id. `patient` groups items of one patient: resampling, folds and
    few-shot examples never split it. `criteria` are what this case alone is marked by. `messages` has, by its name,
    each text that is a conversation (the candidate, or what was said before it): that text is the messages in
    words, and another in its place is no conversation.
    """

    id: str
    candidate: str | None = None
    reference: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    system: str = ""
    vendor: str = ""
    patient: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    criteria: tuple[Criterion, ...] = ()
    messages: Mapping[str, tuple[ChatMessage, ...]] = field(default_factory=dict)
    images: tuple[Image, ...] = ()
    origin: Origin | None = field(default=None, compare=False)
    _fingerprint: str = field(default="", init=False, repr=False, compare=False)
    _plain: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", MappingProxyType(dict(self.texts)))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))
        if self.messages:
            self._take_messages()

    def _take_messages(self) -> None:
        """Give each conversation its text; a text that was put in its place since counts more."""
        texts, kept = dict(self.texts), {}
        for name, messages in self.messages.items():
            words, own = text_of(messages), name in ("candidate", "reference")
            if (getattr(self, name) if own else texts.get(name)) is None:
                object.__setattr__(self, name, words) if own else texts.update({name: words})
            if (getattr(self, name) if own else texts[name]) == words:
                kept[name] = messages
        object.__setattr__(self, "texts", MappingProxyType(texts))
        object.__setattr__(self, "messages", MappingProxyType(kept))

    def input(self, name: str) -> str | tuple[Note, ...] | tuple[ChatMessage, ...] | None:
        """The input an instrument asks for by name, or None where the case has nothing under it."""
        if name in self.messages:
            return self.messages[name]
        if name == "candidate":
            return self.candidate
        if name == "reference":
            return self.reference
        if name == "notes" and self.notes:
            return self.notes
        if name == IMAGES and self.images:
            return images_text(self.images)
        if name in self.texts:
            return self.texts[name]
        value = self.metadata.get(name)
        return None if value is None else str(value)

    def words(self, name: str) -> str:
        """That input as one text: notes and messages one below another."""
        value = self.input(name)
        if isinstance(value, tuple):
            messages = [each for each in value if isinstance(each, ChatMessage)]
            return text_of(messages) if messages else "\n\n".join(each.text for each in value)
        return value or ""

    def fingerprint(self) -> str:
        """SHA-256 of the whole content: the same id with another text is another case. Computed once."""
        if self._fingerprint:
            return self._fingerprint
        # In ASCII, so that unpaired surrogates can be hashed like any other text.
        whole: dict[str, object] = {
            "candidate": self.candidate,
            "id": self.id,
            "metadata": dict(self.metadata),
            "notes": [[note.id, note.text, note.date, note.kind] for note in self.notes],
            "patient": self.patient,
            "reference": self.reference,
            "system": self.system,
            "texts": dict(self.texts),
            "vendor": self.vendor,
        }
        if self.criteria:  # a case without any has the hash that it always had
            whole["criteria"] = [
                [each.id, each.text, each.points, list(each.tags), each.quote] for each in self.criteria
            ]
        text = _ENCODER.encode(whole)
        for name in sorted(self.messages):
            text += f" {_json(name)}: {messages_json(self.messages[name])}"
        if self.images:
            text += f' "images": {_ENCODER.encode([[each.hash, each.label] for each in self.images])}'
        object.__setattr__(self, "_plain", "\\" not in text)
        object.__setattr__(self, "_fingerprint", hashlib.sha256(text.encode()).hexdigest())
        return self._fingerprint

    @property
    def plain(self) -> bool:
        """Whether nothing in it has to be escaped in JSON, not even in ASCII: known with the fingerprint, so that
        who writes its texts need not look at every sign again."""
        self.fingerprint()
        return self._plain


def _json(text: str | None) -> str:
    """JSON in ASCII alone, where the delete sign is escaped as well."""
    return _ENCODER.encode(text)


def clean_text(text: str) -> str:
    """The text with surrogate pairs joined, and lone surrogates and NUL replaced by U+FFFD.

    Neither can be stored: UTF-8 has no lone surrogates, and PostgreSQL no NUL.
    """
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


# Marks of a case: hashes by which the same texts are known again, in another study, under another name and id.
# Whoever tuned on a text may not prove anything on it. Ids are given anew in every study, so a case is known by its
# words: all of them together, the answer with its reference, what is known beside the answer, and every long note.

# Shorter texts ("yes", a specialty, a standing instruction) are shared by cases that have nothing to do with each
# other.
_TELLING_ANSWER, _TELLING_RECORD, _TELLING_NOTE = 40, 100, 400
_DIGITS = 16


def content_marks(case: Case) -> frozenset[str]:
    """The marks of a case. Two cases that share one are taken for the same, or for the same patient's; spaces, case
    of letters, the names of the texts, the id, the system and the patient's name make no difference."""
    answer = [_plain(case.candidate), _plain(case.reference)]
    others = [_plain(text) for text in case.texts.values()]
    notes = [_plain(note.text) for note in case.notes]
    others += [each.hash for each in case.images]
    record = [answer[1], *others, *notes]
    marks = [_mark([*answer, *others, *notes])]
    if len(answer[0] + answer[1]) >= _TELLING_ANSWER:
        marks.append(_mark(["answer", *answer], in_order=True))
    if sum(map(len, record)) >= _TELLING_RECORD:
        marks.append(_mark(["record", *record]))
    marks += [_mark(["note", note]) for note in notes if len(note) >= _TELLING_NOTE]
    marks += [_mark(["image", each.hash]) for each in case.images]
    return frozenset(marks)


def _plain(text: str | None) -> str:
    return " ".join((text or "").casefold().split())


def _mark(texts: Iterable[str], *, in_order: bool = False) -> str:
    filled = [text for text in texts if text]
    whole = "\0".join(filled if in_order else sorted(set(filled)))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
