"""Which workers ask which judges: those that say what they need have workers of their own, placed where it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from medjury.errors import MedjuryError
from medjury.studies._study import Study


@dataclass(frozen=True)
class Group:
    """Judges that are asked by the same workers, how many these are, and how many GPUs and CPUs each of them needs,
    in whole or in part."""

    judges: tuple[str, ...]
    workers: int
    gpus: float = 0.0
    cpus: float = 1.0

    def options(self) -> dict[str, Any]:
        """What Ray is told of such a worker. It may be placed on any node."""
        return {
            "num_cpus": self.cpus,
            "num_gpus": self.gpus,
            "max_restarts": 0,
            "scheduling_strategy": "SPREAD",
        }


def groups_of(study: Study, workers: int | None, resources: dict[str, float]) -> list[Group]:
    """By default one worker for each CPU; no more than a model allows calls at a time, for each of them makes one.
    A judge that says how many GPUs or CPUs it needs has as many as the cluster has room for, at most."""
    stated = {id(model): part for model, part in study.models}
    plain: list[str] = []
    allowed: list[int] = []
    groups = []
    for judge in study.jury.judges:
        parts = [stated[id(model)] for model in judge.models if id(model) in stated]
        at_a_time = [part.concurrency for part in parts if part.concurrency]
        gpus, cpus = sum(part.gpus for part in parts), sum(part.cpus or 0.0 for part in parts)
        if not gpus and not cpus:
            plain.append(judge.name)
            allowed += at_a_time
            continue
        room = [
            _room(study, judge.name, kind, need, resources)
            for kind, need in (("GPU", gpus), ("CPU", cpus))
            if need
        ]
        most = [*room, *at_a_time, *([workers] if workers else [])]
        groups.append(Group((judge.name,), max(1, min(most)), gpus, cpus or 1.0))
    if plain:
        wanted = workers or int(resources.get("CPU", 1.0)) or 1
        groups.append(Group(tuple(plain), max(1, min([wanted, *allowed]))))
    return groups


def _room(study: Study, judge: str, kind: str, need: float, resources: dict[str, float]) -> int:
    """For how many workers that need so much of it the cluster has room."""
    there = resources.get(kind, 0.0)
    if need > there:
        has = f"has {there:g} in all" if there else "has none"
        raise MedjuryError(
            f"{study.file}: {judge} needs {need:g} {kind}, and the cluster {has}; start a node that has enough, or "
            f"take `{kind.lower()}s` out. Nothing was asked"
        )
    return int(there / need + 1e-9)
