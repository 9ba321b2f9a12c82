"""A dry run of weights on this machine: how long a call takes is tried once, and told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from medjury.models import Reply, Request, weights_file
from medjury.models._embedded_model import EmbeddedModel
from medjury.studies import check_study, load_study
from medjury.studies._plan import preflight

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
    write_study: WriteStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that only the model moves on: it takes long to be loaded, which is no part of a call."""
    clock, asked = SimpleNamespace(now=0.0), list[Request]()

    async def ask(self: EmbeddedModel, request: Request) -> Reply:
        asked.append(request)
        clock.now += 60.0 if len(asked) == 1 else 2.5
        return Reply("It is about the weather.", tokens_in=9, tokens_out=8)

    monkeypatch.setattr(EmbeddedModel, "ask", ask)
    monkeypatch.setattr(preflight, "time", SimpleNamespace(monotonic=lambda: clock.now))
    own = {"kind": "embedded", "name": "own", "context_window": 2048, "max_tokens": 8, "explain": False}
    (tmp_path / "tiny.yaml").write_text(INSTRUMENT)
    study = load_study(write_study(judge={"concurrency": 1}))
    assert "the time from 5 s a call." in check_study(study).text() and not asked
    plan = check_study(
        load_study(write_study(cases=3, judges=[own], instrument="tiny.yaml", dimensions=["same"]))
    )
    (part,) = plan.judges
    assert plan.timed == {"own": 2.5} and part.seconds == 2.5 * part.calls == 7.5
    assert "one call of that size that was timed on this machine (own 2.5 s)" in plan.text()
    first, second = asked
    assert first.max_tokens == 1 and second.max_tokens == part.tokens_out // 3
    words = len(second.messages[0].content) / 4
    assert words == pytest.approx(part.tokens_in / 3, rel=0.1), "as long as a question about a case"


def test_nothing_is_timed_where_no_question_may_be_asked(write_study: WriteStudy) -> None:
    own = {"kind": "embedded", "name": "own", "context_window": 2048, "max_tokens": 40}
    if weights_file().exists():
        assert check_study(load_study(write_study(judges=[own])), preflight=False).timed == {}
