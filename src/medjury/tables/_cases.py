"""What the cases know of the ratings: which patient each item is of, and who made each system."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from medjury.intake.cases import Case
from medjury.tables._clean import with_clusters

if TYPE_CHECKING:
    import polars

Cases = str | os.PathLike[str] | Iterable[Case]


def with_cases(rows: polars.DataFrame, cases: Cases) -> tuple[polars.DataFrame, dict[str, str]]:
    """The rows with the patient of each case, and the vendors of the systems that the cases name. The cases count
    more than what the ratings say."""
    import polars as pl

    from medjury.intake.cases import read_cases

    patients: dict[str, str] = {}
    vendors: dict[str, str] = {}
    for case in read_cases(cases) if isinstance(cases, str | os.PathLike) else cases:
        if case.patient is not None:
            patients[case.id] = case.patient
        if case.vendor:
            vendors[case.system] = case.vendor
    if patients:
        known = pl.col("item").replace_strict(patients, default=None, return_dtype=pl.String)
        rows = with_clusters(rows.with_columns(pl.coalesce(known, "patient").alias("patient")))
    rated = set(rows["system"].to_list())
    return rows, {system: vendor for system, vendor in vendors.items() if system in rated}
