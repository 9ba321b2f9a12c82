"""`medjury demo`: the whole machine on this computer, with a real (tiny) model and no network."""

from __future__ import annotations

import argparse
import shutil
from importlib import resources
from pathlib import Path

from medjury.cli._run_file import run_file
from medjury.runs import files, protocols_in


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", default="demo", help="where to put the study and its run (default: demo)")
    parser.add_argument("--quiet", action="store_true", help="no progress line")


def run(options: argparse.Namespace) -> int:
    from medjury.studies import load_study, register_study

    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    source = resources.files("medjury.studies").joinpath("demo")
    for name in ("study.yaml", "cases.jsonl", "clinicians.csv"):
        with resources.as_file(source.joinpath(name)) as file:
            shutil.copyfile(file, folder / name)
    print(
        "Twelve synthetic discharge summaries with planted errors, two jurors, one small model on this machine."
    )
    print("It takes a minute or two. The model is far too small to be trusted: the page will say so.\n")
    if not protocols_in(folder):  # once: a protocol that follows the scores would say so
        print(f"{register_study(load_study(folder / 'study.yaml')).text()}\n")
    status = run_file(str(folder / "study.yaml"), quiet=options.quiet)
    page = (folder / "runs" / "demo" / files.REPORT).resolve()
    if page.exists():
        print(f"\nOpen the page: {page}")
    return status
