"""Which workers ask which judges: those that need a GPU have workers of their own, placed where one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from medjury.errors import MedjuryError
from medjury.studies._study import Study


@dataclass(frozen=True)
class Group:
    """Judges that are asked by the same workers, how many these are, and how much of a GPU each of them needs."""

    judges: tuple[str, ...]
    workers: int
    gpus: float = 0.0

    def options(self) -> dict[str, Any]:
        """What Ray is told of such a worker. It may be placed on any node."""
        return {
            "num_cpus": 1,
            "num_gpus": self.gpus,
            "max_restarts": 0,
            "scheduling_strategy": "SPREAD",
        }


def groups_of(study: Study, workers: int | None, resources: dict[str, float]) -> list[Group]:
    """By default one worker for each CPU; no more than a model allows calls at a time, for each of them makes one.
    A judge that needs a GPU has as many as its cluster has GPUs for, at most."""
    stated = {id(model): part for model, part in study.models}
    plain: list[str] = []
    allowed: list[int] = []
    groups = []
    for judge in study.jury.judges:
        parts = [stated[id(model)] for model in judge.models if id(model) in stated]
        at_a_time = [part.concurrency for part in parts if part.concurrency]
        if not (gpus := sum(part.gpus for part in parts)):
            plain.append(judge.name)
            allowed += at_a_time
            continue
        if gpus > (there := resources.get("GPU", 0.0)):
            raise MedjuryError(
                f"{study.file}: {judge.name} needs {gpus:g} GPU, and the cluster has {there:g} in all; start a "
                "node that has one, or take `gpus` out"
            )
        most = [int(there / gpus + 1e-9), *at_a_time, *([workers] if workers else [])]
        groups.append(Group((judge.name,), max(1, min(most)), gpus))
    if plain:
        wanted = workers or int(resources.get("CPU", 1.0)) or 1
        groups.append(Group(tuple(plain), max(1, min([wanted, *allowed]))))
    return groups
