"""The rules of the gate as the study file states them, recorded before the first call and never quietly changed."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from medjury.errors import MedjuryError
from medjury.runs import GateRules
from medjury.studies._development import listed_cases
from medjury.studies._study import Study


def stated_gate(study: Study) -> dict[str, Any]:
    """The rules with the moment they were first recorded in this run folder. Rules that were recorded there
    before and differ are kept under `earlier`: the report says that they were changed."""
    part = study.settings.gate
    known = [dimension.name for dimension in study.instrument.dimensions]
    for name in part.severe_dimensions or ():
        if name not in known:
            raise MedjuryError(
                f"{study.file}: gate.severe_dimensions names {name!r}; the dimensions are {', '.join(known)}"
            )
    values = part.model_dump()
    values["development_cases"] = tuple(sorted({*listed_cases(study), *_of_judges(study)}))
    severe = values["severe_dimensions"]
    values["severe_dimensions"] = None if severe is None else tuple(severe)
    # Through JSON and back, as the manifest holds it, so that a recorded gate can be compared with it.
    rules = json.loads(json.dumps(asdict(GateRules(**values))))
    before = _recorded(study.output)
    old = {name: value for name, value in before.items() if name not in ("stated_at", "earlier")}
    if old == rules:
        return before
    earlier = [*before.get("earlier", ()), {**old, "stated_at": before["stated_at"]}] if before else []
    return {**rules, "stated_at": datetime.now(UTC).isoformat(timespec="seconds"), "earlier": earlier}


def _of_judges(study: Study) -> list[str]:
    """Cases that a judge says it was tuned on, or shows as examples."""
    found: list[str] = []
    for judge in study.jury.judges:
        cases = judge.describe().get("development_cases", ())
        found += [str(case) for case in cases] if isinstance(cases, list | tuple) else []
    return found


def _recorded(folder: Path) -> dict[str, Any]:
    try:
        gate = json.loads((folder / "manifest.json").read_text(encoding="utf-8")).get("gate")
    except (OSError, ValueError, AttributeError):
        return {}
    return gate if isinstance(gate, dict) and "stated_at" in gate else {}
