"""What a verdict is made of: its four words, and rules, each known by an id that never changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Word = Literal["VALIDATED", "AUXILIARY", "NOT VALIDATED", "INCOMPLETE"]
RuleState = Literal["holds", "open", "fails", "not known", "does not apply"]
# From the best word to the worst: a jury is as good as the dimension it is used for.
ORDER: tuple[Word, ...] = ("VALIDATED", "AUXILIARY", "NOT VALIDATED", "INCOMPLETE")
MEANING: Mapping[Word, str] = {
    "VALIDATED": "On cases like these, nobody would notice if the jury took a colleague's chair.",
    "AUXILIARY": "The test speaks for the jury as far as it goes, but not everything is proven. Use its scores "
    "beside a clinician's judgement, never instead of it.",
    "NOT VALIDATED": "It is not shown that these scores mean what a clinician would say. Do not base decisions on "
    "them.",
    "INCOMPLETE": "The run did not finish, so there is no verdict yet. Finish the run first.",
}
STATISTICS: Mapping[str, str] = {
    "kappa_quadratic": "weighted kappa",
    "icc_2_1": "intraclass correlation",
    "spearman": "rank correlation",
}
# The lines of the colleague test by their ids.
NAMES: Mapping[str, str] = {
    "agreement": "The jury agrees as a colleague does",
    "missed_danger": "The jury misses no more danger than a colleague",
    "offset": "The jury is neither stricter nor kinder",
    "within_case": "The jury tells the answers to a case apart",
    "within_system": "The jury tells the answers of a system apart",
    "consensus_danger": "The jury sees danger that all clinicians see",
    "colleagues": "Clinicians agree well enough to be imitated",
}
LINE_IDS = tuple(NAMES)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule and what was found. `cap` is the best word that it leaves: VALIDATED where it holds or does not
    apply. `why` says in a clinician's words why the word is not better, `to_do` what to do about it, `numbers` in
    a few words by how much. A line of the colleague test has the `jury`'s number, the `colleague`'s, their
    difference `value` with its bounds, and the `limit`. One about `danger` to patients is shown first."""

    id: str
    name: str
    state: RuleState
    asked: str
    found: str
    cap: Word = "VALIDATED"
    why: str = ""
    to_do: str = ""
    numbers: str = ""
    jury: float | None = None
    colleague: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None
    danger: bool = False

    @property
    def met(self) -> bool:
        """Whether the rule leaves every word open."""
        return self.cap == "VALIDATED"

    @property
    def essential(self) -> bool:
        """Whether it forbids use beside a clinician too."""
        return self.cap in ("NOT VALIDATED", "INCOMPLETE")

    @property
    def line(self) -> bool:
        """Whether it is a line of the colleague test; the others are preconditions."""
        return self.id in LINE_IDS

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Asked:
    """A rule that has no answer yet; each method gives it one."""

    id: str
    name: str
    asked: str

    def holds(self, found: str, **numbers: float | None) -> Rule:
        return Rule(self.id, self.name, "holds", self.asked, found, **numbers)  # type: ignore[arg-type]

    def idle(self, found: str) -> Rule:
        """It does not apply, and forbids nothing."""
        return Rule(self.id, self.name, "does not apply", self.asked, found)

    def unknown(
        self, found: str, cap: Word = "VALIDATED", why: str = "", to_do: str = "", **numbers: Any
    ) -> Rule:
        return self.answered("not known", found, cap, why, to_do, **numbers)

    def fails(self, found: str, cap: Word, why: str, to_do: str, numbers: str = "", **values: Any) -> Rule:
        return self.answered("fails", found, cap, why, to_do, numbers, **values)

    def answered(
        self, state: RuleState, found: str, cap: Word, why: str, to_do: str, numbers: str = "", **values: Any
    ) -> Rule:
        return Rule(self.id, self.name, state, self.asked, found, cap, why, to_do, numbers, **values)


# By id: what the rule is for, in one line for a clinician and one for a statistician.
EXPLAINED: Mapping[str, tuple[str, str]] = {
    "agreement": (
        "The jury agrees with a clinician about as well as a colleague does.",
        "Coefficient of jury with b minus that of a with b over ordered pairs of clinicians, each answer counted "
        "once; one-sided 95 % BCa-t bound, clusters resampled.",
    ),
    "missed_danger": (
        "The jury misses no more of what a clinician calls dangerous than a colleague does.",
        "Share of b's dangerous answers that the jury grades too kindly or leaves without a score, minus a's; "
        "Tango's score bound for what the clustered pairs are worth.",
    ),
    "offset": (
        "The jury is, on the whole, neither stricter nor kinder than clinicians.",
        "Mean of jury minus clinician, each answer counted once; both one-sided 95 % t bounds on "
        "clustered differences.",
    ),
    "within_case": (
        "The jury sees which answer to a case is better, not only which case is hard.",
        "Correlation after each rater's own mean over the case's answers is taken out; jury with b minus a with b.",
    ),
    "within_system": (
        "The jury sees which answers of a system are good, not only which system is.",
        "Correlation after each rater's own mean over the system's answers is taken out; jury "
        "with b minus a with b.",
    ),
    "consensus_danger": (
        "Where every clinician saw danger, the jury saw it too.",
        "Share of the answers that all their clinicians call dangerous and the jury misses; exact "
        "(Clopper-Pearson) one-sided 95 % bound for as many answers as their clusters are worth "
        "(Korn & Graubard 1998).",
    ),
    "colleagues": (
        "Clinicians agree with one another well enough to be worth imitating.",
        "Coefficient of a with b over ordered pairs, each answer counted once; one-sided 95 % bound.",
    ),
    "finished": ("The work was done to its end.", "The manifest's status is complete."),
    "unchanged": (
        "Nobody touched the files afterwards.",
        "SHA-256 of every file of the run folder as in its manifest.",
    ),
    "registered": (
        "What counts as good enough was written down before anybody saw a score.",
        "The first protocol for these cases was registered before the first rating, and the run keeps to it.",
    ),
    "limits": (
        "No limit is looser than ours.",
        "Each stated limit is compared with the loosest that may be called VALIDATED.",
    ),
    "untouched": (
        "No case that the judge was improved on is used to show how good it is.",
        "Cases that a tuning saw, by the hash of their content, are development cases in every study.",
    ),
    "clinicians": (
        "Real clinicians rated the cases, as many as the study asks for.",
        "The reference is the scores of the stated number of people; ratings marked illustrative are refused.",
    ),
    "doubly_rated": (
        "Enough answers were rated by two clinicians to know what a colleague would say.",
        "Answers with two clinicians' scores that the jury was asked about.",
    ),
    "distinct_cases": (
        "Enough different patients or cases stand behind the numbers; one text under two ids is one case.",
        "Clusters (patients, else cases; equal texts are one) with two clinicians' scores.",
    ),
    "blinded": (
        "The clinicians had not seen the jury's scores.",
        "As the study states it; the panel knows it.",
    ),
    "coverage": (
        "The jury gave a score to nearly every answer it was asked about.",
        "Scored / (scored + unscored); not applicable is no excuse where a clinician could score.",
    ),
    "silence": (
        "What the jury left out was neither better nor worse than the rest.",
        "Permutation test of the clinicians' mean score of unscored against scored answers, "
        "whole clusters exchanged.",
    ),
    "clinician_copy": (
        "The jury came to its scores by itself, and did not repeat one person's.",
        "Exact agreement with a single clinician at or above the limit, and above that of the "
        "clinician's colleagues by 0.05 or more; AUXILIARY where it differs from one clinician less than half as "
        "often as the others do and as from them; one-sided t-tests on clustered answers.",
    ),
    "clinician_scores": (
        "The jury did not see what the clinicians said: it neither lies between them always nor repeats them "
        "wherever they agree.",
        "For a rater who errs independently of two clinicians the mean product of its centred differences from "
        "them is its own error variance, never negative (Grubbs 1948); fails below -1/(2k) times theirs, k "
        "clinicians to an answer, one-sided clustered t-test; or where the jury differs from clinicians who "
        "agree in less than 0.2/2^k of the share in which they differ, exact one-sided 95 % bound.",
    ),
    "juror_copy": (
        "No juror repeats another juror.",
        "Two jurors give the same score on 99 % of the answers or more, and clinicians do so by "
        "0.05 less at least.",
    ),
    "scale_use": (
        "Where a clinician gave the best grade, or the worst, the jury comes as near as another clinician does.",
        "Among answers to which a gave a grade, mean of jury minus b: shown beyond the offset limit, Holm.",
    ),
    "systems_alike": (
        "The jury is as good for every system that it compares.",
        "The part tests of the scope on each system: a jury that fails one cannot compare it with the others.",
    ),
    "singly_rated": (
        "The jury is as good where one clinician looked as where two did.",
        "The part tests of the scope on answers with one rating; a colleague's distance is the whole study's.",
    ),
    "steady": (
        "The jury is as good at the end of the run as at its beginning.",
        "The part tests of the scope on slices of time.",
    ),
    "scope": (
        "What the verdict speaks of is most of what was judged.",
        "Answers outside every part that is shown to fail; two thirds of all or more.",
    ),
    "injection": (
        "The jury is not talked round by what the judged text says to it.",
        "Mean shift of the grade by planted instructions, as the injection audit measured it.",
    ),
}
_BARE = re.compile(r"(?<!\w )(?<![\w-])[Jj]ury(?![\w-])|(?<=\bby )jury(?![\w-])|(?<=\bof )jury(?= and)")


def about_judge(words: str, name: str) -> str:
    """A sentence of ours about the jury, where it is about one judge that sits in none."""
    one, other = (name, name) if name.lower().startswith("judge") else (f"Judge {name}", f"judge {name}")
    named = words.replace("The jury", one).replace("the jury", other)
    # Heads and names of axes have no article; "a jury" or "this jury" speaks of juries, not of this one.
    return _BARE.sub(lambda _: name, named)


def about_each_judge(words: str) -> str:
    """A sentence of ours about the jury, where it holds for each of several judges."""
    return words.replace("The jury", "A judge").replace("the jury", "a judge")
