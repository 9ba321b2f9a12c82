"""A jury as a metric of the real deepeval: its runner reports scores, and an error where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.loopback import Call, LoopbackServer
from tests.suites.exchange.juries import graded, nothing_leaves, write_study

from medjury.suites import UnscoredError, deepeval_metric

# Before it is loaded: it calls home, and looks for news of itself, unless it is told not to.
os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="1", DEEPEVAL_UPDATE_WARNING_OPT_IN="0")
deepeval = pytest.importorskip("deepeval", reason="deepeval is not installed; `make test-interop` brings it")
pytestmark = pytest.mark.filterwarnings("ignore")


def by_text(call: Call) -> str:
    if "DECLINE" in call.prompt:
        return "refusal"
    return graded(5 if "GOOD" in call.prompt else 1)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps files of its own in the folder where it runs."""
    monkeypatch.chdir(tmp_path)


def case(answer: str) -> object:
    from deepeval.test_case import LLMTestCase

    return LLMTestCase(input="What helps?", actual_output=answer, expected_output="Rest.")


def test_its_runner_reports_the_jurys_scores_and_an_error_where_a_judge_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig

    with LoopbackServer(by_text) as server, nothing_leaves(monkeypatch) as tried:
        metric = deepeval_metric(write_study(tmp_path, server.url), threshold=0.7)
        found = deepeval.evaluate(
            [case("GOOD rest."), case("Bad."), case("DECLINE this.")],
            [metric],
            async_config=AsyncConfig(run_async=False),
            cache_config=CacheConfig(write_cache=False, use_cache=False),
            display_config=DisplayConfig(show_indicator=False, print_results=False),
            error_config=ErrorConfig(ignore_errors=True),
        )
    assert tried == []
    told = {each.input + (each.actual_output or ""): each.metrics_data[0] for each in found.test_results}
    good, bad, failed = (told[f"What helps?{text}"] for text in ("GOOD rest.", "Bad.", "DECLINE this."))
    assert (good.score, good.success, good.error) == (1.0, True, None)
    assert (bad.score, bad.success) == (0.0, False) and "Clear." in good.reason
    assert failed.score is None and not failed.success
    assert "UNSCORED" in failed.error and "refusal" in failed.error


def test_assert_test_stops_at_a_failed_judge_and_never_counts_it_as_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LoopbackServer(by_text) as server, nothing_leaves(monkeypatch) as tried:
        metric = deepeval_metric(write_study(tmp_path, server.url))
        deepeval.assert_test(case("GOOD rest."), [metric], run_async=False)
        with pytest.raises(AssertionError, match="score: 0"):
            deepeval.assert_test(case("Bad."), [metric], run_async=False)
        with pytest.raises(UnscoredError, match=r"UNSCORED.*refusal"):
            deepeval.assert_test(case("DECLINE this."), [metric], run_async=False)
        assert metric.score is None
    assert tried == []
