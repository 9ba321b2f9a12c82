"""Opens an Excel workbook, unless it would unpack to more than any table has."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from openpyxl import Workbook

_MOST_BYTES = 200_000_000
_MOST_FOLD, _FOLD_FROM = 100, 20_000_000  # the text of a large table packs ten- to thirtyfold


class WorkbookError(MedjuryError):
    """What was given as a workbook is none that can be read."""


@contextmanager
def open_workbook(path: str | os.PathLike[str], *, formulas: bool = False) -> Iterator[Workbook]:
    """The workbook, to be read row by row, with the values of its cells or with their formulas. Kilobytes can be
    packed that unpack to gigabytes: that is seen from the sizes that the file states, and no more than it states is
    ever unpacked."""
    book = _checked(path, formulas)
    try:
        yield book
    except (BadZipFile, EOFError, zlib.error):
        raise WorkbookError("is damaged: it holds something else than it states") from None
    finally:
        book.close()


def _checked(path: str | os.PathLike[str], formulas: bool) -> Workbook:
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with ZipFile(path) as packed:
            parts = packed.infolist()
        unpacked = sum(each.file_size for each in parts)
        stored = max(1, sum(each.compress_size for each in parts))
        if unpacked > _MOST_BYTES or (unpacked > _FOLD_FROM and unpacked > _MOST_FOLD * stored):
            raise WorkbookError(
                f"unpacks from {stored / 1e6:,.1f} MB to {unpacked / 1e6:,.0f} MB, which no workbook with a table "
                "of this size does; save the sheet as CSV"
            )
        return openpyxl.load_workbook(path, read_only=True, data_only=not formulas)
    except WorkbookError:
        raise
    except (InvalidFileException, BadZipFile, KeyError, ValueError, OSError, EOFError, zlib.error):
        raise WorkbookError("is not an .xlsx workbook, or it is damaged or encrypted") from None
