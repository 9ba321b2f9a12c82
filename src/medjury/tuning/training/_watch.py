"""What a training cost in time and memory, counted while it runs and kept with every checkpoint.

A training that was stopped and taken up again has several sittings; what a killed one did after its last checkpoint
is done again, and counts twice, as it took the machine twice.
"""

from __future__ import annotations

import json
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from medjury.foundation.files import write_whole

SITTINGS = "sittings.json"


class Watch:
    """The time of every step of this sitting, beside those of earlier ones."""

    def __init__(
        self, folder: Path, torch: Any, device: str, say: Callable[[str], None] | None = None
    ) -> None:
        self._say = say or (lambda words: None)
        self._file = folder / SITTINGS
        self._torch, self._device = torch, device
        self._earlier = json.loads(self._file.read_text(encoding="utf-8")) if self._file.is_file() else []
        self._steps: list[float] = []
        self._since = self._begun = time.perf_counter()
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()

    def callback(self, transformers: Any) -> Any:
        """The trainer's way of telling what happens."""

        def begin(_: object, *args: object, **options: object) -> None:
            self._since = time.perf_counter()

        def end(_: object, *args: object, **options: object) -> None:
            self._steps.append(time.perf_counter() - self._since)

        def save(_: object, args: object, state: Any, *rest: object, **options: object) -> None:
            self.write()
            losses = [each["loss"] for each in state.log_history if "loss" in each]
            loss = f", loss {losses[-1]:.4g}" if losses else ""
            self._say(f"step {state.global_step:,} of {state.max_steps:,}{loss}")

        told = {"on_step_begin": begin, "on_step_end": end, "on_save": save}
        return type("Watching", (transformers.TrainerCallback,), told)()

    def write(self) -> list[dict[str, Any]]:
        """Keep what is known so far, and say it."""
        sittings = [*self._earlier, self._now()]
        write_whole(self._file, json.dumps(sittings, indent=1) + "\n")
        return sittings

    def _now(self) -> dict[str, Any]:
        return {
            "steps": len(self._steps),
            "seconds": round(time.perf_counter() - self._begun, 2),
            "seconds_per_step": round(statistics.median(self._steps), 4) if self._steps else None,
            "peak_memory_gb": round(self._peak() / 1e9, 3),
            "device": self._torch.cuda.get_device_name() if self._device == "cuda" else "cpu",
            "gpus": self._torch.cuda.device_count() if self._device == "cuda" else 0,
        }

    def _peak(self) -> int:
        if self._device == "cuda":
            return int(self._torch.cuda.max_memory_allocated())
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
