"""Which workers ask which judges and score which metrics: those that say what they need have workers of their own,
placed where it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.judging import Rater
from medjury.models import ChatModel
from medjury.studies._study import Study


@dataclass(frozen=True)
class Group:
    """Judges that are asked by the same workers, or metrics that they score, how many workers these are, and how
    many GPUs and CPUs each of them needs, in whole or in part. With `loads` a model is loaded in the worker."""

    judges: tuple[str, ...]
    workers: int
    gpus: float = 0.0
    cpus: float = 1.0
    metrics: tuple[str, ...] = ()
    loads: bool = False

    @property
    def names(self) -> str:
        return ", ".join((*self.judges, *self.metrics))

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
    A judge or a metric that says how many GPUs or CPUs it needs has as many as the cluster has room for at most."""
    stated = {id(model): part for model, part in study.models}
    plain: list[Rater] = []
    allowed: list[int] = []
    groups = []
    for judge in study.jury.judges:
        parts = [stated[id(model)] for model in judge.models if id(model) in stated]
        at_a_time = [part.concurrency for part in parts if part.concurrency]
        gpus, cpus = sum(part.gpus for part in parts), sum(part.cpus or 0.0 for part in parts)
        if not gpus and not cpus:
            plain.append(judge)
            allowed += at_a_time
            continue
        most = [
            *_rooms(study, judge.name, gpus, cpus, resources),
            *at_a_time,
            *([workers] if workers else []),
        ]
        groups.append(Group((judge.name,), max(1, min(most)), gpus, cpus or 1.0, loads=_loads(judge.models)))
    wanted = workers or int(resources.get("CPU", 1.0)) or 1
    if plain:
        loads = any(_loads(judge.models) for judge in plain)
        names = tuple(judge.name for judge in plain)
        groups.append(Group(names, max(1, min([wanted, *allowed])), loads=loads))
    return [*groups, *_metric_groups(study, workers, wanted, resources)]


def _metric_groups(
    study: Study, workers: int | None, wanted: int, resources: dict[str, float]
) -> Iterator[Group]:
    if study.metrics is None:
        return
    for name, (gpus, cpus) in study.metrics.needs.items():
        most = [*_rooms(study, name, gpus, cpus, resources), *([workers] if workers else [])]
        yield Group((), max(1, min(most)), gpus, cpus or 1.0, (name,))
    if rest := tuple(name for name in study.metrics.for_workers if name not in study.metrics.needs):
        yield Group((), wanted, metrics=rest)


def _loads(models: Iterable[ChatModel]) -> bool:
    """Whether a model of theirs has weights that come into the worker's memory."""
    return any(model.host is None and "weights" in model.identity and not model.recorded for model in models)


def _rooms(study: Study, name: str, gpus: float, cpus: float, resources: dict[str, float]) -> list[int]:
    return [
        _room(study, name, kind, need, resources) for kind, need in (("GPU", gpus), ("CPU", cpus)) if need
    ]


def _room(study: Study, name: str, kind: str, need: float, resources: dict[str, float]) -> int:
    """For how many workers that need so much of it the cluster has room."""
    there = resources.get(kind, 0.0)
    if need > there:
        has = f"has {there:g} in all" if there else "has none"
        raise MedjuryError(
            f"{study.file}: {name} needs {need:g} {kind}, and the cluster {has}; start a node that has enough, or "
            f"take `{kind.lower()}s` out. Nothing was asked"
        )
    return int(there / need + 1e-9)
