"""Recording a run: the answers that its models gave, written to one file by which the study runs again offline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.models import RecordedAs, RecordedFailure, Reply, write_answers
from medjury.store.ratings import Store, open_store
from medjury.store.runs import Manifest, read_manifest
from medjury.studies._afterwards.replayed import replayed_study
from medjury.studies._afterwards.reread import store_address_of, study_file_of
from medjury.studies._hosts import check_store_host
from medjury.studies._study import Study, load_study

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
    manifest = read_manifest(folder)
    if not manifest.run:
        raise MedjuryError(f"{folder}: nothing was judged in this run, so that there is nothing to record")
    given = load_study(
        study_file_of(folder, manifest, study),
        skip_bad_cases=bool(manifest.cases_skipped),
        overrides=manifest.overrides if study is None else (),
    )
    models = _models(given, manifest)
    if not models:
        raise MedjuryError(
            f"{folder}: every score came from a file, and no model answered, so that there is nothing to record; "
            "share the file of scores beside the study"
        )
    address = store_address_of(folder, given)
    check_store_host(address, given.settings.allow_hosts)
    with open_store(address, create=False) as store:
        runs = [manifest.run, *([manifest.drafting.run] if manifest.drafting else [])]
        answers = dict(answer for run in runs for answer in _answers(store, run))
        first = _first_rating(store, manifest)
    if not answers:
        raise MedjuryError(
            f"{folder}: its store does not say which replies answered which questions (it was made by an earlier "
            "version of medjury), so that they cannot be recorded"
        )
    swapped = None if replay is None else replayed_study(given.file, out, Path(replay))
    count = write_answers(out, models, sorted(answers.items()), first_rating=first)
    if replay is not None and swapped is not None:
        write_whole(replay, swapped)
    return RecordResult(out, models, count, None if replay is None else Path(replay))


def _answers(store: Store, run: str) -> Iterator[tuple[str, Reply | RecordedFailure]]:
    """The reply, or the lasting failure, of every question that was asked for a run."""
    units = list(dict.fromkeys(row.key for row in store.ratings(run) if row.rater_kind == "judge"))
    for start in range(0, len(units), _AT_ONCE):
        questions = store.questions(units[start : start + _AT_ONCE])
        yield from store.replies({each.reply for each in questions if each.reply is not None}).items()
        for each in questions:
            if each.failure and "key" in (told := json.loads(each.failure)):
                yield told["key"], RecordedFailure(each.failure)


def _first_rating(store: Store, manifest: Manifest) -> str:
    """When the first score of the run was seen; of a run that was itself given recorded ones, when theirs was."""
    before = [model.recorded_at for judge in manifest.judges for model in judge.models if model.recorded]
    moments = (row.created_at for row in store.ratings(manifest.run) if row.rater_kind == "judge")
    return min([min(moments, default=""), *before])


def _models(study: Study, manifest: Manifest) -> tuple[RecordedAs, ...]:
    """The models of the study, if they are still those of the run; equal ones together."""
    then = {each.name: each.settings_hash for each in manifest.judges}
    if then != {judge.name: judge.settings_hash() for judge in study.jury.judges}:
        raise MedjuryError(
            f"{study.file}: its judges are not those of the run {manifest.run}; name the study file as it was with "
            "--study, or run it as it is now"
        )
    found: dict[str, RecordedAs] = {}
    for model, _ in study.models:
        dropped = list(manifest.settings_refused.get(model.name, ()))
        told = [dict(model.identity), model.vendor, model.context_window, dropped]
        alike = found.setdefault(
            json.dumps(told, sort_keys=True),
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
