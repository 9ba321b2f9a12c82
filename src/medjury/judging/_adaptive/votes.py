"""From the votes of an adaptive jury to one outcome. A vote that was lost keeps its seat, as in any jury: who is
silent must not decide by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from medjury.instruments import Outcome, Reason, Score, Unscored
from medjury.judging._counting.combine import combine

# What each juror that was asked said of one dimension, in the order of asking.
Ballots = Mapping[str, Sequence[Outcome]]


def has_quorum(ballots: Ballots) -> bool:
    """More than half of the jurors that were asked have voted, each by more than half of its draws."""
    return 2 * len(_voted(ballots)) > len(ballots)


def settle(ballots: Ballots, *, minimum: int, most_calls: int) -> Outcome:
    """One outcome: each juror's votes become one, then the jurors' votes one score."""
    votes = [
        (juror, vote) for juror, draws in ballots.items() for vote in draws if not isinstance(vote, Unscored)
    ]
    failures = {
        juror: draw for juror, draws in ballots.items() for draw in draws if isinstance(draw, Unscored)
    }
    told = "; ".join(f"{juror}: {each.reason.value}, {each.message}" for juror, each in failures.items())
    if not votes:
        return Unscored(list(failures.values())[-1].reason, f"no juror gave a usable vote ({told})")
    if len(votes) < minimum:
        return Unscored(Reason.NO_QUORUM, f"votes: {len(votes)} where {minimum} are needed ({told})")
    voted = _voted(ballots)
    if not has_quorum(ballots):
        counts = f"{len(voted)} of {len(ballots)} jurors asked gave a vote"
        return Unscored(Reason.NO_QUORUM, f"{counts}; more than half are needed ({told})")
    each = [combine(draws, seats=len(draws), rule="mean", quorum=1) for draws in voted.values()]
    together = combine(each, seats=len(ballots), rule="mean", quorum=1)
    if not isinstance(together, Score):
        return together
    calls = sum(map(len, ballots.values()))
    lost = f"; no vote from {told}" if told else ""
    words = _nearest(votes, together.value)
    return Score(
        together.value, f"{together.explanation}; {calls} of at most {most_calls} calls{lost}{words}"
    )


def _voted(ballots: Ballots) -> Ballots:
    """The usable votes of the jurors who gave more of them than they lost."""
    usable = {
        juror: [draw for draw in draws if not isinstance(draw, Unscored)] for juror, draws in ballots.items()
    }
    return {juror: votes for juror, votes in usable.items() if 2 * len(votes) > len(ballots[juror])}


def _nearest(votes: Sequence[tuple[str, Outcome]], value: float) -> str:
    """The words of the juror whose vote lies nearest to the score."""
    scored = [(juror, vote) for juror, vote in votes if isinstance(vote, Score)]
    juror, nearest = min(scored, key=lambda pair: abs(pair[1].value - value))
    return (
        f". {juror}, who gave {nearest.value:g}, said: {nearest.explanation}" if nearest.explanation else ""
    )
