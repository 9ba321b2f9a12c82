"""Panels that write the reference: each member reads alone, then they meet, and at last they score."""

from __future__ import annotations

from medjury.panel._meeting._reference._export import (
    PanelReference,
    PanelScore,
    panel_references,
    panel_scores,
    write_references,
)
from medjury.panel._meeting._reference._panels import ReferencePanel, make_panel, reference_panels
from medjury.panel._meeting._reference._setting_up import set_up_references
from medjury.panel._meeting._reference._work import CaseWork, work_by_code, work_of_person

__all__ = [
    "CaseWork",
    "PanelReference",
    "PanelScore",
    "ReferencePanel",
    "make_panel",
    "panel_references",
    "panel_scores",
    "reference_panels",
    "set_up_references",
    "work_by_code",
    "work_of_person",
    "write_references",
]
