"""Settings of a training: the published ones by name, and what is refused."""

from __future__ import annotations

import pytest

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.tuning.training import TrainSettings, presets_text
from medjury.tuning.training._settings import ASKING_PRESETS, TRAIN_PRESETS, read_settings, train_preset


@pytest.mark.parametrize(
    ("name", "rank", "alpha", "dropout", "batch", "rate", "beta", "epochs"),
    [
        ("paper-004-mixtral-sft", 8, 8, 0.1, 16, 1e-7, None, 50),
        ("paper-004-mixtral-dpo", 8, 8, 0.1, 1, 1e-7, 0.7, 15),
        ("paper-004-llama-sft", 64, 256, 0.0, 32, 1e-4, None, 50),
        ("paper-004-llama-dpo", 8, 8, 0.1, 1, 1e-7, 0.5, 15),
    ],
)
def test_the_published_settings(
    name: str, rank: int, alpha: int, dropout: float, batch: int, rate: float, beta: float | None, epochs: int
) -> None:
    """Croxford et al. (2025), tables 5 and 6."""
    own = TRAIN_PRESETS[name]
    assert (own.rank, own.alpha, own.dropout, own.batch, own.rate, own.epochs) == (
        rank, alpha, dropout, batch, rate, epochs,
    )  # fmt: skip
    assert own.four_bit and (beta is None or own.beta == beta)
    assert own.method == name.rsplit("-", 1)[1]


def test_how_the_published_judges_were_asked() -> None:
    """Croxford et al. (2025), table 4."""
    asked = {
        name: tuple(own[key] for key in ("temperature", "top_p", "max_tokens", "bits"))
        for name, own in ASKING_PRESETS.items()
    }
    assert asked["paper-004-gpt-o3-mini"] == (0.01, 0.95, 400, None)
    assert asked["paper-004-deepseek-qwen-32b"] == asked["paper-004-deepseek-llama-8b"] == (0.7, 1.0, 1000, 8)
    assert asked["paper-004-mixtral"] == asked["paper-004-llama"] == (1.0, 1.0, 512, 4)
    assert asked["paper-004-phi"] == (1.0, 1.0, 1000, 4)
    assert ASKING_PRESETS["paper-004-mixtral"]["examples"] == {"shots": 1}


def test_they_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "presets"]) == 0
    out = capsys.readouterr().out
    assert out.strip() == presets_text()
    assert all(name in out for name in (*TRAIN_PRESETS, *ASKING_PRESETS))


def test_a_batch_is_made_of_rounds_that_fit() -> None:
    assert TrainSettings(batch=16, at_once=4).accumulation == 4
    assert TrainSettings(batch=16, at_once=5).accumulation == 4
    assert TrainSettings(batch=7, at_once=4).accumulation == 7
    assert TrainSettings(batch=1, at_once=8).accumulation == 1


def test_settings_are_read_from_words() -> None:
    assert read_settings(["rate=1e-5", "four_bit=false", "steps=null"]) == {
        "rate": 1e-5, "four_bit": False, "steps": None,
    }  # fmt: skip


@pytest.mark.parametrize("words", ["rank", "rank=", "rank=eight"])
def test_what_is_no_setting_is_refused(words: str) -> None:
    with pytest.raises(MedjuryError, match="is not a setting; write NAME=VALUE"):
        read_settings([words])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rnak": 8}, "there is no training setting 'rnak'; did you mean 'rank'"),
        ({"rank": 0}, "rank must be more than 0"),
        ({"dropout": 1.0}, "dropout is a share"),
        ({"steps": 0}, "steps must be 1 or more"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float], message: str) -> None:
    with pytest.raises(MedjuryError, match=message):
        TrainSettings().changed(settings)


def test_a_preset_of_the_other_method_is_refused() -> None:
    with pytest.raises(MedjuryError, match="is for dpo; take one for sft"):
        train_preset("paper-004-llama-dpo", "sft")
