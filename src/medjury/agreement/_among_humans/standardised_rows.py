"""ICC(3,k) on z-scores with every rater standardised first: a rater beside the references, and they among them."""

from __future__ import annotations

import numpy as np

from medjury.agreement._agreement_row import AgreementRow
from medjury.agreement._among_humans.beside_rows import EACH, OTHERS
from medjury.agreement._design import Design
from medjury.agreement._groups.icc_standardised import icc_3_k_z, mean_icc_3_k_z
from medjury.agreement._pairs.rows import counts_of, grid_clusters, group_counts
from medjury.statistics import Options
from medjury.tables import Grid

RATERS_FIRST = "icc_3_k_z_raters_first"


def standardised_rows(grid: Grid, design: Design) -> list[AgreementRow]:
    """Rows of `RATERS_FIRST`: each rater's with the references' mean z-score, and the mean over pairs of
    references. Every rater is standardised over all of his or her own items (see `icc_3_k_z`). One reference has
    no order of averaging and standardising."""
    settings = design.settings
    if len(design.reference) < 2 or design.level == "system" or not len(grid.items):
        return []
    if not settings.wants(RATERS_FIRST):
        return []
    options: Options = {
        "resamples": settings.resamples,
        "seed": settings.seed,
        "confidence": settings.confidence,
    }
    clusters = grid_clusters(grid)
    if clusters is not None:
        options["clusters"] = clusters
    table = np.column_stack([grid.scores[name] for name in design.reference])
    rows = []
    for rater in design.roles.raters:
        if rater not in design.reference:
            found = icc_3_k_z(table, grid.scores[rater], order="standardise_first", **options)
            counts = counts_of(grid, design.main_reference, rater)
            rows.append(
                AgreementRow(grid.dimension, design.main_reference, rater, RATERS_FIRST, found, counts)
            )
    twice = (~np.isnan(table)).sum(axis=1) > 1
    if not twice.any():
        return rows
    counts = group_counts(grid, design.reference, None, twice)
    found = mean_icc_3_k_z(table, **options)
    return [*rows, AgreementRow(grid.dimension, EACH, OTHERS, RATERS_FIRST, found, counts)]
