"""Which cases clinicians read, and the queue that the panel takes: drawn by stated probabilities."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from medjury.analysis.calibration import QueueRow, ReviewQueue, sealed, write_frame
from medjury.in_use.watching._quantities import Watching
from medjury.in_use.watching._settings import ReviewPart, WatchStudy
from medjury.in_use.watching._state import WatchedCase
from medjury.intake.cases import read_cases
from medjury.store.ratings import NoRatingsError, read_ratings
from medjury.studies import HashedCases

QUEUE = "queue.csv"


def probability_of(
    review: ReviewPart, scale: Watching, score: float | None, inside: bool
) -> tuple[float, str]:
    """With which probability a case is read, and why."""
    if score is None:
        return review.doubtful, "the jury gave no score"
    if not inside:
        return review.doubtful, "outside what was validated"
    if review.threshold is not None and scale.quality(score) <= scale.quality(review.threshold):
        return review.doubtful, "at or beyond the threshold"
    return review.share, "drawn"


def is_drawn(review: ReviewPart, item: str, system: str, probability: float) -> bool:
    """By a number from the seed and the case's name alone: anybody can draw again."""
    digest = hashlib.sha256(
        f"{review.seed}\0watch\0{item}\0{system}".encode("utf-8", "surrogatepass")
    ).digest()
    return int.from_bytes(digest[:8], "big") / 2.0**64 < probability


def write_queue(
    folder: Path, study: WatchStudy, scale: Watching, cases: Sequence[WatchedCase]
) -> Path | None:
    """The batch's queue beside its cases, as a round of the panel takes it (`draw:`); none where none is drawn."""
    if not any(case.drawn for case in cases):
        return None
    review = study.settings.review
    hashed = HashedCases(read_cases(folder / "cases.jsonl"))
    for _ in hashed:
        pass
    rule = f"watch: share {review.share:g}, doubtful {review.doubtful:g}, threshold {review.threshold}"
    places = iter(range(len(cases)))
    ordered = sorted(cases, key=lambda case: not case.drawn)
    rows = [
        QueueRow(
            case.item,
            case.system,
            case.drawn,
            next(places) if case.drawn else None,
            case.probability,
            probability_of(review, scale, case.score, case.inside)[1],
            review.seed,
            rule,
            hashed.hash,
        )
        for case in ordered
    ]
    file = folder / QUEUE
    write_frame(ReviewQueue(sealed(rows), (), {"rule": rule}).frame(), file)
    return file


def labels_of(study: WatchStudy, dimension: str) -> list[tuple[float, str, str]]:
    """The clinicians' mean grade of each rated case; none where their file is not there yet, or has no row yet."""
    name = study.settings.review.ratings
    file = None if name is None else study.place(name)
    if file is None or not file.is_file():
        return []
    found: dict[tuple[str, str], list[float]] = {}
    try:
        ratings = read_ratings(file).ratings
    except NoRatingsError:
        return []
    for rating in ratings:
        if rating.dimension == dimension and rating.score is not None:
            found.setdefault((rating.item, rating.system), []).append(rating.score)
    return [(sum(grades) / len(grades), *key) for key, grades in found.items()]
