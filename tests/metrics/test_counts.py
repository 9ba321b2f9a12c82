"""Counting: the compiled kernels and those in Python give the same numbers, whatever the texts."""

from __future__ import annotations

import random
from pathlib import Path

import hatch_build
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.kernels import ANYTHING, ROOT, compiled_library

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics import _compiled, _uncompiled, kernels_in_use
from medjury.texts.metrics._lexical import counts as _counts
from medjury.texts.metrics._lexical.counts import COLUMNS, GROUPS, count, links

EVERYTHING = (
    GROUPS["words"] | GROUPS["characters"] | GROUPS["bleu"] | GROUPS["rouge_w"] | GROUPS["chrf_words"]
)


def both(
    references: list[str], hypotheses: list[str], wanted: int = EVERYTHING
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    size = (len(references), len(COLUMNS))
    one, other = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    first, second = np.zeros(size[0]), np.zeros(size[0])
    _compiled.count(compiled_library(), references, hypotheses, wanted, 1.2, one, first)
    _uncompiled.count(references, hypotheses, wanted, 1.2, other, second)
    return one, other, first, second


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(ANYTHING, ANYTHING), min_size=1, max_size=4))
def test_compiled_and_uncompiled_kernels_count_the_same(pairs: list[tuple[str, str]]) -> None:
    references, hypotheses = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    one, other, first, second = both(references, hypotheses)
    assert dict(zip(COLUMNS, one.T.tolist(), strict=True)) == dict(
        zip(COLUMNS, other.T.tolist(), strict=True)
    )
    assert first.tolist() == second.tolist()
    assert _compiled.links(compiled_library(), references, hypotheses) == _uncompiled.links(
        references, hypotheses
    )


def changed(words: list[str], share: float, generator: random.Random) -> list[str]:
    """The words with some left out, some replaced and some added."""
    out = []
    for word in words:
        if generator.random() < share / 3:
            continue
        out.append(generator.choice(words) if generator.random() < share / 3 else word)
        if generator.random() < share / 3:
            out.append(generator.choice(words))
    return out


@pytest.mark.parametrize("share", [0.05, 0.6])
@pytest.mark.parametrize("vocabulary", [3, 400])
def test_long_turns_are_aligned_by_halves_and_still_the_same(share: float, vocabulary: int) -> None:
    """Beyond 1 MiB of table the alignment is found by halves; few words make many ties."""
    generator = random.Random(7)
    words = [f"w{generator.randrange(vocabulary)}" for _ in range(2600)]
    reference, hypothesis = " ".join(words), " ".join(changed(words, share, generator))
    one, other, _, _ = both([reference], [hypothesis], EVERYTHING & ~16)
    assert one.tolist() == other.tolist()
    links_one = _compiled.links(compiled_library(), [reference], [hypothesis])
    assert links_one == _uncompiled.links([reference], [hypothesis])


def test_a_turn_of_a_hundred_thousand_words_is_counted() -> None:
    generator = random.Random(1)
    words = [f"w{int(generator.paretovariate(0.6)) % 20000}" for _ in range(100_000)]
    heard = changed(words, 0.1, generator)
    counts = count([" ".join(words)], [" ".join(heard)], ["words", "bleu", "rouge", "chrf_words"])
    edits = sum(int(counts[name][0]) for name in ("substitutions", "deletions", "insertions"))
    assert counts["reference_words"][0] == 100_000
    assert 0 < edits < 12_000
    assert counts["hits"][0] + counts["substitutions"][0] + counts["deletions"][0] == 100_000
    assert counts["longest_common"][0] >= counts["hits"][0]


def test_a_weighted_subsequence_of_very_long_turns_is_refused_not_guessed() -> None:
    long = "word " * 10_001
    one = count([long], [long], ["rouge_w"])
    assert one.weighted.tolist() == [-1.0]


def test_pairs_are_counted_in_slices_without_seams(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"turn {number} of the call" for number in range(50)]
    whole = count(texts, texts[::-1])
    monkeypatch.setattr(_counts, "SLICE_CHARACTERS", 100)
    cut = count(texts, texts[::-1])
    assert cut.table.tolist() == whole.table.tolist()
    assert cut.weighted.tolist() == whole.weighted.tolist()
    assert links(texts, texts[::-1]) == links(texts, texts[::-1], kernels="python")


def test_links_say_which_word_is_which() -> None:
    assert links(["a b c d e"], ["x a c d e"]) == [[1, -1, 2, 3, 4]]
    assert links(["", "a"], ["a", ""]) == [[], [-1]]


def test_unpaired_texts_are_refused() -> None:
    with pytest.raises(MedjuryError, match="2 references and 1 hypotheses cannot be paired"):
        count(["a", "b"], ["a"])


def test_no_pairs_give_no_rows() -> None:
    assert count([], []).table.shape == (0, len(COLUMNS))


def test_without_a_library_the_python_kernels_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_compiled, "library_file", lambda: tmp_path / "none.so")
    _compiled.why_not.cache_clear()
    _compiled.library.cache_clear()
    try:
        assert count(["a b"], ["a c"]).kernels == "python"
        assert "not compiled at installation" in kernels_in_use()
        with pytest.raises(MedjuryError, match="No compiled kernels"):
            count(["a"], ["a"], kernels="compiled")
    finally:
        _compiled.why_not.cache_clear()
        _compiled.library.cache_clear()


def test_a_library_from_another_source_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiled_library()
    library = hatch_build.compile_kernels(ROOT, tmp_path)
    monkeypatch.setattr(_compiled, "library_file", lambda: library)
    other = tmp_path / "_kernels.c"
    other.write_text("/* another version */", encoding="utf-8")
    for sources, expected in ((_compiled.SOURCES, ""), ((other,), "another version of their source")):
        monkeypatch.setattr(_compiled, "SOURCES", sources)
        _compiled.why_not.cache_clear()
        assert expected in _compiled.why_not()
        assert bool(_compiled.why_not()) == bool(expected)
    _compiled.why_not.cache_clear()
    _compiled.library.cache_clear()


def test_a_file_that_is_no_library_is_reported_not_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"not a library")
    monkeypatch.setattr(_compiled, "library_file", lambda: broken)
    _compiled.why_not.cache_clear()
    try:
        assert "cannot be loaded" in _compiled.why_not()
    finally:
        _compiled.why_not.cache_clear()
        _compiled.library.cache_clear()


def test_the_kernels_refuse_texts_that_are_not_where_they_should_be() -> None:
    library = compiled_library()
    texts, offsets = np.zeros(3, dtype=np.uint32), np.array([0, 2, 9], dtype=np.int64)
    table, weighted = np.zeros((1, len(COLUMNS)), dtype=np.int64), np.zeros(1)
    status = library.medjury_count(
        _compiled._pointer(texts),
        _compiled._length(texts),
        _compiled._pointer(offsets),
        _compiled._length(table),
        1,
        _compiled._pointer(weighted),
        _compiled._length(weighted),
        _compiled._pointer(table),
        _compiled._pointer(weighted),
    )
    assert status == -2
    with pytest.raises(MedjuryError, match="cannot be counted"):
        _compiled.check_status(status)
