"""Who is who in an analysis: the reference, those who are compared with it, and the jury."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from medjury.errors import MedjuryError
from medjury.tables._jury import JURY, seated_once
from medjury.tables._spelling import known_rater

CLINICIANS = "clinicians"
MACHINES = ("judge", "jury", "metric")
Names = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Roles:
    """`raters` are compared with the `reference`; `jury` is the one among them whose word counts ("" where there is
    none), and `jurors` the judges it is formed of here, none where its own rows were stored."""

    reference: tuple[str, ...]
    raters: tuple[str, ...]
    jury: str = ""
    jurors: tuple[str, ...] = ()


def assign(
    kinds: Mapping[str, str],
    *,
    raters: Names | None,
    reference: Names | None,
    allowed: Sequence[str] = MACHINES,
    aside: Sequence[str] = (),
    stored: str = "",
    asked: bool = False,
    need_reference: bool = True,
) -> Roles:
    """The one rule for who takes part.

    The reference is who is named; `clinicians`, or nothing, means every rater of that kind who has no other part
    (is not set `aside`). Compared are those who are named, else every judge, jury and metric (of the `allowed`
    kinds), else, where the table tells no kinds, everybody who has no other part. `stored` names the jury whose
    own rows the table has; without one, two judges or more form a jury where the kinds are known or a jury is
    `asked` for: those who are compared, or, where the jury itself is named, all judges.
    """
    free = {name: kind for name, kind in kinds.items() if name not in aside}
    if reference is not None:
        humans = named(reference, kinds, "reference", aside=aside)
    else:
        humans = _of_kind(free, "clinician")
        if len(humans) == len(kinds):
            humans = ()  # a table that calls everybody a clinician tells nobody apart
    if need_reference and not humans:
        raise MedjuryError("name the reference: whose scores are the yardstick? (--reference RATER)")
    kinds_known = any(kind in MACHINES for kind in kinds.values())
    listed = (raters,) if isinstance(raters, str) else raters
    # The jury that is formed here has no rows yet, but it can be named.
    jury_named = listed is not None and JURY in listed and (asked or JURY not in kinds)
    if listed is None:
        others = [name for name in free if name not in humans]
        chosen = tuple(name for name in others if kinds[name] in allowed) if kinds_known else tuple(others)
    else:
        chosen = named(
            [name for name in listed if not (jury_named and name == JURY)], kinds, "compared rater"
        )
    judges = seated_once(
        [
            name
            for name in (free if jury_named else chosen)
            if name in free
            and name not in humans
            and kinds[name] in ("judge", *(() if kinds_known else ("",)))
        ]
    )
    if jury_named and len(judges) < 2:
        raise MedjuryError(
            f"there is no rater {JURY!r}, and none can be formed: that takes two judges or more."
        )
    if not chosen and not jury_named:
        raise MedjuryError(
            "no rater is left to compare: every one is a reference. Name whom to compare (--raters)."
        )
    if stored in chosen:
        return Roles(humans, chosen, stored)
    # A stored jury that has another part here (a reference, say) is not formed once more under the same name.
    free_name = JURY not in (*humans, *aside)
    if jury_named or (len(judges) > 1 and (asked or (kinds_known and raters is None and free_name))):
        if kinds.get(JURY, "jury") != "jury" or not free_name:
            raise MedjuryError(f"a rater is called {JURY!r}, the name of the jury formed here; rename it.")
        # A jury that is formed here takes the place of the stored one.
        return Roles(humans, (*(name for name in chosen if name != JURY), JURY), JURY, judges)
    return Roles(humans, chosen, judges[0] if len(judges) == 1 else "")


def named(
    wanted: Names, kinds: Mapping[str, str], role: str, *, aside: Sequence[str] = ()
) -> tuple[str, ...]:
    """The raters that are named; `clinicians` means all of that kind who are not set `aside`, unless a rater has
    that very name."""
    listed = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    found: list[str] = []
    for name in listed:
        if name == CLINICIANS and name not in kinds:
            humans = [each for each in _of_kind(kinds, "clinician") if each not in aside]
            if not humans:
                raise MedjuryError("the ratings name no clinicians: no rater has the kind `clinician`.")
            found += humans
        else:
            found.append(known_rater(name, list(kinds), role))
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise MedjuryError(f"{twice[0]!r} is named twice as {role}.")
    return tuple(found)


def _of_kind(kinds: Mapping[str, str], kind: str) -> tuple[str, ...]:
    return tuple(name for name, own in kinds.items() if own == kind)
