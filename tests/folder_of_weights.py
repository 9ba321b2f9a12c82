"""A folder that looks like a model, for stand-ins that never read its weights."""

from __future__ import annotations

import json
from pathlib import Path

TRACED = Path(__file__).parent / "traced"  # what stands in for libraries, on the path of a test's processes


def write_weights(folder: Path, *, window: int = 2000) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": window}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "stand_in").touch()
    return folder
