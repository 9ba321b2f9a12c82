"""Transcripts: what was said beside what was recognised, made comparable."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.transcripts._align import align
    from medjury.transcripts._alignment import Alignment, Match, MatchType, make_match, read_alignment
    from medjury.transcripts._context import context_before, context_text
    from medjury.transcripts._evaluate import AlignmentFault, AlignmentQuality, evaluate_alignment
    from medjury.transcripts._model_aligner import align_with_model, alignment_request
    from medjury.transcripts._normalise import FillerList, fillers, normalise
    from medjury.transcripts._pairs import NOTHING, AlignedPair, aligned_pairs, impact_cases
    from medjury.transcripts._read import read_transcript
    from medjury.transcripts._repair import repair
    from medjury.transcripts._sample import EDGES, Band, sample_by_band
    from medjury.transcripts._speaker_turns import turns_of
    from medjury.transcripts._turn import Transcript, Turn, merge_speaker_turns
    from medjury.transcripts._weights import Weights
    from medjury.transcripts._words import comparable, similarity

__all__ = [
    "EDGES",
    "NOTHING",
    "AlignedPair",
    "Alignment",
    "AlignmentFault",
    "AlignmentQuality",
    "Band",
    "FillerList",
    "Match",
    "MatchType",
    "Transcript",
    "Turn",
    "Weights",
    "align",
    "align_with_model",
    "aligned_pairs",
    "alignment_request",
    "comparable",
    "context_before",
    "context_text",
    "evaluate_alignment",
    "fillers",
    "impact_cases",
    "make_match",
    "merge_speaker_turns",
    "normalise",
    "read_alignment",
    "read_transcript",
    "repair",
    "sample_by_band",
    "similarity",
    "turns_of",
]
