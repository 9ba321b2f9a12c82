"""A study whose one rater answers: each model under test is asked its prompts as judges are asked theirs, through
the same plan, gate, store, budget and log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from medjury.intake.cases import Case, GivenCases
from medjury.judging import Answerer, Jury, Speaker
from medjury.models import make_model
from medjury.studies._file.models import CasesPart, JudgePart, ModelPart
from medjury.studies._file.study_file import BudgetPart, StudyFile
from medjury.studies._study.study import Study


def answering_study(
    name: str,
    file: Path,
    part: ModelPart,
    cases: Iterable[Case],
    *,
    system: str,
    output: Path,
    store: str,
    allow_hosts: Sequence[str] = (),
    money: float | None = None,
    calls: int | None = None,
) -> Study:
    """The study that asks one model, called `system`, the `prompt` of every case. Nothing is asked yet. `file` is
    the file that names the model: paths in it lie beside that file."""
    model = make_model(part.kind, name=system, **part.options_in(file.parent))
    speaker = Speaker(model, part.temperature, part.seed, part.max_tokens, reasks=0, token=False)
    answerer = Answerer(speaker, own_limit="max_tokens" in part.model_fields_set)
    # A model that declines to answer is a finding about it, and does not make its run a failed one.
    settings = StudyFile(
        study=name,
        cases=CasesPart(path="the items of the benchmarks"),
        instrument=answerer.instrument.name,
        judges=[JudgePart.model_validate(part.model_dump(exclude_unset=True) | {"name": None})],
        jury="none",  # type: ignore[arg-type]  # as a file says it
        allow_hosts=list(allow_hosts),
        budget=BudgetPart(money=money, calls=calls),
        max_unscored=1.0,
    )
    return Study(
        name,
        file,
        settings,
        answerer.instrument,
        Jury([answerer], benches=()),
        GivenCases(cases),
        output,
        store,
        ((model, part),),
    )
