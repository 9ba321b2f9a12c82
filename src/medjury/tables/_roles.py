"""Who takes part: the reference, the compared, the jury; and names that are probably one rater spelled two ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import ConsensusRule
from medjury.tables._jury import JURY, seated_once

CLINICIANS = "clinicians"
CONSENSUS = "consensus"
MACHINES = ("judge", "jury", "metric")
Names = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Roles:
    """`raters` are compared with the `reference`; `jury` is the one among them whose word counts ("" where
    there is none), `jurors` the judges it is formed of here, none where its own rows were stored. `beside` it
    are those whose word counts too: the run's other juries, or, where it forms none, its other judges."""

    reference: tuple[str, ...]
    raters: tuple[str, ...]
    jury: str = ""
    jurors: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def on_trial(self) -> tuple[str, ...]:
        """All whose word counts, the first first; nobody where no jury is formed of several judges."""
        return (self.jury, *self.beside) if self.jury else ()


@dataclass(frozen=True, slots=True)
class People:
    """What a run states of its clinicians: its `reference` (none: every clinician without another part), the
    raters of its `second_panel` and its name, its `adjudicator`, and how the reference's scores become
    one."""

    reference: tuple[str, ...] = ()
    second_panel: tuple[str, ...] = ()
    second_panel_name: str = ""
    consensus: ConsensusRule = "mean"
    adjudicator: str = ""

    @property
    def panel(self) -> str:
        """The rater that is the second panel's consensus; "" where it has one member, or there is none."""
        return self.second_panel_name if len(self.second_panel) > 1 else ""

    @property
    def aside(self) -> tuple[str, ...]:
        """Clinicians who are no part of the reference unless they are named."""
        return tuple(name for name in (*self.second_panel, self.panel, self.adjudicator) if name)


def assign(
    kinds: Mapping[str, str],
    *,
    raters: Names | None,
    reference: Names | None,
    allowed: Sequence[str] = MACHINES,
    aside: Sequence[str] = (),
    stored: Sequence[str] = (),
    people: People | None = None,
    members: Sequence[str] = (),
    side_by_side: Sequence[str] = (),
    asked: bool = False,
    need_reference: bool = True,
) -> Roles:
    """The one rule for who takes part.

    The reference is who is named, else (and where their `consensus` is named) whom `people` names;
    `clinicians`, or nothing, means every rater of that kind who has no other part (is not set `aside`, in no
    second panel, no adjudicator). Compared are those who are named, else every judge, jury and metric (of the
    `allowed` kinds) and, beside all of these, the second panel, else, where the table tells no kinds,
    everybody who has no other part. `stored` names the juries whose own rows the table has, the first first;
    without one, two judges or more form a jury where the kinds are known or a jury is `asked` for: those who
    are compared, or, where the jury itself is named, all judges, as far as they are its `members` (none
    named: all). Judges who are `side_by_side` form none.
    """
    people = people or People()
    free = {name: kind for name, kind in kinds.items() if name not in (*aside, *people.aside)}
    if reference is not None and not _the_consensus(reference, kinds):
        humans = named(reference, kinds, "reference", aside=(*aside, *people.aside))
    else:
        humans = tuple(name for name in people.reference if name not in aside) or _of_kind(free, "clinician")
        if len(humans) == len(kinds):
            humans = ()  # a table that calls everybody a clinician tells nobody apart
    if need_reference and not humans:
        raise MedjuryError("name the reference: whose scores are the yardstick? (reference=RATER)")
    kinds_known = any(kind in MACHINES for kind in kinds.values())
    listed = (raters,) if isinstance(raters, str) else raters
    # The jury that is formed here has no rows yet, but it can be named.
    jury_named = listed is not None and JURY in listed and (asked or JURY not in kinds)
    if listed is None:
        others = [name for name in free if name not in humans]
        chosen = tuple(name for name in others if kinds[name] in allowed) if kinds_known else tuple(others)
        if set(allowed) >= set(MACHINES):
            second = (people.panel, *people.second_panel)
            chosen += tuple(name for name in second if name in kinds and name not in (*humans, *aside))
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
    # Who has no seat in the run's jury has no vote, unless it is named here.
    seated = members if listed is None or jury_named else ()
    voting = tuple(name for name in judges if not seated or name in seated)
    if jury_named and len(voting) < 2:
        raise MedjuryError(
            f"there is no rater {JURY!r}, and none can be formed: that takes two judges or more."
        )
    if not chosen and not jury_named:
        raise MedjuryError(
            "no rater is left to compare: every one is a reference. Name whom to compare (raters=RATER)."
        )
    if own := tuple(name for name in stored if name in chosen):
        return Roles(humans, chosen, own[0], (), own[1:])
    # A stored jury that has another part here (a reference, say) is not formed once more under the same name.
    free_name = JURY not in (*humans, *aside)
    apart = raters is None and bool(side_by_side)
    forms = asked or (kinds_known and raters is None and free_name)
    if jury_named or (len(voting) > 1 and forms and not apart):
        if kinds.get(JURY, "jury") != "jury" or not free_name:
            raise MedjuryError(f"a rater is called {JURY!r}, the name of the jury formed here; rename it.")
        # A jury that is formed here takes the place of the stored one.
        return Roles(humans, (*(name for name in chosen if name != JURY), JURY), JURY, voting)
    if apart and (beside := tuple(name for name in side_by_side if name in judges)):
        return Roles(humans, chosen, beside[0], (), beside[1:])
    return Roles(humans, chosen, judges[0] if len(judges) == 1 else "")


def among_themselves(
    kinds: Mapping[str, str],
    *,
    raters: Names | None,
    reference: Names | None,
    people: People,
    aside: Sequence[str] = (),
) -> Roles | None:
    """Raters who are compared with one another, as no judge, jury or metric is among them: all, or those who are
    named. None where one of them is named as the yardstick of the others, or there are no two."""
    if any(kind in MACHINES for kind in kinds.values()) or (raters is not None and reference is not None):
        return None
    free = tuple(name for name in kinds if name not in (*aside, *people.aside))
    wanted = raters if reference is None else reference
    everybody = wanted is None or (
        wanted in (CLINICIANS, CONSENSUS) or tuple(wanted) in ((CLINICIANS,), (CONSENSUS,))
    )
    if everybody and not {CLINICIANS, CONSENSUS} & kinds.keys():
        found = tuple(name for name in people.reference if name not in aside) or free
    else:
        assert wanted is not None
        found = named(wanted, kinds, "compared rater" if reference is None else "reference")
        if reference is not None and set(found) != set(free):
            return None
    return Roles(found, ()) if len(found) > 1 else None


def named(
    wanted: Names, kinds: Mapping[str, str], role: str, *, aside: Sequence[str] = ()
) -> tuple[str, ...]:
    """The raters that are named; `clinicians` means all of that kind who are not set `aside`, unless a rater
    has that very name."""
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


def _the_consensus(reference: Names, kinds: Mapping[str, str]) -> bool:
    """Tables call what the reference's raters say together `consensus`: whoever names that means these
    raters."""
    listed = (reference,) if isinstance(reference, str) else tuple(reference)
    return listed == (CONSENSUS,) and CONSENSUS not in kinds


def _of_kind(kinds: Mapping[str, str], kind: str) -> tuple[str, ...]:
    return tuple(name for name, own in kinds.items() if own == kind)


# Names that are probably one rater spelled two ways. We warn and suggest; we never merge.


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
    from rapidfuzz.distance import OSA  # most names are too short or too different to be compared

    begins = first.startswith(second) or second.startswith(first)
    return not begins and OSA.distance(first, second, score_cutoff=1) == 1
