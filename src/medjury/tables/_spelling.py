"""Names that are probably one rater spelled two ways. We warn and suggest; we never merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError


def look_alikes(raters: Sequence[str], rated_together: Callable[[str, str], bool]) -> list[str]:
    """Warnings for pairs of names that differ in case, spaces or signs alone, or by one slip of the pen
    while the two never rated the same thing, which `rated_together` tells.

    >>> look_alikes(["Dr Lee", "dr. lee"], lambda first, second: False)
    ["raters 'Dr Lee' and 'dr. lee' look like one rater spelled two ways; they were kept apart"]
    """
    found = []
    plain = [(name, _plain(name)) for name in sorted(raters)]
    for (first, plain_first), (second, plain_second) in combinations(plain, 2):
        same = plain_first == plain_second != ""
        if same or (_one_slip(plain_first, plain_second) and not rated_together(first, second)):
            found.append(
                f"raters {first!r} and {second!r} look like one rater spelled two ways; they were kept apart"
            )
    return found


def known_rater(name: str, raters: Sequence[str], role: str) -> str:
    """The name itself where such a rater exists; an error that suggests one where none does."""
    if name in raters:
        return name
    same = [each for each in raters if _plain(each) == _plain(name)]
    hint = f"did you mean {same[0]!r}?" if same else nearest(name, list(raters))
    raise MedjuryError(f"there is no rater {name!r} to be the {role}; {hint}")


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _one_slip(first: str, second: str) -> bool:
    """One letter changed, added, dropped or swapped with its neighbour, inside a longer word; numbers and
    last letters tell raters apart (rater_a, rater_b; gpt4, gpt5) and are no slips."""
    if min(len(first), len(second)) < 5 or abs(len(first) - len(second)) > 1 or first[-1:] != second[-1:]:
        return False
    if "".join(filter(str.isdigit, first)) != "".join(filter(str.isdigit, second)):
        return False
    start = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), None)
    if start is None:
        return False
    rest_first, rest_second = first[start:], second[start:]
    return (
        rest_first[1:] == rest_second[1:]
        or rest_first[1:] == rest_second
        or rest_first == rest_second[1:]
        or (rest_first[:2] == rest_second[1::-1] and rest_first[2:] == rest_second[2:])
    )
