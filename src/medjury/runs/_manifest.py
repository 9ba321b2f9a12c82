"""The manifest: what was run, on what, with what, and what came of it. No clinical text, no secrets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from medjury.errors import MedjuryError
from medjury.runs import files
from medjury.runs._stated import GateRules, ReportSettings, rules_from, settings_from

FORMAT = 1
RunStatus = Literal["running", "complete", "incomplete", "failed"]


class _Part(BaseModel):
    """A part of the manifest. What an older or a newer version wrote beside the known names is kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    @property
    def others(self) -> dict[str, Any]:
        """What is stated beyond the known names, such as the settings of a way of judging."""
        return dict(self.model_extra or {})


class ManifestDimension(_Part):
    """A dimension as the instrument had it; `of` is what a reversed one reverses, `weights` a composite's parts."""

    name: str
    label: str = ""
    grades: tuple[float, ...] | None = None
    higher_is_better: bool = True
    derived: bool = False
    of: str | None = None
    weights: dict[str, float] = {}
    needs_every_part: bool = False


class ManifestInstrument(_Part):
    name: str = ""
    version: str = ""
    fingerprint: str = ""
    dimensions: tuple[ManifestDimension, ...] = ()


class ManifestModel(_Part):
    name: str = ""
    kind: str = ""
    model: str | None = None
    file: str | None = None
    vendor: str | None = None
    host: str | None = None

    @property
    def title(self) -> str:
        return self.model or self.file or self.name


class ManifestJudge(_Part):
    """A judge: its models and how it judges; the settings of its strategy are in `others`."""

    name: str
    models: tuple[ManifestModel, ...] = ()
    settings_hash: str = ""
    strategy: str = "single"

    @property
    def vendor(self) -> str:
        """Who made its (first) model; "none" where nobody says."""
        return (self.models[0].vendor if self.models else None) or "none"


class ManifestJury(_Part):
    """How votes become one rating: `rule` of the judges' scores where `quorum` of them (None: more than half) gave
    one."""

    name: str = "jury"
    rule: Literal["mean", "median", "majority"] = "mean"
    quorum: int | None = None
    repeats: int = 1


class ManifestHumans(_Part):
    file: str = ""
    ratings: int = 0
    raters: tuple[str, ...] = ()
    pseudonyms: bool = True
    illustrative: bool = False
    not_rated: int = 0
    left_out: int = 0
    unscored: dict[str, int] = {}
    warnings: tuple[str, ...] = ()


class Shortened(_Part):
    units: int
    notes: int
    characters: int


class Coverage(_Part):
    """The judges' ratings by what became of them."""

    ratings: int = 0
    scored: int = 0
    not_applicable: int = 0
    unscored: int = 0
    unscored_by_reason: dict[str, int] = {}
    shortened: dict[str, Shortened] = {}
    perhaps_cut: int = 0


class Units(_Part):
    planned: int = 0
    done: int = 0


class Prices(_Part):
    as_of: str = ""
    currency: str = ""


class Planned(_Part):
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = None


class Manifest(_Part):
    """Everything a run folder says of itself. `gate` holds the rules with the moment they were `stated_at` and the
    `earlier` ones they replaced; `report` what the page shows."""

    format: int = FORMAT
    study: str = ""
    run: str = ""
    status: RunStatus = "running"
    why: str = ""
    medjury: str = ""
    python: str = ""
    machine: str = ""
    packages: dict[str, str] = {}
    started_at: str = ""
    finished_at: str = ""
    study_file_hash: str = ""
    data_hash: str = ""
    cases: int = 0
    cases_skipped: int = 0
    cases_lacking_input: int = 0
    systems: dict[str, int] = {}
    instrument: ManifestInstrument = ManifestInstrument()
    humans: ManifestHumans | None = None
    prompt_version: str = ""
    judges: tuple[ManifestJudge, ...] = ()
    jury: ManifestJury = ManifestJury()
    gate: dict[str, Any] | None = None
    report: dict[str, Any] = {}
    allow_hosts: tuple[str, ...] = ()
    redacted: bool = False
    redactions: dict[str, int] = {}
    settings_refused: dict[str, list[str]] = {}
    prices: Prices = Prices()
    planned: dict[str, Planned] = {}
    drafting: dict[str, Any] | None = None
    coverage: Coverage = Coverage()
    units: Units | None = None
    calls: int = 0
    cost: float | None = None
    files: dict[str, str] = Field(default_factory=dict)

    @property
    def rules(self) -> GateRules:
        """The rules of the gate; what is not stated has its default."""
        return rules_from(self.gate)

    @property
    def stated_at(self) -> str | None:
        return (self.gate or {}).get("stated_at")

    @property
    def earlier_rules(self) -> tuple[Mapping[str, Any], ...]:
        """Rules that were recorded in this folder before, and then changed."""
        return tuple((self.gate or {}).get("earlier", ()))

    def settings(self, **changes: Any) -> ReportSettings:
        """What the report shows; `changes` that are not None replace what the study file says."""
        return settings_from(
            {**self.report, **{name: value for name, value in changes.items() if value is not None}}
        )

    def judge(self, name: str) -> ManifestJudge | None:
        return next((each for each in self.judges if each.name == name), None)

    @property
    def judge_vendors(self) -> dict[str, str]:
        return {each.name: each.vendor for each in self.judges}

    def write(self, folder: Path) -> None:
        """Replace the manifest in one step: a reader sees the old one or the new one."""
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"manifest.{os.getpid()}.part"
        unfinished.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
        unfinished.replace(folder / files.MANIFEST)


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a run folder; an error that says what to do where there is none, or none that can be read."""
    file = Path(folder) / files.MANIFEST
    try:
        return Manifest.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise MedjuryError(
            f"{folder}: not a finished run folder ({files.MANIFEST} is missing); run the study first"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise MedjuryError(f"{file}: cannot be read ({place}: {first['msg']}); run the study again") from None
    except OSError as error:
        raise MedjuryError(f"{file}: cannot be read ({error.strerror}); run the study again") from None
