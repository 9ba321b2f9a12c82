"""The rules of the gate as the study file states them, recorded before the first call and never quietly changed."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from medjury.foundation.documents import read_document, validate_part
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import GateRules, Protocol, RunFolder, StatedGate
from medjury.studies._file.study_file import GatePart
from medjury.studies._study.material import case_ids
from medjury.studies._study.stated_split import StatedSplit, split_of_file
from medjury.studies._study.study import Study


def named_cases(study: Study) -> list[str]:
    """The development cases that the gate of the study file names."""
    try:
        return case_ids(study.settings.gate.development_cases, study.file.resolve().parent)
    except MedjuryError as error:
        raise MedjuryError(f"{study.file}: gate.development_cases: {error}") from None


def listed_cases(study: Study) -> list[str]:
    """All development cases that the study file states: those that it names, and those that its split does not hold
    out."""
    return _with_learned(study.file, named_cases(study), study.split)


def _with_learned(file: Path, named: list[str], split: StatedSplit | None) -> list[str]:
    if split is None:
        return named
    if both := sorted(split.held_out.intersection(named)):
        raise MedjuryError(
            f"{file}: {both[0]!r} is held out by `split`, and a development case by gate.development_cases; a "
            "development case proves nothing, so it cannot be held out: take it out of one of the two"
        )
    return [*named, *sorted(split.learned.difference(named))]


def unknown_note(study: Study, listed: Collection[str], unknown: Collection[str]) -> tuple[str, ...]:
    """What to say of development cases that are no case of the study: a name with a typing error leaves nothing
    out. Where it is so with all of them, the study is refused."""
    if not unknown:
        return ()
    first = min(unknown)
    if len(unknown) == len(listed):
        raise MedjuryError(
            f"{study.file}: gate.development_cases: none of the {len(listed):,} names is a case of this study (the "
            f"first is {first!r}), so nothing would be left out of the validation; give ids as in the cases"
        )
    return (
        f"gate.development_cases: {len(unknown):,} of {len(listed):,} names are not cases of this study and leave "
        f"nothing out, such as {first!r}",
    )


def stated_gate(study: Study, touched: Collection[str] = ()) -> StatedGate:
    """The rules with the moment they were first recorded in this run folder; cases that tuning has `touched` are
    among the development cases. Rules that were recorded there before and differ are kept under `earlier`: the
    report says that they were changed."""
    part = study.settings.gate
    study.dangerous_dimensions()  # refused, where they are wrong
    cases = sorted({*listed_cases(study), *_of_judges(study), *touched})
    rules = GateRules(**{**part.model_dump(), "development_cases": tuple(cases)})
    before = _recorded(study.output)
    if before is not None and before.says(rules):
        return before
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if before is None:
        return StatedGate(**rules.model_dump(), stated_at=now, earlier=())
    earlier = (*before.earlier, StatedGate(**before.model_dump(exclude={"earlier"})))
    return StatedGate(**rules.model_dump(), stated_at=now, earlier=earlier)


def read_rules(path: str | Path) -> tuple[GateRules, Protocol | None]:
    """Rules of the gate from a file: a registered protocol (.json), a study file, or a .yaml with the rules alone;
    and the protocol, where it is one."""
    file = Path(path)
    if file.suffix.lower() == ".json":
        protocol = Protocol.read(file)
        return protocol.rules, protocol
    document = read_document(file)
    given = document.value if isinstance(document.value, dict) else {}
    place: tuple[str, ...] = ("gate",) if "gate" in given or "study" in given else ()
    part = validate_part(document, place, given.get("gate") or {} if place else given, GatePart)
    try:
        cases = case_ids(part.development_cases, file.resolve().parent)
    except MedjuryError as error:
        raise MedjuryError(f"{file}: development_cases: {error}") from None
    if given.get("split") is not None:
        cases = _with_learned(file, cases, split_of_file(document))
    return GateRules(**{**part.model_dump(), "development_cases": tuple(sorted(set(cases)))}), None


def _of_judges(study: Study) -> list[str]:
    """Cases that a judge says it was tuned on, or shows as examples."""
    found: list[str] = []
    for judge in study.jury.judges:
        cases = judge.describe().get("development_cases", ())
        found += [str(case) for case in cases] if isinstance(cases, list | tuple) else []
    return found


def _recorded(folder: Path) -> StatedGate | None:
    """The rules that this run folder states already; a folder that cannot be read states none."""
    earlier = RunFolder(folder).earlier()
    gate = None if earlier is None else earlier.gate
    return gate if gate is not None and gate.stated_at else None
