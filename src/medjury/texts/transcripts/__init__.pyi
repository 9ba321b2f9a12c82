from ._align import align as align
from ._alignment import (
    Alignment as Alignment,
)
from ._alignment import (
    Match as Match,
)
from ._alignment import (
    MatchType as MatchType,
)
from ._alignment import (
    make_match as make_match,
)
from ._alignment import (
    read_alignment as read_alignment,
)
from ._evaluate import (
    AlignmentFault as AlignmentFault,
)
from ._evaluate import (
    AlignmentQuality as AlignmentQuality,
)
from ._evaluate import (
    evaluate_alignment as evaluate_alignment,
)
from ._model_aligner import align_with_model as align_with_model
from ._model_aligner import alignment_request as alignment_request
from ._normalise import FillerList as FillerList
from ._normalise import fillers as fillers
from ._normalise import normalise as normalise
from ._pairs import (
    NOTHING as NOTHING,
)
from ._pairs import (
    AlignedPair as AlignedPair,
)
from ._pairs import (
    aligned_pairs as aligned_pairs,
)
from ._pairs import (
    context_before as context_before,
)
from ._pairs import (
    context_text as context_text,
)
from ._pairs import (
    impact_cases as impact_cases,
)
from ._read import read_transcript as read_transcript
from ._repair import repair as repair
from ._sample import EDGES as EDGES
from ._sample import Band as Band
from ._sample import sample_by_band as sample_by_band
from ._speaker_turns import turns_of as turns_of
from ._turn import Transcript as Transcript
from ._turn import Turn as Turn
from ._turn import merge_speaker_turns as merge_speaker_turns
from ._weights import Weights as Weights
from ._words import comparable as comparable
from ._words import similarity as similarity
