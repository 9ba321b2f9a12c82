"""A small instrument that uses every feature, as a user would write it."""

from __future__ import annotations

from pathlib import Path

GOOD = """\
name: handover
version: "1.0"
title: Quality of a handover
instructions: Grade the handover.
inputs:
  - {name: candidate, label: Handover}
  - {name: specialty, label: Ward, required: false}
dimensions:
  - name: complete
    label: Complete
    definition: Is everything there?
    grades: {1: No., 2: Partly., 3: Yes.}
  - name: danger
    label: Danger
    definition: Could the patient come to harm?
    higher_is_better: false
    grades: {0: No., 1: Yes.}
  - name: plan
    label: Plan
    definition: Is there a plan?
    may_be_not_applicable: true
    grades: {1: No., 2: Partly., 3: Yes.}
reversed:
  - {name: safe, of: danger}
composites:
  - {name: mean, weights: [complete, plan]}
examples:
  - inputs: {candidate: All well.}
    scores: {complete: 1, plan: null}
    explanation: It says nothing.
parameters: {threshold: 0.5}
"""


def write(folder: Path, text: str, name: str = "handover.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file
