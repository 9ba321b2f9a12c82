"""Records too long for their model, as a study sees them: reported in the plan, counted in the conclusion."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from medjury.judging import (
    Expected,
    Fitted,
    Judge,
    ModelChecked,
    Rater,
    Unit,
    first_questions,
    run_async,
    shorten,
)
from medjury.models import (
    ChatModel,
    ContextError,
    Request,
    clearly_too_long,
    context_window,
    excess_tokens,
    require_fit,
)
from medjury.store.ratings import StoredRecord
from medjury.store.runs import Shortened, files

# A cautious count is never more than this many times the estimate that a plan is made of.
_CAUTION = 4


class WindowCheck:
    """Counts, case by case while a plan is made, what will not fit the models of each judge. Only the first
    question of a unit can be known beforehand; later steps are looked at when they are asked."""

    def __init__(self) -> None:
        self._too_long: dict[str, set[str]] = defaultdict(set)
        self._shortened: dict[str, set[str]] = defaultdict(set)
        self._doubtful: dict[str, set[str]] = defaultdict(set)
        self._estimated: set[str] = set()

    def look(self, unit: Unit, expected: Expected, max_tokens: int) -> bool:
        """Count the unit where it does not fit; whether it will be asked about."""
        rater = unit.rater
        windows = [window for model in rater.models if (window := context_window(model)) is not None]
        if not windows or _CAUTION * expected.tokens_in + max_tokens <= min(windows):
            return True
        name = f"{unit.case.id}\0{unit.case.system}"
        excess = 0
        for model, request in _first(unit):
            found = self._excess(rater, model, request)
            if found is None:
                self._doubtful[rater.name].add(name)
            else:
                excess = max(excess, found)
        if not excess:
            return True
        self._doubtful[rater.name].discard(name)
        rule = rater.truncation
        fits = rule is not None and shorten(unit.case, rule, excess) is not None
        found_in = self._shortened if fits else self._too_long
        found_in[rater.name].add(name)
        return fits

    def _excess(self, rater: Rater, model: ChatModel, request: Request) -> int | None:
        """By how many tokens the prompt is too long; None where that is not known before it is asked."""
        excess = excess_tokens(model, request) or 0
        if not excess:
            return 0
        if model.host is not None:  # nothing leaves for a plan, not even to be counted
            if not clearly_too_long(model, request):
                return None
            self._estimated.add(rater.name)
            return excess
        try:
            return 0 if run_async(require_fit(model, request)) else None
        except ContextError as error:
            return error.excess

    def notes(self, judges: Sequence[Rater], cases: int) -> tuple[str, ...]:
        """What the plan says of it."""
        lines = []
        for judge in judges:
            windows = [context_window(model) for model in judge.models]
            known = min((window for window in windows if window is not None), default=0)
            how = " (a cautious estimate)" if judge.name in self._estimated else ""
            if None in windows:
                lines.append(
                    f"{judge.name}: its context window is not known, so no prompt is refused beforehand; "
                    "say `context_window: TOKENS`"
                )
            if count := len(self._too_long[judge.name]):
                lines.append(
                    f"{judge.name}: {count:,} of {cases:,} cases do not fit its {known:,} tokens{how}: they will "
                    "be unscored (context)"
                )
            if count := len(self._shortened[judge.name]):
                lines.append(
                    f"{judge.name}: {count:,} of {cases:,} cases are too long for its {known:,} tokens{how}: part "
                    "of the record will be left out; records.jsonl says which"
                )
            if count := len(self._doubtful[judge.name]):
                lines.append(
                    f"{judge.name}: {count:,} of {cases:,} cases may be too long for its {known:,} tokens; that is "
                    "known only when they are asked about"
                )
        return tuple(lines)


def _first(unit: Unit) -> list[tuple[ChatModel, Request]]:
    """The first questions of a unit: a single judge tells its one, any other way of judging is rehearsed."""
    from medjury.judging import AfterDrafting

    rater = unit.rater
    while isinstance(rater, AfterDrafting | Fitted | ModelChecked):
        rater = rater.rater
    if isinstance(rater, Judge):
        request = rater.request(unit)
        return [(rater.model, request)] if isinstance(request, Request) else []
    return run_async(first_questions(unit))


def left_out(records: Iterable[StoredRecord]) -> dict[str, Shortened]:
    """How many units of work were done on a shortened record, and how much of it was left out; by judge."""
    units: Counter[str] = Counter()
    notes: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for record in records:
        if '"context"' not in record.body:
            continue
        cut = json.loads(record.body).get("context")
        if isinstance(cut, dict) and "characters_left_out" in cut:
            units[record.rater] += 1
            notes[record.rater] += len(cut["notes_left_out"])
            characters[record.rater] += cut["characters_left_out"]
    return {
        rater: Shortened(units=count, notes=notes[rater], characters=characters[rater])
        for rater, count in sorted(units.items())
    }


def left_out_lines(counts: Mapping[str, Shortened], file: str = files.RECORDS) -> list[str]:
    """The same for a reader of the run."""
    return [
        f"{rater}: {each.units:,} answers were given on a shortened record ({each.notes:,} whole notes or turns "
        f"and {each.characters:,} characters in all were left out); {file} says which"
        for rater, each in counts.items()
    ]
