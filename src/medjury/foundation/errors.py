"""The error a person reads: what is wrong, where, and what to do. The command line prints it without a trace."""

from __future__ import annotations

from os import PathLike
from pathlib import Path


class MedjuryError(Exception):
    """Something the user can fix. The message names the place and the fix."""

    # What the command line ends with: 2, wrong input. A failure of the machine or the store is 1.
    exit_status = 2


def no_such(path: str | PathLike[str], what: str = "file") -> str:
    """That a file is not there, and what may have been meant: a like name beside it, or another folder."""
    import difflib

    place, told = Path(path), f"{path}: there is no such {what}"
    if not place.parent.is_dir():
        return f"{told}; the folder {place.parent} does not exist either, check the path"
    close = difflib.get_close_matches(place.name, [each.name for each in place.parent.iterdir()], n=1)
    if close:
        return f"{told}; did you mean {close[0]!r}?"
    return f"{told}; check its name and folder"


def first_line(error: Exception) -> str:
    """What an error of a library says first; its name where it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0]
