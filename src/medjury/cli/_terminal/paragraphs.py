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
    """An error is one sentence, without the list of all options, that says what to do: `--help` has the rest."""

    def error(self, message: str) -> NoReturn:
        below = [each for each in self._actions if isinstance(each, argparse._SubParsersAction)]
        message = re.sub(r"^argument (\S+): ", r"\1: ", message)
        if missing := re.fullmatch(r"the following arguments are required: (.*)", message):
            named = missing[1]
            message = f"{named} {'are' if ', ' in named else 'is'} missing"
            if below and named == below[0].metavar:
                message = f"say what to do: {', '.join(below[0].choices)}"
        told = "" if "--help" in message else f" (`{self.prog} --help` shows how to call it)"
        self.exit(2, f"{self.prog}: {message}{told}\n")
