"""The drafting step of a study: drafts are written first, by the same engine, gate and store, and then judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import write_whole
from medjury.instruments import TRANSIENT, Reason
from medjury.intake.cases import Case
from medjury.judging import TOKENS_PER_DRAFT, Drafter, Jury, Progress
from medjury.store.ratings import Store
from medjury.store.runs import Conclusion, DraftCounts, Manifest, ManifestDrafting, file_hash, files
from medjury.studies._file.models import DraftingPart, JudgePart
from medjury.studies._plan.context_windows import left_out, left_out_lines
from medjury.studies._plan.manifest import coverage, describe_model, now, run_name
from medjury.studies._plan.plan import RunPlan, plan_study
from medjury.studies._run.conclude import RunResult, WorkDone, calls_made
from medjury.studies._study.drafts import DraftedCases, Drafts, Undrafted
from medjury.studies._study.study import Study

# How the work of a study is done; the run gives it, so that drafts are written as ratings are.
Work = Callable[[Study, RunPlan, Store, str], WorkDone]


@dataclass(frozen=True)
class DraftResult:
    """What came of drafting. `study` is the study with its drafts in place, ready to be judged."""

    status: Conclusion
    why: str
    study: Study
    file: Path
    run: str
    outcome: WorkDone
    counts: DraftCounts
    plan: RunPlan | None
    currency: str

    @property
    def stopped(self) -> bool:
        """Whether drafting ended before its end, so that there is nothing to judge yet."""
        return bool(self.outcome.fatal or self.outcome.unreachable) or self.outcome.interrupted

    @property
    def progress(self) -> Progress:
        return self.outcome.progress

    def content(self) -> dict[str, Any]:
        done = {"calls": self.outcome.calls, "money": self.outcome.money, "currency": self.currency}
        counts = self.counts.model_dump(mode="json")
        return {
            "status": self.status,
            "why": self.why,
            "run": self.run,
            "file": str(self.file),
            **counts,
            **done,
        }

    def text(self) -> str:
        """The drafts in a few lines; what is not complete says so first."""
        counts = self.counts
        lines = [f"{self.status.upper()}: {self.why}" if self.why else self.status.upper()]
        kept = f", {counts.kept:,} had an answer already" if counts.kept else ""
        lines.append(
            f"{counts.drafted:,} of {counts.cases:,} drafts written by {counts.system}{kept}, "
            f"{sum(counts.failed.values()):,} failed"
        )
        lines += [f"  failed, {reason}: {count:,}" for reason, count in counts.failed.items()]
        if counts.citations:
            lines.append(
                f"{counts.citations_invented:,} of {counts.citations:,} citations are invented: the note was not "
                "given, or does not hold the words"
            )
        lines += _not_given_lines(counts.sources)
        lines += left_out_lines(counts.shortened, files.DRAFTS)
        outcome = self.outcome
        money = "cost not known" if outcome.money is None else f"{outcome.money:.4g} {self.currency}"
        lines.append(
            f"{calls_made(outcome.calls, outcome.preflights)} ({money}); "
            f"{outcome.progress.found:,} drafts were stored already"
        )
        lines.append(f"Drafts: {self.file}")
        return "\n".join(lines)


def _not_given_lines(sources: Mapping[str, int]) -> list[str]:
    """What a reader would think was given and was not."""
    text = {
        "notes_with_unreadable_date": "notes have a date that cannot be read for sure: they come last",
        "labs_unreadable": "rows under labs are not values with name and value: they were not given",
        "labs_text_out_of_time": "cases have laboratory values without dates (free text): with `as_of` not given",
        "inputs_absent": "times a case had nothing under a name in `inputs`",
    }
    return [f"{sources[name]:,} {words}" for name, words in text.items() if sources.get(name)]


def drafting_study(study: Study) -> Study:
    """The study whose one judge is the drafter: it is planned, run, stopped and resumed as any study is."""
    part, drafter = _drafting(study)
    alone = study.settings.model_copy(update={"judges": [cast(JudgePart, part)], "repeats": 1})
    return replace(
        study,
        name=f"{study.name} drafts",
        settings=alone,
        instrument=drafter.instrument,
        jury=Jury([drafter]),
        cases=Undrafted(study.cases, part.existing),
        drafter=None,
        notes=(),
    )


def plan_drafting(study: Study) -> tuple[Study, RunPlan]:
    """The study as if every draft were a page long, and its plan: drafts first, then their judging."""
    _, drafter = _drafting(study)
    inner = drafting_study(study)
    drafts = plan_study(inner, rehearse=True) if _any(inner.cases) else None
    rehearsed = replace(study, cases=DraftedCases(study.cases, drafter, None))
    plan = plan_study(rehearsed, rehearse=True)
    longest = plan_study(
        replace(study, cases=DraftedCases(study.cases, drafter, None, longest=True)), asking=False
    )
    pairs = zip(plan.judges, longest.judges, strict=True)
    plan = replace(plan, judges=tuple(replace(usual, most=most.most) for usual, most in pairs))
    if drafts is None:
        return rehearsed, plan
    notes = [*plan.notes, *drafts.notes, f"drafts are counted as {TOKENS_PER_DRAFT:,} tokens each"]
    if drafts.lacking:
        notes.append(
            f"drafting: {drafts.lacking:,} cases lack what a draft is written from: they will be unscored"
        )
    return rehearsed, replace(plan, drafting=drafts.judges[0], notes=tuple(notes))


def write_drafts(study: Study, store: Store, work: Work) -> DraftResult:
    """Write every draft that is not in the store yet, and the file of them all."""
    _, drafter = _drafting(study)
    inner = drafting_study(study)
    drafts = Drafts(study.output / files.DRAFTS)
    outcome, plan, run = WorkDone(Progress()), None, ""
    if _any(inner.cases):
        plan = plan_study(inner)
        run = run_name(inner, plan)
        store.put_run(run, {"study": study.name, "drafting": drafter.system, "started_at": now()})
        outcome = work(inner, plan, store, run)
        drafts.write(store, run)
    else:
        write_whole(drafts.file, b"")
    counts = DraftCounts(
        system=drafter.system,
        cases=0 if plan is None else plan.cases,
        kept=cast(Undrafted, inner.cases).kept,
        drafted=drafts.counts["drafted"],
        citations=drafts.counts["citations"],
        citations_invented=drafts.counts["citations_invented"],
        failed=dict(drafts.failed.most_common()),
        sources=drafts.sources,
    )
    if run and (shortened := left_out(store.records(run))):
        counts = counts.replaced(shortened=shortened)
    status, why = _status(study, outcome, counts)
    drafted = replace(study, cases=DraftedCases(study.cases, drafter, drafts))
    return DraftResult(status, why, drafted, drafts.file, run, outcome, counts, plan, study.prices.currency)


def describe_drafting(result: DraftResult) -> ManifestDrafting:
    """What the manifest says of the drafts: which model wrote them, from what, and what came of it."""
    _, drafter = _drafting(result.study)
    known = {
        "run": result.run,
        "model": describe_model(drafter.speaker.model),
        "settings_hash": drafter.settings_hash(),
        "status": result.status,
        "file": {files.DRAFTS: file_hash(result.file)},
    }
    return ManifestDrafting.model_validate({**drafter.describe(), **result.counts.content(), **known})


def with_drafts(manifest: Manifest, result: DraftResult) -> Manifest:
    """The manifest with the drafting, and with its vendor where the audit of self-preference looks for it."""
    _, drafter = _drafting(result.study)
    vendors = {drafter.system: drafter.vendor, **(manifest.report.system_vendors or {})}
    return manifest.replaced(
        drafting=describe_drafting(result), report=manifest.report.replaced(system_vendors=vendors)
    )


def conclude_drafting(result: DraftResult) -> RunResult:
    """The end of a run that was stopped while drafts were written: nothing was judged yet."""
    study = result.study
    drafting = describe_drafting(result)
    Manifest(
        format=Manifest.FORMAT,
        study=study.name,
        status=result.status,
        why=result.why,
        finished_at=now(),
        drafting=drafting,
        files=drafting.file,
    ).write(study.output)
    outcome = result.outcome
    return RunResult(
        result.status,
        result.why,
        study.output,
        result.run,
        outcome.progress,
        outcome.calls,
        outcome.money,
        result.currency,
        coverage(Counter()),
        study.cases.skipped,
        _lines(result),
        judged=False,
        preflights=outcome.preflights,
    )


def with_drafting(result: RunResult, drafts: DraftResult) -> RunResult:
    """What came of a run, the drafting that went before it included."""
    spent = (result.money, drafts.outcome.money)
    money = None if None in spent else sum(each or 0.0 for each in spent)
    calls = result.calls + drafts.outcome.calls
    preflights = result.preflights + drafts.outcome.preflights
    return replace(result, calls=calls, money=money, preflights=preflights, drafting=_lines(drafts))


def _lines(drafts: DraftResult) -> tuple[str, ...]:
    return tuple(drafts.text().splitlines()[1:-2])


def _status(study: Study, outcome: WorkDone, counts: DraftCounts) -> tuple[Conclusion, str]:
    done = outcome.progress.found + outcome.progress.judged
    if outcome.fatal:
        return "failed", outcome.fatal
    if outcome.unreachable:
        return "incomplete", f"{outcome.unreachable}. Run again to go on: nothing answered is lost"
    if outcome.interrupted or done < outcome.progress.planned:
        return "incomplete", f"{done:,} of {outcome.progress.planned:,} drafts are done; run again to go on"
    failed = counts.failed
    passing = sum(count for reason, count in failed.items() if Reason(reason) in TRANSIENT)
    if passing:
        return "incomplete", f"{passing:,} drafts could not be written for now; run again to go on"
    share = sum(failed.values()) / max(1, counts.cases)
    if share > study.settings.max_unscored:
        return "failed", (
            f"{100 * share:.1f} % of the drafts failed, more than max_unscored "
            f"({100 * study.settings.max_unscored:g} %)"
        )
    return "complete", ""


def _drafting(study: Study) -> tuple[DraftingPart, Drafter]:
    part = study.settings.drafting
    if part is None or study.drafter is None:
        raise MedjuryError(f"{study.file}: has no `drafting:` part, so there is nothing to draft")
    return part, study.drafter


def _any(cases: Iterable[Case]) -> bool:
    return any(True for _ in cases)
