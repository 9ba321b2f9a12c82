"""Training for real: a tiny model learns, is stopped and taken up, merged, served and judges.

These need the `train` extra; `make test-learned` installs it and runs them.
"""

from __future__ import annotations

import asyncio
import csv
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.tuning.training.tiny_model import write_tiny_model

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.studies import load_study
from medjury.tuning.training import Lessons, TrainSettings, load_trained, make_lessons, search, serving, train
from medjury.tuning.training._model import load_base
from medjury.tuning.training._record import read_trained
from medjury.tuning.training._serve import answer
from medjury.tuning.training._train import Watch

for library in ("transformers", "peft", "trl", "datasets"):
    pytest.importorskip(library, reason="training needs the `train` extra")
torch = pytest.importorskip("torch", reason="training needs the `train` extra")

# Warnings of these libraries about themselves are theirs.
pytestmark = pytest.mark.filterwarnings("ignore")

Write = Callable[..., Path]
GOOD = {"right": 4, "short": 2, "risk": 1, "kind_words": 0}
FEW = {"batch": 2, "at_once": 2, "dropout": 0.0, "rate": 5e-3, "save_steps": 2}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture
def study(write_study: Write) -> Path:
    items = {f"case {n}": GOOD for n in range(8)}
    return write_study({"ann": items, "ben": items})


def lessons(study: Path, method: Any = "sft", **options: Any) -> Lessons:
    return make_lessons(load_study(study), method, **{"held_out": 2, "development": 1, **options})


def sft(steps: int, **settings: Any) -> TrainSettings:
    return TrainSettings("sft", **{**FEW, "steps": steps, **settings})


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / "adapter" / "adapter_model.safetensors"))


class TestSupervisedTraining:
    def test_three_steps_leave_a_folder_that_can_be_read(
        self, study: Path, tiny: Path, tmp_path: Path
    ) -> None:
        found = train(lessons(study), tiny, tmp_path / "out", sft(3), price_per_gpu_hour=3600.0)
        facts = json.loads((tmp_path / "out" / "training.json").read_text())
        assert facts == found and facts["steps"] == 3 and facts["lessons"] == 10
        assert facts["weights"].startswith("plain LoRA on whole weights, not QLoRA")
        assert facts["seconds_per_step"] > 0 and facts["peak_memory_gb"] > 0
        assert facts["cost"] == pytest.approx(3600.0 * facts["hours"])
        with (tmp_path / "out" / "curves.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert [row["step"] for row in rows] == ["1", "2", "3"]
        assert all(float(row["loss"]) > 0 for row in rows) and float(rows[-1]["eval_loss"]) > 0
        assert any(
            tensor.abs().max() > 0 for name, tensor in weights(tmp_path / "out").items() if "lora_B" in name
        )
        touched = json.loads((tmp_path / "out" / "touched.json").read_text())
        assert len(touched["case_hashes"]) == 6
        assert (tmp_path / "out").stat().st_mode & 0o077 == 0
        assert "3 steps" in (tmp_path / "out" / "summary.txt").read_text()

    def test_the_loss_falls(self, study: Path, tiny: Path, tmp_path: Path) -> None:
        first, last = train(lessons(study), tiny, tmp_path / "out", sft(25, rate=2e-2))["loss"]
        assert last < first - 0.3

    def test_the_merged_weights_say_what_base_and_adapter_say(
        self, study: Path, tiny: Path, tmp_path: Path
    ) -> None:
        import peft

        train(lessons(study), tiny, tmp_path / "out", sft(3))
        merged = load_trained(tmp_path / "out")
        base = load_base(tiny)
        ids = torch.arange(5, 45)[None]
        with torch.inference_mode():
            before = base.model(ids).logits
            adapted = peft.PeftModel.from_pretrained(base.model, str(tmp_path / "out" / "adapter")).eval()
            after, whole = adapted(ids).logits, merged.model.eval()(ids).logits
        assert torch.allclose(after, whole, atol=1e-4)
        assert not torch.allclose(before, whole, atol=1e-2)

    def test_lessons_that_are_too_long_are_left_out_not_cut(
        self, write_study: Write, tiny: Path, tmp_path: Path
    ) -> None:
        study = write_study({"ann": {"short": GOOD, "long" * 50: GOOD}})
        both = lessons(study, held_out=0, development=0)
        lengths = sorted(len(json.dumps(row)) for row in both.train)
        assert lengths[1] - lengths[0] > 150
        found = train(both, tiny, tmp_path / "out", sft(1, longest=_tokens(tiny, both) - 100))
        assert (found["lessons"], found["too_long"]) == (1, 1)
        assert "1 lessons are longer than" in (tmp_path / "out" / "summary.txt").read_text()
        with pytest.raises(MedjuryError, match="every lesson is longer than 50 tokens"):
            train(both, tiny, tmp_path / "none", sft(1, longest=50))


def _tokens(model: Path, made: Lessons) -> int:
    """The length of the longest lesson."""
    tokenizer = load_base(model).tokenizer
    whole = [
        tokenizer.apply_chat_template([*row["prompt"], *row["completion"]], tokenize=False)
        for row in made.train
    ]
    return max(len(tokenizer(text)["input_ids"]) for text in whole)


class TestGoingOn:
    def test_a_stopped_training_goes_on_at_its_checkpoint_to_the_same_end(
        self, study: Path, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = lessons(study)
        whole = train(own, tiny, tmp_path / "whole", sft(6))
        original = Watch.callback

        def stopping(self: Watch, transformers: Any) -> Any:
            told = original(self, transformers)

            def begin(args: Any, state: Any, *_: Any, **__: Any) -> None:
                if state.global_step == 3:
                    raise KeyboardInterrupt

            told.on_step_begin = begin
            return told

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(Watch, "callback", stopping)
            train(own, tiny, tmp_path / "stopped", sft(6))
        assert not (tmp_path / "stopped" / "training.json").exists()
        found = train(own, tiny, tmp_path / "stopped", sft(6))
        sittings = json.loads((tmp_path / "stopped" / "sittings.json").read_text())
        assert [each["steps"] for each in sittings] == [2, 4]
        assert found["steps"] == 6
        expected = weights(tmp_path / "whole")
        assert all(
            torch.allclose(tensor, expected[name], atol=1e-5)
            for name, tensor in weights(tmp_path / "stopped").items()
        )
        assert found["loss"] == pytest.approx(whole["loss"], rel=1e-3)

    def test_a_finished_training_is_not_made_again(self, study: Path, tiny: Path, tmp_path: Path) -> None:
        first = train(lessons(study), tiny, tmp_path / "out", sft(1))
        written = (tmp_path / "out" / "training.json").stat().st_mtime_ns
        assert train(lessons(study), tiny, tmp_path / "out", sft(1)) == first
        assert (tmp_path / "out" / "training.json").stat().st_mtime_ns == written

    def test_another_training_in_the_same_folder_is_refused(
        self, study: Path, tiny: Path, tmp_path: Path
    ) -> None:
        train(lessons(study), tiny, tmp_path / "out", sft(1))
        with pytest.raises(MedjuryError, match="holds a training with other settings; give another folder"):
            train(lessons(study), tiny, tmp_path / "out", sft(2))
        with pytest.raises(MedjuryError, match="with other data"):
            train(lessons(study, seed=3), tiny, tmp_path / "out", sft(1))


class TestPreferenceTraining:
    def test_it_starts_from_the_supervised_model_and_margins_rise(
        self, study: Path, tiny: Path, tmp_path: Path
    ) -> None:
        train(lessons(study), tiny, tmp_path / "sft", sft(3))
        settings = TrainSettings("dpo", **{**FEW, "steps": 12, "rate": 2e-3, "beta": 0.5})
        found = train(lessons(study, "dpo"), tmp_path / "sft", tmp_path / "dpo", settings)
        assert found["base"] == str(tmp_path / "sft" / "merged")
        first, last = found["margin"]
        assert abs(first) < 0.2 < last - first
        assert found["development_margin"] > 0
        assert "reward margin on the development cases" in (tmp_path / "dpo" / "summary.txt").read_text()

    def test_lessons_of_the_other_method_are_refused(self, study: Path, tiny: Path, tmp_path: Path) -> None:
        with pytest.raises(MedjuryError, match="these lessons are for sft, and the settings for dpo"):
            train(lessons(study), tiny, tmp_path / "out", TrainSettings("dpo"))


class TestSearch:
    def test_the_best_trial_is_found_and_trials_are_kept(
        self, study: Path, tiny: Path, tmp_path: Path
    ) -> None:
        chosen, trials = search(lessons(study), tiny, tmp_path / "out", sft(2), 2)
        values = {row["trial"]: row["development_loss"] for row in trials}
        best = trials[min(values, key=values.__getitem__)]
        assert (chosen.rate, chosen.rank) == (best["rate"], best["rank"])
        assert chosen.alpha == chosen.rank * best["alpha_per_rank"]
        assert search(lessons(study), tiny, tmp_path / "out", sft(2), 2)[1] == trials
        with (tmp_path / "out" / "search" / "trials.csv").open() as file:
            assert [float(row["development_loss"]) for row in csv.DictReader(file)] == list(values.values())

    def test_without_development_cases_there_is_nothing_to_search_by(
        self, study: Path, tiny: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(MedjuryError, match="a search needs development cases"):
            search(lessons(study, development=0), tiny, tmp_path / "out", sft(1), 2)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The endpoint in a thread of its own, as another process would have it."""
    loop = asyncio.new_event_loop()
    endpoint = serving(load_trained(folder), folder.name)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(endpoint.__aenter__(), loop).result(60)
    finally:
        asyncio.run_coroutine_threadsafe(endpoint.__aexit__(None, None, None), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


class TestServing:
    def test_a_trained_model_is_an_ordinary_judge(
        self, write_study: Write, tiny: Path, tmp_path: Path
    ) -> None:
        """It learned one answer by heart, and gives it to whoever asks; where it stumbles, nothing is scored."""
        items = {f"case {n}": GOOD for n in range(8)}
        study = write_study({"ann": items, "ben": items})
        settings = sft(300, rank=64, alpha=128, save_steps=1000)
        train(lessons(study, held_out=2, development=0), tiny, tmp_path / "heart", settings)
        with served(tmp_path / "heart") as address:
            judged = write_study(
                {"ann": items, "ben": items},
                settings={"max_unscored": 1.0},
                kind="openai", url=address, model="heart", max_tokens=80, reasks=0,
            )  # fmt: skip
            assert main(["run", str(judged), "--quiet"]) == 0
        ratings = polars.read_parquet(tmp_path / "runs" / "taught" / "ratings.parquet")
        rows = ratings.filter(rater_kind="judge")
        scored = rows.filter(status="scored")
        assert rows.height == 32 and scored.height >= 16
        assert dict(scored.select("dimension", "score").unique().iter_rows()) == {
            name: float(grade) for name, grade in GOOD.items()
        }

    def test_a_question_beyond_the_window_is_refused_as_such(self, tiny: Path) -> None:
        base = load_base(tiny)
        with pytest.raises(ValueError, match="maximum context length is 4096 tokens"):
            answer(base, [{"role": "user", "content": "x" * 4090}], {"max_tokens": 50})

    def test_the_same_seed_draws_the_same(self, tiny: Path) -> None:
        base = load_base(tiny)
        asked = [{"role": "user", "content": "Grade."}]
        drawn = [
            answer(base, asked, {"temperature": 1.0, "seed": seed, "max_tokens": 20})["choices"]
            for seed in (1, 1, 2)
        ]
        assert drawn[0] == drawn[1] != drawn[2]


class TestWhatCannotBeTrained:
    def test_a_model_that_is_not_here(self, study: Path, tmp_path: Path) -> None:
        with pytest.raises(MedjuryError, match=r"cannot be loaded.*Nothing is fetched by itself"):
            train(lessons(study), "nobody/nothing", tmp_path / "out", sft(1))

    def test_a_model_that_was_not_made_to_be_asked(self, study: Path, tiny: Path, tmp_path: Path) -> None:
        import shutil

        shutil.copytree(tiny, tmp_path / "mute")
        (tmp_path / "mute" / "chat_template.jinja").unlink()
        with pytest.raises(MedjuryError, match="has no chat template"):
            train(lessons(study), tmp_path / "mute", tmp_path / "out", sft(1))


def test_the_command_trains_and_says_so(
    study: Path, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["train", "sft", str(study), "--model", str(tiny), "--out", str(tmp_path / "out")]
    assert main([*words, "--set", "steps=1", "--set", "batch=1", "--price-per-hour", "2"]) == 0
    out = capsys.readouterr().out
    assert "lessons from" in out and "1 steps" in out and "cost: 0.00" in out
    assert read_trained(tmp_path / "out")["price_per_gpu_hour"] == 2
