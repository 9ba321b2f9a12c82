"""A model asked a prompt as it stands: its words are kept, and what is no answer says why."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
from tests.loopback import LoopbackServer

from medjury.intake.cases import Case
from medjury.store.ratings import open_store
from medjury.studies import ModelPart, answering_study, run_study


def cases(*prompts: str, most_tokens: int = 64) -> list[Case]:
    return [
        Case(str(number), texts={"prompt": prompt}, metadata={"most_tokens": most_tokens})
        for number, prompt in enumerate(prompts)
    ]


def study_of(folder: Path, url: str, asked: list[Case], **model: object):  # type: ignore[no-untyped-def]
    (folder / "suite.yaml").write_text("suite: small\n")
    part = ModelPart.model_validate({"kind": "openai", "url": url, "model": "m", **model})
    return answering_study(
        "small answers", folder / "suite.yaml", part, asked, system="model one",
        output=folder / "answers", store=str(folder / "store.sqlite"),
    )  # fmt: skip


def records(folder: Path, run: str) -> dict[str, dict[str, object]]:
    with open_store(folder / "store.sqlite") as store:
        return {each.item: each.content() for each in store.records(run)}


def test_answers_are_kept_word_for_word_and_asked_for_once(tmp_path: Path) -> None:
    asked = cases("Which one? [[loopback:ok:The answer is B.]]", "And now? [[loopback:ok: A {curly} one]]")
    with LoopbackServer() as server:
        result = run_study(study_of(tmp_path, server.url, asked))
        assert result.status == "complete"
        again = run_study(study_of(tmp_path, server.url, asked))
        assert len(server.calls) == 2 and again.progress.found == 2
        body = server.calls[0].json
    assert body["messages"] == [{"role": "user", "content": asked[0].texts["prompt"]}]
    assert body["max_tokens"] == 64 and body["temperature"] == 0.0 and "response_format" not in body
    kept = records(tmp_path, result.run)
    assert {item: each["text"] for item, each in kept.items()} == {
        "0": "The answer is B.",
        "1": " A {curly} one",
    }
    table = polars.read_parquet(tmp_path / "answers" / "ratings.parquet")
    assert table["system"].unique().to_list() == ["model one"] and table["score"].null_count() == 2


@pytest.mark.parametrize(
    ("word", "reason"), [("refusal", "refusal"), ("empty", "empty"), ("length", "truncated")]
)
def test_what_is_no_answer_has_its_reason_and_is_not_asked_for_twice(
    tmp_path: Path, word: str, reason: str
) -> None:
    asked = cases(f"Which one? [[loopback:{word}]]", "And now? [[loopback:ok:C]]")
    with LoopbackServer() as server:
        result = run_study(study_of(tmp_path, server.url, asked))
        run_study(study_of(tmp_path, server.url, asked))
        assert len(server.calls) == 2
    assert result.status == "complete"
    assert records(tmp_path, result.run)["0"]["reason"] == reason
    assert result.coverage.unscored_by_reason == {reason: 1}


def test_a_limit_that_the_model_states_counts_more_than_the_benchmarks(tmp_path: Path) -> None:
    with LoopbackServer() as server:
        run_study(study_of(tmp_path, server.url, cases("[[loopback:ok:C]]"), max_tokens=4096))
        assert server.calls[0].json["max_tokens"] == 4096


def test_a_plan_knows_the_most_that_answers_can_take(tmp_path: Path) -> None:
    from medjury.studies import check_study

    study = study_of(tmp_path, "http://127.0.0.1:9/v1", cases("x" * 360, "y", most_tokens=1000))
    [judge] = check_study(study, preflight=False).judges
    assert (judge.calls, judge.tokens_in, judge.tokens_out) == (2, 101, 600)
    assert judge.most.tokens_out == 2000 and judge.most.tokens_in >= 361
