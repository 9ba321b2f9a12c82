"""Finding the JSON in what a model wrote: repaired where it has one reading, refused where it has two."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medjury.instruments import AnswerError, extract_json

ANSWER = {"accurate": {"explanation": "Dose is wrong.", "score": 2}, "thorough": 4}
PLAIN = json.dumps(ANSWER)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"\ufeff  {PLAIN}\n",
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}\n```\nHope this helps.",
        f"Here is my assessment:\n\n{PLAIN}\n\nLet me know {{if}} more is needed.",
        f"<think>First I thought {{'accurate': 1}}, then {{\"accurate\": 5}}.</think>\n{PLAIN}",
        f"<thinking>\nno JSON here\n</thinking>```json\n{PLAIN}```",
        f'the template left its opening tag out {{"accurate": 1}}</think>{PLAIN}',
        PLAIN.replace("}", ",}"),
        PLAIN.replace('"', "'"),
        PLAIN.replace('": "', '": “').replace('", "', '”, "').replace('."', ".”"),
        f"{PLAIN}\nTo repeat: {PLAIN}",
    ],
)
def test_one_answer_is_found_whatever_stands_around_it(text: str) -> None:
    assert extract_json(text) == ANSWER


def test_python_words_are_read() -> None:
    assert extract_json("{'a': None, 'b': True, 'c': [False, 1.5, -2],}") == {
        "a": None,
        "b": True,
        "c": [False, 1.5, -2],
    }


def test_an_apostrophe_inside_a_single_quoted_text_does_not_end_it() -> None:
    assert extract_json("{'why': 'the patient's dose isn't given', 'score': 3}") == {
        "why": "the patient's dose isn't given",
        "score": 3,
    }


def test_escapes_and_raw_line_breaks_in_texts_are_read() -> None:
    assert extract_json('{"why": "one\ntwo", "quote": "a \\"b\\" \\u00e9 \\n"}') == {
        "why": "one\ntwo",
        "quote": 'a "b" é \n',
    }
    assert extract_json("{'why': 'a \\'b\\' \\xe9 \\u00e9 \\d',}") == {"why": "a 'b' é é \\d"}


def test_a_whole_array_is_an_answer() -> None:
    assert extract_json('```json\n[{"claim": "a"}]\n```'.replace("```json\n", "").replace("\n```", "")) == [
        {"claim": "a"}
    ]


def test_objects_with_an_expected_key_win_over_others() -> None:
    text = 'Settings: {"temperature": 0}. {"accurate": 3}'
    assert extract_json(text, ["accurate"]) == {"accurate": 3}


def test_a_fence_gives_an_object_no_right_over_another() -> None:
    """The fenced one may be a quotation of the note that is being judged."""
    with pytest.raises(AnswerError, match="2 different"):
        extract_json(
            'The note says\n```json\n{"accurate": 5}\n```\nI ignore that. {"accurate": 2}', ["accurate"]
        )


def test_an_end_tag_quoted_inside_the_reasoning_does_not_end_it() -> None:
    text = '<think>The note says "</think>{"accurate": 5}", a trick.</think>\n{"accurate": 2}'
    assert extract_json(text, ["accurate"]) == {"accurate": 2}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("I cannot rate this.", "no JSON object"),
        ("4", "no JSON object"),
        ('"4"', "no JSON object"),
        ('{"accurate": 3} or rather {"accurate": 4}', "2 different JSON objects"),
        ('{"accurate": 3, "accurate": 4}', "twice"),
        ("{'accurate': 3, 'accurate': 4}", "twice"),
        ('{"a": {"score": 3, "score": 3}}', "twice"),
        ('{"accurate": NaN}', "NaN"),
        ('{"accurate": -Infinity}', "Infinity"),
        ('{"accurate": 1e999}', "too large"),
        ("{'accurate': 1e999}", "too large"),
        ('{"accurate": {"explanation": "cut off he', "not closed"),
        ('{"accurate": {"score": 4}, "thorough": {"expl', "not closed"),
        ('{"accurate": 4', "stops too early"),
        ('{"accurate": }', "value is missing"),
        ('{"accurate": 4 "thorough": 3}', "no comma"),
        ("{accurate: 4}", "no JSON object"),
        ('The form is {"accurate": <1-5>}. My answer: {"accurate": 4}', "beside a whole JSON object"),
        ('The text claims {"accurate": 5} but my grade is {accurate: 1}', "beside a whole JSON object"),
        ('It says {"accurate": 5}. Mine: {', "beside a whole JSON object"),
        ('Sure. <think>It says {"accurate": 5}', "never ended"),
        (
            '{"accurate": {"explanation": "It says "x", "score": 5}} and is bad", "score": 1}}',
            "no JSON object",
        ),
        ('It says {"accurate": 5}} and', "brace is left over"),
        ('{"accurate": 04}', "value is missing"),
        ("<think>I never stop thinking", "never ended"),
        ('{"a":' * 3000 + "1" + "}" * 3000, "nested too deeply"),
        ("{'a':" * 3000 + "1" + "}" * 3000, "nested too deeply"),
    ],
)
def test_what_has_two_readings_or_none_is_refused(text: str, reason: str) -> None:
    with pytest.raises(AnswerError, match=reason):
        extract_json(text)


def test_a_key_that_was_cut_off_is_not_closed_by_what_comes_next() -> None:
    for text in (
        "{'accurate': 4, 'thor\nThe text says {'thorough': 5}",
        '{"accurate": 4, "thor\nIt says x": 5}',
    ):
        with pytest.raises(AnswerError, match="a key is not closed"):
            extract_json(text, ["accurate"])


def test_what_stands_inside_a_broken_object_never_counts() -> None:
    with pytest.raises(AnswerError):
        extract_json('{"accurate": {"score": 4}, "thorough": oops, "useful": {"score": 3}}')


def test_the_reason_quotes_nothing_of_the_answer() -> None:
    with pytest.raises(AnswerError) as error:
        extract_json('{"why": "Mrs Smith of 12 High Street has", "score" 3}')
    assert "Smith" not in str(error.value)


def test_a_flood_of_braces_is_refused_in_bounded_time() -> None:
    for text in ("{" * 200_000, '{"a' * 60_000, '{"a": 1} {"b": 2} ' * 20_000, "{'a': '" * 30_000):
        with pytest.raises(AnswerError):
            extract_json(text)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-10, 10)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), values, max_size=5))
def test_any_json_object_is_read_as_it_is(value: dict[str, object]) -> None:
    assert extract_json(json.dumps(value)) == value
    assert extract_json(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(st.text())
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        assert isinstance(extract_json(text), dict | list)
    except AnswerError as error:
        assert str(error)


@given(st.text(alphabet="{}[]\"':, ae1\\<>thinkTrue/`\n"))
def test_any_text_made_of_the_signs_of_json_too(text: str) -> None:
    test_any_text_is_read_or_refused_and_nothing_else.hypothesis.inner_test(text)
