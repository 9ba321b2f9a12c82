from ._align import align as align
from ._alignment import (
    Alignment as Alignment,
    Match as Match,
    MatchType as MatchType,
    make_match as make_match,
    read_alignment as read_alignment,
)
from ._context import context_before as context_before, context_text as context_text
from ._evaluate import (
    AlignmentFault as AlignmentFault,
    AlignmentQuality as AlignmentQuality,
    evaluate_alignment as evaluate_alignment,
)
from ._model_aligner import align_with_model as align_with_model, alignment_request as alignment_request
from ._normalise import FillerList as FillerList, fillers as fillers, normalise as normalise
from ._pairs import (
    NOTHING as NOTHING,
    AlignedPair as AlignedPair,
    aligned_pairs as aligned_pairs,
    impact_cases as impact_cases,
)
from ._read import read_transcript as read_transcript
from ._repair import repair as repair
from ._sample import EDGES as EDGES, Band as Band, sample_by_band as sample_by_band
from ._speaker_turns import turns_of as turns_of
from ._turn import Transcript as Transcript, Turn as Turn, merge_speaker_turns as merge_speaker_turns
from ._weights import Weights as Weights
from ._words import comparable as comparable, similarity as similarity
