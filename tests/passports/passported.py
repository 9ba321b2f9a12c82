"""A small registered study whose jury and clinicians agree, and its run: what a passport is made of."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.loopback import Call, LoopbackServer

from medjury.foundation.documents import read_document
from medjury.in_use.passports import Passport
from medjury.in_use.passports._document import (
    PassportAudits,
    PassportClinicians,
    PassportRun,
    PassportScope,
    PassportVerdict,
)
from medjury.in_use.passports._population import population_of
from medjury.in_use.passports._rebuilding import jury_of, travelling_settings
from medjury.intake.cases import Case
from medjury.store.runs import AnsweringModel, GateRules, LogAnchor
from medjury.studies import load_study, register_study, run_study

_SAID = "cough fever rash pain since days no allergy daily dose plan review stable mild chest clear"
WORDS = _SAID.split(" ")
CLINICIANS = ("Dr Abendroth", "Dr Birnbaum")
# An endpoint that is named and never asked.
NOBODY: Any = SimpleNamespace(url="http://127.0.0.1:1/v1", endpoint=SimpleNamespace())


def grade(number: int) -> int:
    return number % 5 + 1


def patient(number: int) -> str:
    return f"MRN-77{number:04d}"


def as_clinicians(call: Call) -> str:
    """The grade that the clinicians give too."""
    number = int(re.findall(r"Visit (\d+)\.", call.prompt)[-1])
    return "ok:" + json.dumps({"accuracy": {"explanation": "so it is", "score": grade(number)}})


def row(
    number: int,
    *,
    system: str = "a",
    specialty: str | None = "cardiology",
    words: int = 12,
    age: int | None = None,
    **more: Any,
) -> dict[str, Any]:
    """One case, as a line of a file of cases has it."""
    said = " ".join(
        WORDS[(number * 7 + each * (1 + number % 3)) % len(WORDS)] for each in range(words + number % 5)
    )
    metadata: dict[str, Any] = {} if specialty is None else {"specialty": specialty}
    metadata["age"] = 30 + number % 60 if age is None else age
    metadata.update(more)
    return {
        "id": f"case-{number:03d}",
        "system": system,
        "patient": patient(number),
        "candidate": f"Visit {number}. {said}.",
        "texts": {"context": f"Visit {number}. {said} {said}."},
        "metadata": metadata,
    }


def write_rows(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return file


def write_study(folder: Path, server: LoopbackServer, *, cases: int = 150, **settings: Any) -> Path:
    """The study file, its cases and two clinicians who rated all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    server.endpoint.behaviours = as_clinicians
    write_rows(folder / "cases.jsonl", [row(number) for number in range(cases)])
    lines = [
        f"case-{number:03d},a,{rater},accuracy,{grade(number)}"
        for number in range(cases)
        for rater in CLINICIANS
    ]
    (folder / "humans.csv").write_text("\n".join(["item,system,rater,dimension,score", *lines]) + "\n")
    study: dict[str, Any] = {
        "study": "small",
        "cases": "cases.jsonl",
        "instrument": "note_quality",
        "dimensions": ["accuracy"],
        "judges": [{"kind": "openai", "name": "juror", "url": server.url, "model": "m", "temperature": 0}],
        "humans": {"path": "humans.csv"},
        "report": {"resamples": 200},
    } | settings
    file = folder / "study.yaml"
    file.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in study.items()))
    return file


def validated_run(folder: Path, server: LoopbackServer, *, registered: bool = True, **settings: Any) -> Path:
    """The run folder of that study, registered first."""
    return run_of(write_study(folder, server, **settings), registered=registered)


def run_of(file: Path, *, registered: bool = True) -> Path:
    """The run folder of a study file, registered first."""
    study = load_study(file)
    if registered:
        register_study(study)
    assert run_study(study).status == "complete"
    return study.output


def by_hand(folder: Path, **settings: Any) -> Passport:
    """A passport of that jury, without a run: for what is decided before anything is asked."""
    file = write_study(folder, NOBODY, cases=60, **settings)
    study, instruments = travelling_settings(read_document(file))
    scope = PassportScope(why={}, cases={}, cuts={})
    verdict = PassportVerdict(
        dimension="accuracy", label="Accuracy", word="VALIDATED", scope=scope, rules=(), numbers=(), scores={}
    )
    passport = Passport(
        format="judge card", format_version="1.0", made_with="medjury 1", made_at="2026-01-01T00:00:00+00:00",
        expires_at="2027-01-01T00:00:00+00:00", expires_days=365, force="validated", rater="juror",
        jury=jury_of(load_study(file), (AnsweringModel(judge="juror", asked="m", answered="m"),)),
        study=study,
        instruments=instruments,
        rules=GateRules(),
        verdicts=(verdict,),
        population=population_of([Case(**row(number)) for number in range(60)]),
        clinicians=PassportClinicians(
            reference=2, second_panel=0, ratings=120, consensus="mean", blinded=None, illustrative=False
        ),
        audits=PassportAudits(findings=(), not_made={"all": "made by hand"}),
        run=PassportRun(
            run="small@1", finished_at="2026-01-01T00:00:00+00:00", manifest_hash="a" * 64, audit_log=LogAnchor(),
            data_hash="d" * 64, protocol_hash="b" * 64, registered_at="2025-12-31T00:00:00+00:00",
        ),
    )  # fmt: skip
    return passport.sealed()
