"""The schema of judge cards, from the classes that read them. `python -m tests.passports.card_schema` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from medjury.in_use.passports._document import Passport

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs" / "judge-card.schema.json"


def card_schema() -> str:
    """JSON Schema 2020-12. A card on file has its hash; the titles that pydantic makes of names say nothing."""
    made = _plain(Passport.model_json_schema())
    made["required"].append("hash")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:judge-card:1.0"}
    return json.dumps({**head, "title": "Judge Card 1.0", **made}, indent=1, ensure_ascii=True) + "\n"


def _plain(part: Any) -> Any:
    if isinstance(part, list):
        return [_plain(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: " ".join(value.split()) if name == "description" and isinstance(value, str) else _plain(value)
        for name, value in part.items()
        if name != "title" or not isinstance(value, str)
    }


if __name__ == "__main__":
    DOCS.write_text(card_schema(), encoding="utf-8")
