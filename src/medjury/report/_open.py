"""The doors that need the statistics packages: imported when they are used, so that a study needs none of them."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medjury.report._comparison import RunComparison
    from medjury.report._gate import Gate


def gate_of(folder: str | Path) -> Gate:
    """The gate's verdicts on a run folder, for a script or a notebook."""
    from medjury.report._evidence import read_run
    from medjury.report._gate import Gate, judge_gate
    from medjury.report._numbers import compute

    evidence = read_run(Path(folder))
    return Gate(judge_gate(evidence, compute(evidence)))


def compare_runs(
    first: str | Path, second: str | Path, *, resamples: int = 2000, seed: int = 0
) -> RunComparison:
    """What changed from the first run to the second, with paired intervals."""
    from medjury.report._compare import compare_runs as compare

    return compare(first, second, resamples=resamples, seed=seed)


def write_comparison(comparison: RunComparison, path: str | Path) -> Path:
    """Write a comparison as a self-contained page."""
    from medjury.report._comparison import comparison_page

    style = files("medjury.report").joinpath("page.css").read_text(encoding="utf-8")
    target = Path(path)
    target.write_text(comparison_page(comparison, style), encoding="utf-8", errors="replace")
    return target
