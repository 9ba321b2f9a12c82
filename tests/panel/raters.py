"""Raters at browsers without JavaScript: they join, say who they are, and fill in forms."""

from __future__ import annotations

import re
from typing import Any

from fastapi import FastAPI
from tests.panel.visitors import Visitor, sign_in, token_in

from medjury.panel._access._people import Role

PROFILE = {"years": "8", "specialty": "Nephrology", "seniority": "specialist", "affiliation": "St Elsewhere"}
GOOD = {"grade.accuracy": "4", "grade.completeness": "5", "grade.clarity": "3"}


class Rater(Visitor):
    """A rater at a browser without JavaScript."""

    def codes(self) -> list[str]:
        """The rater's own cases, in the rater's own order."""
        return re.findall(r'<li><a href="/rate/([^"/]+)', self.get("/rate").text)

    def rate(self, code: str, action: str = "submit", version: str | None = None, **fields: str) -> Any:
        """Open the case and send the form; the version is the one on the page unless another is given."""
        html = self.get(f"/rate/{code}").text
        found = re.search(r'name="version" value="(\d+)"', html)
        assert found
        sent = {"csrf": token_in(html), "version": found[1] if version is None else version, "action": action}
        return self.post(f"/rate/{code}", data=sent | fields)


def rater(app: FastAPI, name: str = "Dr Ocelot") -> Rater:
    """Somebody who has joined and said who they are."""
    visitor = sign_in(app, Role.RATER, name)
    known = Rater(app)
    known.cookies, known.person = visitor.cookies, visitor.person
    assert known.get("/rate").headers["location"] == "/rate/profile"
    assert known.submit("/rate/profile", "/rate/profile", **PROFILE).status_code == 303
    assert known.get("/rate").status_code == 200
    return known
