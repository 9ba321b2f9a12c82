"""The reader's terminal: how wide it is, lines folded to fit it, help in paragraphs, and work as it goes on."""

from medjury.cli._terminal.paragraphs import Paragraphs, Parser
from medjury.cli._terminal.reading import reading_screen

__all__ = ["Paragraphs", "Parser", "reading_screen"]
