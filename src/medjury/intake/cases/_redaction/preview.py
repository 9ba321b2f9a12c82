"""What redaction would replace, shown in its place: clinical text, for the eyes at this screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from medjury.intake.cases._case import Case
from medjury.intake.cases._redaction.redact import Redactor

_AROUND = 24  # signs shown on either side


def redaction_preview(cases: Iterable[Case], redactor: Redactor, count: int) -> Iterator[str]:
    """The lines of a preview of the first cases, ending with the counts."""
    counts: Counter[str] = Counter()
    for case in islice(cases, count):
        redaction = redactor.redact(case, _AROUND)
        counts.update(redaction.counts)
        yield f"case {case.id}{f' ({case.system})' if case.system else ''}:"
        for each in redaction.replacements:
            left, before, right = (" ".join(text.split()) for text in (each.left, each.before, each.right))
            yield f"  {each.field}: ...{left} {{{before} -> {each.placeholder}}} {right}..."
        if not redaction.replacements:
            yield "  nothing found"
    yield redaction_counts(counts)


def redaction_counts(counts: Mapping[str, int]) -> str:
    """How many of each kind were replaced."""
    found = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.items()))
    return f"replaced: {found or 'nothing'}"
