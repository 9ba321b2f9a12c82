"""Transcripts: what was said beside what was recognised, made comparable."""

from medjury.transcripts._align import align
from medjury.transcripts._alignment import Alignment, Match, MatchType, make_match, read_alignment
from medjury.transcripts._evaluate import AlignmentFault, AlignmentQuality, evaluate_alignment
from medjury.transcripts._model_aligner import align_with_model, alignment_request
from medjury.transcripts._normalise import fillers, normalise
from medjury.transcripts._read import read_transcript
from medjury.transcripts._repair import repair
from medjury.transcripts._turn import Transcript, Turn, merge_speaker_turns
from medjury.transcripts._weights import Weights
from medjury.transcripts._words import comparable, similarity

__all__ = [
    "Alignment",
    "AlignmentFault",
    "AlignmentQuality",
    "Match",
    "MatchType",
    "Transcript",
    "Turn",
    "Weights",
    "align",
    "align_with_model",
    "alignment_request",
    "comparable",
    "evaluate_alignment",
    "fillers",
    "make_match",
    "merge_speaker_turns",
    "normalise",
    "read_alignment",
    "read_transcript",
    "repair",
    "similarity",
]
