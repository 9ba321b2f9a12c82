"""Runs every benchmark (or those named) and prints one table: `python -m benchmarks [engine] [agreement] ...`.

Those that take very long run only where they are named: `python -m benchmarks coverage`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(names: list[str]) -> int:
    known = sorted(file.stem for file in Path(__file__).parent.glob("*.py") if not file.stem.startswith("_"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    missed = 0
    for name in names or known:
        module = importlib.import_module(f"benchmarks.{name}")
        if not names and getattr(module, "ON_REQUEST", False):
            continue
        print(f"\n{name}\n{'-' * len(name)}", flush=True)
        for row in module.run():
            verdict = "holds" if row["holds"] else "MISSED"
            missed += not row["holds"]
            print(
                f"{row['name']:<58} {row['ours']:>16} {row['peer']:>24} "
                f"{row['ratio']:>10} {row['target']:>12}  {verdict}",
                flush=True,
            )
    print(f"\n{'every target holds' if not missed else f'{missed} targets MISSED'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
