"""Who is who among the clinicians of a study: its file's words (panels, real names) as raters of its ratings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation.documents import Document, nearest, read_document, validate_part
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import ManifestPanel, Protocol
from medjury.studies._file.study_file import HumansPart, JuryPart

if TYPE_CHECKING:
    import polars

    from medjury.store.ratings import ImportedRatings
    from medjury.tables import RatingTable


CLINICIANS = "clinicians"
SECOND_PANEL = "second panel"


@dataclass(frozen=True)
class PeopleRoles:
    """The raters of each role, by the names they have in the ratings; `reference` is empty where it is everybody
    who has no other part and the study file names nobody."""

    reference: tuple[str, ...] = ()
    second_panel: ManifestPanel | None = None
    adjudicator: str = ""
    yardstick: tuple[str, ...] = ()  # the reference, named or not

    @property
    def by_role(self) -> Mapping[str, tuple[str, ...]]:
        panel = () if self.second_panel is None else self.second_panel.members
        settles = (self.adjudicator,) if self.adjudicator else ()
        found = {"reference": self.reference, "second_panel": panel, "adjudicator": settles}
        return {role: members for role, members in found.items() if members}


def stated_roles(part: HumansPart | None) -> dict[str, str]:
    """The roles in words for manifest and protocol, as far as the study file states any; no clinician's name."""
    if part is None:
        return {}
    given = {
        "reference": "" if part.reference == CLINICIANS else _in_words(part.reference),
        "second panel": "" if part.second_panel is None else _in_words(part.second_panel),
        "consensus": "" if part.consensus == "mean" else part.consensus,
        "labels": ", ".join(sorted(part.labels)),
    }
    return {name: words for name, words in given.items() if words}


def people_roles(
    file: Path, part: HumansPart, imported: ImportedRatings, taken: Collection[str] = ()
) -> PeopleRoles:
    """The roles, or a refusal with the line of the study file that names somebody who is not there, or twice;
    `taken` are the names of judges and juries."""
    clinicians = {each.rater for each in imported.ratings if each.rater_kind == "clinician"}
    panels = {rater: own["panel"] for rater, own in imported.profiles.items() if "panel" in own}
    scores = ((each.rater, each.dimension, each.score) for each in imported.ratings)
    return _roles(_People(file, part, clinicians, imported.entered_as, panels, scores), part, taken)


def _roles(people: _People, part: HumansPart, taken: Collection[str]) -> PeopleRoles:
    second = people.named(part.second_panel, "second_panel") if part.second_panel is not None else ()
    adjudicator = people.rater(part.adjudicator, "adjudicator") if part.adjudicator is not None else ""
    aside = {*second, *([adjudicator] if adjudicator else [])}
    if part.reference == CLINICIANS and CLINICIANS not in people.known:
        reference: tuple[str, ...] = ()
        yardstick = tuple(name for name in people.clinicians if name not in aside)
    else:
        reference = yardstick = people.named(part.reference, "reference")
    people.refuse_two_roles(yardstick, second, adjudicator)
    if not yardstick and people.clinicians:
        raise people.wrong(
            "reference", "nobody is left for it: every clinician has another part; name its raters"
        )
    if adjudicator and len(yardstick) < 2:
        raise people.wrong(
            "consensus",
            "is adjudicated, but the reference has one rater: nothing to settle; take `reference: [NAME]` alone",
        )
    if part.consensus == "majority":
        people.refuse_fractions({*yardstick, *second})
    panel = None
    if second:
        name = part.second_panel if isinstance(part.second_panel, str) else SECOND_PANEL
        people.refuse_taken_name(name, second, taken)
        panel = ManifestPanel(name=name, members=second)
    return PeopleRoles(reference, panel, adjudicator, yardstick)


def with_stated_roles(table: RatingTable, path: str | Path) -> RatingTable:
    """Ratings of two tables under the roles that a study file gives its clinicians: who is the yardstick, who is
    compared with it, and the labels of cases. A protocol names no clinician, so that its roles are refused, and so
    is whatever the tables do not have."""
    from medjury.tables import People

    file = Path(path)
    if file.suffix.lower() == ".json":
        humans = Protocol.read(file).humans
        if humans is not None and humans.roles:
            roles = "; ".join(f"{role}: {words}" for role, words in humans.roles.items())
            raise MedjuryError(
                f"{file}: the protocol gives clinicians roles ({roles}) and names none of them, so two tables "
                "cannot be compared by it. Run the registered study with the judges' table as `kind: scores`"
            )
        return table
    document = read_document(file)
    given: dict[str, Any] = document.value if isinstance(document.value, dict) else {}
    if "study" not in given:
        return table
    table = _with_jury(table, document, given)
    if not isinstance(given.get("humans"), dict):
        return table
    part = validate_part(document, ("humans",), given["humans"], HumansPart)
    rows = table.everything.filter(table.everything["rater_kind"] == "clinician")
    panels: dict[str, str] = {}
    if "panel" in rows.columns:
        for rater, panel in rows.select("rater", "panel").drop_nulls().unique().iter_rows():
            if panels.setdefault(rater, panel) != panel:
                problem = f"{rater!r} is in two panels in the clinicians' table; a rater has one panel"
                raise MedjuryError(document.complaint(("humans",), problem))
    scores = rows.select("rater", "dimension", "score").iter_rows()
    taken = [name for name, kind in table.raters.items() if kind != "clinician"]
    found = _roles(_People(file, part, table.clinicians, {}, panels, scores), part, taken)
    return replace(
        table,
        people=People(
            found.reference,
            () if found.second_panel is None else found.second_panel.members,
            "" if found.second_panel is None else found.second_panel.name,
            part.consensus,
            found.adjudicator,
        ),
        run=replace(table.run, labels=_labels_in(rows, document, part)),
        notes=(
            *table.notes,
            *(f"{file.name}: {role}: {words}" for role, words in stated_roles(part).items()),
        ),
    )


def _with_jury(table: RatingTable, document: Document, given: Mapping[str, Any]) -> RatingTable:
    """All judges of the table as the study's jury, by its rule, unless another was asked for; a jury of some of
    them is refused."""
    from medjury.tables import JuryRule

    stated = given.get("jury", {})
    plain = isinstance(stated, dict) and "members" not in stated
    if "juries" in given or not plain:
        name = "juries" if "juries" in given else "jury"
        problem = (
            "two tables are compared by one jury of all judges; take this out and name judges with --raters, or "
            "run the study with the judges' table as `kind: scores`"
        )
        raise MedjuryError(document.complaint((name,), problem))
    part = validate_part(document, ("jury",), stated, JuryPart)
    return table if table.jury_asked else replace(table, jury_rule=JuryRule(part.aggregate, part.quorum))


def _labels_in(rows: polars.DataFrame, document: Document, part: HumansPart) -> dict[str, dict[str, int]]:
    from medjury.store.ratings import CaseLabels

    labels = CaseLabels(part.labels)
    for label, column in part.labels.items():
        place = ("humans", "labels", label)
        if column not in rows.columns:
            problem = f"the clinicians' table has no column {column!r}; add it, or take the label out"
            raise MedjuryError(document.complaint(place, problem))
        for item, value in rows.select("item", column).drop_nulls().unique().sort("item", column).iter_rows():
            if wrong := labels.add(item, {label: str(value)}, "another row"):
                raise MedjuryError(document.complaint(place, wrong[1]))
    return labels.of


class _People:
    """The raters of an import, by their names in the file and by their panels."""

    def __init__(
        self,
        file: Path,
        part: HumansPart,
        clinicians: Iterable[str],
        entered_as: Mapping[str, str],
        panels: Mapping[str, str],
        scores: Iterable[tuple[str, str, float | None]],
    ) -> None:
        self._file = file
        self._part = part
        self._scores = scores  # rater, dimension, score
        self.clinicians = tuple(sorted(clinicians))
        # A pseudonym may be named too: who has only the run folder knows no other name.
        own = {name: name for name in self.clinicians}
        self.known = {**own, **{k: v for k, v in entered_as.items() if v in own}}
        self._panels: dict[str, list[str]] = {}
        for rater, panel in sorted(panels.items()):
            if rater in own:
                self._panels.setdefault(panel, []).append(rater)

    def named(self, wanted: str | Sequence[str], role: str) -> tuple[str, ...]:
        """A panel's members, a rater, or the raters of a list."""
        if not isinstance(wanted, str):
            return tuple(self.rater(name, role) for name in wanted)
        if wanted in self._panels:
            return tuple(self._panels[wanted])
        if wanted in self.known:
            return (self.known[wanted],)
        there = f"the panels are {', '.join(sorted(self._panels))}" if self._panels else (
            "the clinicians' file names no panels (a column `panel`)"
        )  # fmt: skip
        raise self.wrong(
            role, f"there is no panel or rater {wanted!r}; {there}, and a list names single raters"
        )

    def rater(self, name: str, role: str) -> str:
        if name not in self.known:
            # The staff list is nobody's business in a message, where names are not kept.
            hint = "write it as the clinicians' file does"
            if self._part.keep_names:
                hint = nearest(name, sorted(self.clinicians))
            raise self.wrong(role, f"no clinician is called {name!r}; {hint}")
        return self.known[name]

    def refuse_two_roles(self, reference: Collection[str], second: Collection[str], adjudicator: str) -> None:
        if both := sorted(set(reference) & set(second)):
            raise self.wrong(
                "second_panel",
                f"{both[0]!r} is in the reference and in the second panel; a rater cannot be compared with "
                "themselves: leave them in one of the two",
            )
        for role, members in (("reference", reference), ("second panel", second)):
            if adjudicator and adjudicator in members:
                raise self.wrong(
                    "adjudicator",
                    f"is in the {role} too; the adjudicator settles what the reference's raters say, and "
                    "is not one "
                    "of them",
                )

    def refuse_fractions(self, raters: Collection[str]) -> None:
        for rater, dimension, score in self._scores:
            if rater not in raters or score is None or score == int(score):
                continue
            raise self.wrong(
                "consensus",
                f"is majority, but {dimension} has scores such as {score:g}, on which raters need not agree; "
                "say `consensus: median`",
            )

    def refuse_taken_name(self, name: str, members: Sequence[str], taken: Collection[str]) -> None:
        if name in taken or (name in self.clinicians and list(members) != [name]):
            raise self.wrong("second_panel", f"{name!r} is the name of another rater; give the panel another")

    def wrong(self, role: str, problem: str) -> MedjuryError:
        return MedjuryError(read_document(self._file).complaint(("humans", role), problem))


def _in_words(named: str | Sequence[str]) -> str:
    if isinstance(named, str):
        return named
    return f"{len(named)} named {'rater' if len(named) == 1 else 'raters'}"


def correction(file: Path, part: HumansPart) -> str:
    """What to do about bad rows in the clinicians' file, in the words of the study file."""
    return (
        f"Correct {part.path}. To keep bad scores as unscored rows, counted with their reason, write "
        f"`humans: {{path: {part.path}, on_bad: unscored}}` in {file.name}; to leave out items that "
        "are not among the cases: `on_unknown: drop`."
    )
