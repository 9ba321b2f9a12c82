"""What to do next, in plain sentences: from the rules that are not met, the heaviest first."""

from __future__ import annotations

from medjury.report._html import Html, sentence
from medjury.report._material import Material

# More than these leave no room on the first page; the others stand with the rules.
SHOWN = 5
_KEEP = (
    "Use the scores on cases like these, and have a clinician read some of them from time to time.",
    "Run the study again whenever a model, the prompt or the kind of case changes.",
)
_FINISH = "Finish the run: `medjury run STUDY` goes on where it stopped."


def next_steps(material: Material) -> list[Html]:
    """Every step once, with the dimensions that it is for unless it is for all."""
    verdicts = material.validation.verdicts
    if not verdicts:
        return [sentence(_FINISH)]
    weights: dict[str, tuple[bool, bool]] = {}
    about: dict[str, list[str]] = {}
    for verdict in verdicts:
        for rule in verdict.not_met:
            if not rule.to_do:
                continue
            weight = (not rule.essential, not rule.lines.danger)
            weights[rule.to_do] = min(weight, weights.get(rule.to_do, weight))
            about.setdefault(rule.to_do, []).append(verdict.label)
    if not about:
        return [sentence(each) for each in _KEEP] if all(not each.not_met for each in verdicts) else []
    labels = {each.label for each in verdicts}
    return [
        sentence(step if {*about[step]} == labels else f"{', '.join(dict.fromkeys(about[step]))}: {step}")
        for step in sorted(about, key=weights.__getitem__)
    ]
