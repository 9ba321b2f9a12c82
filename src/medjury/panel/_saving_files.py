"""What panels wrote and raters answered, as files for whoever goes on with the study."""

from __future__ import annotations

from pathlib import Path

from medjury.errors import MedjuryError
from medjury.panel._panel import Panel


def save_references(panel: Panel, file: str | Path) -> tuple[int, int]:
    """Write the study's cases with the references of its panels; how many cases have one, and how many none."""
    from medjury.panel._meeting import write_references

    if panel.study is None:
        raise MedjuryError("references are written for the cases of a study; name its file")
    with panel.database.reading() as connection:
        return write_references(connection, panel.study.cases, file)


def save_question_replies(panel: Panel, file: str | Path) -> int:
    """Write the replies to the study's further questions as CSV; how many there are."""
    from medjury.panel._design import rounds
    from medjury.panel._meeting import question_replies, write_question_replies

    with panel.database.reading() as connection:
        found = [each for round_ in rounds(connection) for each in question_replies(connection, round_)]
    return write_question_replies(found, file)
