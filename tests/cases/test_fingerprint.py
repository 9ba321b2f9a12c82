"""The fingerprint of a case is the hash of plain JSON, however it is come by: stored ratings hang on it."""

from __future__ import annotations

import hashlib
import json

from hypothesis import example, given
from hypothesis import strategies as st

from medjury.intake.cases import Case, Note

LONG = "Reports no chest pain. " * 20
ODD = st.text(st.sampled_from('ab \n\t"\\\x00\x1f\x7f\x85\xa0\u2028é😀\ud800\udc80'), max_size=8)
TEXT = st.text(max_size=20) | ODD | ODD.map(lambda text: LONG + text + LONG)
NAMED = st.dictionaries(st.sampled_from(["question", "a", "é", '"']), TEXT, max_size=3)
KNOWN = st.dictionaries(ODD, TEXT | st.integers() | st.booleans() | st.floats(allow_nan=False), max_size=3)
NOTES = st.lists(st.builds(Note, TEXT, TEXT, st.none() | TEXT, st.none() | TEXT), max_size=2).map(tuple)
CASES = st.builds(
    Case, TEXT, st.none() | TEXT, st.none() | TEXT, NAMED, NOTES, TEXT, TEXT, st.none() | TEXT, KNOWN
)


def content(case: Case) -> str:
    notes = [[note.id, note.text, note.date, note.kind] for note in case.notes]
    return json.dumps(
        {
            "id": case.id,
            "candidate": case.candidate,
            "reference": case.reference,
            "texts": dict(case.texts),
            "notes": notes,
            "system": case.system,
            "vendor": case.vendor,
            "patient": case.patient,
            "metadata": dict(case.metadata),
        },
        sort_keys=True,
    )


@given(CASES)
@example(Case(""))
@example(Case("1", LONG, LONG + "\x7f", {"question": LONG}, (Note("1", LONG),), metadata={"age": 54}))
def test_a_fingerprint_is_the_hash_of_plain_json(case: Case) -> None:
    assert case.fingerprint() == hashlib.sha256(content(case).encode()).hexdigest()


@given(CASES)
@example(Case("1", LONG, texts={"question": LONG}))
@example(Case("1", LONG + "\n"))
def test_a_case_is_plain_where_json_writes_every_sign_as_it_is(case: Case) -> None:
    assert case.plain == ("\\" not in content(case))


def test_a_text_that_is_a_kind_of_its_own_is_hashed_as_text() -> None:
    class Word(str):
        pass

    assert Case("1", Word(LONG)).fingerprint() == Case("1", LONG).fingerprint()
