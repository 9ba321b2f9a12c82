"""METEOR: NLTK's values with and without WordNet, from WordNet's own files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score

from medjury.texts.metrics._meteor import DEBIAN, meteor, open_wordnet
from medjury.texts.metrics._porter import stem

WORDS = st.sampled_from(
    [
        "Feel",
        "feeling",
        "felt",
        "pain",
        "pains",
        "painful",
        "the",
        "a",
        "doctor",
        "physician",
        "big",
        "large",
        "swelling",
        "swollen",
    ]
)


class NoSynonyms:
    def synsets(self, word: str) -> list[object]:
        return []


@settings(deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=12), st.lists(WORDS, min_size=1, max_size=12))
def test_without_wordnet_it_is_nltks_with_exact_and_stem_matches(said: list[str], heard: list[str]) -> None:
    theirs = single_meteor_score(said, heard, wordnet=NoSynonyms())
    assert meteor(said, heard, None) == pytest.approx(theirs, abs=1e-12)


@settings(deadline=None)
@given(
    st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=6),
    st.sampled_from(
        [
            "",
            "s",
            "es",
            "ies",
            "ed",
            "ied",
            "eed",
            "ing",
            "y",
            "ational",
            "alli",
            "logi",
            "fulness",
            "ement",
            "ion",
            "ll",
            "e",
        ]
    ),
)
def test_stems_are_nltks(start: str, ending: str) -> None:
    assert stem(start + ending) == PorterStemmer().stem(start + ending)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("agreed", "agre"), ("plastered", "plaster"),
        ("hopping", "hop"), ("falling", "fall"), ("filing", "file"), ("happy", "happi"), ("relational", "relat"),
        ("adjustment", "adjust"), ("rate", "rate"), ("controlling", "control"), ("sky", "sky"), ("dying", "die"),
        ("y" * 5000, "y" * 4999 + "i"),
    ],
)  # fmt: skip
def test_stems_of_known_words(word: str, expected: str) -> None:
    assert stem(word)[:20] == expected[:20]


def data_line(offset: int, kind: str, *words: str) -> str:
    listed = " ".join(f"{word} 0" for word in words)
    return f"{offset:08d} 00 {kind} {len(words):02x} {listed} 000 | a meaning"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A WordNet of three meanings, in the format of the real files."""
    licence = "  1 This stands for the licence at the top of every file.\n"
    parts = {
        "noun": [("n", ["doctor", "physician", "medical_man"]), ("n", ["ache", "pain"])],
        "verb": [("v", ["feel", "find"])],
        "adj": [("a", ["asleep(p)", "sleeping"])],
        "adv": [],
    }
    for part, meanings in parts.items():
        text, index = licence, {}
        for kind, words in meanings:
            offset = len(text.encode())
            text += data_line(offset, kind, *words) + "\n"
            for word in words:
                index.setdefault(word.partition("(")[0].lower(), []).append(offset)
        (tmp_path / f"data.{part}").write_text(text, encoding="utf-8")
        lines = [
            f"{word} {part[0]} {len(offsets)} 0 {len(offsets)} 0 "
            + " ".join(f"{each:08d}" for each in offsets)
            for word, offsets in sorted(index.items())
        ]
        (tmp_path / f"index.{part}").write_text(licence + "\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "verb.exc").write_text("felt feel\n", encoding="utf-8")
    return tmp_path


def test_synonyms_come_from_the_files(folder: Path) -> None:
    wordnet = open_wordnet(folder)
    assert wordnet is not None
    assert wordnet.synonyms("doctors") == {"doctors", "doctor", "physician"}, (
        "inflected, no words of two words"
    )
    assert wordnet.synonyms("felt") == {"felt", "feel", "find"}, "irregular forms from the exception list"
    assert wordnet.synonyms("sleeping") == {"sleeping", "asleep"}, "without the mark of its place"
    assert wordnet.synonyms("nonsense") == {"nonsense"}
    assert wordnet.synonyms("") == {""}


def test_synonyms_match_where_wordnet_is(folder: Path) -> None:
    said, heard = ["the", "physician", "came"], ["the", "doctor", "came"]
    assert meteor(said, heard, open_wordnet(folder)) > meteor(said, heard, None)


def test_without_the_files_there_is_no_wordnet(tmp_path: Path) -> None:
    assert open_wordnet(tmp_path) is None


def test_debians_wordnet_finds_real_synonyms() -> None:
    wordnet = open_wordnet()
    if wordnet is None:
        pytest.skip(f"no WordNet in {DEBIAN} (Debian's package wordnet-base)")
    assert "physician" in wordnet.synonyms("doctors")


def test_nothing_in_common_is_nothing() -> None:
    assert meteor(["a"], ["b"], None) == 0.0
    assert meteor(["a"], [], None) == 0.0
