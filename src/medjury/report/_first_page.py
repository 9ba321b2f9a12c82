"""How much the first page holds: lines are counted beforehand, so that it is one page on A4 and on US Letter."""

from __future__ import annotations

from collections.abc import Sequence

from medjury.report._material import short

# Lines of our own print on the lower of the two papers, and the signs of one that wide letters leave.
LINES, WIDTH = 45, 88


def lines_of(words: str, width: int = WIDTH) -> int:
    """How many lines these words take, at most."""
    return max(1, -(-len(words) // (width - 8)))  # a long word may leave the end of a line empty


def fitting(said: Sequence[str], room: int, most: int) -> int:
    """How many of these fit into so many lines, with a line left for how many more there are; at least one."""
    used, kept = 0, 0
    for words in said[:most]:
        used += lines_of(words)
        if kept and used + (kept + 1 < len(said)) > room:
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
