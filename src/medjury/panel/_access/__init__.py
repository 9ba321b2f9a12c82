"""Who may do what: people and their roles, sign-in, sessions, protection against other sites, and the audit trail.

A route says who may use it with `Depends(person_with(Role.RATER))` or `Depends(anyone)`, and a route that changes
something reads its body with `Depends(form_of)`. A route that does not cannot be served.
"""

from __future__ import annotations

from medjury.panel._access._erased import erased_among, erased_at, note_erasure
from medjury.panel._access._forms import Form, SentFile, form_of
from medjury.panel._access._guard import guard
from medjury.panel._access._joining.inviting import invite, join_address
from medjury.panel._access._pages import NAVIGATION, routes
from medjury.panel._access._people import (
    NOBODYS_NAMES,
    RECONCILED,
    Person,
    Role,
    add_person,
    compared,
    people,
    person_named,
)
from medjury.panel._access._programs.api_pages import api_access
from medjury.panel._access._trail import TrailEntry, about_in_words, check_trail, trail, trail_entries
from medjury.panel._access._visitors import Claim, anyone, claimed_by, person_with, signed_in

__all__ = [
    "NAVIGATION",
    "NOBODYS_NAMES",
    "RECONCILED",
    "Claim",
    "Form",
    "Person",
    "Role",
    "SentFile",
    "TrailEntry",
    "about_in_words",
    "add_person",
    "anyone",
    "api_access",
    "check_trail",
    "claimed_by",
    "compared",
    "erased_among",
    "erased_at",
    "form_of",
    "guard",
    "invite",
    "join_address",
    "note_erasure",
    "people",
    "person_named",
    "person_with",
    "routes",
    "signed_in",
    "trail",
    "trail_entries",
]
