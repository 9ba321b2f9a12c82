"""Who made the judges and who made the answers: from columns of the ratings or from the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from medjury.analysis.audits._audit import names
from medjury.analysis.audits._audited import Audited, attribute
from medjury.foundation.errors import MedjuryError

NO_VENDOR = "none"


@dataclass(frozen=True, slots=True)
class Vendors:
    """The vendor of every judge and every answering system, and which system is the judge's own model."""

    judges: Mapping[str, str]
    systems: Mapping[str, str]
    own_model: Mapping[str, frozenset[str]]

    def same_vendor(self, judge: str, system: str) -> bool:
        return self.judges[judge] != NO_VENDOR and self.judges[judge] == self.systems[system]

    def same_model(self, judge: str, system: str) -> bool:
        return system in self.own_model.get(judge, frozenset())

    def own(self, judge: str) -> list[str]:
        """The systems of the judge's own vendor."""
        return [system for system in self.systems if self.same_vendor(judge, system)]

    def baseline(self, judge: str) -> list[str]:
        """The judges of other vendors: a judge of the same house may share its taste."""
        return [each for each in self.judges if self.judges[each] != self.judges[judge]]

    def neutral(self, judge: str, baseline: Sequence[str]) -> list[str]:
        """The systems that share a vendor with neither the judge nor any of the baseline judges."""
        involved = {self.judges[each] for each in (judge, *baseline)} - {NO_VENDOR}
        return [system for system, vendor in self.systems.items() if vendor not in involved]


def read_vendors(
    about: Audited,
    judge_vendors: Mapping[str, str] | None,
    system_vendors: Mapping[str, str] | None,
    own_models: Mapping[str, Sequence[str]] | None,
) -> Vendors:
    """Vendors as they are given, else as the run or the cases state them, else from the columns `judge_vendor` and
    `vendor`.

    A name without a vendor is refused: taken for a stranger it would hide what the audit looks for. A judge
    or a system that has none, such as a clinician's answer, gets the vendor "none"."""
    table, judges = about.table, about.raters
    systems = sorted(about.rows["system"].unique().to_list())
    if systems == [""]:
        raise MedjuryError("self-preference needs to know who answered: the ratings have no column `system`.")
    of_judges = {
        **attribute(table.rows, "judge_vendor", "rater"),
        **table.judge_vendors,
        **_known("judge", judge_vendors, list(table.raters)),
    }
    of_systems = {
        **attribute(table.rows, "vendor", "system"),
        **table.system_vendors,
        **_known("system", system_vendors, systems),
    }
    _refuse_missing("judge", judges, of_judges, "--judge-vendor")
    _refuse_missing("system", systems, of_systems, "--system-vendor")
    models: dict[str, frozenset[str]] = {}
    for judge, own in (own_models or {}).items():
        _known("judge", {judge: ""}, judges)
        _known("system", dict.fromkeys(own, ""), systems)
        models[judge] = frozenset(own)
    return Vendors(
        {judge: of_judges[judge].strip().casefold() for judge in judges},
        {system: of_systems[system].strip().casefold() for system in systems},
        models,
    )


def _known(what: str, given: Mapping[str, str] | None, present: Sequence[str]) -> dict[str, str]:
    unknown = [name for name in given or {} if name not in present]
    if unknown:
        raise MedjuryError(
            f"a vendor or model is given for the {what} {unknown[0]!r}; there are {names(present, 12)}."
        )
    return dict(given or {})


def _refuse_missing(what: str, listed: Sequence[str], known: Mapping[str, str], option: str) -> None:
    missing = [name for name in listed if not known.get(name, "").strip()]
    if missing:
        raise MedjuryError(
            f"no vendor is known for the {what}{'s' if len(missing) > 1 else ''} {names(missing, 12)}. Give "
            f"each one, as in {option} {missing[0]}=VENDOR, or {missing[0]}={NO_VENDOR} where it has none."
        )
