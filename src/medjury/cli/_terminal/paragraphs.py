"""Help whose paragraphs fill the screen, and what is said of a command that was not finished."""

from __future__ import annotations

import argparse
import re
import textwrap
from typing import NoReturn


class Paragraphs(argparse.HelpFormatter):
    """Paragraphs are parted by empty lines; lines that are set in stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = []
        for part in re.split(r"\n\s*\n", text.strip("\n")):
            set_in = any(line.startswith(" ") for line in part.splitlines())
            filled = textwrap.fill(" ".join(part.split()), width, break_on_hyphens=False)
            parts.append(part if set_in else filled)
        return "\n\n".join(parts)


class Parser(argparse.ArgumentParser):
    """Where the action of a command is missing, the error names those there are."""

    def error(self, message: str) -> NoReturn:
        below = [each for each in self._actions if isinstance(each, argparse._SubParsersAction)]
        if below and message.endswith("are required: ACTION"):
            message = (
                f"say what to do: {', '.join(below[0].choices)} (`{self.prog} --help` tells what each does)"
            )
        super().error(message)
