"""One self-contained page about a run: no network, no script needed, prints well."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.store.runs import files, record_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from medjury.report._compose import Step
    from medjury.store.runs import Check
    from medjury.validation import Evidence, Validation


def write_page(
    folder: str | Path,
    *,
    evidence: Evidence | None = None,
    validation: Validation | None = None,
    checks: Sequence[Check] = (),
    step: Step | None = None,
    **settings: Any,
) -> Path:
    """Write `report.html` into a run folder, with its figures and tables beside it, and return its path.

    `checks` are findings about the folder beyond the hashes of its files, such as those of its audit log;
    `settings` replace what the study file says under `report:`. Ratings that come from no run are given as their
    `evidence`, and the folder is any that may be written to. `validation` are the verdicts on that evidence, where
    they have been reached already. `step` is told of each section before it is made.
    """
    from medjury.report._compose import compose
    from medjury.report._exhibits import Exhibits
    from medjury.statistics import one_thread_each
    from medjury.tables import open_run
    from medjury.validation import evidence_of

    for name, least in (("resamples", 200), ("cases_shown", 0)):
        if settings.get(name) is not None and settings[name] < least:
            raise MedjuryError(f"{name} must be {least} or more, not {settings[name]}")
    place = Path(folder)
    exhibits = Exhibits()
    with one_thread_each():
        if evidence is None:
            evidence = evidence_of(open_run(place, **settings), checks=checks)
        page = compose(evidence, exhibits, step, validation)
    table = evidence.table
    exhibits.write(place)
    write_whole(place / files.REPORT, page)
    try:
        if table.settings.png:
            from medjury.report._png import write_pngs

            write_pngs(sorted((place / files.FIGURES).glob("*.svg")))
    finally:
        if table.manifest is not None:  # ratings from no run leave no manifest to write it into
            record_report(place)
    return place / files.REPORT
