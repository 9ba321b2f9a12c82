"""Which version of the prompt a run asks with: a run folder goes on with the one it was begun with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.judging import BEFORE_TOKENS, FIRST_VERSION, Rater
from medjury.store.runs import ManifestJudge, read_manifest


def prompt_version(judges: Iterable[Rater]) -> str:
    """The versions that these judges ask with, in a few signs."""
    return ", ".join(sorted({max(_stated(judge.describe()), default=FIRST_VERSION) for judge in judges}))


def begun_prompts(folder: Path) -> Mapping[str, str]:
    """By judge the prompt that the run in this folder asks with, where that is one without a token: its answers are
    paid for."""
    try:
        manifest = read_manifest(folder)
    except MedjuryError:
        return {}
    return prompts_before_tokens(manifest.judges)


def prompts_before_tokens(judges: Iterable[ManifestJudge]) -> Mapping[str, str]:
    """By judge the prompt that it asked with, of those that showed no token."""
    asked = {judge.name: max(_stated(judge.others), default=FIRST_VERSION) for judge in judges}
    return {name: version for name, version in asked.items() if version in BEFORE_TOKENS}


def _stated(described: Any) -> Iterator[str]:
    if isinstance(described, Mapping):
        if isinstance(version := described.get("prompt"), str):
            yield version
        described = list(described.values())
    if isinstance(described, list | tuple):
        for each in described:
            yield from _stated(each)
