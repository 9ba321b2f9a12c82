"""Counts the stored ratings of a run on their way into its table, so that nobody need read them once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from medjury.instruments import Reason
from medjury.store.ratings import RaterKind, RatingColumns, RatingCount, Status

_Kind = tuple[str, RaterKind, Status, Reason | None, str | None, str | None]


class Tally:
    """How many ratings of each kind have passed."""

    def __init__(self) -> None:
        self._found: Counter[_Kind] = Counter()

    def counting(self, blocks: Iterable[RatingColumns]) -> Iterator[RatingColumns]:
        """The ratings, but for those of text metrics, which have a way of their own into the table."""
        for block in blocks:
            if "metric" in block.rater_kind:
                block = block.at([place for place, kind in enumerate(block.rater_kind) if kind != "metric"])
            self._found.update(
                zip(
                    block.rater,
                    block.rater_kind,
                    block.status,
                    block.reason,
                    block.model_asked,
                    block.model_answered,
                    strict=True,
                )
            )
            yield block

    def counts(self) -> list[RatingCount]:
        """By rater, status and reason."""
        kinds: Counter[tuple[str, RaterKind, Status, Reason | None]] = Counter()
        for (rater, kind, status, reason, _, _), count in self._found.items():
            kinds[rater, kind, status, reason] += count
        return [
            RatingCount(*kind, count)
            for kind, count in sorted(kinds.items(), key=lambda each: (*each[0][:3], each[0][3] or ""))
        ]

    def models(self) -> list[tuple[str, str, str, int]]:
        """By judge the models asked for and those that answered."""
        models: Counter[tuple[str, str, str]] = Counter()
        for (rater, kind, _, _, asked, answered), count in self._found.items():
            if kind == "judge" and answered is not None:
                models[rater, asked or "", answered] += count
        return [(*names, count) for names, count in models.items()]
