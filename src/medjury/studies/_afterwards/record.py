"""Recording a run: the answers that its models gave, written to one file by which the study runs again offline."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.models import KINDS, AnswerFile, RecordedAs, Reply, write_answers
from medjury.store.ratings import Rating, Store, open_store
from medjury.store.runs import SCORES, RunFolder
from medjury.studies._afterwards.earlier_run import study_of_run
from medjury.studies._study.study import Study

# A study file whose models are swapped for recorded ones, so that it runs without endpoints and keys.

# What describes a model beside where it is reached: which one it is, and how it is asked.
_KEPT = frozenset({"model", "vendor", "context_window", "top_p", "top_k", "sampling"})
_REACHED = {option for kind in KINDS.values() for option in kind.options} - _KEPT
_PACE = {"requests_per_minute", "tokens_per_minute"}
_OF_THE_RUN = ("allow_hosts", "store", "output", "budget", "protocol")


def replayed_study(study: Path, answers: Path, replay: Path) -> str:
    """The study file with every model answering from `answers`: where models are reached and where the run is kept
    is left out, the replay has a run folder of its own, and everything else is as it was."""
    import yaml

    if replay.resolve().parent != study.resolve().parent:
        raise MedjuryError(f"{replay}: write it beside {study}, whose paths it keeps")
    if replay.resolve() == study.resolve():
        raise MedjuryError(f"{replay}: is the study file itself; give another name")
    settings = {name: value for name, value in read_document(study).value.items() if name not in _OF_THE_RUN}
    settings["output"] = f"runs/{settings['study']}-replay"  # beside the run, not over it
    file = Path(os.path.relpath(answers.resolve(), replay.resolve().parent)).as_posix()
    settings["judges"] = recorded_judges(settings["judges"], file)
    if "drafting" in settings:
        settings["drafting"] = _named(_swapped(settings["drafting"], file), settings["drafting"], "system")
    top = f"# Written by `medjury runs record`: the models answer from {file}.\n"
    return top + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)


def recorded_judges(judges: Iterable[Any], file: str) -> list[dict[str, Any]]:
    """The judges of a study file, with every model answering from `file`."""
    stated = [{"kind": each} if isinstance(each, str) else each for each in judges]
    return [_named(_swapped(each, file), each, "name") for each in stated]


def _swapped(value: Any, file: str) -> Any:
    """Every model in a part of the file, however deep."""
    if isinstance(value, list):
        return [_swapped(each, file) for each in value]
    if not isinstance(value, dict) or value.get("kind") == SCORES:
        return value
    away = _REACHED | _PACE if "kind" in value else _PACE | {"url", "api_key_env"}
    kept = {name: _swapped(each, file) for name, each in value.items() if name not in away}
    return kept | {"kind": "recorded", "file": file} if "kind" in value else kept


def _named(swapped: dict[str, Any], before: dict[str, Any], name: str) -> dict[str, Any]:
    """A model without a name is called by its kind, and keeps that name."""
    if before.get(name) or before.get("model"):
        return swapped
    return {name: before["kind"]} | swapped


_AT_ONCE = 2_000


@dataclass(frozen=True)
class RecordResult:
    """What was recorded, and the study file that uses it, where one was written."""

    file: Path
    models: tuple[RecordedAs, ...]
    answers: int
    replay: Path | None = None

    def content(self) -> dict[str, Any]:
        models = [{"judges": list(each.names), "model": each.title} for each in self.models]
        replay = None if self.replay is None else str(self.replay)
        return {"file": str(self.file), "answers": self.answers, "models": models, "replay": replay}

    def text(self) -> str:
        lines = [f"{self.answers:,} answers of {len(self.models)} models in {self.file}"]
        lines += [f"  {', '.join(each.names)}: {each.title}" for each in self.models]
        lines.append(
            "The file holds what the models said, which may quote the cases, and no question and no key."
        )
        if self.replay is None:
            lines.append(f"To run the study with it, write `kind: recorded` and `file: {self.file.name}`")
        else:
            lines.append(f"Study with these answers: {self.replay}")
        return "\n".join(lines)


def record_run(
    folder: str | Path, out: str | Path, *, study: str | Path | None = None, replay: str | Path | None = None
) -> RecordResult:
    """Write every answer that the ratings and drafts of a run rest on to the file `out` (.jsonl, or .jsonl.gz), and
    to `replay`, where it is named, the study file with its models swapped for the recorded ones."""
    folder, out = Path(folder), Path(out)
    manifest = RunFolder(folder).manifest
    if not manifest.run:
        raise MedjuryError(f"{folder}: nothing was judged in this run, so there is nothing to record")
    given, address = study_of_run(folder, manifest, study)
    then = {each.name: each.settings_hash for each in manifest.judges}
    if then != {judge.name: judge.settings_hash() for judge in given.jury.judges}:
        raise MedjuryError(
            f"{given.file}: its judges are not those of the run {manifest.run}; name the study file as it was with "
            "--study, or run it as it is now"
        )
    models = _models(given, manifest.settings_refused)
    if not models:
        raise MedjuryError(
            f"{folder}: every score came from a file, and no model answered, so there is nothing to record; "
            "share the file of scores beside the study"
        )
    with open_store(address, create=False) as store:
        runs = [manifest.run, *([manifest.drafting.run] if manifest.drafting else [])]
        answers = dict(answer for run in runs for answer in _answers(store, store.ratings(run)))
        first = _first_rating(store.ratings(manifest.run), given)
    if not answers:
        raise MedjuryError(
            f"{folder}: its store does not say which replies answered which questions (it was made by an earlier "
            "version of medjury), so they cannot be recorded"
        )
    swapped = None if replay is None else replayed_study(given.file, out, Path(replay))
    count = write_answers(out, models, sorted(answers.items()), first_rating=first)
    if replay is not None and swapped is not None:
        write_whole(replay, swapped)
    return RecordResult(out, models, count, None if replay is None else Path(replay))


def record_answers(study: Study, ratings: Sequence[Rating], out: str | Path) -> int:
    """Write what the judges of a study answered for these ratings to the file `out`, beside the answers of the same
    models that it holds already; how many there are now."""
    out, models = Path(out), _models(study, {model.name: model.dropped for model, _ in study.models})
    with open_store(study.store, create=False) as store:
        answers = dict(_answers(store, ratings))
    first = _first_rating(ratings, study)
    before = AnswerFile.open(out) if out.exists() else None
    if before is not None and [each.identity for each in before.models] == [each.identity for each in models]:
        models, answers = before.models, {**before.answers, **answers}
        first = min(before.first_rating, first)
    return write_answers(out, models, sorted(answers.items()), first_rating=first)


def _answers(store: Store, ratings: Iterable[Rating]) -> Iterator[tuple[str, Reply | str]]:
    """The reply, or the lasting failure, of every question that was asked for them."""
    units = list(dict.fromkeys(row.key for row in ratings if row.rater_kind == "judge"))
    for start in range(0, len(units), _AT_ONCE):
        questions = store.questions(units[start : start + _AT_ONCE])
        yield from store.replies({each.reply for each in questions if each.reply is not None}).items()
        for each in questions:
            if each.failure and "key" in (failure := json.loads(each.failure)):
                yield failure["key"], each.failure


def _first_rating(ratings: Iterable[Rating], study: Study) -> str:
    """When the first of these scores was seen; of those that recorded answers gave, when theirs was."""
    before = [model.recorded_at for model, _ in study.models if model.recorded]
    moments = (row.created_at for row in ratings if row.rater_kind == "judge")
    return min([min(moments, default=""), *before])


def _models(study: Study, refused: Mapping[str, Sequence[str]]) -> tuple[RecordedAs, ...]:
    """The models of the study, equal ones together, with the settings that their endpoints `refused`."""
    found: dict[str, RecordedAs] = {}
    for model, _ in study.models:
        dropped = list(refused.get(model.name, ()))
        alike_in = [dict(model.identity), model.vendor, model.context_window, dropped]
        alike = found.setdefault(
            json.dumps(alike_in, sort_keys=True),
            RecordedAs(
                names=[],
                identity=dict(model.identity),
                vendor=model.vendor,
                context_window=model.context_window,
                dropped=dropped,
            ),
        )
        alike.names.append(model.name)
    return tuple(found.values())
