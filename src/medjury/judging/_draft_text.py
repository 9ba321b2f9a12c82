"""A draft as it is asked for and as it comes back: its sections, its words as one text, its checked citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from medjury.instruments import closed_object
from medjury.intake.cases import Note
from medjury.judging._asking import Unusable
from medjury.judging._quotations import Source, locate
from medjury.store.runs import Body, RunPart


class Citation(RunPart):
    """A note and words from it, as the draft claims. `given` says that a note of this id was given, `found` that
    the words occur in it (`exact`: word for word)."""

    note: str
    quote: str
    given: bool
    found: bool
    exact: bool = False

    @property
    def invented(self) -> bool:
        return not (self.given and self.found)


class DraftBody(Body):
    """`candidate` is the text that is judged; where the draft failed there is a `reason` instead."""

    kind: str = "draft"
    system: str = ""
    vendor: str = ""
    status: Literal["drafted", "failed"]
    reason: str | None = None
    message: str = ""
    candidate: str | None = None
    sections: dict[str, Any] = {}
    citations: tuple[Citation, ...] = ()
    citations_invented: int = 0
    notes_given: tuple[str, ...] = ()
    unreadable_dates: tuple[str, ...] = ()
    counts: dict[str, int] = {}


SECTIONS = {
    "assessment": "what is probably going on and how sure that is, in a few sentences",
    "recommendations": "what to do, the most important first, each with its rationale: the finding in the record "
    "or the accepted practice that speaks for it",
    "contingency": "what would change the plan: which findings or results, what to do then, when to call or refer",
    "citations": "for every fact about this patient that matters, the id of the note that holds it and its exact "
    "words there, copied without a change; an empty list where no note was given",
}
_TEXT = {"type": "string"}


def draft_schema(sections: Sequence[str]) -> dict[str, Any]:
    """The JSON schema of a draft with these sections."""
    lists = {
        "recommendations": closed_object({"recommendation": _TEXT, "rationale": _TEXT}),
        "citations": closed_object({"note": _TEXT, "quote": _TEXT}),
    }
    shapes = {name: {"type": "array", "items": lists[name]} if name in lists else _TEXT for name in sections}
    return closed_object(shapes)


def answer_form(sections: Sequence[str]) -> str:
    """The same in words, for models that are not bound by a schema."""
    forms = {
        "recommendations": '[{"recommendation": "...", "rationale": "..."}, ...]',
        "citations": '[{"note": "<its id>", "quote": "<its words>"}, ...]',
    }
    rows = ",\n".join(f'  "{name}": {forms.get(name, chr(34) + "..." + chr(34))}' for name in sections)
    return "One JSON object of this form, every part present:\n{\n" + rows + "\n}"


def read_draft(value: Any, sections: Sequence[str]) -> dict[str, Any]:
    """The sections of the draft in an answer; `Unusable` where a section is missing, empty or of another form."""
    if not isinstance(value, Mapping):
        raise Unusable("the answer is not a JSON object")
    found: dict[str, Any] = {}
    for name in sections:
        if name in ("recommendations", "citations"):
            fields = ("recommendation", "rationale") if name == "recommendations" else ("note", "quote")
            found[name] = _rows(value.get(name), name, fields)
        else:
            found[name] = _words(value.get(name), name)
    if "recommendations" in found and not found["recommendations"]:
        raise Unusable("recommendations is empty; give at least one, be it that nothing need be done")
    return found


def _words(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Unusable(f"{name} is missing or empty")
    return value.strip()


def _rows(value: Any, name: str, fields: tuple[str, str]) -> list[dict[str, str]]:
    if not isinstance(value, list):
        raise Unusable(f"{name} is not a list")
    rows = []
    for place, each in enumerate(value, 1):
        if not isinstance(each, Mapping):
            raise Unusable(f"{name}[{place}] is not an object with {fields[0]} and {fields[1]}")
        note = each.get(fields[0])
        first = str(note) if isinstance(note, int) and not isinstance(note, bool) else note  # an id such as 3
        rows.append(
            {
                fields[0]: _words(first, f"{name}[{place}].{fields[0]}"),
                fields[1]: _words(each.get(fields[1]), f"{name}[{place}].{fields[1]}"),
            }
        )
    return rows


def render(sections: Mapping[str, Any]) -> str:
    """The draft as a reader gets it. Citations are as the model wrote them, invented ones too: that is the
    answer under judgement."""
    parts = []
    for name, value in sections.items():
        if name == "recommendations":
            lines = [
                f"{number}. {each['recommendation']}\n   Rationale: {each['rationale']}"
                for number, each in enumerate(value, 1)
            ]
        elif name == "citations":
            lines = [f'- Note {each["note"]}: "{each["quote"]}"' for each in value] or ["None."]
        else:
            lines = [value]
        parts.append("\n".join((name.capitalize(), *lines)))
    return "\n\n".join(parts)


def check_citations(sections: Mapping[str, Any], notes: Sequence[Note]) -> tuple[Citation, ...]:
    """Every citation against the notes that were given."""
    sources = {note.id: Source(note.id, note.text) for note in notes}
    checked = []
    for each in sections.get("citations", ()):
        source = sources.get(each["note"].strip())
        place = None if source is None else locate(each["quote"], source)
        exact = place is not None and place.exact
        checked.append(
            Citation(
                note=each["note"],
                quote=each["quote"],
                given=source is not None,
                found=place is not None,
                exact=exact,
            )
        )
    return tuple(checked)
