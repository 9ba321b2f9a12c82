"""Claims as cases of their own, so that clinicians can give their verdicts on the very same claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from medjury.foundation.errors import MedjuryError
from medjury.intake.cases import Case, Note
from medjury.judging._claims.body import ClaimsBody
from medjury.store.runs import Record


def claim_cases(cases: Iterable[Case], records: Iterable[Record[ClaimsBody]]) -> Iterator[Case]:
    """One case for each claim of a run, to be rated by the instrument `claims`; the records of a run folder are
    `Records(FOLDER / "records.jsonl").of(ClaimsBody)`.

    Its id is the answer's and the claim's number; its reference is the text that the claim was held against. What
    the judge said of it is left out: who rates it must not know. Repeats and a second dimension give cases of
    their own, told apart in the id.
    """
    known = {(case.id, case.system): case for case in cases}
    for record in records:
        body = record.body
        case = known.get((record.item, record.system))
        if case is None:
            raise MedjuryError(
                f"the record of {record.item!r} has no case among those given; give the cases of the same study"
            )
        reference = _text(case.input(body.against))
        question = case.input("question")
        for claim in body.claims:
            parts = [record.item, body.dimension, record.rater, str(record.repeat)]
            yield Case(
                f"{'/'.join(parts)}#{claim.number}",
                claim.claim,
                reference,
                {"question": question} if isinstance(question, str) else {},
                system=case.system,
                vendor=case.vendor,
                patient=case.patient or case.id,
            )


def _text(value: str | tuple[Note, ...] | None) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return "\n\n".join(f"[{note.id}]\n{note.text}" for note in value)
