"""Runs a recipe's study once against an endpoint on this machine that answers from the planted truth, and keeps the
answers: what ships is the study file, its data, and the recorded answers."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from tests.loopback import Call, LoopbackServer

from medjury.models import RecordedAs, Reply, write_answers
from medjury.models._answer_file import AnswerFile
from medjury.studies import load_study, record_run, run_study

PACKAGED = Path(__file__).parent.parent / "src" / "medjury" / "studies" / "recipes"
ANSWERS = "answers.jsonl.gz"
FIRST_RATING = "2026-01-01T00:00:00.000+00:00"  # always the same, and before anybody who runs a recipe


@dataclass(frozen=True)
class Made:
    """What a recipe is made of: its files by name (study.yaml, README.md, the data), the answer to each question,
    and the seconds that it took. Models in its `studies` are of `kind: recorded` with `file: answers.jsonl.gz`, one
    file for all of them."""

    files: Mapping[str, str]
    answer: Callable[[Call], str]
    seconds: Callable[[Reply], float] = lambda reply: 1.0 + reply.tokens_out / 100
    studies: tuple[str, ...] = ("study.yaml",)


def write_recipe_files(made: Made, folder: Path) -> Path:
    """Write the recipe as it ships. A study that is not complete is an error: a recipe must run to its end."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        LoopbackServer(lambda call: f"ok:{made.answer(call)}") as server,
    ):
        work = Path(scratch)
        _write(made.files, work)
        models: dict[str, RecordedAs] = {}
        recorded: dict[str, Reply | str] = {}
        for study in made.studies:
            found = _recorded(work, study, made.files[study], server.url)
            models |= {each.title: each for each in found.models}
            recorded |= found.answers
        answers = [
            (
                key,
                replace(reply, seconds=round(made.seconds(reply), 3)) if isinstance(reply, Reply) else reply,
            )
            for key, reply in sorted(recorded.items())
        ]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write_answers(folder / ANSWERS, tuple(models.values()), answers, first_rating=FIRST_RATING)
        (folder / ANSWERS).chmod(0o644)  # made up, for everybody
        _write(made.files, folder)
    return folder


def _recorded(work: Path, name: str, text: str, url: str) -> AnswerFile:
    """One study of the recipe, run and recorded."""
    live = work / f"live-{name}"
    live.write_text(yaml.safe_dump(_asked(yaml.safe_load(text), url)))
    result = run_study(load_study(live), preflight=False)
    if result.status != "complete":
        raise SystemExit(f"{name}: {result.text()}")
    record_run(result.folder, work / "recorded.jsonl")
    return AnswerFile.open(work / "recorded.jsonl")


def _write(files: Mapping[str, str], folder: Path) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def _asked(value: Any, url: str) -> Any:
    """The study with its recorded models asked at an endpoint."""
    if isinstance(value, list):
        return [_asked(each, url) for each in value]
    if not isinstance(value, dict):
        return value
    copy = {name: _asked(each, url) for name, each in value.items()}
    if copy.get("kind") == "recorded":
        copy.pop("file", None)
        copy |= {"kind": "openai", "url": url}
    return copy


def chance(*about: object) -> float:
    """A number from 0 to 1 that is always the same for the same words: noise without a seed to pass around."""
    digest = hashlib.sha256(repr(about).encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64
