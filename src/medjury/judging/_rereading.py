"""Reads the stored replies of an earlier run again, by the present reader and instrument, without asking anybody.

Every way of judging runs as it always does, but its questions are answered from the store: by the very same call,
or by the question of that name in the same unit of the earlier run, whose words may have been others. Where the
present reading leads to a question that was never asked, the unit has no score for the reason `not_stored`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from medjury.instruments import TRANSIENT, Outcome, Reason, Unscored
from medjury.judging._around import Around, Noted
from medjury.judging._closed_loop_rater import revised_system
from medjury.judging._rater import Rated, Rater, Unit
from medjury.models import (
    Answer,
    ChatModel,
    Gate,
    MemoryCache,
    ModelError,
    PriceList,
    Request,
    asked_name,
    failure_of,
    request_key,
)
from medjury.store.ratings import Rating, Store


class EarlierRun:
    """What a run left in its store, found by what was rated. Only the keys of its units are held in memory."""

    def __init__(self, store: Store, run: str) -> None:
        self.store = store
        self._units: dict[bytes, tuple[str, ...]] = {}
        for row in store.ratings(run):
            if row.rater_kind == "judge":
                place = _place(row.item, row.system, row.rater, row.repeat)
                keys = self._units.get(place, ())
                if row.key not in keys:
                    self._units[place] = (*keys, row.key)

    def outcomes(self, unit: Unit) -> tuple[str, Mapping[str, Outcome]]:
        """The key of the same unit then, and what came of each dimension; "" where there was none."""
        case, ending = unit.case, unit.rater.revises_as
        system = revised_system(case, ending) if ending else case.system
        keys = self._units.get(_place(case.id, system, unit.rater.name, unit.repeat))
        if not keys:
            return "", {}
        found: dict[str, dict[str, Outcome]] = {}
        for (key, dimension), outcome in self.store.outcomes(keys).items():
            found.setdefault(key, {})[dimension] = outcome
        shared = {key: len(found[key].keys() & set(unit.dimensions)) for key in sorted(found)}
        best = max(shared, key=lambda key: shared[key], default="")
        return (best, found[best]) if best and shared[best] else ("", {})


class Reread(Around):
    """A rater whose questions are answered from an earlier run. `run` is the name of the run that reads: its
    ratings have keys of their own, so that those of the earlier run stay as they are."""

    def __init__(self, rater: Rater, run: str, earlier: EarlierRun, prices: PriceList) -> None:
        super().__init__(rater)
        self._settings_hash = hashlib.sha256(f"reread {run} {rater.settings_hash()}".encode()).hexdigest()
        self._earlier = earlier
        self._prices = prices

    def settings_hash(self) -> str:
        return self._settings_hash

    async def rate(self, unit: Unit, gate: Gate) -> Rated:
        key, before = self._earlier.outcomes(unit)
        replies = _Replies(self._earlier.store, key, self._prices)
        noted = Noted(replies, unit.key)
        # As if asked anew: of answers that cannot be used those drawn after them are read too.
        rated = await self.rater.rate(replace(unit, again=True), noted)
        ratings = [_with_its_reason(row, before.get(row.dimension), replies.found) for row in rated.ratings]
        return Rated(ratings, rated.record, noted.questions)


class _Replies(Gate):
    """A gate that answers from the store alone. `found` counts the replies."""

    def __init__(self, store: Store, unit: str, prices: PriceList) -> None:
        super().__init__(cache=MemoryCache(), prices=prices)
        self._store = store
        self._noted = {each.name: each for each in store.questions([unit])} if unit else {}
        self.found = 0

    async def ask(self, model: ChatModel, request: Request, repeat: int = 0, name: str = "") -> Answer:
        same = request_key(model.identity, request, repeat)
        noted = self._noted.get(name)
        wanted = [same] if noted is None or noted.reply is None else [same, noted.reply]
        replies = self._store.replies(wanted)
        for key in wanted:
            if key in replies:
                self.found += 1
                reply, price = replies[key], self.price(model, replies[key])
                earlier = key != same and noted is not None and noted.read_as in ("object", "token")
                return Answer(reply, 0.0, True, 0, price, key, asked_name(model, reply), earlier)
        if noted is not None and noted.failure:
            raise failure_of(noted.failure, model)
        raise ModelError(Reason.NOT_STORED, "no reply to this question is stored")


def _with_its_reason(rating: Rating, before: Outcome | None, found: int) -> Rating:
    """A rating for which no reply is stored keeps the reason that it had: that is why there is none."""
    if rating.reason is not Reason.NOT_STORED or not isinstance(before, Unscored):
        return rating
    if found and before.reason not in TRANSIENT:  # it had a reply, which now leads elsewhere
        return rating
    return replace(rating, reason=before.reason, explanation=before.message)


def _place(item: str, system: str, rater: str, repeat: int) -> bytes:
    return hashlib.blake2b(repr((item, system, rater, repeat)).encode(), digest_size=16).digest()
