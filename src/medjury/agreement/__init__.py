"""Agreement: how far raters say the same, with intervals. Functions on arrays and on rating tables."""

from medjury.agreement._bootstrap import (
    Comparison,
    Replicates,
    bootstrap,
    combined,
    compare,
    evaluate,
    on_columns,
    replicates,
)
from medjury.agreement._estimate import Estimate, undefined

__all__ = [
    "Comparison",
    "Estimate",
    "Replicates",
    "bootstrap",
    "combined",
    "compare",
    "evaluate",
    "on_columns",
    "replicates",
    "undefined",
]
