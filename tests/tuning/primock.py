"""A study of the labelled turns of Primock57, where they are on this machine: 104 turns of 12 mock "
"consultations."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

PRIMOCK = Path(__file__).parents[3] / "shared" / "data" / "transcript_impact" / "primock_dev.csv"
NOTHING = "[nothing was recognised]"


def write_primock(folder: Path, *, turns: int | None = None, **study: Any) -> Path:
    """Cases, the labels of both clinicians and the reconciled one, and a study file with the embedded model."""
    with PRIMOCK.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:turns]
    cases = [
        {
            "id": row["composite_key"],
            "system": "recogniser",
            "patient": row["call_id"],
            "reference": row["patient_ground_truth"],
            "candidate": row["patient_hypothesis"].strip() or NOTHING,
            "texts": {"context": "\n".join(row["fer_gt_context"].splitlines()[:-1]) or "(the call begins)"},
        }
        for row in rows
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("item", "system", "rater", "dimension", "score", "explanation"))
        for row in rows:
            for rater, column, why in (
                ("Clinician A", "clinician_a", row["justification_a"]),
                ("Clinician B", "clinician_b", row["justification_b"]),
                ("reconciled", "final_outcome", ""),
            ):
                out.writerow(
                    (row["composite_key"], "recogniser", rater, "impact", int(float(row[column])), why)
                )
    content: dict[str, Any] = {
        "study": "primock",
        "cases": "cases.jsonl",
        "instrument": "transcript_impact",
        "judges": [{"kind": "embedded", "name": "small", "max_tokens": 200}],
        "jury": "none",
        "humans": {
            "path": "labels.csv",
            "keep_names": True,
            "reference": ["Clinician A", "Clinician B"],
            "consensus": "adjudicated",
            "adjudicator": "reconciled",
        },
        **study,
    }
    file_ = folder / "study.yaml"
    file_.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in content.items()))
    return file_
