"""Training: lessons and a model go in; an adapter, its curves and what it cost come out, in one folder.

The folder says what it is before the first step. A training that was stopped goes on at its last checkpoint; one
with other settings, lessons or weights is refused there.
"""

from __future__ import annotations

import csv
import io
import json
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.models import quiet_library
from medjury.tuning.training._lessons import DATA, Lessons
from medjury.tuning.training._model import (
    ADAPTER,
    UNPACKED,
    Base,
    base_hash,
    four_bit_words,
    library,
    load_base,
    merge,
    starting_point,
    unpack,
    versions,
)
from medjury.tuning.training._record import PLAN, TRAINING, read_trained, write_trained
from medjury.tuning.training._settings import TrainSettings

# What a training cost in time and memory, counted while it runs and kept with every checkpoint.
#
# A training that was stopped and taken up again has several sittings; what a killed one did after its last
# checkpoint is done again, and counts twice, as it took the machine twice.

SITTINGS = "sittings.json"


class Watch:
    """The time of every step of this sitting, beside those of earlier ones."""

    def __init__(
        self, folder: Path, torch: Any, device: str, say: Callable[[str], None] | None = None
    ) -> None:
        self._say = say or (lambda words: None)
        self._file = folder / SITTINGS
        self._torch, self._device = torch, device
        self._earlier = json.loads(self._file.read_text(encoding="utf-8")) if self._file.is_file() else []
        self._steps: list[float] = []
        self._since = self._begun = time.perf_counter()
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()

    def callback(self, transformers: Any) -> Any:
        """The trainer's way of telling what happens."""

        def begin(_: object, *args: object, **options: object) -> None:
            self._since = time.perf_counter()

        def end(_: object, *args: object, **options: object) -> None:
            self._steps.append(time.perf_counter() - self._since)

        def save(_: object, args: object, state: Any, *rest: object, **options: object) -> None:
            self.write()
            losses = [each["loss"] for each in state.log_history if "loss" in each]
            loss = f", loss {losses[-1]:.4g}" if losses else ""
            self._say(f"step {state.global_step:,} of {state.max_steps:,}{loss}")

        told = {"on_step_begin": begin, "on_step_end": end, "on_save": save}
        return type("Watching", (transformers.TrainerCallback,), told)()

    def write(self) -> list[dict[str, Any]]:
        """Keep what is known so far, and say it."""
        sittings = [*self._earlier, self._now()]
        write_whole(self._file, json.dumps(sittings, indent=1) + "\n")
        return sittings

    def _now(self) -> dict[str, Any]:
        return {
            "steps": len(self._steps),
            "seconds": round(time.perf_counter() - self._begun, 2),
            "seconds_per_step": round(statistics.median(self._steps), 4) if self._steps else None,
            "peak_memory_gb": round(self._peak() / 1e9, 3),
            "device": self._torch.cuda.get_device_name() if self._device == "cuda" else "cpu",
            "gpus": self._torch.cuda.device_count() if self._device == "cuda" else 0,
        }

    def _peak(self) -> int:
        if self._device == "cuda":
            return int(self._torch.cuda.max_memory_allocated())
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


CHECKPOINTS = "checkpoints"


def train(
    lessons: Lessons,
    base: str | Path,
    folder: Path,
    settings: TrainSettings,
    *,
    price_per_gpu_hour: float | None = None,
    merged: bool = True,
    say: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Train an adapter, or take a training up where it stopped: the facts of its manifest. One that is finished is
    read, not made again. `say` is told how far it is."""
    if lessons.facts["method"] != settings.method:
        raise MedjuryError(
            f"these lessons are for {lessons.facts['method']}, and the settings for {settings.method}"
        )
    start = starting_point(base)
    _state(lessons, start, folder, settings)
    if (folder / TRAINING).is_file():
        return read_trained(folder)
    four_bit, words = four_bit_words(settings.four_bit)
    whole = unpack(Path(start), folder / UNPACKED) if Path(start).suffix == ".gguf" else start
    loaded = load_base(whole, four_bit=four_bit)
    longest = min(settings.longest or loaded.longest, loaded.longest)
    learned, too_long = _short_enough(lessons.train, loaded, longest)
    looked_at, _ = _short_enough(lessons.development, loaded, longest)
    if not learned:
        raise MedjuryError(
            f"every lesson is longer than {longest:,} tokens; take a model with a larger window"
        )
    watch = Watch(folder, library("torch"), loaded.device, say)
    with _quiet():
        trainer = _trainer(loaded, learned, looked_at, settings, folder, watch)
        trainer.train(resume_from_checkpoint=_checkpoint(folder))
        if looked_at and trainer.state.global_step % settings.save_steps:
            trainer.evaluate()
        trainer.save_model(str(folder / ADAPTER))
    facts = {
        "method": settings.method,
        "base": str(whole),
        "weights": words,
        "lessons": len(learned),
        "too_long": too_long,
        "longest": longest,
        "trained_parameters": trainer.model.get_nb_trainable_parameters()[0],
        "libraries": versions(),
    }
    found = write_trained(folder, facts, trainer.state.log_history, watch.write(), price_per_gpu_hour)
    if merged:
        del trainer, loaded
        merge(whole, folder)
    return found


def _state(lessons: Lessons, base: str | Path, folder: Path, settings: TrainSettings) -> None:
    """Write down what is to be done, or refuse a folder in which something else was begun."""
    private_folder(folder)
    lessons.write(folder)
    data = json.loads((folder / DATA).read_text(encoding="utf-8"))["files"]
    stated = {"settings": asdict(settings), "base": str(base), "base_hash": base_hash(base), "data": data}
    plan = folder / PLAN
    if plan.is_file():
        begun = json.loads(plan.read_text(encoding="utf-8"))
        other = [name for name in stated if stated[name] != begun.get(name)]
        if other:
            raise MedjuryError(
                f"{folder} holds a training with other {' and '.join(other)}; give another folder with --out"
            )
    else:
        write_whole(plan, json.dumps(stated, indent=1) + "\n")


@contextmanager
def _quiet() -> Iterator[None]:
    datasets = library("datasets")
    datasets.disable_progress_bars()
    try:
        with quiet_library(library("transformers")):
            yield
    finally:
        datasets.enable_progress_bars()


def _checkpoint(folder: Path) -> str | None:
    """The last whole checkpoint, if there is one."""
    place = folder / CHECKPOINTS
    if not place.is_dir():
        return None
    found = library("transformers").trainer_utils.get_last_checkpoint(str(place))
    return None if found is None else str(found)


def _short_enough(
    rows: Sequence[Mapping[str, Any]], base: Base, longest: int
) -> tuple[list[dict[str, Any]], int]:
    """The lessons that fit, without what the trainer does not take; and how many do not."""
    kept = []
    for row in rows:
        own = {name: row[name] for name in ("prompt", "completion", "chosen", "rejected") if name in row}
        ends = [own[name] for name in own if name != "prompt"]
        whole = [base.tokenizer.apply_chat_template([*own["prompt"], *end], tokenize=False) for end in ends]
        if max(len(base.tokenizer(text)["input_ids"]) for text in whole) <= longest:
            kept.append(own)
    return kept, len(rows) - len(kept)


def _trainer(
    base: Base,
    learned: list[dict[str, Any]],
    looked_at: list[dict[str, Any]],
    settings: TrainSettings,
    folder: Path,
    watch: Watch,
) -> Any:
    trl, datasets, transformers = library("trl"), library("datasets"), library("transformers")
    transformers.set_seed(settings.seed)
    on_gpu = base.device == "cuda"
    options: dict[str, Any] = {
        "output_dir": str(folder / CHECKPOINTS),
        "per_device_train_batch_size": settings.batch // settings.accumulation,
        "per_device_eval_batch_size": settings.batch // settings.accumulation,
        "gradient_accumulation_steps": settings.accumulation,
        "gradient_checkpointing": on_gpu,
        "learning_rate": settings.rate,
        "num_train_epochs": settings.epochs,
        "max_steps": settings.steps or -1,
        "max_length": None,  # what is too long was left out: nothing is cut
        "logging_steps": 1,
        "save_steps": settings.save_steps,
        "save_total_limit": 2,
        "eval_strategy": "steps" if looked_at else "no",
        "eval_steps": settings.save_steps,
        "seed": settings.seed,
        "data_seed": settings.seed,
        "bf16": on_gpu,
        "use_cpu": not on_gpu,
        "dataloader_pin_memory": on_gpu,
        "report_to": "none",
        "disable_tqdm": True,
    }
    if settings.method == "dpo":
        config, maker = trl.DPOConfig(**options, beta=settings.beta), trl.DPOTrainer
    else:
        config, maker = trl.SFTConfig(**options), trl.SFTTrainer
    trainer = maker(
        model=base.model,
        args=config,
        train_dataset=datasets.Dataset.from_list(learned),
        eval_dataset=datasets.Dataset.from_list(looked_at) if looked_at else None,
        processing_class=base.tokenizer,
        callbacks=[watch.callback(transformers)],
        peft_config=_adaptation(settings),
    )
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer


def _adaptation(settings: TrainSettings) -> Any:
    return library("peft").LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


# Searching settings: each trial trains for a while, and what counts is how it does on the development cases.
#
# As in Croxford et al. (2025): supervised training by its loss, preference training by its reward margin. The
# trials are kept in a file, so that a search that was stopped goes on with the next one.


SEARCH = "search"
RATES, BETAS, RANKS = (1e-7, 1e-3), (0.1, 0.9), (4, 8, 16, 32, 64)


def search(
    lessons: Lessons, base: str | Path, folder: Path, settings: TrainSettings, trials: int
) -> tuple[TrainSettings, list[dict[str, Any]]]:
    """Try `trials` settings around the given ones: rate, rank and alpha, and beta for preferences. Given are those
    that did best, and every trial with what came of it."""
    if not lessons.development:
        raise MedjuryError(
            "a search needs development cases, by which settings are chosen; set some apart with --development"
        )
    optuna = library("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    place = folder / SEARCH
    private_folder(place)
    by_loss = settings.method == "sft"
    measure = "development_loss" if by_loss else "development_margin"
    kept = optuna.create_study(
        study_name="search",
        storage=f"sqlite:///{place / 'trials.sqlite'}",
        load_if_exists=True,
        direction="minimize" if by_loss else "maximize",
        sampler=optuna.samplers.TPESampler(seed=settings.seed),
    )

    def attempt(trial: Any) -> float:
        tried = settings.changed(_suggested(trial, settings))
        found = train(lessons, base, place / f"trial-{trial.number}", tried, merged=False)
        value = found[measure]
        if value is None:
            raise MedjuryError(f"trial {trial.number} has no {measure}; every development lesson is too long")
        return float(value)

    done = sum(each.state.is_finished() for each in kept.trials)
    if done < trials:
        kept.optimize(attempt, n_trials=trials - done)
    rows = [
        {"trial": each.number, **each.params, measure: each.value}
        for each in kept.trials
        if each.value is not None
    ]
    write_whole(place / "trials.csv", _table(rows))
    return settings.changed(_as_settings(kept.best_params)), rows


def _suggested(trial: Any, settings: TrainSettings) -> dict[str, Any]:
    drawn = {
        "rate": trial.suggest_float("rate", *RATES, log=True),
        "rank": trial.suggest_categorical("rank", RANKS),
        "alpha_per_rank": trial.suggest_categorical("alpha_per_rank", (1, 2, 4)),
    }
    if settings.method == "dpo":
        drawn["beta"] = trial.suggest_float("beta", *BETAS)
    return _as_settings(drawn)


def _as_settings(drawn: dict[str, Any]) -> dict[str, Any]:
    """What Optuna drew as training settings: alpha goes with the rank."""
    found = {name: value for name, value in drawn.items() if name != "alpha_per_rank"}
    return {**found, "alpha": drawn["rank"] * drawn["alpha_per_rank"]}


def _table(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["trial"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
