"""Who does what on a cluster: shares of the cases, the queue they wait in, and the groups of workers that ask."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case, CaseReader, CaseSource, RedactedCases
from medjury.judging import Rater
from medjury.studies._plan.preflight import has_own_weights
from medjury.studies._study.study import Study

_MOST_CASES = 250
_SHARES_PER_WORKER = 8  # so that the last ones end at about the same time


@dataclass(frozen=True, slots=True)
class Share:
    """The cases from `start` up to `stop`, counted from 0, and the hash of what they say."""

    number: int
    start: int
    stop: int
    hash: str


def share_size(cases: int, workers: int) -> int:
    """How many cases a share has."""
    return max(1, min(_MOST_CASES, -(-cases // (_SHARES_PER_WORKER * workers))))


def cut(cases: Iterable[Case], size: int) -> Iterator[Share]:
    """The shares, one after another as they are asked for; no more cases are in memory than one has."""
    waiting, start = iter(cases), 0
    number = 0
    while some := list(islice(waiting, size)):
        yield Share(number, start, start + len(some), cases_hash(some))
        start, number = start + len(some), number + 1


def cases_hash(cases: Iterable[Case]) -> str:
    digest = hashlib.sha256()
    for case in cases:
        digest.update(case.fingerprint().encode())
    return digest.hexdigest()


class Window:
    """Reads the cases of one share after another. Those of other workers are passed over without being redacted;
    only for a share that lies behind is the file read from its start again."""

    def __init__(self, cases: CaseSource) -> None:
        self._cases = cases
        self._place = 0
        self._waiting = self._open()

    def take(self, share: Share) -> list[Case]:
        if share.start < self._place:
            self._waiting, self._place = self._open(), 0
        found = list(islice(self._waiting, share.start - self._place, share.stop - self._place))
        self._place = share.stop
        redacted = self._cases
        return list(redacted.redacting(found)) if isinstance(redacted, RedactedCases) else found

    def _open(self) -> Iterator[Case]:
        source = self._cases.source if isinstance(self._cases, RedactedCases) else self._cases
        return source.again() if isinstance(source, CaseReader) else iter(source)


class ShareQueue:
    """`next` waits while shares are under way elsewhere: their worker may die."""

    def __init__(self, shares: Iterator[Share], stop: asyncio.Event) -> None:
        self._shares = shares
        self._returned: deque[Share] = deque()
        self._under_way = 0
        self._stop = stop
        self._changed = asyncio.Event()
        self.finished = asyncio.Event()  # nothing is left to do

    async def next(self) -> Share | None:
        """A share to be done, or None where there is none any more."""
        while not self._stop.is_set():
            share = self._returned.popleft() if self._returned else next(self._shares, None)
            if share is not None:
                self._under_way += 1
                return share
            if not self._under_way:
                self.finished.set()
                return None
            await self._changed.wait()
        return None

    def done(self) -> None:
        self._under_way -= 1
        self.wake()

    def give_back(self, share: Share) -> None:
        self._returned.append(share)
        self.done()

    def wake(self) -> None:
        """Those who wait look again: a share came back, or nothing more is to be done."""
        self._changed.set()
        self._changed = asyncio.Event()


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
        """What Ray is given for such a worker. It may be placed on any node."""
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
        loads = any(map(has_own_weights, judge.models))
        groups.append(Group((judge.name,), max(1, min(most)), gpus, cpus or 1.0, loads=loads))
    wanted = workers or int(resources.get("CPU", 1.0)) or 1
    if plain:
        loads = any(has_own_weights(model) for judge in plain for model in judge.models)
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


def _rooms(study: Study, name: str, gpus: float, cpus: float, resources: dict[str, float]) -> list[int]:
    """For how many workers that need so much the cluster has room, by what each of them needs."""
    found = []
    for kind, need in (("GPU", gpus), ("CPU", cpus)):
        there = resources.get(kind, 0.0)
        if need > there:
            has = f"has {there:g} in all" if there else "has none"
            raise MedjuryError(
                f"{study.file}: {name} needs {need:g} {kind}, and the cluster {has}; start a node that has enough, "
                f"or take `{kind.lower()}s` out. Nothing was asked"
            )
        found += [int(there / need + 1e-9)] if need else []
    return found


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
            f"{study.file}: the scores of {scored[0]} are in a file, so there is nothing to ask on a cluster: "
            "run the study without --engine ray"
        )
    if batched := [model.name for model, _ in study.models if model.batch is not None]:
        raise MedjuryError(
            f"{study.file}: {batched[0]} is asked through batch jobs, in which the provider does the work: run the "
            "study without --engine ray, or take `mode: batch` out"
        )
