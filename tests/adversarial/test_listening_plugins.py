"""A package that is installed beside Medjury and listens to pydantic hears nothing of what a command reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PLUGIN = """
import os
class Listener:
    def new_schema_validator(self, *arguments, **options):
        class Hears:
            def on_enter(self, given, **more):
                with open(os.environ["HEARD"], "a", encoding="utf-8") as file:
                    file.write(repr(given))
        return Hears(), None, None
listener = Listener()
"""
_WORDS = ("instruments", "show", "note_quality")
_COMMAND = (sys.executable, "-m", "medjury", *_WORDS)
_AS_A_LIBRARY = (sys.executable, "-c", f"from medjury.cli._main import main; main({list(_WORDS)})")


@pytest.mark.parametrize(("command", "heard"), [(_COMMAND, False), (_AS_A_LIBRARY, True)])
def test_only_a_process_of_somebody_else_lets_plugins_listen(
    command: tuple[str, ...], heard: bool, tmp_path: Path
) -> None:
    beside = tmp_path / "installed"
    told = beside / "listener-1.0.dist-info"
    told.mkdir(parents=True)
    (beside / "listener_plugin.py").write_text(_PLUGIN)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: listener\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text("[pydantic]\nlistener = listener_plugin:listener\n")
    environment = {name: value for name, value in os.environ.items() if name != "PYDANTIC_DISABLE_PLUGINS"}
    environment |= {"PYTHONPATH": f"{beside}", "HEARD": str(tmp_path / "heard.txt")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "heard.txt").exists() is heard, "what is a library's caller's is not ours to silence"
