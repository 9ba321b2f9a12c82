"""`medjury init`: a commented study file to start from, or a whole study with its data and recorded answers."""

from __future__ import annotations

import argparse
from importlib import resources
from pathlib import Path

from medjury.cli._options import add_json, tell
from medjury.foundation.errors import MedjuryError
from medjury.studies import Recipe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "file", nargs="?", metavar="FILE", help="where to write (default: study.yaml); with --recipe a folder"
    )
    add("--force", action="store_true", help="replace the file if it exists")
    add(
        "--recipe",
        metavar="NAME",
        help="write a whole study that runs offline in seconds (default folder: NAME)",
    )
    add_json(parser)
    add("--list-recipes", action="store_true", help="list the recipes")


def run(options: argparse.Namespace) -> int:
    if options.list_recipes:
        tell(
            options, Recipe.listing(), [{"name": each.name, "summary": each.summary} for each in Recipe.all()]
        )
        return 0
    if options.recipe is not None:
        study = Recipe.named(options.recipe).write(options.file or options.recipe)
        words = f"Wrote {study.parent}. Read {study.parent / 'README.md'}, then: medjury run {study}"
        tell(options, words, {"study": str(study)})
        return 0
    file = Path(options.file or "study.yaml")
    if file.exists() and not options.force:
        raise MedjuryError(f"{file} exists already; give another name, or --force to replace it")
    template = resources.files("medjury.studies").joinpath("template.yaml").read_text(encoding="utf-8")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(template, encoding="utf-8")
    words = f"Wrote {file}. Edit it, then: medjury run {file} --dry-run"
    tell(options, words, {"study": str(file)})
    return 0
