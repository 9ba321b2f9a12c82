"""The error a person reads: what is wrong, where, and what to do. The command line prints it without a trace."""

from __future__ import annotations


class MedjuryError(Exception):
    """Something the user can mend. The message names the place and the fix."""

    # What the command line ends with: 2, wrong input. A failure of the machine or the store is 1.
    exit_status = 2
