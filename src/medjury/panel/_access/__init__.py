"""Who may do what: people and their roles, sign-in, sessions, protection against other sites, and the audit trail.

A route says who may use it with `Depends(person_with(Role.RATER))` or `Depends(anyone)`, and a route that changes
something reads its body with `Depends(form_of)`. A route that does not cannot be served.
"""

from __future__ import annotations

from medjury.panel._access._api_keys import api_access
from medjury.panel._access._forms import Form, SentForm
from medjury.panel._access._guard import guard
from medjury.panel._access._joining import invite, join_address
from medjury.panel._access._pages import NAVIGATION, routes
from medjury.panel._access._people import (
    NOBODYS_NAMES,
    RECONCILED,
    Person,
    Role,
    add_person,
    compared,
    names_of_people,
    people,
    person_named,
)
from medjury.panel._access._trail import erased_among, erased_at, note_erasure, trail, trail_text
from medjury.panel._access._visitors import Adjudicator, Claim, Coordinator, Rater, claimed_by, person_with

__all__ = [
    "NAVIGATION",
    "NOBODYS_NAMES",
    "RECONCILED",
    "Adjudicator",
    "Claim",
    "Coordinator",
    "Form",
    "Person",
    "Rater",
    "Role",
    "SentForm",
    "add_person",
    "api_access",
    "claimed_by",
    "compared",
    "erased_among",
    "erased_at",
    "guard",
    "invite",
    "join_address",
    "names_of_people",
    "note_erasure",
    "people",
    "person_named",
    "person_with",
    "routes",
    "trail",
    "trail_text",
]
