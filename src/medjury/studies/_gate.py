"""The rules of the gate as the study file states them, recorded before the first call and never quietly changed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from medjury.errors import MedjuryError
from medjury.runs import GateRules, StatedGate, read_manifest
from medjury.studies._development import listed_cases
from medjury.studies._study import Study


def stated_gate(study: Study) -> StatedGate:
    """The rules with the moment they were first recorded in this run folder. Rules that were recorded there
    before and differ are kept under `earlier`: the report says that they were changed."""
    part = study.settings.gate
    known = [dimension.name for dimension in study.instrument.dimensions]
    for name in part.severe_dimensions or ():
        if name not in known:
            raise MedjuryError(
                f"{study.file}: gate.severe_dimensions names {name!r}; the dimensions are {', '.join(known)}"
            )
    cases = sorted({*listed_cases(study), *_of_judges(study)})
    rules = GateRules(**{**part.model_dump(), "development_cases": tuple(cases)})
    before = _recorded(study.output)
    if before is not None and before.says(rules):
        return before
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return StatedGate(
        **rules.model_dump(), stated_at=now, earlier=() if before is None else _replaced(before)
    )


def _replaced(before: StatedGate) -> tuple[StatedGate, ...]:
    return *before.earlier, StatedGate(**before.model_dump(exclude={"earlier"}))


def _of_judges(study: Study) -> list[str]:
    """Cases that a judge says it was tuned on, or shows as examples."""
    found: list[str] = []
    for judge in study.jury.judges:
        cases = judge.describe().get("development_cases", ())
        found += [str(case) for case in cases] if isinstance(cases, list | tuple) else []
    return found


def _recorded(folder: Path) -> StatedGate | None:
    """The rules that this run folder states already; a folder that cannot be read states none."""
    try:
        gate = read_manifest(folder).gate
    except MedjuryError:
        return None
    return gate if gate is not None and gate.stated_at else None
