"""Where the columns of a row go is found once for all rows with the same columns: nothing else may come of it."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from medjury.intake.cases._mapping import _MOST_LAYOUTS, ColumnMapping
from medjury.intake.cases._mapping_file import column_mapping
from medjury.intake.cases._row import Fields, Problems

COLUMNS = st.sampled_from(
    ["id", "candidate", "system", "notes", "texts", "metadata", "texts.a", "metadata.a", "a", "sex", "labs",
     "out", "out.text", "out[0]", "q", ""]
)  # fmt: skip
VALUES = (
    st.none()
    | st.text(max_size=3)
    | st.integers()
    | st.just({"a": "x", "text": "y"})
    | st.just('{"text": 1}')
)
ROWS = st.lists(st.dictionaries(COLUMNS, VALUES, max_size=8), max_size=4)
NAMED = st.dictionaries(st.sampled_from(["a", "question"]), COLUMNS.filter(bool), max_size=2)
MAPPINGS = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "id": COLUMNS.filter(bool),
        "candidate": COLUMNS.filter(bool),
        "notes": COLUMNS.filter(bool) | st.lists(COLUMNS.filter(bool), min_size=1, max_size=2),
        "texts": NAMED,
        "metadata": NAMED,
        "constants": st.dictionaries(
            st.sampled_from(["system", "site", "a"]), st.text(max_size=2), max_size=2
        ),
    },
)


class Row(dict[str, object]):
    """A row that no layout is used for."""


@given(MAPPINGS, ROWS)
@example(None, [{"id": "1", "a": "x"}, {"id": "1", "a": 5}])
@example({"texts": {"a": "out.text"}}, [{"out": {"text": "y"}}, {"out.text": "z"}])
def test_a_row_is_classified_as_if_it_were_the_first(mapping: dict[str, Any] | None, rows: list[Row]) -> None:
    columns = ColumnMapping() if mapping is None else column_mapping(mapping)
    for row in rows:
        told: list[tuple[Fields, list[Any], Problems]] = []
        for each in (row, Row(row)):
            problems: Problems = []
            found = columns.classify(each, problems)
            told.append((found, [list(found.texts), list(found.metadata)], problems))
        assert told[0] == told[1]


def test_rows_of_ever_other_columns_are_not_all_remembered() -> None:
    columns = ColumnMapping()
    for number in range(2 * _MOST_LAYOUTS + 1):
        assert columns.classify({f"column {number}": "x"}, []).texts == {f"column {number}": "x"}
    assert len(columns._layouts) <= _MOST_LAYOUTS
