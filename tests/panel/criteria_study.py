"""A made-up study whose cases have criteria of their own, for tests of what clinicians and readers see."""

from __future__ import annotations

from typing import Any

# The third asks for something, the fourth for its absence in words that deny: "met" must read right for both.
TEXTS = (
    ("aid", "Advises calling an ambulance at once", 5, ["axis:accuracy"]),
    ("dose", "States the dose of aspirin in mg", 3, ["axis:completeness"]),
    ("drive", "Tells the patient to drive to the hospital", -6, ["axis:accuracy"]),
    ("plain", "Does not explain medical words", -2, ["axis:communication"]),
)


def criteria(case: int) -> list[dict[str, Any]]:
    """Three that every case has, by id, and one that only it has."""
    shared = [
        {"id": name, "text": f"{text}.", "points": points, "tags": tags} for name, text, points, tags in TEXTS
    ]
    own = {"id": f"own-{case}", "text": f"Names finding {case} of the examination.", "points": 4, "tags": []}
    return [*shared, own]


def criteria_rows(cases: int, system: str = "zebrafinch-9b") -> list[dict[str, Any]]:
    return [
        {
            "id": f"marmoset-{case:02}",
            "system": system,
            "candidate": f"Answer {case}.0: take aspirin 300 mg and call an ambulance now.",
            "texts": {"conversation": f"Patient {case}: my chest hurts since this morning."},
            "criteria": criteria(case),
        }
        for case in range(cases)
    ]
