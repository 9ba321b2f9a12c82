"""A dry run of weights on this machine: how long a call takes is tried once, and told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from medjury.models import weights_file
from medjury.studies import check_study, load_study

WriteStudy = Callable[..., Path]
# The fewest words that make an instrument: the call that is timed has the size of a question about it.
INSTRUMENT = """\
name: tiny
version: '1'
title: Tiny
instructions: Compare.
inputs: [{name: context, label: Source}, {name: candidate, label: Text}]
dimensions:
- {name: same, label: Same, definition: Is it the same, grades: {0: No., 1: Yes.}}
"""


@pytest.mark.skipif(not weights_file().exists(), reason="the embedded model's weights are not here")
def test_a_judge_inside_this_process_is_timed_and_others_are_guessed(
    write_study: WriteStudy, tmp_path: Path
) -> None:
    own = {"kind": "embedded", "name": "own", "context_window": 2048, "max_tokens": 8, "explain": False}
    (tmp_path / "tiny.yaml").write_text(INSTRUMENT)
    study = load_study(write_study(judge={"concurrency": 1}))
    assert "the time from 5 s a call." in check_study(study).text()
    plan = check_study(
        load_study(write_study(cases=3, judges=[own], instrument="tiny.yaml", dimensions=["same"]))
    )
    (part,) = plan.judges
    assert plan.timed["own"] > 0 and part.seconds == pytest.approx(plan.timed["own"] * part.calls)
    assert (
        f"one call of that size that was timed on this machine (own {plan.timed['own']:.1f} s)" in plan.text()
    )


def test_nothing_is_timed_where_no_question_may_be_asked(write_study: WriteStudy) -> None:
    own = {"kind": "embedded", "name": "own", "context_window": 2048, "max_tokens": 40}
    if weights_file().exists():
        assert check_study(load_study(write_study(judges=[own])), preflight=False).timed == {}
