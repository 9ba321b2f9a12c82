"""Draws: a judge that takes one rating from several answers of its model has them all in the run's records."""

from __future__ import annotations

from medjury.tables import RatingTable

# Of one record: what makes a row of ratings of every draw.
COLUMNS = ("item", "system", "rater", "dimension", "repeat", "score", "status")


def with_draws(table: RatingTable) -> RatingTable:
    """The table with every draw (`strategy: repeats`) in place of the rating that was taken from them: how far
    the model differs from itself is seen in the draws alone."""
    if not table.records.kinds():
        return table
    import polars as pl

    from medjury.judging import RepeatsBody

    draws = [
        (
            record.item,
            record.system,
            record.rater,
            dimension,
            record.repeat * record.body.n + number,
            outcome.score,
            outcome.status,
        )
        for record in table.records.of(RepeatsBody)
        for number, draw in enumerate(record.body.draws)
        for dimension, outcome in draw.outcomes.items()
    ]
    if not draws:
        return table
    # Only held-out cases have rows, and so a cluster.
    clusters = table.rows.select("item", "cluster").unique()
    schema = {name: table.rows.schema[name] for name in COLUMNS}
    drawn = pl.DataFrame(draws, schema=schema, orient="row").join(clusters, on="item")
    rated = table.rows.join(drawn, on=["rater", "dimension"], how="anti")
    return table.where(pl.concat([rated, drawn], how="diagonal"))
