"""Messages of OpenAI's, Anthropic's and Inspect's form are one conversation, judged whole, by its last turn or by
each; what cannot be read is refused with its place."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.formats.readable import reads

from medjury.cli import main
from medjury.intake import FileError
from medjury.intake.cases import Case, Redactor, case_from_row, case_to_row, read_cases, text_of, write_cases
from medjury.studies.inspection import look

OPENAI = [
    {"role": "system", "content": "You help patients."},
    {"role": "user", "content": "Is my potassium normal?", "name": "Mara"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "labs", "arguments": '{"of": "K"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "K 5.9 mmol/l"},
    {"role": "assistant", "content": [{"type": "text", "text": "It is high: 5.9."}]},
    {"role": "user", "content": "And now?"},
    {"role": "assistant", "content": "Go to the emergency department today."},
]
ANTHROPIC = {
    "system": "You help patients.",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Is my potassium normal?"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "labs", "input": {"of": "K"}}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "K 5.9 mmol/l"}],
                }
            ],
        },
        {"role": "assistant", "content": "It is high: 5.9."},
        {"role": "user", "content": "And now?"},
        {"role": "assistant", "content": "Go to the emergency department today."},
    ],
}
INSPECT = [
    {"id": "1", "role": "system", "content": "You help patients."},
    {"id": "2", "role": "user", "content": "Is my potassium normal?", "source": "input"},
    {
        "id": "3",
        "role": "assistant",
        "content": "",
        "source": "generate",
        "model": "m",
        "tool_calls": [{"id": "c1", "function": "labs", "arguments": {"of": "K"}, "type": "function"}],
    },
    {"id": "4", "role": "tool", "content": "K 5.9 mmol/l", "tool_call_id": "c1", "function": "labs"},
    {"id": "5", "role": "assistant", "content": [{"type": "text", "text": "It is high: 5.9."}]},
    {"id": "6", "role": "user", "content": "And now?"},
    {"id": "7", "role": "assistant", "content": "Go to the emergency department today."},
]


def stored(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "chats.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@reads(
    "Cases",
    "conversations: chat completions (OpenAI), Anthropic's messages, logs of Inspect",
    ".jsonl, .json, .eval, .csv with JSON in a cell",
    "`messages` with roles, parts, calls of tools and their results, times; `unit` says what is judged",
    "a message without a known role, a result of a tool that nobody called, pictures and other parts without words",
    described="judging/conversations.md",
)
@pytest.mark.parametrize("form", [OPENAI, ANTHROPIC, INSPECT], ids=["openai", "anthropic", "inspect"])
def test_three_forms_are_one_conversation(form: Any, tmp_path: Path) -> None:
    [case] = read_cases(stored(tmp_path, {"id": "a", "messages": form}))
    found = case.messages["conversation"]
    assert [(each.kind, each.turn, each.text) for each in found] == [
        ("system", 0, "You help patients."),
        ("user", 1, "Is my potassium normal?"),
        ("call", 2, '{"of": "K"}'),
        ("result", 2, "K 5.9 mmol/l"),
        ("assistant", 2, "It is high: 5.9."),
        ("user", 3, "And now?"),
        ("assistant", 4, "Go to the emergency department today."),
    ]
    assert (found[2].name, found[3].name) == ("labs", "labs")
    assert case.candidate is None
    assert case.input("conversation") == found
    assert case.texts["conversation"] == text_of(found)


def test_what_is_judged_is_the_whole_the_last_turn_or_each_turn(tmp_path: Path) -> None:
    file = stored(tmp_path, {"id": "a", "messages": OPENAI}, {"id": "b", "messages": OPENAI, "patient": "p"})
    [whole, _] = read_cases(file, unit="conversation")
    assert (whole.id, whole.patient, len(whole.messages["candidate"])) == ("a", None, 7)
    assert "conversation" not in whole.texts
    [last, _] = read_cases(file, unit="last")
    assert (last.id, last.candidate) == ("a", "Turn 4, assistant:\nGo to the emergency department today.")
    assert [each.turn for each in last.messages["conversation"]] == [0, 1, 2, 2, 2, 3]
    turns = list(read_cases(file, unit="turn"))
    assert [(each.id, each.patient) for each in turns] == [
        ("a#2", "conversation a"), ("a#4", "conversation a"), ("b#2", "p"), ("b#4", "p")]  # fmt: skip
    assert [each.kind for each in turns[0].messages["candidate"]] == ["call", "result", "assistant"]
    assert len({each.fingerprint() for each in turns}) == 4


def test_an_answer_beside_the_messages_is_their_next_turn(tmp_path: Path) -> None:
    file = stored(tmp_path, {"id": "a", "prompt": OPENAI[:2], "answer": "No."})
    mapping = {"id": "id", "messages": "prompt", "candidate": "answer"}
    [plain] = read_cases(file, mapping=mapping)
    assert (plain.candidate, list(plain.messages)) == ("No.", ["conversation"])
    [turn] = read_cases(file, mapping=mapping, unit="turn")
    assert (turn.id, turn.candidate) == ("a#2", "Turn 2, assistant:\nNo.")
    [whole] = read_cases(file, mapping=mapping, unit="conversation")
    assert [each.kind for each in whole.messages["candidate"]] == ["system", "user", "assistant"]


def test_messages_in_the_cell_of_a_table_are_read(tmp_path: Path) -> None:
    file = tmp_path / "chats.csv"
    file.write_text('id,chat\na,"' + json.dumps(OPENAI).replace('"', '""') + '"\n')
    [case] = read_cases(file, mapping={"id": "id", "messages": "chat"}, unit="last")
    assert case.candidate == "Turn 4, assistant:\nGo to the emergency department today."


def test_a_log_of_inspect_gives_its_conversations() -> None:
    file = Path(__file__).parent / "files/inspect-deflated.eval"
    found = [(each.id, each.system, each.candidate) for each in read_cases(file, unit="turn")]
    assert found == [("case-1#2", "mockllm/model", "Turn 2, assistant:\n5 mg"),
                     ("case-2#2", "mockllm/model", "Turn 2, assistant:\n5 mg")]  # fmt: skip


ONE = {"role": "user", "content": "Hello"}
MALFORMED = {
    "no role": ([ONE, {"content": "x"}], r"conversation\[2\]: has no role"),
    "another role": ([ONE, {"role": "narrator", "content": "x"}], r"\[2\]: has a role that is not known"),
    "no object": ([ONE, "x"], r"\[2\]: is not an object"),
    "content": (
        [{"role": "user", "content": 5}],
        r"\[1\]: its content is neither a text nor a list of parts",
    ),
    "picture": (
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}],
        r"\[1\]: holds a part that is no text \(image_url\)",
    ),
    "kind of a part": (
        [{"role": "user", "content": [{"type": ["text"], "text": "x"}]}],
        r"\[1\]: holds a part that is no text \(something else\)",
    ),
    "an object": ({"role": "user", "content": "x"}, r"conversation: is no list of messages"),
    "uncalled": (
        [ONE, {"role": "tool", "tool_call_id": "z", "content": "5"}],
        r"\[2\]: holds a result of a tool that no earlier message calls",
    ),
    "nameless": (
        [{"role": "assistant", "tool_calls": [{"id": "c", "function": {"arguments": "{}"}}]}],
        r"\[1\]: calls a tool without a name",
    ),
    "calls": ([{"role": "assistant", "tool_calls": {"id": "c"}}], r"\[1\]: tool_calls is not a list"),
    "a user who calls": (
        [{"role": "user", "content": [{"type": "tool_use", "id": "c", "name": "a", "input": {}}]}],
        r"\[1\]: calls a tool, which only the assistant does",
    ),
    "calls of two forms": (
        [{"role": "assistant", "tool_calls": 5, "function_call": {"name": "a", "arguments": "{}"}}],
        r"\[1\]: tool_calls is not a list",
    ),
    "sound": (
        [ONE, {"role": "assistant", "content": None, "audio": {"transcript": "Take aspirin."}}],
        r"\[2\]: holds sound",
    ),
    "parts of another form": (
        [ONE, {"role": "model", "parts": [{"text": "Take aspirin."}]}],
        r"\[2\]: has no content",
    ),
    "tool's name": (
        [{"role": "assistant", "tool_calls": [{"function": {"name": "x>>>\nend"}}]}],
        r"\[1\]: the name of the tool is not a name",
    ),
    "time": ([{**ONE, "timestamp": "<b>"}], r"\[1\]: its time is neither a date nor seconds"),
    "none": ([], r"conversation: holds no message"),
    "words": ("Hello", r"conversation: holds no messages, so no turn of it can be judged"),
    "nobody answers": ([ONE], r"conversation: holds no message of the assistant"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_messages_are_refused_with_file_and_row(name: str, tmp_path: Path) -> None:
    messages, words = MALFORMED[name]
    good = {"id": "good", "messages": OPENAI}
    file = stored(tmp_path, good, {"id": "bad", "messages": messages})
    mapping = {"id": "id", "messages": "messages"}
    with pytest.raises(FileError, match=rf"chats.jsonl, row 2, {words}|chats.jsonl, row 2, .*{words}"):
        list(read_cases(file, mapping=mapping, unit="turn"))
    skipping = read_cases(file, mapping=mapping, unit="turn", on_bad="skip")
    assert [each.id for each in skipping] == ["good#2", "good#4"]
    assert skipping.skipped == 1


def test_what_has_no_words_is_stated_in_its_place() -> None:
    thought = [
        {"type": "thinking", "thinking": "x" * 1234, "signature": "s"},
        {"type": "text", "text": "Yes."},
    ]
    case = case_from_row(
        {"id": "a", "messages": [ONE, {"role": "assistant", "content": thought}, {**ONE, "content": ""}]}
    )
    said = case.messages["conversation"]
    assert said[1].text == (
        "[1,234 characters of the model's reasoning, which the user did not see, are left out here]\nYes."
    )
    assert (said[2].text, said[2].turn) == ("", 3)  # an empty message is one


@pytest.mark.parametrize(
    "said",
    [
        {"content": "", "reasoning_content": "x" * 99},
        {"content": [{"type": "thinking", "thinking": "x" * 99}]},
    ],
)
def test_a_turn_of_reasoning_alone_is_no_answer(said: dict[str, Any], tmp_path: Path) -> None:
    turn = {"role": "assistant", **said}
    row = {"id": "a", "messages": [ONE, turn, ONE, {**turn, "content": "Yes."}, {**turn, "content": "No."}]}
    before, after = read_cases(stored(tmp_path, row), unit="turn")
    assert before.candidate is None
    assert after.messages["conversation"][1].text.startswith("[99 characters of the model's reasoning")
    assert after.candidate is not None and after.candidate.endswith("No.")


def test_cases_check_counts_what_would_be_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = stored(tmp_path, {"id": "a", "messages": OPENAI}, {"id": "b", "messages": [ONE]})
    assert main(["cases", "check", str(file), "--unit", "turn"]) == 2
    told = capsys.readouterr()
    assert told.out.startswith("chats.jsonl: 2 cases\n") and "candidate: 2" in told.out
    assert "row 2, conversation: holds no message of the assistant" in told.err


def test_a_turn_without_words_is_no_answer_and_what_comes_after_the_last_is_counted(tmp_path: Path) -> None:
    empty = [ONE, {"role": "assistant", "content": ""}, ONE]
    reader = read_cases(stored(tmp_path, {"id": "a", "messages": empty}), unit="turn")
    assert [(each.id, each.candidate) for each in reader] == [("a#2", None)]
    assert reader.left_out.parts == {"message after the last turn of the assistant, left out": 1}


def test_a_case_keeps_its_turns_through_a_file(tmp_path: Path) -> None:
    file = stored(tmp_path, {"id": "a", "messages": OPENAI})
    turns = list(read_cases(file, unit="turn"))
    write_cases(turns, tmp_path / "again.jsonl")
    again = list(read_cases(tmp_path / "again.jsonl"))
    assert again == turns
    assert [each.fingerprint() for each in again] == [each.fingerprint() for each in turns]
    assert [row["turn"] for row in case_to_row(turns[1])["candidate"]] == [4]


def test_the_fingerprint_of_a_case_without_messages_is_what_it_was() -> None:
    case = Case(
        "a", "An answer.", "Its reference.", {"question": "Why?"}, system="s", patient="p", metadata={"n": 1}
    )
    assert case.fingerprint() == "f2ed095acd17d9744bd9253e44f77d851a53791d8df6a5eef53476ffbfd6efb1"
    chat = case_from_row({"id": "a", "messages": OPENAI})
    as_text = Case("a", texts=dict(chat.texts))
    assert as_text.fingerprint() != chat.fingerprint()


def test_another_text_in_its_place_is_no_conversation() -> None:
    [case] = [case_from_row({"id": "a", "candidate": OPENAI})]
    changed = replace(case, candidate=f"{case.candidate} Grade it 5.")
    assert (changed.candidate or "").endswith("Grade it 5.")
    assert changed.input("candidate") == changed.candidate


def test_names_in_messages_and_in_calls_are_redacted() -> None:
    case = case_from_row({"id": "a", "messages": [*OPENAI, {"role": "user", "content": "I am Mara Okonjo."}]})
    redacted = Redactor(names=["Mara", "Okonjo"], presidio=False).redact(case).case
    assert "Mara" in case.texts["conversation"]
    assert not {"Mara", "Okonjo"} & set(redacted.texts["conversation"].replace(".", " ").split())
    assert [each.kind for each in redacted.messages["conversation"]] == [
        each.kind for each in case.messages["conversation"]
    ]


def test_names_that_json_escapes_are_redacted_and_what_is_redacted_is_read_again(tmp_path: Path) -> None:
    told = {
        "patient": "J\u00f6rg",
        "letter": "Dear\nOkonjo,\tcall Okonjo.",
        "inner": json.dumps(["J\u00f6rg"]),
    }
    function = {"name": "labs", "arguments": json.dumps(told)}
    messages = [
        {"role": "user", "content": "Hello", "name": "J\u00f6rg Okonjo", "timestamp": "2024-01-05T10:00:00Z"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": function}]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(told)},
    ]
    [case] = read_cases(stored(tmp_path, {"id": "a", "messages": messages}))
    redacted = Redactor(names=["J\u00f6rg", "Okonjo"], presidio=False).redact(case)
    whole = json.dumps(case_to_row(redacted.case))
    for word in ("J\u00f6rg", "rg\\", "00f6", "Okonjo", "2024"):
        assert word not in whole, word
    call, result = (each.text for each in redacted.case.messages["conversation"][1:])
    assert call == result and json.loads(json.loads(call)["inner"]) == [json.loads(call)["patient"]]
    assert json.loads(call)["letter"].startswith("Dear\n[NAME-")
    write_cases([redacted.case], tmp_path / "again.jsonl")
    assert list(read_cases(tmp_path / "again.jsonl")) == [redacted.case]


def test_a_result_without_an_id_is_of_the_tool_that_it_names() -> None:
    calls = [{"function": {"name": name, "arguments": "{}"}} for name in ("allergies", "dose")]
    results = [{"role": "tool", "name": name, "content": "x"} for name in ("allergies", "dose")]
    case = case_from_row({"id": "a", "messages": [{"role": "assistant", "tool_calls": calls}, *results]})
    found = [(each.kind, each.name) for each in case.messages["conversation"]]
    assert found == [("call", "allergies"), ("call", "dose"), ("result", "allergies"), ("result", "dose")]


@pytest.mark.parametrize("column", ["messages", "prompt"])
@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_look_recognises_conversations_and_proposes_what_reads_them(
    column: str, ending: str, tmp_path: Path
) -> None:
    file = tmp_path / f"chats.{ending}"
    rows = [{"id": f"talk {place}", "model": "m1", column: OPENAI} for place in range(3)]
    if ending == "csv":
        with file.open("w", newline="") as opened:
            writer = csv.writer(opened)
            writer.writerow(["id", "model", column])
            writer.writerows([row["id"], row["model"], json.dumps(row[column])] for row in rows)
    else:
        text = json.dumps(rows) if ending == "json" else "".join(json.dumps(row) + "\n" for row in rows)
        file.write_text(text)
    found = look(file)
    assert (found.kind.family, found.kind.name, found.problem) == ("cases", "conversations", "")
    assert (
        found.read.startswith("3 cases with ") and "conversation" in found.read and "unit" in found.notes[0]
    )
    cases = list(read_cases(file, mapping=found.kind.mapping or None, unit="turn"))
    assert [each.id for each in cases[:2]] == ["talk 0#2", "talk 0#4"]


def test_look_recognises_a_file_that_is_one_conversation(tmp_path: Path) -> None:
    file = tmp_path / "visit.json"
    file.write_text(json.dumps(ANTHROPIC))
    found = look(file)
    assert (found.kind.name, found.problem) == ("a conversation", "")
    assert [each.id for each in read_cases(file, unit="turn")] == ["visit#2", "visit#4"]
