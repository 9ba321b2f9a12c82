"""What came of a tuning: the best prompt by its validation cases, and what it is worth on cases nobody had seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medjury.statistics import Estimate, Rows, shown
from medjury.tuning._gepa import Found
from medjury.tuning._held_out import PLAIN, TUNED, CurvePoint, HeldOut, labels_until_better

_TOLD = 1e-9


@dataclass(frozen=True, eq=False)
class TuningResult:
    """`found` is None where the tuning was stopped before its end; `why` says what stopped it. `held_out` is None
    where the held-out cases were left unopened."""

    folder: Path
    status: str
    why: str = ""
    found: Found | None = None
    held_out: HeldOut | None = None
    models: Rows[Any] | None = None
    curve: Sequence[CurvePoint] = ()
    calls: int = 0
    cost: float | None = None
    currency: str = ""
    notes: Sequence[str] = ()
    clinician_hours: float | None = None
    labels: int = 0

    @property
    def changed(self) -> bool:
        return self.found is not None and self.found.best.fingerprint() != self.found.start.fingerprint()

    def findings(self) -> list[str]:
        """The sentences that a reader must not miss, the heaviest first."""
        if self.found is None:
            return [f"Not finished: {self.why}"]
        lines = [] if self.changed else [
            "Nothing that was tried is better than the starting prompt on the validation cases: it stays as it is."
        ]  # fmt: skip
        if self.held_out is not None:
            lines.append(_gain(self.held_out) if self.changed else _unchanged(self.held_out))
            lines += [*_memorised(self.held_out), *_kin(self.held_out)]
            lines += _promise(self.found, self.held_out) if self.changed else []
        lines += _curve_lines(self.curve)
        lines += self._took()
        return lines

    def _took(self) -> list[str]:
        money = "cost not known" if self.cost is None else f"{self.cost:,.4g} {self.currency}"
        hours = (
            "" if self.clinician_hours is None else f", about {self.clinician_hours:,.1f} hours of clinicians"
        )
        return [f"Tuning took {self.calls:,} calls ({money}) and {self.labels:,} labels{hours}."]

    def content(self) -> dict[str, Any]:
        """How it ended, the findings in words, and the held-out rows."""
        names = ("status", "why", "calls", "cost", "currency", "labels", "clinician_hours", "changed")
        return {
            "folder": str(self.folder),
            **{name: getattr(self, name) for name in names},
            "notes": list(self.notes),
            "findings": self.findings(),
            "held_out": None if self.held_out is None else self.held_out.to_dicts(),
        }

    def text(self) -> str:
        word = self.status.upper() if not self.why else f"{self.status.upper()}: {self.why}"
        lines = [word, *(f"! {note}" for note in self.notes)]
        if self.found is not None:
            lines += self.findings()
        lines.append(f"Tuning folder: {self.folder}")
        return "\n".join(lines)


def _gain(found: HeldOut) -> str:
    gain = found.gain
    if gain.low is None or gain.high is None:
        word = f"whether that is more than chance is not known ({gain.method})"
    elif gain.low > 0:
        word = "the interval leaves zero out: tuning helped"
    elif gain.high < 0:
        word = "the interval leaves zero out: tuning did harm"
    else:
        word = "the interval holds zero: no gain is shown"
    return (
        f"Held out, {found.cases:,} cases of {found.groups:,} groups: {found.objective} of the tuned judge is "
        f"{shown(found.value(TUNED))}, of the plain one {shown(found.value(PLAIN))}; gain {shown(gain)}; {word}."
    )


def _unchanged(found: HeldOut) -> str:
    worth = shown(found.value(PLAIN))
    return (
        f"Held out, {found.cases:,} cases of {found.groups:,} groups: its {found.objective} is {worth}, before as "
        "after."
    )


def _memorised(found: HeldOut) -> list[str]:
    """A prompt that fits its training cases and no others."""
    lines = []
    for name, there in found.fits.items():
        elsewhere = found.value(name)
        who = "The tuned prompt" if name == TUNED else "Another prompt, which validation did not choose,"
        told = f"{who} is worth {shown(there)} on the training cases and {shown(elsewhere)} on held-out cases"
        told += f" ({found.objective})"
        if _below(elsewhere, there):
            lines.append(
                f"{told}: its score collapses on patients it has not seen. It has learned its cases by heart, "
                "not the task; a split that divides a patient's cases would have shown you the first number."
            )
        elif elsewhere.high is None and (elsewhere.value is None or elsewhere.value < there - _TOLD):
            lines.append(f"{told}; whether that is more than chance is not known ({elsewhere.method}).")
        elif name == TUNED:
            lines.append(f"{told}.")
    return lines


def _kin(found: HeldOut) -> list[str]:
    """Held-out cases whose patients tuning has seen."""
    if not found.kin:
        return []
    text = (
        f"{found.kin:,} of {found.cases:,} held-out cases are of patients, items or texts that tuning saw "
        "too: the split did not keep them together, and what they show may be memory."
    )
    if found.on_kin is not None and found.on_strangers is not None:
        text += (
            f" {found.objective} of the tuned judge is {shown(found.on_kin)} there, {shown(found.on_strangers)} "
            "elsewhere."
        )
    else:
        text += " Split again with `group: patient` before you believe the gain."
    return [text]


def _promise(found: Found, held_out: HeldOut) -> list[str]:
    """Validation cases chose the prompt, so that they flatter it."""
    if found.validation is None:
        return []
    return [
        f"On the validation cases, which chose it, {held_out.objective} is {shown(found.validation)} (the starting "
        f"prompt: {shown(found.start_validation)}); that flatters, and is not evidence."
    ]


def _curve_lines(points: Sequence[CurvePoint]) -> list[str]:
    if not points:
        return []
    fewest = labels_until_better(points)
    most = max(each.labels for each in points)
    if fewest is None:
        return [
            f"Learning curve: with up to {most:,} labelled cases tuning is not shown to beat the plain prompt."
        ]
    return [f"Learning curve: from {fewest:,} labelled cases on tuning beats the plain prompt."]


def _below(estimate: Estimate, value: float) -> bool:
    """Whether the whole interval lies below; a value without an interval shows nothing."""
    return estimate.high is not None and estimate.high < value - _TOLD
