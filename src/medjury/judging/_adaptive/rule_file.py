"""A rule for an adaptive jury as a file: what `medjury plan simulate-jury` writes and a study file names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.judging._adaptive.rule import AdaptiveRule, read_widths

_KIND, _VERSION = "medjury adaptive rule", 2


@dataclass(frozen=True)
class SavedAdaptiveRule:
    """A rule, the jurors, in order, whose votes it was learnt on, and the lowest and highest score of each
    dimension that they graded."""

    rule: AdaptiveRule
    jurors: tuple[str, ...]
    scales: Mapping[str, tuple[float, float]]

    def check(self, jurors: Sequence[str], scales: Mapping[str, tuple[float, float]]) -> None:
        """A rule knows its jurors and what they grade: others, or the same in another order, would need another
        rule."""
        if tuple(jurors) != self.jurors:
            raise MedjuryError(
                f"the rule was learnt for the jurors {', '.join(self.jurors)} in this order, not for "
                f"{', '.join(jurors) or 'none'}; name the jurors as the rule does, or simulate the jury again"
            )
        for name, (low, high) in scales.items():
            if name not in self.scales:
                raise MedjuryError(
                    f"the rule was not learnt on {name}, but on {', '.join(self.scales)}; simulate the jury on all "
                    "dimensions of the instrument, or leave this one out of the study"
                )
            learnt = self.scales[name]
            if learnt != (low, high):
                raise MedjuryError(
                    f"the rule was learnt on {name} graded {learnt[0]:g} to {learnt[1]:g}, not {low:g} to "
                    f"{high:g}: that is another instrument; simulate the jury again"
                )


def save_adaptive_rule(path: str | Path, saved: SavedAdaptiveRule, learnt: Mapping[str, object]) -> None:
    """Write the rule; `learnt` tells from what and with which result."""
    rule = saved.rule
    content = {
        "kind": _KIND,
        "version": _VERSION,
        "jurors": list(saved.jurors),
        "scales": {name: list(scale) for name, scale in saved.scales.items()},
        "tolerance": rule.tolerance,
        "minimum": rule.minimum,
        "maximum": rule.maximum,
        "threshold": rule.threshold,
        "widths": None if rule.widths is None else rule.widths.content(),
        "learnt": dict(learnt),
    }
    try:
        write_whole(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise MedjuryError(f"{path} cannot be written: {error.strerror or error}") from error


def load_adaptive_rule(path: str | Path) -> SavedAdaptiveRule:
    """Read a rule back; a file that is something else, or was changed beyond sense, is refused."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise MedjuryError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError:
        raise MedjuryError(
            f"{path} is not JSON; `medjury plan simulate-jury --rule FILE` writes rules"
        ) from None
    if not isinstance(content, dict) or content.get("kind") != _KIND:
        raise MedjuryError(
            f"{path} holds no adaptive rule; `medjury plan simulate-jury --rule FILE` writes one"
        )
    if content.get("version") != _VERSION:
        raise MedjuryError(
            f"{path} is of version {content.get('version')}, not {_VERSION}; simulate the jury again"
        )
    jurors = content.get("jurors")
    if not isinstance(jurors, list) or not all(isinstance(each, str) for each in jurors):
        raise MedjuryError(f"{path} does not name its jurors; simulate the jury again")
    try:
        rule = AdaptiveRule(
            tolerance=_number(content, "tolerance"),
            minimum=int(_number(content, "minimum")),
            maximum=None if content.get("maximum") is None else int(_number(content, "maximum")),
            threshold=None if content.get("threshold") is None else _number(content, "threshold"),
            widths=None if content.get("widths") is None else read_widths(content["widths"]),
        )
        scales = _scales(content.get("scales"))
    except MedjuryError as error:
        raise MedjuryError(f"{path}: {error}") from None
    return SavedAdaptiveRule(rule, tuple(jurors), scales)


def _scales(content: object) -> dict[str, tuple[float, float]]:
    try:
        if not isinstance(content, Mapping):
            raise TypeError
        return {str(name): (float(low), float(high)) for name, (low, high) in content.items()}
    except (TypeError, ValueError):
        raise MedjuryError("the scales of its dimensions are damaged; simulate the jury again") from None


def _number(content: Mapping[str, object], name: str) -> float:
    value = content.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MedjuryError(f"{name} is {value!r}, not a number; simulate the jury again")
    return float(value)
