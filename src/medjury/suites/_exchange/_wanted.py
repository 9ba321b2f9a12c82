"""Other programs are asked for only when somebody uses them."""

from __future__ import annotations

import importlib
from typing import Any

from medjury.foundation.errors import MedjuryError


def wanted(module: str, package: str, what: str) -> Any:
    """A module of another program, or how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MedjuryError(
            f"{what} needs a package that is not installed here, or cannot be used ({error}): "
            f'pip install "{package}"'
        ) from None
