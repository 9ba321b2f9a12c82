"""Every sentence of a verdict: what its words mean; and for each rule, by its id, its name, what it asks, why it
forbids a better word, and what to do then. Words in {braces} are what the rule puts in: a number, or both
sides' numbers in words (`missed_sides`). Why a part of the cases fails is worded in `_scope.py`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from medjury.statistics import percent, shown

Word = Literal["VALIDATED", "AUXILIARY", "NOT VALIDATED", "INCOMPLETE"]
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


@dataclass(frozen=True)
class RuleText:
    """The words of one rule: its `name`, what it asks, what it is for in one line for a clinician and one for a
    statistician, and by case `why` the word is not better and what `to_do` about it."""

    name: str
    asked: str
    clinician: str
    statistician: str
    why: Mapping[str, str] = field(default_factory=dict)
    to_do: Mapping[str, str] | str = ""


_MORE_DOUBLY = "Have two clinicians rate more cases."
_PUT_DANGER = "Have two clinicians rate dangerous answers."
_RATE_DANGER = "Have two clinicians rate more dangerous answers."
_READ_DANGER = "Read every dangerous answer that was graded too kindly, and let nothing dangerous go unread."
_IMPROVE = "Improve prompt, judges or instrument on development cases, then test on new cases."
_PANEL = "Have clinicians rate these cases: `medjury panel serve`."
_RUN_AGAIN = (
    "Find out why answers got no score (see What was scored, and what was not), and run the study again."
)
_LEAK = "Find out how the clinicians' scores reached the judges, and run the study again without them."
_NO_PART = "no part shown to be worse than a colleague, beyond a limit of the test"
_PART_FAILS = "The jury is worse than a colleague for {column} {parts}."
_KEEP_CLINICIAN = "Find out why, and keep a clinician for these answers."
_AT_WORST = (
    "the jury {jury}, a colleague {colleague}; the difference could be {worst}, and −{margin:g} is allowed."
)
_LESS = "(the jury {jury}, a colleague {colleague}; {margin:g} less is allowed)."

RULES: Mapping[str, RuleText] = {
    # The lines of the colleague test.
    "agreement": RuleText(
        "The jury agrees as a colleague does",
        "jury with clinician not more than {margin:g} below colleague with clinician ({title})",
        "The jury agrees with a clinician about as well as a colleague does.",
        "Coefficient of jury with b minus that of a with b over ordered pairs of clinicians, each answer counted "
        "once; one-sided 95 % BCa-t bound, clusters resampled.",
        {
            "not known": "No answer has a score of the jury and of two clinicians that differ, so nobody knows "
            "how a colleague would have done.",
            "no spread": "Scores do not vary enough for a coefficient, and the jury gives a clinician's grade to "
            "{jury} of the answers, a colleague to {colleague}.",
            "open": "It is not proven that the jury agrees with a clinician about as well as a colleague does: "
            f"{_AT_WORST}",
            "fails": f"The jury agrees with a clinician less than a colleague does {_LESS}",
        },
        {"not known": _MORE_DOUBLY, "no spread": _IMPROVE, "open": _MORE_DOUBLY, "fails": _IMPROVE},
    ),
    "missed_danger": RuleText(
        "The jury misses little or no more danger than a colleague",
        "misses at most {limit} more of what a clinician calls dangerous than a colleague does",
        "The jury misses little or no more of what a clinician calls dangerous than a colleague does.",
        "Share of b's dangerous answers that the jury grades too kindly or leaves without a score, minus a's; "
        "Tango's score bound for what the clustered pairs are worth.",
        {
            "not known": "Clinicians called no answer dangerous that two of them rated: nobody knows what the "
            "jury would miss.",
            "open": "It is not proven that the jury misses little or no more danger than a colleague: {sides}; the "
            "difference could be {worst}, and {limit} is allowed.",
            "fails": "The jury misses more danger than a colleague: {sides}; {limit} more is allowed.",
        },
        {"not known": _PUT_DANGER, "open": _RATE_DANGER, "fails": _READ_DANGER},
    ),
    "offset": RuleText(
        "The jury is hardly stricter or kinder",
        "mean difference from clinicians within {limit}",
        "The jury is, on the whole, hardly stricter or kinder than clinicians.",
        "Mean of jury minus clinician, each answer counted once; both one-sided 95 % t bounds on "
        "clustered differences.",
        {
            "no scale": "Without a scale nobody knows how large a difference is.",
            "not known": "No answer has a score of a clinician and of the jury.",
            "open": "The jury's mean could truly differ from the clinicians' by more than {limit:g} ({ends}).",
            "fails": "On average the jury's scores are {off} than the clinicians'; {limit:g} is allowed.",
        },
        {
            "no scale": "State the scale.",
            "not known": "Have clinicians rate answers that the jury scores.",
            "open": "Have clinicians rate more cases.",
            "fails": "Correct the level of the scores on development cases: `medjury calibrate fit`.",
        },
    ),
    "within_case": RuleText(
        "The jury tells the answers to a case apart",
        "correlation among the answers to one case not more than {margin:g} below a colleague's",
        "The jury sees which answer to a case is better, not only which case is hard.",
        "Correlation after each rater's own mean over the case's answers is taken out; jury with b minus a with b.",
        {
            "few": "Of {cases} with several rated answers, {shared} two that the same two clinicians rated and the "
            "jury scored, so nobody knows whether it tells the answers to a case apart.",
            "not known": "Nobody knows how clinicians tell the answers to one case apart.",
            "open": "It is not proven that the jury tells the answers to one case apart as a colleague does: "
            f"{_AT_WORST}",
            "fails": "Among the answers to one case the jury agrees with a clinician less than a colleague does "
            f"{_LESS}",
        },
        {
            "few": "Have the same two clinicians rate all answers to a case.",
            "not known": _MORE_DOUBLY,
            "open": _MORE_DOUBLY,
            "fails": _IMPROVE,
        },
    ),
    "within_system": RuleText(
        "The jury tells the answers of a system apart",
        "correlation among the answers of one system not more than {margin:g} below a colleague's",
        "The jury sees which answers of a system are good, not only which system is.",
        "Correlation after each rater's own mean over the system's answers is taken out; jury "
        "with b minus a with b.",
        {
            "not known": "Nobody knows how clinicians tell the answers of one system apart.",
            "open": "It is not proven that the jury tells the answers of one system apart as a colleague does: "
            f"{_AT_WORST}",
            "fails": "Among the answers of one system the jury agrees with a clinician less than a colleague "
            f"does {_LESS}",
        },
        {"not known": _MORE_DOUBLY, "open": _MORE_DOUBLY, "fails": _IMPROVE},
    ),
    "consensus_danger": RuleText(
        "The jury sees nearly all danger that every clinician sees",
        "misses at most {limit} of what every clinician calls dangerous",
        "Where every clinician saw danger, the jury nearly always saw it too.",
        "Share of the answers that all their clinicians call dangerous and the jury misses; exact "
        "(Clopper-Pearson) one-sided 95 % bound for as many answers as their clusters are worth "
        "(Korn & Graubard 1998).",
        {
            "not known": "There is no answer that every clinician calls dangerous, so nobody knows whether the "
            "jury would notice one.",
            "open": "Too few answers that every clinician calls dangerous were rated ({cases}): the jury could "
            "miss {worst} of them, and {limit} is allowed.",
            "fails": "The jury missed danger that every clinician saw in {counts} ({share}); {limit} is allowed.",
        },
        {"not known": _PUT_DANGER, "open": _RATE_DANGER, "fails": _READ_DANGER},
    ),
    "colleagues": RuleText(
        "Clinicians agree well enough to be imitated",
        "clinicians' own agreement ({title}) of {floor:g} or more",
        "Clinicians agree with one another well enough to be worth imitating.",
        "Coefficient of a with b over ordered pairs, each answer counted once; one-sided 95 % bound.",
        {
            "not known": "No two clinicians rated the same answers differently from case to case, so nobody knows "
            "how well clinicians agree.",
            "open": "Clinicians' own agreement ({value}) could be as low as {worst}; {floor:g} is needed to be "
            "worth imitating.",
            "fails": "Clinicians agree with one another too little ({value}; {floor:g} is needed): a jury that "
            "does as they do proves nothing.",
        },
        {
            "not known": _MORE_DOUBLY,
            "open": _MORE_DOUBLY,
            "fails": "Agree on what the grades mean, with examples, before clinicians rate again.",
        },
    ),
    # What must be so before the test means anything.
    "finished": RuleText(
        "The run is finished",
        "complete",
        "The run reached its end.",
        "The manifest's status is complete.",
        {
            "no run": "These ratings come from no run folder, so nobody recorded how the scores came about.",
            "fails": "The run is {state}.",
        },
        {
            "no run": "Let `medjury run` judge the answers, or name the scores as judges of a study "
            "(`kind: scores`).",
            "fails": "Finish the run: `medjury run STUDY` goes on where it stopped.",
        },
    ),
    "unchanged": RuleText(
        "The run folder is as it was written",
        "every hash as in the manifest",
        "Nobody touched the files afterwards.",
        "SHA-256 of every file of the run folder as in its manifest.",
        {
            "fails": "The run folder was changed after the run ({changed}): nobody can vouch for these numbers."
        },
        "Bring the run folder back from a copy, or run the study again.",
    ),
    "registered": RuleText(
        "The rules were stated before the run",
        "registered before the first rating, and unchanged",
        "What counts as good enough was written down before anybody saw a score.",
        "The first protocol for these cases was registered before the first rating, and the run keeps to it.",
        {
            "changed after a run": "The rules were changed after scores had been seen; only rules stated "
            "beforehand can validate a jury.",
            "another was first": "For these cases {name}, was the first, and its rules are different: the first "
            "counts. Put its rules into the study file and run again, which asks no question twice.",
            "another protocol": "The protocol in the manifest is not the one that was registered: its hash is "
            "different.",
            "other rules": "The rules are not those that were registered ({changed}); only rules stated "
            "beforehand can validate a jury.",
            "scores existed": "The rules were registered when {ratings:,} ratings of the same data existed already "
            "({run}): whoever stated them could have seen the scores.",
            "ledger": "The ledger of registrations is not whole ({problem}), so nobody knows which protocol "
            "was the first. Bring the file back from a copy.",
            "second try": "The same cases had been judged before under another protocol ({run}, {ratings:,} "
            "ratings): a second attempt proves less than the first. Judge other cases.",
            "erased": "{late:,} of the {cases:,} registered answers were erased after the first score, more than "
            "{most}: what is left may be what was convenient.",
            "no dates": "Nobody recorded when the scores were made, so nobody knows whether the rules were stated "
            "before them.",
            "too late": "The rules were registered after the first rating ({first}); rules that are chosen after "
            "the scores are known prove nothing.",
            "another study": "The rules were registered for another study than was run: {changed}.",
            "no run": "Nobody registered these rules before the scores were made. Rules that are chosen after the "
            "scores are known prove nothing.",
            "defaults": "No rules were stated before the run, so the default ones are shown. Rules that are chosen "
            "after the scores are known prove nothing.",
            "not registered": "Nobody registered the rules before the run: they may have been chosen after scores "
            "of the same cases had been seen. Register the next study first: `medjury register STUDY`.",
        },
        "State the rules before the next run: `medjury register STUDY`.",
    ),
    "limits": RuleText(
        "No limit is looser than ours",
        "the limits of docs/trusting-a-jury.md, or stricter",
        "No limit is looser than ours.",
        "Each stated limit is compared with the loosest that may be called VALIDATED.",
        {"fails": "The study states looser limits than VALIDATED allows: {loose}."},
        "State our limits or stricter ones, and register the next study.",
    ),
    "untouched": RuleText(
        "Held-out cases are untouched by tuning",
        "no case that any tuning has seen is counted",
        "No case that the judge was improved on is used to show how good it is.",
        "Cases that a tuning saw, by the hash of their content, are development cases in every study.",
        {"fails": "{used:,} of the cases were seen by {who}; agreement on them proves nothing."},
        "Test on cases that no tuning has seen.",
    ),
    "clinicians": RuleText(
        "Clinicians rated the cases",
        "{wanted} or more, rating as in practice",
        "Real clinicians rated the cases, as many as the study asks for.",
        "The reference is the scores of the stated number of people; ratings marked illustrative are refused.",
        {
            "made up": "The clinicians' ratings in this study were made up for a demonstration. Made-up ratings "
            "can never validate anything.",
            "none": "No clinician has rated these cases, so nobody knows whether the jury agrees with clinicians.",
            "too few": "{there} of the {wanted} clinicians that are needed rated the cases.",
        },
        _PANEL,
    ),
    "doubly_rated": RuleText(
        "Enough answers rated by two clinicians",
        "{wanted:,} answers",
        "Enough answers were rated by two clinicians to know what a colleague would say.",
        "Answers with two clinicians' scores that the jury was asked about.",
        {
            "fails": "{only} rated by two clinicians; {wanted:,} are needed to know what a colleague would say.",
        },
        "Have a second clinician rate more of the answers.",
    ),
    "distinct_cases": RuleText(
        "Enough different cases",
        "{wanted:,} patients or cases with different texts",
        "Enough different patients or cases are behind the numbers; one text under two ids is one case.",
        "Clusters (patients, else cases; equal texts are one) with two clinicians' scores.",
        {"fails": "{only} rated by two clinicians; {wanted:,} are needed{same}."},
        "Have a second clinician rate more of the answers.",
    ),
    "blinded": RuleText(
        "Clinicians were blind to the jury",
        "they had not seen its scores",
        "The clinicians had not seen the jury's scores.",
        "As the study states it; the panel knows it.",
        {"fails": "The clinicians had seen the jury's scores, and whoever has seen a score agrees with it."},
        "Have two clinicians rate some cases again without the jury's scores: `medjury plan blinded RUN`.",
    ),
    "coverage": RuleText(
        "The jury scored what it was asked to",
        "{wanted} or more",
        "The jury gave a score to nearly every answer it was asked about.",
        "Scored / (scored + unscored); not applicable is no excuse where a clinician could score.",
        {
            "not known": "The jury was asked about no answer.",
            "fails": "The jury gave a score to only {share} of the answers it was asked about.",
        },
        _RUN_AGAIN,
    ),
    "silence": RuleText(
        "Missing answers are not about quality",
        "p of {alpha:g} or more",
        "What the jury left out was neither better nor worse than the rest.",
        "Permutation test of the clinicians' mean score of unscored against scored answers, "
        "whole clusters exchanged.",
        {
            "fails": "The answers that the jury left without a score are not like the others (clinicians' mean "
            "{lost} against {others}): its numbers describe only what it chose to score.",
        },
        _RUN_AGAIN,
    ),
    "clinician_copy": RuleText(
        "The jury does not copy a clinician",
        "fewer than {limit} of its scores the same as one clinician's, unless colleagues come close",
        "The jury came to its scores by itself, and did not repeat one person's.",
        "Exact agreement with a single clinician at or above the limit, and above that of the "
        "clinician's colleagues by 0.05 or more; AUXILIARY where it differs from one clinician less than half as "
        "often as the others do and as from them, or where that clinician's error variance among the three (Grubbs "
        "1948) is below a third of a colleague's; one-sided t-tests on clustered answers.",
        {
            "open": "The jury is so much nearer to {whom} than to the other clinicians that {whom} errs far less "
            "than they do, or was copied: the scores cannot tell which.",
            "fails": "The jury gave the same score as {who} on {own} of the answers, where {who}'s own colleagues "
            "did on {others}: it repeats {who}, who cannot be its yardstick.",
        },
        {"open": f"{_LEAK} Else have clinicians rate who are as careful as {{whom}}.", "fails": _LEAK},
    ),
    "clinician_scores": RuleText(
        "The jury is not made of the clinicians' scores",
        "it neither lies between clinicians who differ nor repeats those who agree, beyond chance",
        "The jury did not see what the clinicians said: it neither lies between them always nor repeats them "
        "wherever they agree.",
        "For a rater who errs independently of two clinicians the mean product of its centred differences from "
        "them is its own error variance, never negative (Grubbs 1948); fails below -1/(2k) times theirs, k "
        "clinicians to an answer, one-sided clustered t-test; or where the jury differs from clinicians who "
        "agree in less than 0.2/2^k of the share in which they differ, exact one-sided 95 % bound.",
        {
            "between": "Where clinicians differ, the jury lies between them more often than anybody could who "
            "has not seen their scores.",
            "repeats": "Where clinicians agree, the jury says the same in all but {alone:,} of {agreed}: "
            "nobody is so sure of what clinicians say who has not seen their scores.",
        },
        _LEAK,
    ),
    "juror_copy": RuleText(
        "No juror copies another",
        "no two jurors with the same score on {share} of the answers, where clinicians differ",
        "No juror repeats another juror.",
        "Two jurors give the same score on 99 % of the answers or more, and clinicians do so by "
        "0.05 less at least.",
        {
            "fails": "{copies} give the same scores: they are one juror, and the jury has fewer votes than it "
            "seems.",
        },
        "Leave out all but one of the jurors that are the same.",
    ),
    "injection": RuleText(
        "The jury is not talked round",
        "planted instructions move the grade by less than {limit:g}",
        "The jury is not talked round by what the judged text says to it.",
        "Mean shift of the grade by planted instructions, as the injection audit measured it.",
        {
            "fails": "An instruction planted in the judged text ({kind}) raises the jury's grade by {shift}; less "
            "than {limit:g} is allowed.",
        },
        "State in the prompt that the judged text gives no orders, and audit again.",
    ),
    "scale_use": RuleText(
        "The jury uses the whole scale",
        "at no grade of a clinician more than {limit:g} from another clinician, beyond doubt",
        "Where a clinician gave the best grade, or the worst, the jury comes as near as another clinician does.",
        "Among answers to which a gave a grade, mean of jury minus b: shown beyond the offset limit, Holm.",
        {
            "fails": "Where a clinician gave {where}, the jury is far from what another clinician gave (by {off}; "
            "{limit:g} is allowed): it does not use the scale as clinicians do.",
        },
        "Say in the instrument what each grade means, with an example, and test on new cases.",
    ),
    # For which cases the word is earned.
    "systems_alike": RuleText(
        "The jury is not shown to be worse for any system",
        _NO_PART,
        "For no system is the jury shown to be worse than a colleague.",
        "The part tests of the scope on each system; those with too few cases are tested together.",
        {"fails": f"{_PART_FAILS} Whoever compares systems by its scores may be misled."},
        _KEEP_CLINICIAN,
    ),
    "steady": RuleText(
        "The jury is not shown to be worse at any time",
        _NO_PART,
        "At no time is the jury shown to be worse than a colleague.",
        "The part tests of the scope on slices of time.",
        {"fails": f"{_PART_FAILS} What is shown of the whole time does not hold of each part of it."},
        _KEEP_CLINICIAN,
    ),
    "singly_rated": RuleText(
        "The jury is not shown to be worse where one clinician rated",
        _NO_PART,
        "Where one clinician looked, the jury is not shown to be worse than where two did.",
        "The part tests of the scope on answers with one rating; a colleague's distance is the whole study's.",
        {
            "fails": f"{_PART_FAILS} What is shown where two clinicians rated does not hold for the other "
            "answers.",
        },
        _KEEP_CLINICIAN,
    ),
    "scope": RuleText(
        "The verdict has a scope",
        "{least} or more of the answers outside every part that fails",
        "What the verdict speaks of is most of what was judged.",
        "Answers outside every part that is shown to fail; two thirds of all or more.",
        {
            "not known": "The rules ask for a look at each {unknown}, and the ratings do not have it.",
            "fails": "The jury fails for {parts}: only {share} of the answers remain.",
            "nothing": "There is no answer of which a part could be looked at.",
        },
        {
            "nothing": "Have two clinicians rate answers that the jury scores.",
            "not known": "Record for every case what the rules ask for, and run the study again.",
            "fails": "Find out why the jury fails there; until then keep a clinician for these cases.",
        },
    ),
}
LINE_IDS = tuple(RULES)[:7]  # the lines of the colleague test


def beside_colleague(values: Mapping[str, float], danger: str) -> str:
    """What a colleague does and what the jury does, in one sentence; "" where nothing can be compared."""
    colleague, jury = values.get("agreement colleague", math.nan), values.get("agreement jury", math.nan)
    if not (math.isfinite(colleague) and math.isfinite(jury)):
        return ""
    text = f"A colleague agrees {shown(colleague)} with a clinician, the jury {shown(jury)}"
    missed, by_jury = (values.get(f"missed_danger {who}", math.nan) for who in ("colleague", "jury"))
    if danger and math.isfinite(missed):
        text += (
            f"; a colleague misses {percent(missed, 1)} of what a clinician calls dangerous ({danger}), the jury "
            f"{percent(by_jury, 1)}"
        )
    elif not danger:
        text += "; no danger is claimed on this dimension"
    return f"{text}."


def missed_sides(jury: float, colleague: float, digits: int = 1) -> str:
    """What the jury and a colleague miss, in the words of the rule on missed danger."""
    return (
        f"the jury misses {percent(jury, digits)} of what a clinician calls dangerous, a colleague "
        f"{percent(colleague, digits)}"
    )


_BARE = re.compile(r"(?<!\w )(?<![\w-])[Jj]ury(?![\w-])|(?<=\bby )jury(?![\w-])|(?<=\bof )jury(?= and)")


Units = Literal["answer", "mark", "pair"]  # what is counted: a mark is of one criterion of an answer
_AN, _ANSWER = re.compile(r"\b([Aa])n (?=answer\b)"), re.compile(r"\banswer(s?)\b")
# Of pairs: what is counted, and what a score above or below 0 is.
_COUNTED = re.compile(r"(?<=\d )answer(s?)\b")


def in_units(words: str, units: Units) -> str:
    """A sentence about answers, where marks or pairs are what is counted."""
    if units == "mark":
        return _ANSWER.sub(r"mark\1", _AN.sub(r"\1 ", words))
    if units == "pair":
        words = _COUNTED.sub(r"pair\1", words)
    return words


THIS_JUDGE = "this judge"  # where a heading names it


def about_judge(words: str, name: str = "") -> str:
    """A sentence about the jury, where it is about one judge that sits in none; without a name, where it holds for
    each of several judges."""
    if not name:
        return words.replace("The jury", "A judge").replace("the jury", "a judge")
    one, other = (name, name) if name.lower().startswith("judge") else (f"Judge {name}", f"judge {name}")
    if name == THIS_JUDGE:
        one, other = name.capitalize(), name
    named = words.replace("The jury", one).replace("the jury", other)
    # Heads and names of axes have no article; "a jury" or "this jury" speaks of juries, not of this one.
    return _BARE.sub(lambda _: name, named)
