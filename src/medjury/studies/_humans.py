"""Clinicians' ratings of the study's cases: checked against its instrument and its cases, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from medjury.ratings import Pseudonyms, Rating, read_ratings
from medjury.runs import ManifestHumans, files
from medjury.studies._study import Study


@dataclass(frozen=True)
class Humans:
    """The ratings and, for the manifest, where they came from and how many there are."""

    ratings: tuple[Rating, ...]
    summary: ManifestHumans

    def fingerprint(self) -> str:
        """The hash of what was said, by whom, of what."""
        rows = sorted(
            f"{row.item}\0{row.system}\0{row.rater}\0{row.dimension}\0{row.repeat}\0{row.score}\0{row.status}"
            for row in self.ratings
        )
        return _hash("\n".join(rows))


def _said(ratings: Sequence[Rating]) -> str:
    """The hash of what was said of what, by as many raters, whatever they are called here."""
    by_rater: dict[str, list[str]] = {}
    for row in ratings:
        said = f"{row.item}\0{row.system}\0{row.dimension}\0{row.repeat}\0{row.score}\0{row.status}"
        by_rater.setdefault(row.rater, []).append(said)
    each = sorted(_hash("\n".join(sorted(rows))) for rows in by_rater.values())
    return _hash("\n".join(each))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_humans(study: Study, *, rehearse: bool = False) -> Humans | None:
    """The clinicians' ratings the study names, or None where it names none. Names become pseudonyms, the same in
    all run folders of the study, unless the study keeps them. A rehearsal only checks: it writes no secret."""
    part = study.settings.humans
    if part is None:
        return None
    folder = study.file.resolve().parent
    pseudonyms = None
    if not part.keep_names and not rehearse:
        # Beside the study file, as the same study may have several run folders.
        key = folder / f"{study.name}.names-key"
        pseudonyms = Pseudonyms.open(key, earlier=study.output / files.NAMES_KEY)
    imported = read_ratings(
        folder / part.path,
        mapping=None if part.mapping is None else folder / part.mapping,
        instrument=study.instrument,
        cases=study.cases,
        pseudonyms=pseudonyms,
        on_bad=part.on_bad,
        on_unknown=part.on_unknown,
    )
    report = imported.report
    summary = ManifestHumans(
        file=part.path,
        hash=_said(imported.ratings),
        ratings=len(imported.ratings),
        raters=tuple(sorted({rating.rater for rating in imported.ratings})),
        pseudonyms=not part.keep_names,
        illustrative=part.illustrative,
        not_rated=report.not_rated,
        left_out=report.rows_left_out + report.unknown_items,
        unscored={str(reason): count for reason, count in report.unscored.items()},
        warnings=tuple(report.warnings),
    )
    return Humans(imported.ratings, summary)
