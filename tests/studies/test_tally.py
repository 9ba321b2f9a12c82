"""Ratings that are counted on their way into the table: what the store itself would count."""

from __future__ import annotations

import random
from pathlib import Path

from tests.ratings.samples import rating, unscored

from medjury.instruments import Reason
from medjury.store.ratings import Rating, open_store
from medjury.studies._run.conclude import Tally


def _any(chance: random.Random, number: int) -> Rating:
    whose = {
        "item": f"case-{number}",
        "key": f"key-{number}",
        "rater": chance.choice(["a", "b\x00", "é"]),
        "model_asked": chance.choice([None, "m", "m, n"]),
        "model_answered": chance.choice([None, "m", "m-1, n"]),
    }
    if chance.random() < 0.3:
        return unscored(chance.choice(list(Reason)), **whose)
    if chance.random() < 0.2:
        return rating(score=None, status="not_applicable", **whose)
    return rating(rater_kind=chance.choice(["judge", "clinician"]), **whose)


def test_it_counts_what_the_store_counts(tmp_path: Path) -> None:
    chance = random.Random(3)
    rows = [_any(chance, number) for number in range(600)]
    with open_store(tmp_path / "s.sqlite") as store:
        store.write_ratings("run", rows)
        store.write_ratings("other", [rating(item="elsewhere", key="elsewhere")])
        tally = Tally()
        assert list(tally.counting(store.blocks("run"))) == list(store.blocks("run"))
        assert list(tally.counts().items()) == list(store.counts("run").items())
    answered = [each for each in rows if each.rater_kind == "judge" and each.model_answered is not None]
    found = tally.models()
    assert sum(count for *_, count in found) == len(answered)
    for rater, asked, name, count in found:
        assert count == sum(
            (each.rater, each.model_asked or "", each.model_answered) == (rater, asked, name)
            for each in answered
        )


def test_text_metrics_have_another_way_into_the_table(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        store.write_ratings("run", [rating(), rating(rater="rouge", rater_kind="metric", key="metric")])
        tally = Tally()
        [passed] = tally.counting(store.blocks("run"))
    assert list(passed.rater_kind) == ["judge"] and [*tally.counts().values()] == [1]
