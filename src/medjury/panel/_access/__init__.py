"""Who may do what: people and their roles, sign-in, sessions, protection against other sites, and the audit trail.

A route says who may use it with `Depends(person_with(Role.RATER))` or `Depends(anyone)`, and a route that changes
something reads its body with `Depends(form_of)`. A route that does not cannot be served.
"""

from __future__ import annotations

from medjury.panel._access._pages import NAVIGATION, routes

__all__ = ["NAVIGATION", "routes"]
