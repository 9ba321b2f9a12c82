"""Agreement: how far raters say the same, with intervals. Functions on arrays and on rating tables."""

from medjury.agreement._estimate import Estimate, undefined

__all__ = ["Estimate", "undefined"]
