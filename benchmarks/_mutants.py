"""How many of the changes made to the rooms that decide do the tests notice? `make mutants SAMPLE=100 SEED=1`.

All mutants take hours; so many are drawn of each room, and the share of each is printed with its interval: 100 tell
it within seven points. `ROOMS="watching passports"` draws of these rooms alone. The draw is fixed by its seed, so
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
from collections.abc import Sequence
from pathlib import Path

from scipy.stats import binomtest

MUTMUT = str(Path(sys.executable).parent / "mutmut")
NOTICED = {"killed", "timeout", "segfault", "caught by type check"}
STATS = Path("mutants/mutmut-stats.json")
# Seconds of tests for each mutant, by what they took when all ran once: on a busy machine several times their own.
BUDGET = 40.0


def main(sample: int, seed: int, rooms: Sequence[str]) -> int:
    # A command that a test starts runs the mutant too. A folder that is not there at the start is never searched.
    Path("mutants/src").mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = str(Path("mutants/src").absolute())
    subprocess.run([MUTMUT, "run", "--max-children", "1", "medjury.tables._roles.none"], check=False)
    _keep_the_quickest()
    by_room: dict[str, list[str]] = {}
    for name in sorted(_states()):
        by_room.setdefault(_room(name), []).append(name)
    chosen = {
        room: random.Random(seed).sample(names, min(sample or len(names), len(names)))
        for room, names in by_room.items()
        if room in (rooms or by_room)
    }
    drawn = sorted(name for names in chosen.values() for name in names)
    subprocess.run([MUTMUT, "run", "--max-children", "2", *drawn], check=False)
    states = _states()
    for name in drawn:
        if states[name] not in NOTICED:
            print(f"{states[name]:<12} {name}")
    enough = True
    for room, names in chosen.items():
        noticed = sum(states[name] in NOTICED for name in names)
        ends = binomtest(noticed, len(names)).proportion_ci(method="wilson")
        print(
            f"{room}: {noticed} of {len(names)} mutants noticed ({noticed / len(names):.1%}, {ends.low:.0%} to "
            f"{ends.high:.0%}), drawn from {len(by_room[room]):,}; {dict(Counter(map(states.get, names)))}"
        )
        enough &= noticed >= 0.85 * len(names)
    return 0 if enough else 1


def _room(name: str) -> str:
    """The room that a mutant is in. `in_use` holds two."""
    first, second = name.split(".")[1:3]
    return second if first == "in_use" else first


def _keep_the_quickest() -> None:
    """Of the tests that reach a function, those that fit into the budget: its own room's and the quickest first."""
    stats = json.loads(STATS.read_text())
    seconds = stats["duration_by_test"]
    reached = stats["tests_by_mangled_function_name"]
    for function, tests in reached.items():
        kept, spent, room = [], 0.0, f"tests/{_room(function)}/"
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
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    sample, seed = (*numbers, *(0, 20_261_115)[len(numbers) :])
    sys.exit(main(sample, seed, [each for each in sys.argv[1:] if not each.isdigit()]))
