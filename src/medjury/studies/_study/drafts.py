"""The drafts of a study that writes its answers first: the drafter, the cases that need one, the file of drafts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_binary
from medjury.instruments import Reason
from medjury.intake.cases import Case, CaseSource, LeftOut
from medjury.models import ChatModel, make_model
from medjury.store.ratings import Store
from medjury.studies._file.models import DraftingPart, ModelPart

if TYPE_CHECKING:
    from medjury.judging import DraftBody, Drafter


# The drafting model's name in the audit log, in limits and in messages.
NAME = "drafting"


def make_drafter(part: DraftingPart, folder: Path) -> tuple[Drafter, tuple[ChatModel, ModelPart]]:
    """The drafter, and its model with the part that says how fast it may be asked and what it costs."""
    from medjury.judging import Drafter, DraftingRules, SelectionRules, Speaker

    options = part.options
    if "name" in options:
        raise MedjuryError("has no `name`; `system` is the name under which the drafts are judged")
    model = make_model(part.kind, name=NAME, **part.options_in(folder))
    if not model.vendor:
        raise MedjuryError(
            "the maker of the drafting model is not known, and without it nobody can tell whether a judge favours "
            "its own; add `vendor: NAME`"
        )
    rules = DraftingRules(
        SelectionRules(
            part.notes,
            part.minimum_characters,
            part.specialty_first,
            part.labs,
            part.max_age_days,
            tuple(part.kinds),
        ),
        tuple(part.sections),
        part.instructions,
        part.question,
        part.specialty,
        tuple(part.inputs),
        part.as_of,
    )
    speaker = Speaker(model, part.temperature, part.seed, part.max_tokens, part.reasks)
    system = part.system or str(options.get("model") or part.kind)
    return Drafter(speaker, system, rules, part.context.truncation), (model, part)


# What drafts is imported where something is drafted: every study meets this file, and most draft nothing.

# For a plan: about as long as a draft will be (tokens have less than a word); and as long as it can be, at six
# signs a token.
_WORDS, _STAND_IN, _LONGEST = 0.75, "word ", "word. "


class Undrafted:
    """The cases that need a draft, each with an id of its own. One that has an answer already is refused, or left
    to be judged as it is."""

    def __init__(self, cases: CaseSource, existing: str) -> None:
        self._cases = cases
        self._existing = existing
        self.kept = 0

    def __iter__(self) -> Iterator[Case]:
        self.kept = 0
        seen: set[str] = set()
        for case in self._cases:
            if case.candidate is None:
                if case.id in seen:  # whatever their systems: the drafts are all of one
                    raise MedjuryError(
                        f"{_where(case)}two cases without an answer are called {case.id!r}: their drafts could "
                        "not be told apart; give each its own id"
                    )
                seen.add(case.id)
                yield case
                continue
            if self._existing == "refuse":
                raise MedjuryError(
                    f"{_where(case)}case {case.id!r} has an answer already, and the study drafts one. Take "
                    "`candidate` out, or say `existing: keep` under drafting to judge such cases as they are"
                )
            self.kept += 1

    @property
    def skipped(self) -> int:
        return self._cases.skipped

    @property
    def left_out(self) -> LeftOut:
        return self._cases.left_out


class DraftedCases:
    """The study's cases with their drafts, read one at a time; `drafts` finds a draft by its key. Without drafts
    a text stands in for each of them, as long as it will be or (`longest`) as long as it can be."""

    def __init__(
        self, source: CaseSource, drafter: Drafter, drafts: Drafts | None, *, longest: bool = False
    ) -> None:
        from medjury.judging import TOKENS_PER_DRAFT, DraftBody

        self.source = source
        expected = _STAND_IN * int(TOKENS_PER_DRAFT * _WORDS)
        text = _LONGEST * drafter.speaker.max_tokens if longest else expected
        self._stand_in = DraftBody(status="drafted", candidate=text)
        self._drafter = drafter
        self._drafts = drafts

    def __iter__(self) -> Iterator[Case]:
        from medjury.judging import drafted_case

        for case in self.source:
            if case.candidate is not None:
                yield case
                continue
            key = self._drafter.units(case, 0)[0].key
            draft = self._stand_in if self._drafts is None else self._drafts.find(key)
            yield drafted_case(case, self._drafter, draft)

    @property
    def skipped(self) -> int:
        return self.source.skipped

    @property
    def left_out(self) -> LeftOut:
        return self.source.left_out


def _where(case: Case) -> str:
    return f"{case.origin.file}, row {case.origin.row}: " if case.origin else ""


class Drafts:
    """The file of drafts, and where in it each draft is: only the places are held in memory. Another run of
    the same study may put its file in place of ours: then the places are looked up again."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.counts: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._places: dict[str, int] = {}

    @classmethod
    def read(cls, file: Path) -> Drafts:
        """The drafts of a file as it is."""
        drafts = cls(file)
        drafts._look_up()
        return drafts

    def write(self, store: Store, run: str) -> None:
        """Write every draft of the run with what it cost. A half-written file never has the name."""
        from medjury.judging import DraftBody

        with whole_binary(self.file) as out:
            # One row and one record for every draft, both in the same order.
            for rating, record in zip(store.ratings(run), store.records(run), strict=True):
                body = DraftBody.model_validate(record.content())
                self._places[record.key] = out.tell()
                line = {
                    "id": record.item,
                    **{name: value for name, value in body.content().items() if name != "kind"},
                    "tokens_in": rating.tokens_in,
                    "tokens_out": rating.tokens_out,
                    "cost": rating.cost,
                    "calls": rating.calls,
                    "seconds": rating.seconds,
                    "created_at": rating.created_at,
                    "key": record.key,
                }
                out.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
                self._count(body)

    def _count(self, body: DraftBody) -> None:
        if body.status == "drafted":
            self.counts["drafted"] += 1
            self.counts["citations"] += len(body.citations)
            self.counts["citations_invented"] += body.citations_invented
        else:
            self.failed[body.reason or Reason.PROVIDER.value] += 1
        self.counts["notes_with_unreadable_date"] += len(body.unreadable_dates)
        self.counts.update(body.counts)

    @property
    def sources(self) -> dict[str, int]:
        """What the drafts were written from, and what they were not, over all of them."""
        return {
            name: self.counts[name]
            for name in sorted(self.counts)
            if name.startswith(("notes", "labs", "inputs"))
        }

    def find(self, key: str) -> DraftBody:
        from medjury.judging import DraftBody

        if key not in self._places:
            why = "it was not written; run again to go on"
            return DraftBody(status="failed", reason=Reason.PROVIDER.value, message=why)
        found = self._read(key)
        if found is None:
            self._look_up()
            found = self._read(key)
        if found is None:
            raise MedjuryError(
                f"{self.file}: was changed while its drafts were judged; run again: nothing is lost"
            )
        return found

    def _read(self, key: str) -> DraftBody | None:
        """The draft at its place; None where another line is there now."""
        from medjury.judging import DraftBody

        try:
            with self.file.open("rb") as file:
                file.seek(self._places[key])
                found = DraftBody.model_validate_json(file.readline())
        except (OSError, ValueError):
            return None
        return found if found.others.get("key") == key else None

    def _look_up(self) -> None:
        try:
            with self.file.open("rb") as file:
                place = 0
                for line in file:
                    self._places[json.loads(line)["key"]] = place
                    place += len(line)
        except (OSError, ValueError, KeyError, TypeError):
            return  # what is no file of drafts holds none
