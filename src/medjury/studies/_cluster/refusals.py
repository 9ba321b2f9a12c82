"""What cannot be done on a cluster, said before anything is asked."""

from __future__ import annotations

from medjury.foundation.errors import MedjuryError
from medjury.studies._study import Study


def refuse_for_cluster(study: Study) -> None:
    """A store that machines can share, answers that are there, and calls that somebody waits for."""
    if "://" not in study.store or study.store.startswith("sqlite"):
        raise MedjuryError(
            f"{study.file}: workers of a cluster need a store that several machines can write: say "
            "`store: postgresql://USER@HOST/DATABASE`, or `store: env:NAME` with that address in the variable"
        )
    if study.drafter is not None:
        raise MedjuryError(
            f"{study.file}: this study has yet to draft the answers that are judged. Write them first (`medjury "
            "draft STUDY --cases FILE`) and judge that file on the cluster"
        )
    if scored := [judge.name for judge in study.jury.judges if not judge.models]:
        raise MedjuryError(
            f"{study.file}: the scores of {scored[0]} are in a file, so that there is nothing to ask on a cluster: "
            "run the study without --engine ray"
        )
    if batched := [model.name for model, _ in study.models if model.batch is not None]:
        raise MedjuryError(
            f"{study.file}: {batched[0]} is asked through batch jobs, in which the provider does the work: run the "
            "study without --engine ray, or take `mode: batch` out"
        )
