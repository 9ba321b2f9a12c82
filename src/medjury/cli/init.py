"""`medjury init`: a commented study file to start from."""

from __future__ import annotations

import argparse
from importlib import resources
from pathlib import Path

from medjury.errors import MedjuryError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="study.yaml", help="where to write (default: study.yaml)")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def run(options: argparse.Namespace) -> int:
    file = Path(options.file)
    if file.exists() and not options.force:
        raise MedjuryError(f"{file} exists already; give another name, or --force to replace it")
    template = resources.files("medjury.studies").joinpath("template.yaml").read_text(encoding="utf-8")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(template, encoding="utf-8")
    print(f"Wrote {file}. Edit it, then: medjury run {file} --dry-run")
    return 0
