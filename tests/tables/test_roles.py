"""One rule for who takes part: the reference, those who are compared with it, and the jury."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.foundation.errors import MedjuryError
from medjury.tables import MACHINES, Roles
from medjury.tables._roles import People, assign, named

KINDS = ("clinician", "judge", "jury", "metric", "")
NAMES = ("a", "b", "c", "d", "e", "jury")
TEAM = {"anna": "clinician", "ben": "clinician", "gpt": "judge", "claude": "judge", "rouge": "metric"}


def roles(kinds: dict[str, str], **asked: object) -> Roles:
    return assign(kinds, **{"raters": None, "reference": None, **asked})


def test_by_default_machines_are_compared_with_all_clinicians_and_judges_form_a_jury() -> None:
    found = roles(TEAM)
    assert found.reference == ("anna", "ben")
    assert found.raters == ("gpt", "claude", "rouge", "jury")
    assert (found.jury, found.jurors) == ("jury", ("gpt", "claude"))
    assert roles(TEAM, reference="clinicians") == found


def test_the_consensus_that_tables_name_is_that_of_the_reference() -> None:
    assert roles(TEAM, reference="consensus") == roles(TEAM) == roles(TEAM, reference=["consensus"])
    people = People(reference=("ben",))
    assert roles(TEAM, reference="consensus", people=people).reference == ("ben",)
    own = {**TEAM, "consensus": "clinician"}
    assert roles(own, reference="consensus").reference == ("consensus",), "a rater of that very name"


def test_a_stored_jury_is_taken_as_it_is() -> None:
    found = roles({**TEAM, "jury": "jury"}, stored=("jury",))
    assert found == Roles(("anna", "ben"), ("gpt", "claude", "rouge", "jury"), "jury")


def test_a_jury_that_is_asked_for_replaces_the_stored_one() -> None:
    found = roles({**TEAM, "jury": "jury"}, asked=True)
    assert found.raters == ("gpt", "claude", "rouge", "jury")
    assert found.jurors == ("gpt", "claude")


def test_named_judges_form_a_jury_only_where_one_is_asked_for() -> None:
    alone = roles(TEAM, raters=("gpt", "claude"))
    assert (alone.raters, alone.jury, alone.jurors) == (("gpt", "claude"), "", ())
    together = roles(TEAM, raters=("gpt", "claude", "rouge"), asked=True)
    assert (together.raters[-1], together.jurors) == ("jury", ("gpt", "claude"))


def test_the_jury_itself_can_be_named_before_it_is_formed() -> None:
    alone = roles(TEAM, raters="jury")
    assert (alone.raters, alone.jury, alone.jurors) == (("jury",), "jury", ("gpt", "claude"))
    beside = roles(TEAM, raters=("gpt", "jury"))
    assert (beside.raters, beside.jurors) == (("gpt", "jury"), ("gpt", "claude"))
    stored = {**TEAM, "jury": "jury"}
    assert roles(stored, raters="jury", stored=("jury",)).jurors == ()
    assert roles(stored, raters="jury", asked=True).jurors == ("gpt", "claude")
    with pytest.raises(MedjuryError, match="none can be formed"):
        roles({"anna": "clinician", "gpt": "judge"}, raters="jury")
    assert roles(dict.fromkeys(("human", "jury"), ""), reference="human", raters="jury").jurors == ()


def test_the_only_judge_is_the_one_whose_word_counts() -> None:
    assert roles({"anna": "clinician", "gpt": "judge"}).jury == "gpt"


def test_where_no_kinds_are_named_everybody_else_is_compared_and_no_jury_is_formed() -> None:
    kinds = dict.fromkeys(("human", "x", "y"), "")
    assert roles(kinds, reference="human") == Roles(("human",), ("x", "y"))
    assert roles(kinds, reference="human", asked=True).jurors == ("x", "y")


def test_who_has_another_part_is_neither_reference_nor_judge() -> None:
    found = roles({**TEAM, "panel": "clinician", "final": "judge"}, aside=("panel", "final"))
    assert found.reference == ("anna", "ben")
    assert found.raters == ("gpt", "claude", "rouge", "jury")
    assert found.jurors == ("gpt", "claude")
    again = roles({**TEAM, "panel": "clinician"}, reference="clinicians", aside=("panel",))
    assert again.reference == ("anna", "ben")


def test_only_the_kinds_that_an_analysis_allows_are_compared_by_default() -> None:
    assert roles(TEAM, allowed=("metric",)).raters == ("rouge",)
    assert roles(TEAM, allowed=("judge",)).raters == ("gpt", "claude", "jury")


def test_a_table_that_calls_everybody_a_clinician_tells_nobody_apart() -> None:
    kinds = dict.fromkeys(("a", "b"), "clinician")
    with pytest.raises(MedjuryError, match="name the reference"):
        roles(kinds)
    assert roles(kinds, need_reference=False).reference == ()
    assert roles(kinds, reference="a").raters == ("b",)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"reference": "Anna"}, "did you mean 'anna'"),
        ({"raters": ("gpt", "gpt")}, "'gpt' is named twice as compared rater"),
        ({"raters": "gpd"}, "there is no rater 'gpd' to be the compared rater"),
        ({"allowed": ("jury",)}, "no rater is left to compare"),
    ],
)
def test_what_cannot_be_meant_is_refused(asked: dict[str, object], message: str) -> None:
    with pytest.raises(MedjuryError, match=message):
        roles(TEAM, **asked)


def test_clinicians_that_are_not_there_are_asked_for() -> None:
    with pytest.raises(MedjuryError, match="name no clinicians"):
        roles({"a": "judge", "b": ""}, reference="clinicians")
    assert named("clinicians", {"clinicians": "", "a": "clinician"}, "reference") == ("clinicians",)


def test_a_rater_who_has_the_jury_s_name_is_not_mistaken_for_it() -> None:
    with pytest.raises(MedjuryError, match="a rater is called 'jury'"):
        roles({**TEAM, "jury": "judge"})


def test_a_stored_jury_that_is_the_reference_is_not_formed_once_more() -> None:
    found = roles({**TEAM, "jury": "jury"}, reference="jury")
    assert found.reference == ("jury",) and "jury" not in found.raters and not found.jurors
    with pytest.raises(MedjuryError, match="a rater is called 'jury'"):
        roles({**TEAM, "jury": "jury"}, reference="jury", asked=True)


@given(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(KINDS), min_size=1),
    st.data(),
)
def test_whoever_is_there_the_parts_never_overlap(kinds: dict[str, str], data: st.DataObject) -> None:
    names = st.sampled_from(sorted(kinds))
    reference = data.draw(st.none() | st.lists(names, unique=True, min_size=1))
    aside = data.draw(st.lists(names, unique=True, max_size=2))
    stored = [name for name, kind in kinds.items() if kind == "jury"][:1]
    try:
        found = roles(kinds, reference=reference, aside=aside, stored=stored, asked=data.draw(st.booleans()))
    except MedjuryError:
        return
    assert found.reference
    assert not set(found.reference) & set(found.raters)
    assert not set(aside) & {*found.raters, *found.jurors}
    assert set(found.jurors) <= set(found.raters) - {found.jury}
    assert all(kinds[name] in ("judge", "") for name in found.jurors)
    assert len(found.jurors) != 1
    if reference is None:
        assert {kinds[name] for name in found.reference} == {"clinician"}
        assert not set(aside) & set(found.reference)
    if any(kind in MACHINES for kind in kinds.values()):
        assert {kinds.get(name, "jury") for name in found.raters} <= set(MACHINES)
    if found.jury:
        assert found.jury in found.raters
