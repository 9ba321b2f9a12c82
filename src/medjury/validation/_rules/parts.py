"""What rules that look at a study part by part share: which parts are large enough, and what to say without any."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.validation._parts import Part
from medjury.validation._rules.found import Lines, RuleFound, does_not_apply, found
from medjury.validation._trial import Trial

# A part, and the rest, with fewer cases than this is too small to be told from chance.
FEWEST = 15


def large_parts(trial: Trial, parts: Sequence[Part]) -> list[Part]:
    """The parts that have enough rated cases, inside and outside."""
    return [
        part
        for part in parts
        if min(trial.cases(trial.both & part.inside), trial.cases(trial.both & part.rest)) >= FEWEST
    ]


def too_small(every: Sequence[Part], large: Sequence[Part]) -> str:
    """What was not looked at, for whoever reads what was found."""
    small = [part for part in every if part not in large]
    if not small:
        return ""
    named = names_of(small[:3]) + (f" and {len(small) - 3:,} more" if len(small) > 3 else "")
    return f"; not looked at, as fewer than {FEWEST} cases are inside or outside: {named}"


def no_parts(name: str, asked: str, unknown: Sequence[str], lines: Lines) -> RuleFound:
    """Nothing is known that would make parts: no reproach, unless the rules name what is not there."""
    if not unknown:
        said = "nothing tells cases apart, or the parts are too small"
        return does_not_apply(name, asked, said, lines=lines)
    why = f"The rules ask for a look at each {' and '.join(unknown)}, and the ratings do not tell it."
    asking = lines.asking(to_know="Record for every case what the rules ask for, and run the study again.")
    return found(name, asked, f"no {', '.join(unknown)} known", None, essential=False, why=why, lines=asking)


def names_of(parts: Sequence[Part]) -> str:
    return ", ".join(part.name for part in parts)
