"""How many of the changes made to the rooms that decide do the tests notice? `make mutants SAMPLE=400 SEED=1`.

All mutants take hours; a drawn sample of 400 tells the share within four points. The draw is fixed by its seed, so
that two people test the same ones; draw anew once tests were written for those that lived. Each mutant is given the
quickest tests that reach it, so a mutant that only a slow test would notice counts as one that lived, and so does
one that no test reaches.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

MUTMUT = str(Path(sys.executable).parent / "mutmut")
NOTICED = {"killed", "timeout", "segfault", "caught by type check"}
STATS = Path("mutants/mutmut-stats.json")
# Seconds of tests for each mutant.
BUDGET = 20.0


def main(sample: int, seed: int = 20_261_115) -> int:
    # A command that a test starts runs the mutant too.
    os.environ["PYTHONPATH"] = str(Path("mutants/src").absolute())
    subprocess.run([MUTMUT, "run", "--max-children", "1", "medjury.tables._roles.none"], check=False)
    _keep_the_quickest()
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


def _keep_the_quickest() -> None:
    """Of the tests that reach a function, those that fit into the budget: its own room's and the quickest first."""
    stats = json.loads(STATS.read_text())
    seconds = stats["duration_by_test"]
    reached = stats["tests_by_mangled_function_name"]
    for function, tests in reached.items():
        kept, spent, room = [], 0.0, f"tests/{function.split('.')[1]}/"
        for test in sorted(tests, key=lambda name: (not name.startswith(room), seconds.get(name, 0.0))):
            spent += seconds.get(test, 0.0)
            if kept and spent > BUDGET:
                break
            kept.append(test)
        reached[function] = kept
    STATS.write_text(json.dumps(stats, indent=1))


def _states() -> dict[str, str]:
    """The state of every mutant by its name."""
    told = subprocess.run([MUTMUT, "results", "--all", "true"], capture_output=True, text=True, check=True)
    split = (line.strip().rpartition(": ") for line in told.stdout.splitlines() if ": " in line)
    return {name: state for name, _, state in split}


if __name__ == "__main__":
    sys.exit(main(*(int(each) for each in sys.argv[1:3] or ["0"])))
