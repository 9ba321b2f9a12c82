"""Installing and a first leaderboard, timed beside HELM's own quick start: seconds and megabytes of both.

    python -m benchmarks.helm_quickstart [--only ours|helm] [--folder FOLDER] [--no-cache]

Each program is installed by pip into a new virtual environment, then run: HELM on ten items of `simple_mcqa` with
`simple/model1`, which needs no model, and summarised; Medjury on four benchmarks' sample rows with one candidate on
loopback, page included. The tasks differ; nothing is repeated. Run it on a machine that does nothing else.
Installing needs the network that pip uses; nothing after it does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks._endpoint import ROOT, endpoint

HELM = "crfm-helm==0.5.16"
BENCHMARKS = ["pubmedqa", "medcalc_bench", "ent_referral", "head_qa"]
_MEGABYTE = 1_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--only", choices=("ours", "helm"), help="time one of them alone")
    parser.add_argument(
        "--folder", type=Path, help="work here and keep everything (default: a temporary folder)"
    )
    parser.add_argument("--no-cache", action="store_true", help="let pip keep and use no downloaded files")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="quickstart-") as made:
        folder = (options.folder or Path(made)).resolve()
        wanted: dict[str, Callable[[Path, bool], None]] = {"ours": ours, "helm": helm}
        for name, timed in wanted.items():
            if options.only in (None, name):
                place = folder / name
                place.mkdir(parents=True, exist_ok=True)
                timed(place, options.no_cache)
    return 0


def helm(folder: Path, no_cache: bool) -> None:
    """HELM as its own page tells a newcomer."""
    environment = install("HELM", folder, [HELM], no_cache)
    run = [environment / "bin" / "helm-run", "--run-entries", "simple_mcqa:model=simple/model1", "--suite", "first",
           "--max-eval-instances", "10"]  # fmt: skip
    tell("HELM: helm-run, 10 items", timed(run, folder))
    tell("HELM: helm-summarize", timed([environment / "bin" / "helm-summarize", "--suite", "first"], folder))


def ours(folder: Path, no_cache: bool) -> None:
    """Medjury from this checkout, with an endpoint on this machine as its candidate."""
    environment = install("Medjury", folder, [str(ROOT)], no_cache)
    with endpoint() as (url, _):
        candidate = f"kind=openai,url={url},model=one"
        run = [
            environment / "bin" / "medjury",
            "bench",
            "run",
            *BENCHMARKS,
            "--candidate",
            candidate,
            "--quiet",
        ]
        tell(f"Medjury: bench run, {len(BENCHMARKS)} benchmarks, with the page", timed(run, folder))


def install(name: str, folder: Path, packages: Sequence[str], no_cache: bool) -> Path:
    """A new environment with the packages in it, its seconds and megabytes told."""
    environment = folder / "venv"
    timed([sys.executable, "-m", "venv", "--clear", environment], folder)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    before = megabytes(environment)
    seconds = timed([*pip, *(["--no-cache-dir"] if no_cache else []), *packages], folder)
    tell(f"{name}: pip install", seconds, megabytes(environment) - before)
    return environment


def timed(command: Sequence[str | Path], folder: Path) -> float:
    """The seconds of a command; one that fails ends everything, with its own words."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        said = f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{said}")
    return seconds


def megabytes(folder: Path) -> float:
    """What the files of a folder hold, links not followed."""
    return sum(each.lstat().st_size for each in folder.rglob("*") if not each.is_dir()) / _MEGABYTE


def tell(what: str, seconds: float, size: float | None = None) -> None:
    print(f"{what:<55}{seconds:>8.1f} s" + ("" if size is None else f"{size:>10,.0f} MB"), flush=True)


if __name__ == "__main__":
    sys.exit(main())
