"""The conclusion: what came of a run, in plain words, and the files that keep it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import is_full
from medjury.instruments import TRANSIENT, Reason
from medjury.intake.cases import RedactedCases
from medjury.judging import Progress
from medjury.models import audit_totals
from medjury.store.ratings import (
    RaterKind,
    RatingColumns,
    RatingCounts,
    Status,
    Store,
    StoreStopped,
    is_empty_file,
    rating_blocks,
    write_ratings,
    write_records,
)
from medjury.store.runs import Conclusion, Coverage, Manifest, RepliesRead, RunFolder, Units, file_hash, files
from medjury.studies._plan.case_facts import write_facts
from medjury.studies._plan.clinicians import Humans
from medjury.studies._plan.context_windows import left_out, left_out_lines
from medjury.studies._plan.manifest import answering_models, coverage, now
from medjury.studies._plan.plan import RunPlan
from medjury.studies._run.calls import pending_text
from medjury.studies._study.drafts import DraftedCases
from medjury.studies._study.metrics import rated_dimensions
from medjury.studies._study.study import Study

if TYPE_CHECKING:
    from medjury.validation import Word


# Counts the stored ratings of a run on their way into its table, so that nobody need read them once more.

_Kind = tuple[str, RaterKind, Status, Reason | None, str | None, str | None]


class Tally:
    """How many ratings of each kind have passed."""

    def __init__(self) -> None:
        self._found: Counter[_Kind] = Counter()

    def counting(self, blocks: Iterable[RatingColumns]) -> Iterator[RatingColumns]:
        """The ratings, but for those of text metrics, which have a way of their own into the table."""
        for block in blocks:
            if "metric" in block.rater_kind:
                block = block.at([place for place, kind in enumerate(block.rater_kind) if kind != "metric"])
            self._found.update(
                zip(
                    block.rater,
                    block.rater_kind,
                    block.status,
                    block.reason,
                    block.model_asked,
                    block.model_answered,
                    strict=True,
                )
            )
            yield block

    def counts(self) -> RatingCounts:
        """By rater, status and reason."""
        kinds: RatingCounts = Counter()
        for place in sorted(self._found, key=lambda each: (*each[:3], each[3] or "")):
            kinds[place[:4]] += self._found[place]
        return kinds

    def models(self) -> list[tuple[str, str, str, int]]:
        """By judge the models asked for and those that answered."""
        models: Counter[tuple[str, str, str]] = Counter()
        for (rater, kind, _, _, asked, answered), count in self._found.items():
            if kind == "judge" and answered is not None:
                models[rater, asked or "", answered] += count
        return [(*names, count) for names, count in models.items()]


@dataclass(frozen=True)
class RunResult:
    """What came of a run. `why` says in words why it is not complete."""

    status: Conclusion
    why: str
    folder: Path
    run: str
    progress: Progress
    calls: int
    money: float | None
    currency: str
    coverage: Coverage
    skipped: int
    drafting: tuple[str, ...] = ()  # what came of the drafts, where the study writes them
    unended: int = 0  # calls that were announced and have no end in the log
    judged: bool = True  # False where it was stopped before anything could be judged
    preflights: int = 0
    warnings: tuple[str, ...] = ()  # about the models that answered
    recorded: bool = False  # every answer came from a file
    from_files: bool = False  # every score did: there was no answer to read
    scores: tuple[str, ...] = ()  # what became of files of scores
    tokens_in: int = 0  # of the answers paid for now
    tokens_cached: int = 0  # of those, the tokens that the provider's prompt cache served

    def text(self) -> str:
        """The run in a few lines; a run that is not complete says so first."""
        covered = self.coverage
        lines = [f"{self.status.upper()}: {self.why}" if self.why else self.status.upper()]
        lines += [f"Warning: {warning}" for warning in self.warnings]
        if self.skipped:
            lines.append(f"{self.skipped:,} cases were left out because they could not be read")
        lines += self.drafting
        lines.append(covered.text())
        lines += [f"  unscored, {reason}: {count:,}" for reason, count in covered.unscored_by_reason.items()]
        lines += [f"In the file of {each}" for each in self.scores]
        if covered.replies is not None:
            lines.append(covered.replies.text())
        lines += left_out_lines(covered.shortened)
        if cut := covered.perhaps_cut:
            lines.append(
                f"{cut:,} prompts had more tokens than their endpoint says it read: it may have cut them; do not "
                "rely on these answers, and say `context_window: TOKENS` (see docs/judging/context-windows.md)"
            )
        money = "cost not known" if self.money is None else f"{self.money:.4g} {self.currency}"
        made = calls_made(self.calls, self.preflights)
        if self.from_files:
            made, money = "No model was asked: every score came from a file", "nothing was paid"
        elif self.recorded:
            made = f"No model was asked: {self.calls:,} recorded answers were read"
            money = "what they cost then is not known" if self.money is None else f"then {money}"
        lines.append(f"{made} ({money}); {self.progress.found:,} answers were stored already")
        if self.tokens_cached:
            share = 100 * self.tokens_cached / self.tokens_in
            lines.append(
                f"{share:.1f} % of {self.tokens_in:,} tokens in came from the provider's prompt cache"
            )
        if self.unended:
            lines.append(
                f"{self.unended:,} calls have no end in the log: a run was killed while they were on their way, or "
                "is still at work. They count as made, for they may have been answered and paid for"
            )
        lines.append(f"Run folder: {self.folder}")
        return "\n".join(lines)

    def content(self) -> dict[str, Any]:
        """The run as a program reads it."""
        return {
            "status": self.status,
            "why": self.why,
            "run": self.run,
            "folder": str(self.folder),
            "coverage": self.coverage.model_dump(mode="json"),
            "cases_skipped": self.skipped,
            "calls": self.calls,
            "money": self.money,
            "currency": self.currency,
            "answers_stored_already": self.progress.found,
            "drafting": list(self.drafting),
            "warnings": list(self.warnings),
            **({"scores": list(self.scores)} if self.scores else {}),
        }

    @cached_property
    def verdict(self) -> Word:
        """What the gate says of the first-named jury: its worst word over the dimensions."""
        from medjury.tables import open_run
        from medjury.validation import validate

        return validate(open_run(self.folder)).worst(first=True) if self.judged else "INCOMPLETE"

    def _repr_html_(self) -> str:
        """The same in a notebook."""
        word, *rest = self.text().splitlines()
        return f"<p><strong>{escape(word)}</strong></p><pre>{escape(chr(10).join(rest))}</pre>"


@dataclass
class WorkDone:
    """What the judging came to, before it is weighed."""

    progress: Progress
    calls: int = 0
    preflights: int = 0  # how many of the calls only asked whether a model is there
    money: float | None = 0.0
    tokens_in: int = 0  # of the answers paid for now, and those of them that a prompt cache served
    tokens_cached: int = 0
    pending: Mapping[str, int] = field(default_factory=dict)  # calls by the batch job that they wait in
    interrupted: bool = False
    fatal: str = ""
    unreachable: str = ""  # a model that is unavailable for now
    ask: bool = True  # False where only what is stored is read
    dropped: Mapping[str, list[str]] = field(default_factory=dict)  # what endpoints would not take of workers
    scored_elsewhere: tuple[str, ...] = ()  # metrics that workers scored: nothing of them is loaded here


def conclude(
    study: Study,
    plan: RunPlan,
    store: Store,
    run: str,
    outcome: WorkDone,
    manifest: Manifest,
    humans: Humans | None = None,
) -> RunResult:
    """Write what the run folder holds, and say plainly what came of the run."""
    stored = Tally()
    metrics = _stored_metrics(study, plan, store, run, outcome)
    rated = _export(study, store, run, study.output, metrics, stored)
    with ThreadPoolExecutor(1) as beside:
        # The second file is the first one over again: little of it is Python's, and the rest is done meanwhile.
        table = beside.submit(write_ratings, study.output / files.RATINGS, study.output / files.RATINGS_CSV)
        spent = audit_totals(study.output / files.AUDIT_LOG)
        covered = coverage(stored.counts())
        if spent.perhaps_cut:
            covered = covered.replaced(perhaps_cut=spent.perhaps_cut)
        if shortened := left_out(store.records(run)):
            covered = covered.replaced(shortened=shortened)
        if read := store.read_counts(run):
            covered = covered.replaced(replies=_replies_read(read))
        answered = tuple(answering_models(stored.models()))
        manifest = manifest.replaced(models_answered=answered).anchored(study.output)
        status, why = judge_outcome(study, outcome, covered, manifest)
        profiles, labels = ({}, {}) if humans is None else (humans.profiles, humans.labels)
        facts = write_facts(study.output, plan.patients, plan.known_of, plan.criteria, profiles, labels)
        written = [*rated, *facts]
        table.result()
    models = [model for model, _ in study.models]
    source = study.cases.source if isinstance(study.cases, DraftedCases) else study.cases
    if isinstance(source, RedactedCases):
        manifest = manifest.replaced(
            redactions=dict(source.counts), redaction_not_known=dict(source.not_known)
        )
    # What an endpoint would not take, although the study asks for it.
    dropped = {model.name: list(model.dropped) for model in models} | dict(outcome.dropped)
    done = outcome.progress.found + outcome.progress.judged
    manifest = manifest.replaced(
        settings_refused={name: words for name, words in dropped.items() if words},
        status=status,
        why=why,
        finished_at=now(),
        coverage=covered,
        units=Units(planned=outcome.progress.planned, done=done),
        # All that this study has ever paid, whatever became of it; answers found in the store cost nothing.
        calls=spent.calls,
        cost=spent.money if all(study.prices.price(model) is not None for model in models) else None,
        files={name: file_hash(study.output / name) for name in written}
        | (manifest.drafting.file if manifest.drafting else {}),
    )
    manifest.write(study.output)
    store.put_run(run, manifest.content())
    return RunResult(
        status,
        why,
        study.output,
        run,
        outcome.progress,
        outcome.calls,
        outcome.money,
        plan.currency,
        covered,
        plan.skipped,
        unended=max(0, spent.unended - sum(outcome.pending.values())),
        preflights=outcome.preflights,
        warnings=manifest.model_warnings(),
        recorded=all(model.recorded for model in models),
        from_files=not models,
        scores=tuple(each.text() for each in plan.scores),
        tokens_in=outcome.tokens_in,
        tokens_cached=outcome.tokens_cached,
    )


def _replies_read(counted: Counter[tuple[str, int]]) -> RepliesRead:
    """Replies by how they were read; those of an earlier version, which did not keep that, are not among them."""
    ways: Counter[str] = Counter()
    for (read_as, _), count in counted.items():
        ways[read_as] += count
    again = sum(count for (_, handed_back), count in counted.items() if handed_back)
    return RepliesRead(object=ways["object"], token=ways["token"], not_read=ways[""], asked_again=again)


def calls_made(calls: int, preflights: int) -> str:
    """How many calls were made, and how many of them held no case."""
    made = "1 call made now" if calls == 1 else f"{calls:,} calls made now"
    return f"{made}, {preflights:,} of them for preflight" if preflights else made


def judge_outcome(
    study: Study, outcome: WorkDone, covered: Coverage, manifest: Manifest
) -> tuple[Conclusion, str]:
    """Complete, incomplete or failed, and why."""
    progress = outcome.progress
    done = progress.found + progress.judged
    reasons = dict(covered.unscored_by_reason)
    capped = reasons.pop(Reason.OVER_BUDGET.value, 0)
    unread = reasons.pop(Reason.NOT_STORED.value, 0)
    if outcome.fatal:
        return "failed", outcome.fatal
    if outcome.unreachable:
        return "incomplete", f"{outcome.unreachable}. Run again to go on: nothing answered is lost"
    if outcome.pending:
        return "incomplete", pending_text(outcome.pending, study.file)
    if done < progress.planned:
        return "incomplete", f"{done:,} of {progress.planned:,} units of work are done; run again to go on"
    if capped and not outcome.ask:
        text = f"{capped:,} ratings of judges are not stored, and no model was asked"
        return "incomplete", f"{text}: `medjury run {study.file}` asks for them"
    if capped:
        return (
            "incomplete",
            f"the budget was reached: {capped:,} ratings were not asked for; raise it and run again",
        )
    if unread and manifest.reread is None:
        text = f"{unread:,} ratings have no score: the recorded answers hold none to their question"
        return (
            "incomplete",
            f"{text}. The cases, the instrument or a setting are not those of the recorded run",
        )
    if unread:
        return (
            "incomplete",
            f"{unread:,} ratings could not be read again: no reply to their question is stored",
        )
    answered = covered.scored + covered.not_applicable + sum(reasons.values())
    share = sum(reasons.values()) / answered if answered else 0.0
    if share > study.settings.max_unscored:
        listed = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
        return "failed", (
            f"{100 * share:.1f} % of the ratings are unscored, more than max_unscored "
            f"({100 * study.settings.max_unscored:g} %): {listed}. Once the cause is fixed, ask for them again: "
            f"`medjury run {study.file} --retry-unscored`; what is scored is not asked twice"
        )
    strict = {each.name for each in manifest.judges if each.others.get("model_check") == "strict"}
    for several in manifest.changed_models():
        if several[0].judge in strict:
            names = " and ".join(each.answered for each in several)
            return "failed", (
                f"{several[0].judge}: the model behind {several[0].asked} changed during the run ({names}), and "
                "model_check is strict; judge again with one of them, in a store of its own"
            )
    return "complete", ""


def _stored_metrics(study: Study, plan: RunPlan, store: Store, run: str, outcome: WorkDone) -> frozenset[str]:
    """The text metrics whose rows are taken from the store: those that workers of this run scored, and those of
    which an earlier run has stored every row and no passing failure. All others are computed."""
    if study.metrics is None or not study.metrics.for_workers:
        return frozenset()
    found: Counter[str] = Counter()
    for (rater, kind, _, reason), count in store.counts(run).items():
        if kind == "metric" and reason not in TRANSIENT:
            found[rater] += count
    whole = plan.cases * len(rated_dimensions(study.instrument))
    return frozenset(
        name for name in study.metrics.for_workers if name in outcome.scored_elsewhere or found[name] == whole
    )


def _export(
    study: Study, store: Store, run: str, folder: Path, metrics: Collection[str], stored: Tally
) -> list[str]:
    """Votes, the jury's rows, composites and text metrics, as Parquet, and the records of strategies of several
    steps, where there are any. `metrics` are those whose rows the store has; what it has of others is counted in
    `stored`. A half-written file never has the name. The files' names, with that of the same ratings as CSV."""
    ratings: Iterable[RatingColumns] = study.jury.blocks(stored.counting(store.blocks(run)))
    if metrics:
        ratings = chain(ratings, _of_metrics(store.blocks(run), metrics))
    if study.metrics is not None:
        rest = [name for name in study.metrics.models if name not in metrics]
        ratings = chain(
            ratings, rating_blocks(study.metrics.ratings(study.cases, study.instrument, now(), rest))
        )
    write_ratings(ratings, folder / files.RATINGS)
    recorded = write_records(store.records(run), folder / files.RECORDS)
    return [files.RATINGS, files.RATINGS_CSV, *([files.RECORDS] if recorded else [])]


def _of_metrics(blocks: Iterable[RatingColumns], names: Collection[str]) -> Iterator[RatingColumns]:
    """The ratings that these text metrics gave."""
    for block in blocks:
        raters = enumerate(zip(block.rater_kind, block.rater, strict=True))
        own = [place for place, (kind, rater) in raters if kind == "metric" and rater in names]
        if own:
            yield block.at(own)


def why_stopped(error: BaseException) -> str:
    """Why the run could not write on; nothing where the error is of another kind."""
    if isinstance(error, StoreStopped):
        return str(error)
    if is_full(error):
        return (
            f"there is no room left on the disk ({error}). Free some space and run again: it goes on from where it "
            "stopped"
        )
    return ""


def unfinished(
    study: Study, plan: RunPlan, run: str, outcome: WorkDone, manifest: Manifest, why: str
) -> RunResult:
    """The result of a run that could not write on. Its manifest says so, if there is room for it; else the one that
    was written before the first call says that the run is not complete."""
    with suppress(OSError, MedjuryError):
        stopped = manifest.replaced(status="incomplete", why=why, finished_at=now())
        stopped.anchored(study.output).write(study.output)
    return RunResult(
        "incomplete", why, study.output, run, outcome.progress, outcome.calls, outcome.money, plan.currency,
        Coverage(), plan.skipped, judged=False,
    )  # fmt: skip


def refuse_emptied_store(study: Study) -> None:
    """A store without a byte is not taken for a new one where the run folder knows of answers: all of them would be
    paid for again."""
    if not is_empty_file(study.store):
        return
    earlier = RunFolder(study.output).earlier()
    ratings = 0 if earlier is None else earlier.coverage.ratings
    calls = audit_totals(study.output / files.AUDIT_LOG).calls
    if ratings or calls:
        raise MedjuryError(
            f"{study.store}: is empty, but {study.output} knows of {calls:,} calls and {ratings:,} ratings that "
            "were kept in it. Put it back from a copy; or delete the file, and every answer is paid for again."
        )
