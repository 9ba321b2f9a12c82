"""The clinicians' panel and the evidence browser: people rate blindly, and everyone may read the evidence.

Clinicians' ratings have the very shape of the judges'. They are kept in a database of the panel's own, with their
history, and flow from there into the study's store. Nothing here decides what a number means: the panel asks the
rooms to its left.
"""

from __future__ import annotations

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.panel._app import make_app
    from medjury.panel._database import PanelDatabase, open_panel_database
    from medjury.panel._erasing import erase_from_panel
    from medjury.panel._opening import coordinators_link, invitation_link, open_panel
    from medjury.panel._panel import Panel
    from medjury.panel._saving_files import (
        include_ratings,
        save_question_replies,
        save_ratings,
        save_references,
        take_in_ratings,
    )
    from medjury.panel._serve import listen, reached_at, serve
    from medjury.panel._trail_text import trail_text
    from medjury.panel._view import serve_evidence, write_evidence_file

__all__ = [
    "Panel",
    "PanelDatabase",
    "coordinators_link",
    "erase_from_panel",
    "include_ratings",
    "invitation_link",
    "listen",
    "make_app",
    "open_panel",
    "open_panel_database",
    "reached_at",
    "save_question_replies",
    "save_ratings",
    "save_references",
    "serve",
    "serve_evidence",
    "take_in_ratings",
    "trail_text",
    "write_evidence_file",
]
