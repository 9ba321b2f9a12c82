"""On the path of a test's processes: what each of them scores with text metrics is written down as it is done,
and a folder of weights that are none is run by a stand-in.

`MEDJURY_TRACE` names the file; `FILE.slow` holds the seconds that scoring is held up.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

_METRICS, _TRANSFORMERS = "medjury.texts.metrics", "medjury.models._transformers"


class Traced(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in (_METRICS, _TRANSFORMERS):
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path, target)
        assert found is not None and found.loader is not None
        execute = found.loader.exec_module

        def and_trace(module: ModuleType) -> None:
            execute(module)
            if name == _METRICS:
                _trace(module)
            else:
                import stand_in

                stand_in.put_in(module)

        found.loader.exec_module = and_trace  # type: ignore[method-assign]
        return found


def _trace(module: Any) -> None:
    score, trace = module.score, Path(os.environ["MEDJURY_TRACE"])

    def traced(said: Sequence[str], heard: Sequence[str], metrics: Sequence[str], **how: Any) -> Any:
        slow = trace.with_name(f"{trace.name}.slow")
        if slow.exists():
            time.sleep(float(slow.read_text()))
        found = score(said, heard, metrics, **how)
        line = {"process": os.getpid(), "parent": os.getppid(), "metric": metrics[0], "pairs": len(said),
                "gpus": os.environ.get("CUDA_VISIBLE_DEVICES")}  # fmt: skip
        with trace.open("a") as log:
            log.write(json.dumps(line) + "\n")
        return found

    module.score = traced


if "MEDJURY_TRACE" in os.environ:
    sys.meta_path.insert(0, Traced())
