"""Ways of judging that one jury would average: who reads its scores should know."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.store.runs._manifest import Manifest
from medjury.store.runs._manifest_parts import ManifestJudge


def mixed_ways(judges: Sequence[ManifestJudge], jury: str) -> str:
    """A warning where a jury of all judges averages several ways of judging; nothing where they judge one way."""
    ways = list(dict.fromkeys(each.way for each in judges))
    if len(ways) < 2:
        return ""
    return (
        f"The jury {jury!r} averages judges of {len(ways)} ways of judging ({'; '.join(ways)}), and nobody named "
        "its members. Say `juries:` with the members of each, or `jury: none` to see the judges side by side."
    )


def jury_warnings(manifest: Manifest) -> tuple[str, ...]:
    """The same of the juries of a run."""
    said = [mixed_ways(manifest.judges, each.name) for each in manifest.all_juries if not each.members]
    return tuple(each for each in said if each)


def voting_words(manifest: Manifest) -> str:
    """How the judges' votes became one, for the end of a sentence."""
    every = manifest.all_juries
    if not every:
        return "not combined: each judge stands by itself"
    if len(every) == 1:
        who = f"of {', '.join(every[0].members)} " if every[0].members else ""
        quorum = f"{every[0].quorum} or more" if every[0].quorum else "more than half"
        return f"combined by {every[0].rule} {who}where {quorum} of them gave a score"
    said = "; ".join(f"{each.name}: {each.rule} of {', '.join(each.members)}" for each in every)
    return f"combined in {len(every)} juries ({said})"
