"""Opens an Excel workbook, unless it would unpack to more than any table has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import FileLimitError, check_directory

if TYPE_CHECKING:
    from openpyxl import Workbook


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
    except Exception as error:
        if not _is_the_librarys(error):
            raise
        raise WorkbookError("is damaged: it holds something else than it states") from None
    finally:
        book.close()


def _is_the_librarys(error: BaseException) -> bool:
    """True for an error out of what reads the file, which meets damaged parts with errors of every kind."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    room = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return room.partition(".")[0] in ("openpyxl", "lxml", "xml", "zipfile", "zlib")


def _checked(path: str | os.PathLike[str], formulas: bool) -> Workbook:
    import openpyxl

    try:
        with ZipFile(path) as packed:
            check_directory(packed, Path(path))
        return openpyxl.load_workbook(path, read_only=True, data_only=not formulas)
    except FileLimitError:
        raise
    except Exception:  # of whatever kind: nothing but the library is called here
        raise WorkbookError("is not an .xlsx workbook, or it is damaged or encrypted") from None
