"""What to do next, in plain sentences: from the rules that are not met, the heaviest first."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.report._html import Html, bullets, element, sentence
from medjury.report._material import Material, short
from medjury.validation import Verdict

# Lines of our own print on the lower of the two papers, and the signs of one that wide letters leave.
LINES, WIDTH = 45, 88


def lines_of(words: str, width: int = WIDTH) -> int:
    """How many lines these words take, at most."""
    return max(1, -(-len(words) // (width - 8)))  # a long word may leave the end of a line empty


def fitting(text: Sequence[str], room: int, most: int) -> int:
    """How many of these fit into so many lines, with a line left for how many more there are; at least one."""
    used, kept = 0, 0
    for words in text[:most]:
        used += lines_of(words)
        if kept and used + (kept + 1 < len(text)) > room:
            break
        kept += 1
    return kept


def listed(names: Sequence[str], most: int = 4) -> str:
    """A few names in a row, and how many more there are.

    >>> listed(["Accuracy", "Clarity", "Harm", "Style", "Tone"])
    'Accuracy, Clarity, Harm and 2 more'
    """
    clean = [short(name, 40) for name in dict.fromkeys(names)]
    if len(clean) <= most:
        return ", ".join(clean)
    return f"{', '.join(clean[: most - 1])} and {len(clean) - most + 1} more"


# So many are taken in at once, and so many lines are theirs on the first page; the others stand with the rules.
_SHOWN, _LINES = 5, 11
# Of a step that concerns several dimensions, so many are shown with their numbers.
_NUMBERS = 2
_KEEP = (
    "Use the scores on cases like these, and have a clinician read some of them from time to time.",
    "Run the study again whenever a model, the prompt or the kind of case changes.",
)
_FINISH = "Finish the run: `medjury run STUDY` goes on where it stopped."


def first_steps(material: Material) -> tuple[Html, int]:
    """The steps of the first page, and how many lines they take."""
    steps = next_steps(material)
    kept, more = steps[: (shown := steps_shown(material))], len(steps) - shown
    words = [*kept, *([f"and {more} more, with the rules in the evidence."] if more > 0 else [])]
    if not words:
        return Html(""), 0
    made = element("h3", "What to do next") + bullets(map(sentence, words))
    return Html(made), sum(map(lines_of, words))


def steps_shown(material: Material) -> int:
    """How many steps the first page has."""
    raters = len(material.tried)
    return fitting(next_steps(material), _LINES if raters < 2 else max(5, _LINES - 1 - raters), _SHOWN)


def next_steps(material: Material) -> list[str]:
    """Every step once, with the numbers that it comes from and whom it is about, unless it is about all."""
    verdicts = material.validation.verdicts
    if not verdicts:
        return [_FINISH]
    weights: dict[str, tuple[bool, bool]] = {}
    about: dict[str, list[tuple[Verdict, str]]] = {}
    for verdict in verdicts:
        for rule in verdict.not_met:
            if not rule.to_do:
                continue
            weight = (not rule.essential, not rule.danger)
            weights[rule.to_do] = min(weight, weights.get(rule.to_do, weight))
            about.setdefault(rule.to_do, []).append((verdict, rule.numbers))
    if not about:
        return list(_KEEP) if all(not each.not_met for each in verdicts) else []
    return [_told(material, step, about[step]) for step in sorted(about, key=weights.__getitem__)]


def _told(material: Material, step: str, about: Sequence[tuple[Verdict, str]]) -> str:
    """A step, whom it is about, and its numbers: once where they are the same for all, else the first two."""
    several = len(material.tried) > 1
    numbers: dict[str, list[str]] = {}
    for verdict, number in about:
        who = f"{short(verdict.rater)}, " if several else ""
        if number:
            numbers.setdefault(number, []).append(f"{who}{short(verdict.label, 30)}")
    whose: dict[str, list[str]] = {}
    for number, names in list(numbers.items())[: 1 if several else _NUMBERS]:
        whose.setdefault(listed(names, 2), []).append(number)
    more = len(numbers) - sum(map(len, whose.values()))
    alone = len(whose) < 2 and not more
    parts = [f"{'' if alone else f'{who}: '}{'; '.join(own)}" for who, own in whose.items()]
    text = f" ({'; '.join(parts)}{f'; {more} more below' if more else ''})" if parts else ""
    whole = f"{step.removesuffix('.')}{text}."
    # Where the numbers say whose they are, that is not stated again.
    return material.of_marks(
        f"{_about_whom(material, [each for each, _ in about])}{whole}" if alone else whole
    )


def _about_whom(material: Material, about: Sequence[Verdict]) -> str:
    """The raters and the dimensions that a step is about, where these are not all."""
    verdicts = material.validation.verdicts
    raters, labels = ([each.rater for each in about], [each.label for each in about])
    parts = [
        listed([short(name, 30) for name in some], 2 if len(material.tried) > 1 else 4)
        for some, every in (
            (raters, {each.rater for each in verdicts}),
            (labels, {each.label for each in verdicts}),
        )
        if {*some} != every
    ]
    return f"{', '.join(parts)}: " if parts else ""
