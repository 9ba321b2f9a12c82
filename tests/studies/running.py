"""`medjury run` without its report, which takes longer to draw than a small study takes to run."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from medjury.cli import main


def run_without_report(study: Path, *flags: str) -> int:
    """The exit status of `medjury run STUDY --quiet`, with all that it says but of the report."""
    with patch("medjury.cli.run.print_report", return_value=None):
        return main(["run", str(study), "--quiet", *flags])
