"""The words in which verdicts on claims are asked for: ours, or those of the study that the method comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from medjury.judging._claims.share import Verdict

ClaimLabelName = Literal["contradicted", "not_supported", "two"]


@dataclass(frozen=True, slots=True)
class Labels:
    """`verdicts` says what each word stands for, in the order in which they are told; `told` explains a word where
    the rubric does not; `partial` is what a claim is of which only a part is covered."""

    name: ClaimLabelName
    verdicts: Mapping[str, Verdict]
    partial: str
    told: Mapping[str, str]

    @property
    def quoted(self) -> str:
        """The words that need a quotation."""
        return " and ".join(
            f'"{word}"' for word, verdict in self.verdicts.items() if verdict != "not_addressed"
        )

    @property
    def unquoted(self) -> str:
        """The word for what the reference does not show, which needs none."""
        return next(word for word, verdict in self.verdicts.items() if verdict == "not_addressed")

    def word(self, verdict: Verdict) -> str:
        """The word for a verdict; where two verdicts share one, that one."""
        found = [word for word, each in self.verdicts.items() if each == verdict]
        return found[0] if found else self.unquoted


OURS = Labels(
    "contradicted",
    {"supported": "supported", "contradicted": "contradicted", "not_addressed": "not_addressed"},
    'A claim of which only a part is covered is "not_addressed", unless another part of it is contradicted.',
    {},
)
CLAIM_LABELS: Mapping[ClaimLabelName, Labels] = {
    "contradicted": OURS,
    "not_supported": Labels(
        "not_supported",
        {"supported": "supported", "not_supported": "contradicted", "not_addressed": "not_addressed"},
        'A claim of which only a part is covered is "not_addressed", unless the reference goes against another '
        'part of it: then it is "not_supported".',
        {"not_supported": "Not supported: the reference speaks of the matter, and what it says does not bear the "
                          "claim out."},
    ),
    "two": Labels(
        "two",
        {"supported": "supported", "not_supported": "not_addressed"},
        'A claim of which only a part is covered is "not_supported".',
        {"not_supported": "Not supported: the reference does not state the claim, and it does not follow from it, "
                          "whether the reference is silent or says otherwise."},
    ),
}  # fmt: skip
