"""Other languages than English: words are split by the script, and rules for English give no number."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics import impact, score
from medjury.texts.metrics._catalogue import LEXICAL
from medjury.texts.metrics._impact import check_impact
from medjury.texts.transcripts import normalise, split_words

# What was said and what was recognised: each time a denial is lost.
PAIRS = {
    "de": ("Nein, ich nehme seit gestern kein Aspirin mehr.", "Ja, ich nehme seit gestern ein Aspirin mehr."),
    "es": ("No, desde ayer no tomo aspirina por la mañana.", "Sí, desde ayer tomo aspirina por la mañana."),
    "zh": ("不，我从昨天起不吃阿司匹林。", "是，我从昨天起吃阿司匹林。"),
}
SAID, HEARD = [pair[0] for pair in PAIRS.values()], [pair[1] for pair in PAIRS.values()]
ENGLISH = ("No, I don't take any aspirin.", "no i take an aspirin")


@pytest.mark.parametrize("languages", [None, list(PAIRS), ["German", "ES", "zh-CN"]])
def test_no_english_rule_gives_a_grade(languages: list[str] | None) -> None:
    scores = score(SAID, HEARD, languages=languages)
    for name in ("semantic_wer", "meteor"):
        assert scores.column(name) == [None] * 3
        assert all("not known for this language" in why for why in scores.reasons[name].values())
    for name in set(LEXICAL) - {"semantic_wer", "meteor"}:
        assert None not in scores.column(name), name
    for each in impact(SAID, HEARD, languages=languages):
        assert (each.level, each.score, each.probabilities) == (None, None, None)
        assert "not known for this language" in each.reasons[0]


def test_english_is_graded_as_before_whether_or_not_it_is_stated() -> None:
    said, heard = [ENGLISH[0]] * 2, [ENGLISH[1]] * 2
    assert [each.level for each in impact(said, heard, ["Any medicines?"] * 2, languages=["en", None])] == [
        2,
        2,
    ]
    both = score(said, heard, languages=["en", None])
    assert all(one == other is not None for one, other in map(both.column, LEXICAL))


def test_chinese_and_thai_are_counted_sign_by_sign() -> None:
    """By hand: one of six signs is wrong; a tone belongs to its consonant; Latin words among them stay whole."""
    assert score(["患者否认胸痛"], ["患者承认胸痛"], ["wer"]).column("wer") == [1 / 6]
    assert score(["HbA1c 是 7"], ["HbA1c 为 7"], ["wer"]).column("wer") == [1 / 3]
    assert split_words("ไม่ 5 mg") == ["ไ", "ม่", "5", "mg"]
    assert split_words("통증 없음") == ["통증", "없음"], "Korean has spaces"
    assert score(["胸痛"], ["胸痛"], ["bleu_2", "rouge_l"]).column("bleu_2") == [1.0]


def test_the_normaliser_reads_numbers_as_english_in_english_alone() -> None:
    assert normalise("Ich nahm 2,5 mg & 50 %, am 1.") == "ich nahm two five mg and fifty percent am one"
    assert normalise("Ich nahm 2,5 mg & 50 %, am 1.", language="de") == "ich nahm 2.5 mg & 50 % am 1"
    assert normalise("服用 2.5 毫克。", language="zh") == "服用 2.5 毫克"
    with pytest.raises(MedjuryError, match="hesitations are not known for this language"):
        normalise("Äh, nein.", remove_fillers=True, language="de")


def test_labels_of_another_language_are_refused_by_the_check() -> None:
    said, heard = [ENGLISH[0], *SAID], [ENGLISH[1], *HEARD]
    with pytest.raises(MedjuryError, match=r"3 pairs are in another language than English \(row 2, 3, 4\)"):
        check_impact(said, heard, None, [2, 2, 2, 2], "abab")


@pytest.mark.parametrize("stated", [["--language", "lang"], []])
def test_the_commands_leave_the_cells_empty_and_say_why(tmp_path: Path, stated: list[str]) -> None:
    file, out = tmp_path / "pairs.jsonl", tmp_path / "out.csv"
    rows = [
        {"said": said, "heard": heard, "lang": name}
        for name, (said, heard) in {**PAIRS, "en": ENGLISH}.items()
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = [str(file), "--reference", "said", "--hypothesis", "heard", *stated, "--out", str(out)]
    assert main(["impact", *columns]) == 0
    found = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["impact"] for row in found] == ["", "", "", "2"]
    assert "not known for this language (de)" in found[0]["reasons"]
    assert main(["metrics", *columns, "--normalise"]) == 0
    found = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["meteor"] == "" for row in found] == [True, True, True, False]
    assert [row["semantic_wer"] == "" for row in found] == [True, True, True, False]
    assert all(float(row["wer"]) < 1 for row in found)
