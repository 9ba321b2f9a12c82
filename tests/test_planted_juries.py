"""The most telling planted juries before the gate, one seed each; `python -m benchmarks adversaries` has all,
50 seeds each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from benchmarks._planted import Kind, tried
from benchmarks._planted_kinds import BAD, GOOD
from benchmarks.adversaries import read, text

from medjury.validation import Verdict

KNOWN = {kind.name: kind for kind in (*BAD, *GOOD)}
TABLE = Path(__file__).parents[1] / "docs" / "tables" / "planted-juries.md"
# Of one study each: the good jury first, then the bad ones with the rule that finds them out.
HARD: Mapping[str, str] = {
    "one more clinician, three systems": "",
    "one score for all answers to a case": "within_case",
    "swaps two systems' scores in each case": "within_case",
    "knows the order within cases only": "within_system",
}
WARD: Mapping[str, str] = {
    "the true grade": "",
    "copies one clinician, 70 %": "clinician_copy",
    "copies now one clinician and now the other": "clinician_scores",
    "the clinicians' mean, rounded": "clinician_scores",
    "misses 20 % of what both call dangerous": "consensus_danger",
    "right order, 0.65 of a grade stricter": "offset",
}
MANY: Mapping[str, str] = {
    "one more clinician, ten systems": "",
    "refuses a third of one system's answers": "missed_danger",
}


def verdicts(names: Mapping[str, str], folder: Path) -> Mapping[str, Verdict]:
    kinds: list[Kind] = [KNOWN[name] for name in names]
    return tried(kinds, 1, folder)


@pytest.mark.parametrize("names", [HARD, WARD, MANY], ids=["hard cases", "ward", "ten systems"])
def test_a_good_jury_is_validated_beside_bad_ones_that_are_found_out(
    names: Mapping[str, str], tmp_path: Path
) -> None:
    for name, verdict in verdicts(names, tmp_path).items():
        if KNOWN[name].good:
            assert verdict.word == "VALIDATED", verdict.reasons
        else:
            assert verdict.word != "VALIDATED"
            rule = verdict.rule(names[name])
            assert not rule.met and rule.why in verdict.reasons, rule.found


def test_a_part_that_is_a_grade_off_is_outside_the_scope_even_in_small_clinics(tmp_path: Path) -> None:
    name = "a grade off in eight clinics of 14 cases"
    verdict = verdicts({name: ""}, tmp_path)[name]
    assert verdict.rule("agreement").met and verdict.rule("registered").met
    assert set(KNOWN[name].parts) <= {*verdict.scope.fails}


def test_a_length_and_a_date_with_many_values_are_looked_at_too(tmp_path: Path) -> None:
    """No other line sees them: no danger is claimed, and the file is in no order of time."""
    long, since = "0.9 of a grade kinder to the longest third", "0.9 of a grade kinder since September"
    found = verdicts({long: "", since: ""}, tmp_path)
    assert "length=highest values" in found[long].scope.fails
    assert not found[since].rule("steady").met and found[since].word != "VALIDATED"


def test_each_kind_has_its_own_name_and_a_row_in_the_file_that_the_page_shows() -> None:
    names = [kind.name for kind in (*BAD, *GOOD)]
    assert len(set(names)) == len(names) and len(BAD) >= 27 + 25
    rows = read(TABLE)
    assert {row["jury"] for row in rows} == set(names)
    page = TABLE.read_text(encoding="utf-8")
    assert page == text(rows) and [name for name in names if name not in page] == []
