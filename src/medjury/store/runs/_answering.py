"""The models that answered, as a manifest has them: which are not those asked for, and which changed in mid-run."""

from __future__ import annotations

from collections.abc import Iterable

from medjury.models import DEPLOYMENTS, NOT_TOLD, same_model
from medjury.store.runs._manifest import Manifest
from medjury.store.runs._manifest_parts import AnsweringModel, ManifestJudge


def other_models(manifest: Manifest) -> tuple[AnsweringModel, ...]:
    """Answers of another model than the one asked for. A deployment is not compared: its name is the site's own."""
    return tuple(
        each
        for each in manifest.models_answered
        if not same_model(each.asked, each.answered) and not _is_deployment(manifest, each)
    )


def changed_models(manifest: Manifest) -> tuple[tuple[AnsweringModel, ...], ...]:
    """By judge and model asked for, where more than one name answered in the run."""
    found: dict[tuple[str, str], list[AnsweringModel]] = {}
    for each in manifest.models_answered:
        if each.answered != NOT_TOLD:
            found.setdefault((each.judge, each.asked), []).append(each)
    return tuple(tuple(several) for several in found.values() if len(several) > 1)


def model_warnings(manifest: Manifest) -> tuple[str, ...]:
    """What the reader of a run must know of the models behind its judges, in sentences."""
    lines = [
        f"{each.judge}: {each.asked} was asked for, and {each.answered} says that it answered: {each.ratings:,} "
        "ratings rest on that."
        for each in other_models(manifest)
    ]
    for several in changed_models(manifest):
        names = ", ".join(f"{each.answered} ({each.ratings:,} ratings)" for each in several)
        lines.append(
            f"{several[0].judge}: the model behind {several[0].asked} changed during the run: {names}. They are "
            "not one judge."
        )
    return (*lines, *from_files_words(manifest.judges))


def from_files_words(judges: Iterable[ManifestJudge]) -> tuple[str, ...]:
    """What must be said of judges whose scores came from a file, in one sentence; nothing where there is none."""
    found = [model for judge in judges for model in judge.models if model.scores is not None]
    if not found:
        return ()
    named = "; ".join(f"{model.name} ({model.title})" for model in found)
    return (
        f"Scores of unknown making: {named}. They came from a file; which model gave them, by which prompt and "
        "when, is not recorded.",
    )


def _is_deployment(manifest: Manifest, answering: AnsweringModel) -> bool:
    judge = manifest.judge(answering.judge)
    models = () if judge is None else judge.models
    return any(model.kind == DEPLOYMENTS and model.model == answering.asked for model in models)
