"""How many of the changes made to the rooms that decide do the tests notice? `make mutants SAMPLE=400`.

All mutants take hours; a drawn sample of 400 tells the share within four points. The draw is fixed by its seed, so
that two people test the same ones. A mutant that no test reaches counts as one that lived.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

MUTMUT = str(Path(sys.executable).parent / "mutmut")
NOTICED = {"killed", "timeout", "segfault", "caught by type check"}


def main(sample: int, seed: int = 20_261_115) -> int:
    subprocess.run([MUTMUT, "run", "--max-children", "1", "medjury.tables._roles.none"], check=False)
    everything = sorted(_states())
    drawn = sorted(
        random.Random(seed).sample(everything, min(sample, len(everything))) if sample else everything
    )
    subprocess.run([MUTMUT, "run", "--max-children", "2", *drawn], check=False)
    states = _states()
    found = Counter(states[name] for name in drawn)
    for name in drawn:
        if states[name] not in NOTICED:
            print(f"{states[name]:<12} {name}")
    noticed = sum(count for state, count in found.items() if state in NOTICED)
    share = f"{noticed} of {len(drawn)} mutants noticed ({noticed / len(drawn):.1%})"
    print(f"{share}, drawn from {len(everything):,}; {dict(found)}")
    return 0 if noticed >= 0.85 * len(drawn) else 1


def _states() -> dict[str, str]:
    """The state of every mutant by its name."""
    told = subprocess.run([MUTMUT, "results", "--all", "true"], capture_output=True, text=True, check=True)
    split = (line.strip().rpartition(": ") for line in told.stdout.splitlines() if ": " in line)
    return {name: state for name, _, state in split}


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
