"""The forms of JSON that are known, each by the name people know it by. Another recogniser is one more line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from medjury.texts.transcripts._readers.amazon import healthscribe, transcribe
from medjury.texts.transcripts._readers.assemblyai import assemblyai
from medjury.texts.transcripts._readers.azure import azure
from medjury.texts.transcripts._readers.deepgram import deepgram
from medjury.texts.transcripts._readers.google import google
from medjury.texts.transcripts._readers.plain import plain_turns
from medjury.texts.transcripts._readers.rev import rev
from medjury.texts.transcripts._readers.rows import Rows
from medjury.texts.transcripts._readers.speechmatics import speechmatics
from medjury.texts.transcripts._readers.whisper import whisper, whisper_cpp

# A form returns None where the JSON is not of its kind; the narrower ones are asked first.
FORMS: Mapping[str, Callable[[Any], Rows | None]] = {
    "list of turns": plain_turns,
    "AWS Transcribe": transcribe,
    "AWS HealthScribe": healthscribe,
    "Azure Speech": azure,
    "Rev": rev,
    "Speechmatics": speechmatics,
    "Deepgram": deepgram,
    "Google Speech-to-Text": google,
    "Whisper": whisper,
    "whisper.cpp": whisper_cpp,
    "AssemblyAI": assemblyai,
}
