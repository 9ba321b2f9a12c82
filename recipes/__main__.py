"""Makes every recipe anew, or those named: `python -m recipes [diagnosis-jury] ...`. The same every time."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from recipes._recording import PACKAGED, write_recipe_files

ELSEWHERE = {"demo": PACKAGED.parent / "studies" / "demo"}  # what `medjury demo` shows


def main(names: list[str]) -> int:
    known = sorted(
        file.stem.replace("_", "-") for file in Path(__file__).parent.glob("*.py") if file.stem[0] != "_"
    )
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no recipe {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    for name in names or known:
        made = importlib.import_module(f"recipes.{name.replace('-', '_')}").make()
        folder = write_recipe_files(made, ELSEWHERE.get(name, PACKAGED / name))
        print(f"{name}: {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
