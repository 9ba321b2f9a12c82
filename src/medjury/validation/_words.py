"""The four words of a verdict, what each means, how statistics are called, and whom a sentence is about."""

from __future__ import annotations

import re
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
_BARE = re.compile(r"(?<!\w )(?<![\w-])[Jj]ury(?![\w-])|(?<=\bby )jury(?![\w-])|(?<=\bof )jury(?= and)")


def about_judge(words: str, name: str) -> str:
    """A sentence of ours about the jury, where it is said of one judge that sits in none."""
    one, other = (name, name) if name.lower().startswith("judge") else (f"Judge {name}", f"judge {name}")
    told = words.replace("The jury", one).replace("the jury", other)
    # Heads and names of axes have no article; "a jury" or "this jury" speaks of juries, not of this one.
    return _BARE.sub(lambda _: name, told)


def about_each_judge(words: str) -> str:
    """A sentence of ours about the jury, where it holds for each of the judges that stand side by side."""
    return words.replace("The jury", "A judge").replace("the jury", "a judge")
