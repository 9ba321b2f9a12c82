"""Help whose paragraphs fill the screen."""

from __future__ import annotations

import argparse
import re
import textwrap


class Paragraphs(argparse.HelpFormatter):
    """Paragraphs are parted by empty lines; lines that are set in stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        parts = []
        for part in re.split(r"\n\s*\n", text.strip("\n")):
            set_in = any(line.startswith(" ") for line in part.splitlines())
            filled = textwrap.fill(" ".join(part.split()), width, break_on_hyphens=False)
            parts.append(part if set_in else filled)
        return "\n\n".join(parts)
