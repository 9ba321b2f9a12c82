"""The same run folder gives the same report in every process: no number hangs on the order that a set happens to
have, which Python draws anew for each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.report.planted import rules, write_run
from tests.report.ways import WAYS, judges_of, ways_frame

CASES = 45


def test_a_report_is_the_same_whatever_order_sets_have(tmp_path: Path) -> None:
    """With several ways of judging, visits of the same patient, systems of other sizes and severe errors."""
    made = write_run(
        tmp_path / "made",
        ways_frame(cases=CASES, systems=("alpha", "beta"), unscored=0.1, seed=5),
        patients={f"case-{case:04d}": f"{case * case // 300}" for case in range(CASES)},
        judges=judges_of(),
        gate=rules(minimum_cases=15),
        report={"resamples": 200, "seed": 3},
    )
    (made / "audit.jsonl").touch()
    found = [_report(shutil.copytree(made, tmp_path / seed / "run"), seed) for seed in ("1", "2", "3")]
    assert len(found[0]) > 10 and len(WAYS) == 4
    for other in found[1:]:
        assert other.keys() == found[0].keys()
        assert not [name for name in found[0] if found[0][name] != other[name]]


def _report(folder: Path, seed: str) -> dict[str, bytes]:
    """The files of a report that a process with its own hashes writes."""
    command = [sys.executable, "-m", "medjury", "report", str(folder), "--quiet"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    kept = [folder / "report.html", *folder.glob("tables/*"), *folder.glob("figures/*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}
