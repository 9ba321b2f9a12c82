"""Runs every benchmark (or those named) and prints one table: `python -m benchmarks [engine] [agreement] ...`.

`--before FOLDER` names a checkout of an older state: `report` measures its commands beside today's. Those that take
very long, or print a page of their own, run only where they are named: `python -m benchmarks coverage`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

COMPARED = ("report",)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="BENCHMARK")
    parser.add_argument(
        "--before", type=Path, metavar="FOLDER", help="a checkout of an older state to compare with"
    )
    asked = parser.parse_args(words)
    names: list[str] = asked.names
    if asked.before is not None and not (asked.before / "src" / "medjury").is_dir():
        parser.error(f"{asked.before} is no checkout: it has no folder src/medjury")
    if asked.before is not None and asked.before.resolve() == Path(__file__).resolve().parent.parent:
        parser.error(f"{asked.before} is this checkout itself; give one of an older state")
    known = sorted(file.stem for file in Path(__file__).parent.glob("*.py") if not file.stem.startswith("_"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    missed = 0
    for name in names or known:
        module = importlib.import_module(f"benchmarks.{name}")
        own_page = not hasattr(module, "run")
        if not names and (own_page or getattr(module, "ON_REQUEST", False)):
            continue
        print(f"\n{name}\n{'-' * len(name)}", flush=True)
        if own_page:
            missed += module.main([]) != 0
            continue
        for row in module.run(asked.before) if name in COMPARED else module.run():
            compared = row["holds"] is not None
            missed += compared and not row["holds"]
            verdict = "not compared" if not compared else "holds" if row["holds"] else "MISSED"
            print(
                f"{row['name']:<58} {row['ours']:>16} {row['peer']:>24} "
                f"{row['ratio']:>10} {row['target']:>12}  {verdict}",
                flush=True,
            )
    print(f"\n{'every target holds' if not missed else f'{missed} targets MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
