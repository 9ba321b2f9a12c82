"""Criteria are drafted for the cases of a study: through the gate that every call passes, into the file that the
study names, where they wait for a clinician."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from medjury.foundation.clock import utc_now
from medjury.foundation.documents import read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Unscored
from medjury.intake.cases import Case, WrittenCriterion, read_written_criteria, write_written_criteria
from medjury.judging import BREAKER, Breaker, Speaker, propose_criteria, run_async
from medjury.models import (
    AuditLog,
    Budget,
    ChatModel,
    Gate,
    Limits,
    ModelError,
    PriceList,
    audit_totals,
    make_model,
)
from medjury.statistics import counted
from medjury.store.ratings import StoreDesk, open_store
from medjury.store.runs import RunFolder, files
from medjury.studies._file.models import CriteriaDraftingPart
from medjury.studies._file.study_file import RatedStudyFile
from medjury.studies._plan.clinicians import panel_file
from medjury.studies._run.calls import check_store_host
from medjury.studies._study.material import named, read_material
from medjury.studies._study.study import store_address

NAME = "criteria_drafting"  # the model's name in the audit log


@dataclass
class DraftedCriteria:
    """What came of it. `kept` are cases for which criteria are in the file already."""

    file: Path
    study: Path
    model: str
    cases: int = 0
    kept: int = 0
    drafts: int = 0
    invented: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    calls: int = 0

    def text(self) -> str:
        drafted = counted(self.cases - sum(self.failed.values()), "case")
        lines = [f"{counted(self.drafts, 'draft')} for {drafted} in {self.file}"]
        if self.kept:
            lines.append(f"{counted(self.kept, 'case')} left as they are: the file has criteria for them")
        lines += [
            f"{counted(count, 'case')} without a draft: {why.replace('_', ' ')}"
            for why, count in self.failed.most_common()
        ]
        if self.invented:
            lines.append(
                f"{counted(self.invented, 'quotation')} of the model in no text of the case, left out"
            )
        lines.append(
            f"No draft counts before a clinician accepts it: `medjury panel serve {self.study}`, then *Criteria*"
        )
        return "\n".join(lines)


def draft_criteria(path: str | Path) -> DraftedCriteria:
    """Let the model of `criteria_drafting` propose criteria for every case that has none in the file."""
    document = read_document(path)
    settings = validate(document, RatedStudyFile)
    part, folder = settings.criteria_drafting, Path(document.file).resolve().parent
    if part is None:
        raise MedjuryError(
            f"{document.file}: name the model that proposes: `criteria_drafting: {{kind: ..., model: ...}}`"
        )
    if (file := settings.cases.criteria_in(folder)) is None:
        problem = "say where criteria are kept: `cases: {path: FILE, criteria: criteria.jsonl}`"
        raise MedjuryError(document.complaint(("cases",), problem))
    model = named(
        document, ("criteria_drafting",), lambda: make_model(part.kind, name=NAME, **part.options_in(folder))
    )
    begun = {each.case for each in read_written_criteria(file)}
    cases = {case.id: case for case in read_material(document, settings).cases}
    done = DraftedCriteria(
        file, Path(document.file), str(part.options.get("model") or part.kind), kept=len(begun & cases.keys())
    )
    wanted = [case for name, case in cases.items() if name not in begun]
    done.cases = len(wanted)
    output = settings.output_in(folder)
    store = named(document, ("store",), lambda: store_address(settings.store, folder, output))
    check_store_host(store, settings.allow_hosts)
    prices = PriceList.shipped()
    if part.price is not None:
        prices = prices.with_price(model, **part.price.model_dump())
    RunFolder(output).prepare(shared=settings.share == "group", study_file=Path(document.file))
    comments = _comments(panel_file(Path(document.file), settings.study)) if part.comments else {}
    log, caps = output / files.AUDIT_LOG, settings.budget
    limits = {model.name: Limits(part.concurrency, part.requests_per_minute, part.tokens_per_minute)}

    async def work() -> list[WrittenCriterion]:
        with open_store(store) as opened:
            async with StoreDesk(opened, f"{settings.study}@criteria") as desk:
                gate = Gate(
                    cache=desk,
                    budget=Budget.after(audit_totals(log), caps.money, caps.calls),
                    audit=AuditLog(log),
                    allow_hosts=settings.allow_hosts,
                    prices=prices,
                    limits=limits,
                )
                gate.check([model])
                BREAKER.set(Breaker())  # what cannot succeed ends; what was answered is in the store
                try:
                    return await _propose(gate, model, part, wanted, comments, done)
                except ModelError as error:
                    again = "Nothing answered is lost: do the same again when the model can be reached."
                    raise MedjuryError(f"no criteria were drafted: {error.message}\n{again}") from None
                finally:
                    await model.close()

    found = run_async(work())
    decided = read_written_criteria(file)  # meanwhile, by clinicians
    there = {each.case for each in decided}
    drafts = [each for each in found if each.case not in there]
    done.drafts = len(drafts)
    if drafts:
        write_written_criteria(file, [*decided, *drafts])
    return done


async def _propose(
    gate: Gate, model: ChatModel, part: CriteriaDraftingPart, cases: Sequence[Case],
    comments: dict[str, list[str]], done: DraftedCriteria,
) -> list[WrittenCriterion]:  # fmt: skip
    speaker = Speaker(model, part.temperature, part.seed, part.max_tokens, part.reasks)
    at_once = asyncio.Semaphore(part.concurrency or 8)

    async def one(case: Case) -> list[WrittenCriterion]:
        async with at_once:
            found = await propose_criteria(
                gate,
                speaker,
                case,
                most=part.per_case,
                comments=comments.get(case.id, ()),
                instructions=part.instructions,
            )
        if isinstance(found, Unscored):
            done.failed[found.reason.value] += 1
            return []
        criteria, invented = found
        done.invented += invented
        known = {each.text.casefold() for each in case.criteria}
        return [
            WrittenCriterion(
                case=case.id, id=each.id, text=each.text, points=each.points, quote=each.quote, state="draft",
                model=done.model, at=utc_now(),
            )
            for each in criteria
            if each.text.casefold() not in known
        ]  # fmt: skip

    tasks = [asyncio.ensure_future(one(case)) for case in cases]
    try:
        found = [each for of_case in await asyncio.gather(*tasks) for each in of_case]
    finally:  # where one ends it all, none goes on behind it
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return found


def _comments(file: Path) -> dict[str, list[str]]:
    """What clinicians noted on answers to each case, where the panel's ratings are beside the study."""
    if not file.is_file():
        return {}
    import polars as pl

    noted = pl.read_parquet(file, columns=["item", "comment"]).filter(pl.col("comment").fill_null("") != "")
    found: dict[str, list[str]] = {}
    for item, comment in noted.unique(maintain_order=True).sort("item", "comment").iter_rows():
        found.setdefault(item, []).append(comment)
    return found
