"""Clinicians alone: the number, the bound and the limit are those of the colleague test."""

from __future__ import annotations

import polars as pl
import pytest
from tests.agreement.rating_rows import likert, long_table

from medjury import agreement, rating_table, validate
from medjury.foundation.errors import MedjuryError
from medjury.validation import own_agreement


def people_and_jury() -> pl.DataFrame:
    scores = likert(5, 80, anna=0.5, ben=0.6, gpt=0.6)
    kinds = pl.col("rater").replace_strict({"gpt": "judge"}, default="clinician")
    return long_table(scores).with_columns(rater_kind=kinds)


def test_the_clinicians_own_agreement_is_the_line_of_the_colleague_test() -> None:
    frame = people_and_jury()
    rule = validate(rating_table(frame, scale=(1, 5)), resamples=300).verdicts[0].rule("colleagues")
    alone = own_agreement(
        rating_table(frame.filter(pl.col("rater_kind") == "clinician"), scale=(1, 5)), resamples=300
    )
    assert alone.rules["quality"].state == rule.state == "holds"
    estimate = alone.rows[0].estimate
    assert (estimate.value, estimate.low, estimate.high) == (rule.value, rule.low, rule.high)


def test_one_clinician_has_no_agreement_of_its_own() -> None:
    frame = people_and_jury().filter(pl.col("rater") == "anna")
    with pytest.raises(MedjuryError, match="two clinicians or more"):
        own_agreement(rating_table(frame, scale=(1, 5)))


def wide(names: list[str]) -> pl.DataFrame:
    scores = likert(5, 80, anna=0.5, ben=0.6, gpt=0.6)
    return pl.DataFrame({"item": [f"case {i}" for i in range(80)], **{name: scores[name] for name in names}})


@pytest.mark.parametrize("form", ["polars", "pandas", "path"])
def test_two_tables_are_validated_as_frames_or_paths(
    form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    humans, judges = wide(["anna", "ben"]), wide(["gpt"])
    expected = validate(rating_table(people_and_jury(), scale=(1, 5)), resamples=200).verdicts[0]
    two: tuple[object, object] = humans, judges
    if form == "pandas":
        pandas = pytest.importorskip("pandas")
        two = tuple(pandas.DataFrame(each.to_dict(as_series=False)) for each in (humans, judges))  # type: ignore[assignment]
    if form == "path":
        folder = tmp_path_factory.mktemp("two")
        two = folder / "humans.csv", folder / "judges.csv"
        humans.write_csv(two[0])  # type: ignore[arg-type]
        judges.write_csv(two[1])  # type: ignore[arg-type]
    found = validate(*two, scale=(1, 5), columns="raters", resamples=200).verdicts[0]
    for name in ("agreement", "colleagues", "offset"):
        assert found.rule(name).value == pytest.approx(expected.rule(name).value), name


def test_a_pandas_frame_of_clinicians_has_its_agreement() -> None:
    pandas = pytest.importorskip("pandas")
    frame = people_and_jury().filter(pl.col("rater") != "gpt")
    found = agreement(pandas.DataFrame(frame.to_dict(as_series=False)), resamples=50)
    assert found.roles.reference == ("anna", "ben") and not found.roles.raters
    assert found.find("icc_2_1", reference="anna", rater="ben").estimate.value > 0.5
