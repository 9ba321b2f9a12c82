"""The study file as it is written: every setting, its default and its limits. Words only; nothing is opened."""

from __future__ import annotations

from medjury.studies._file._cases import CasesPart
from medjury.studies._file._models import (
    ContextPart,
    DraftingPart,
    ExamplesPart,
    JudgePart,
    ModelPart,
    PricePart,
)
from medjury.studies._file._study_file import (
    BudgetPart,
    GatePart,
    HumansPart,
    JuryPart,
    NamedJuryPart,
    PanelPart,
    RatedStudyFile,
    ReportPart,
    RoundPart,
    StudyFile,
)

__all__ = [
    "BudgetPart",
    "CasesPart",
    "ContextPart",
    "DraftingPart",
    "ExamplesPart",
    "GatePart",
    "HumansPart",
    "JudgePart",
    "JuryPart",
    "ModelPart",
    "NamedJuryPart",
    "PanelPart",
    "PricePart",
    "RatedStudyFile",
    "ReportPart",
    "RoundPart",
    "StudyFile",
]
