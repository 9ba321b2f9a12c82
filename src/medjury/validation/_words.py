"""The four words of a verdict, what each means, and how the statistics of the gate are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Word = Literal["VALIDATED", "AUXILIARY", "NOT VALIDATED", "INCOMPLETE"]
MEANING: Mapping[Word, str] = {
    "VALIDATED": "The jury agreed with clinicians about as well as they agree with one another, on cases it had "
    "never served to develop. Its scores may stand in for a clinician's on cases like these.",
    "AUXILIARY": "There is fair evidence for the jury, but not enough to let it stand alone. Use its scores beside "
    "a clinician's judgement, never instead of it.",
    "NOT VALIDATED": "Nobody has shown that these scores mean what clinicians would say. Do not base "
    "decisions on them.",
    "INCOMPLETE": "The run did not finish, so there is no verdict yet. Finish the run first.",
}
STATISTICS: Mapping[str, str] = {
    "kappa_quadratic": "weighted kappa",
    "icc_2_1": "intraclass correlation",
    "spearman": "rank correlation",
}
