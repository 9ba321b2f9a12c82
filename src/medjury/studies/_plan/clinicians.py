"""Clinicians' ratings of the study's cases: checked against its instrument and its cases, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from medjury.foundation.errors import MedjuryError, no_such
from medjury.intake import mapping_in
from medjury.intake.cases import Case
from medjury.store.ratings import Rating
from medjury.store.runs import ManifestHumans
from medjury.studies._file.study_file import HumansPart
from medjury.studies._plan.case_facts import case_labels
from medjury.studies._study.roles import PeopleRoles, correction, people_roles, stated_roles
from medjury.studies._study.study import Study
from medjury.tables import read_plain_table

BLINDED = "blinded"
_YES, _NO = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})


def panel_file(study: Path, name: str) -> Path:
    """Where a study's panel puts its ratings, for the study to read: beside the study file."""
    return study.resolve().parent / f"{name}.panel.parquet"


@dataclass(frozen=True)
class Humans:
    """The ratings and, for the manifest, where they came from and how many there are."""

    ratings: tuple[Rating, ...]
    summary: ManifestHumans
    profiles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    reference: frozenset[str] = frozenset()  # whose scores are the yardstick
    by_role: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @staticmethod
    def read(study: Study, *, rehearse: bool = False) -> Humans | None:
        """The clinicians' ratings the study names, or None where it names none or its panel has none yet. Names
        become pseudonyms, the same in all run folders of the study, unless the study keeps them. A rehearsal only
        checks: it writes no secret."""
        part = study.settings.humans
        if part is None:
            return None
        from medjury.store.ratings import Pseudonyms, read_ratings

        folder = study.file.resolve().parent
        path = panel_file(study.file, study.name) if part.are_of_panel else folder / part.path
        if part.are_of_panel and not path.is_file():
            return None
        if not path.exists():
            raise MedjuryError(f"{study.file}: humans: {no_such(path)}")
        pseudonyms = None
        if not part.keep_names and not rehearse:
            # Beside the study file, as the same study may have several run folders.
            pseudonyms = Pseudonyms.open(folder / f"{study.name}.names-key")
        imported = read_ratings(
            path,
            mapping=mapping_in(folder, part.mapping),
            instrument=study.instrument,
            cases=study.cases,
            pseudonyms=pseudonyms,
            on_bad=part.on_bad,
            on_unknown=part.on_unknown,
            labels=part.labels,
            advice=correction(study.file, part),
        )
        report = imported.report
        given = _said(imported.ratings)
        jury = study.jury
        taken = {*(judge.name for judge in jury.judges), *(bench.name for bench in jury.all_benches)}
        roles = people_roles(study.file, part, imported, taken)
        labels = case_labels(study, part, imported)
        stated = {
            "reference": roles.reference,
            "second_panel": roles.second_panel,
            "consensus": part.consensus,
            "adjudicator": roles.adjudicator,
            "labels": dict(part.labels),
            "roles": stated_roles(part),
            "roles_hash": _roles_hash(roles, given, labels),
        }
        summary = ManifestHumans(
            file=part.path,
            hash=_hash("\n".join(sorted(given.values()))),
            ratings=len(imported.ratings),
            raters=tuple(sorted({rating.rater for rating in imported.ratings})),
            pseudonyms=not part.keep_names,
            illustrative=part.illustrative,
            not_rated=report.not_rated,
            left_out=report.rows_left_out + report.unknown_items + report.merged_entries,
            unscored={str(reason): count for reason, count in report.unscored.items()},
            warnings=tuple(report.warnings),
        )
        if (blinded := _blinded(study, part, path)) is not None:
            summary = summary.replaced(blinded=blinded)
        if report.left_out:
            summary = summary.replaced(left_out_by=report.left_out)
        if stated[
            "roles"
        ]:  # what nobody stated is not written down: protocols of earlier versions stay what they are
            summary = summary.replaced(**{name: value for name, value in stated.items() if value})
        yardstick = frozenset(roles.yardstick)
        return Humans(imported.ratings, summary, imported.profiles, labels, yardstick, roles.by_role)

    def fingerprint(self) -> str:
        """The hash of what was said, by whom, of what."""
        rows = sorted(
            f"{row.item}\0{row.system}\0{row.rater}\0{row.dimension}\0{row.repeat}\0{row.score}\0{row.status}"
            for row in self.ratings
        )
        return _hash("\n".join(rows))

    def leaves(self, cases: Iterable[Case]) -> dict[str, str]:
        """By case, a hash of all that was said of it, by whoever has which role. The case's own content is part of
        it: from the hash of a few grades alone anybody could find out which they were."""
        given: dict[str, list[str]] = {}
        role = {name: role for role, members in self.by_role.items() for name in members}
        for row in self.ratings:
            words = (role.get(row.rater, ""), row.system, row.dimension, row.repeat, row.score, row.status)
            given.setdefault(row.item, []).append("\0".join(map(str, words)))
        for item, own in self.labels.items():
            given.setdefault(item, []).extend(f"{label}\0{value}" for label, value in own.items())
        contents: dict[str, list[str]] = {}
        for case in cases:
            if case.id in given:
                contents.setdefault(case.id, []).append(case.fingerprint())
        return {
            item: _hash("\n".join(["ratings", *sorted(contents.get(item, ())), *sorted(rows)]))[:32]
            for item, rows in given.items()
        }


def _blinded(study: Study, part: HumansPart, path: Path) -> bool | None:
    """Whether the clinicians rated without seeing the judges' scores: what the study file states, else what the
    file's column `blinded` says of every rating, as that of our own panel does."""
    try:
        frame = read_plain_table(path)
    except MedjuryError:  # what the import reads in its own way has no such column
        frame = None
    if frame is None or BLINDED not in frame.columns:
        return part.blinded
    words = {str(each).strip().casefold() for each in frame[BLINDED].to_list()}
    if part.blinded and words & _NO:
        text = (
            "is true, but the ratings' own column `blinded` says of some that they were not; correct either"
        )
        raise MedjuryError(study.document.complaint(("humans", "blinded"), text))
    if part.blinded is not None or not words:
        return part.blinded
    return False if words & _NO else True if words <= _YES else None


def _said(ratings: Sequence[Rating]) -> dict[str, str]:
    """By rater, the hash of what they said of what, whatever they are called here."""
    by_rater: dict[str, list[str]] = {}
    for row in ratings:
        given = f"{row.item}\0{row.system}\0{row.dimension}\0{row.repeat}\0{row.score}\0{row.status}"
        by_rater.setdefault(row.rater, []).append(given)
    return {rater: _hash("\n".join(sorted(rows))) for rater, rows in by_rater.items()}


def _roles_hash(roles: PeopleRoles, given: Mapping[str, str], labels: Mapping[str, Mapping[str, int]]) -> str:
    """The hash of who has which role and of the labels: it tells two divisions apart and names nobody."""
    parts = [
        f"{role}\0{','.join(sorted(given[name] for name in members))}"
        for role, members in roles.by_role.items()
    ]
    parts += [f"{item}\0{label}\0{value}" for item, own in labels.items() for label, value in own.items()]
    return _hash("\n".join(sorted(parts))) if parts else ""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
