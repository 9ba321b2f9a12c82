"""What tests fork runs from: it has loaded what a run needs, and nothing whose threads would be lost in a fork."""

from __future__ import annotations

import subprocess
import sys

from tests.processes import _PRELOADED

_LOOK = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
loaded = set(sys.modules)
from medjury.studies import check_study, gate_outlook, load_study, run_study
print("polars" in loaded, sorted(name for name in set(sys.modules) - loaded))
"""


def test_what_a_run_needs_is_loaded_and_polars_is_not() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LOOK, *_PRELOADED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False []\n"
