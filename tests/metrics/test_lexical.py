"""Lexical metrics: the values of the tools the papers use, the published examples, and explicit conventions."""

from __future__ import annotations

import math
import warnings

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.bleu_score import sentence_bleu
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import CHRF
from tests.metrics.some_texts import READABLE, SENTENCES, SPOKEN

from medjury.texts.metrics import score
from medjury.texts.metrics._catalogue import LEXICAL, METRICS
from medjury.texts.transcripts import normalise, split_words

# Two published examples of recognition errors, as spoken and as recognised (Ellis et al. 2025, Table 9).
EXAMPLE_A = (
    "Not throat, but I can , yeah, I can I can definitely feel something in the lips, yeah.",
    "not so but i can i yeah i can i can definitely feel something in the lips yeah",
)
EXAMPLE_B = ("Uh, no, no, been feeling fine actually.", "no no it's sitting fine actually")
PUBLISHED = {
    "wer": (0.1176, 0.3333),
    "cer": (0.0875, 0.2500),
    "mer": (0.1111, 0.3333),
    "wil": (0.1634, 0.5556),
    "bleu_1": (0.8889, 0.6667),
    "bleu_2": (0.8245, 0.5164),
    "bleu_3": (0.7760, 0.0000),
    "bleu_4": (0.7277, 0.0000),
    "rouge_1": (0.9143, 0.6667),
    "rouge_2": (0.7879, 0.4000),
    "rouge_l": (0.9143, 0.6667),
    "rouge_w_ellis": (0.9143, 0.6667),
    "chrf": (0.8387, 0.5767),
    "chrf++": (0.8459, 0.5659),
    "meteor": (0.9214, 0.6250),
}
# Words between single spaces: jiwer splits at spaces alone, we at any white space.
PLAIN_WORDS = st.sampled_from(
    ["yes", "no", "the", "pain", "left", "I", "I'm", "(hi)", "so.", "é", "中文", "ok,", "-"]
)
PLAIN = st.lists(PLAIN_WORDS, max_size=25).map(" ".join)
PLAIN_SPOKEN = st.lists(PLAIN_WORDS, min_size=1, max_size=25).map(" ".join)


def one(reference: str, hypothesis: str, metric: str) -> float | None:
    return score([reference], [hypothesis], [metric]).column(metric)[0]


@pytest.mark.parametrize("metric", PUBLISHED)
def test_the_published_examples_to_four_decimals(metric: str) -> None:
    """Normalised, hesitations removed, BLEU unsmoothed, ROUGE's F1, chrF with β = 2."""
    pairs = [[normalise(text, remove_fillers=True) for text in pair] for pair in (EXAMPLE_A, EXAMPLE_B)]
    values = score([pair[0] for pair in pairs], [pair[1] for pair in pairs], [metric]).column(metric)
    assert [round(value or 0.0, 4) for value in values] == list(PUBLISHED[metric])


def test_all_lexical_values_of_the_published_table_but_one_need_no_model() -> None:
    """Table 9 has sixteen lexical metrics; the sixteenth, S-WER, asks a model which words are alike."""
    assert len(PUBLISHED) == 15
    families = {METRICS[name].family for name in PUBLISHED}
    assert families == {"edit distance", "n-gram overlap"}


def test_rouge_w_of_lin_and_of_the_paper_are_two_metrics() -> None:
    """Seventeen words said, eighteen heard, runs of 1, 3, 12 and so on: Lin's values are not the published ones."""
    pairs = [[normalise(text, remove_fillers=True) for text in pair] for pair in (EXAMPLE_A, EXAMPLE_B)]
    scores = score([pair[0] for pair in pairs], [pair[1] for pair in pairs], ["ROUGE-W", "rouge_w_ellis"])
    assert [round(value or 0.0, 4) for value in scores.column("rouge_w")] == [0.8204, 0.5939]
    assert scores.column("rouge_w_ellis") == score(
        [pair[0] for pair in pairs], [pair[1] for pair in pairs], ["rouge_l"]
    ).column("rouge_l")
    assert "rouge_w_ellis" not in LEXICAL, "a paper's own way is computed only where it is named"


def test_the_published_stemming_of_rouge_changes_nothing_in_the_examples() -> None:
    """The authors' code stems words; ours does not, and Table 9 is the same either way."""
    stemming = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    for place, pair in enumerate((EXAMPLE_A, EXAMPLE_B)):
        said, heard = (normalise(text, remove_fillers=True) for text in pair)
        theirs = stemming.score(said, heard)
        for ours, name in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")):
            assert round(theirs[name].fmeasure, 4) == PUBLISHED[ours][place]


def test_the_published_list_of_fillers_gives_the_same_table() -> None:
    for place, pair in enumerate((EXAMPLE_A, EXAMPLE_B)):
        texts = [normalise(text, remove_fillers=True, filler_list="ellis") for text in pair]
        scores = score([texts[0]], [texts[1]], list(PUBLISHED))
        found = {name: round(scores.column(name)[0] or 0.0, 4) for name in PUBLISHED}
        assert found == {name: values[place] for name, values in PUBLISHED.items()}


@settings(deadline=None)
@given(PLAIN_SPOKEN, PLAIN)
def test_edit_rates_are_those_of_jiwer(reference: str, hypothesis: str) -> None:
    theirs = jiwer.process_words(*(" ".join(split_words(each)) for each in (reference, hypothesis)))
    for metric in ("wer", "mer", "wil"):
        assert one(reference, hypothesis, metric) == pytest.approx(getattr(theirs, metric), abs=1e-12)
    assert one(reference, hypothesis, "cer") == pytest.approx(jiwer.cer(reference, hypothesis), abs=1e-12)


def test_ties_between_alignments_fall_as_in_jiwer_for_long_turns_too() -> None:
    generator = np.random.default_rng(3)
    for size, words in ((60, 2), (300, 3), (3000, 2), (3000, 40)):
        said, heard = (" ".join(f"w{n}" for n in generator.integers(0, words, size)) for _ in range(2))
        theirs = jiwer.process_words(said, heard)
        scores = score([said], [heard], ["mer", "wil"])
        assert scores.column("mer")[0] == pytest.approx(theirs.mer, abs=1e-12)
        assert scores.column("wil")[0] == pytest.approx(theirs.wil, abs=1e-12)


@settings(deadline=None)
@given(SPOKEN, SENTENCES)
def test_bleu_is_nltks_without_smoothing(reference: str, hypothesis: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for order in (1, 2, 3, 4):
            weights = tuple([1 / order] * order)
            theirs = sentence_bleu([split_words(reference)], split_words(hypothesis), weights=weights)
            assert one(reference, hypothesis, f"bleu_{order}") == pytest.approx(float(theirs), abs=1e-12)


@settings(deadline=None)
@given(SENTENCES, SENTENCES)
def test_rouge_is_that_of_rouge_score(reference: str, hypothesis: str) -> None:
    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"]).score(reference, hypothesis)
    for ours, name in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")):
        value = score([reference], [hypothesis], [ours], languages=["en"]).column(ours)[0]
        if value is not None:
            assert value == pytest.approx(theirs[name].fmeasure, abs=1e-12)


@settings(deadline=None)
@given(SPOKEN, SENTENCES)
def test_chrf_is_sacrebleus(reference: str, hypothesis: str) -> None:
    for name, words in (("chrf", 0), ("chrf++", 2)):
        theirs = CHRF(word_order=words).sentence_score(hypothesis, [reference]).score / 100
        assert one(reference, hypothesis, name) == pytest.approx(theirs, abs=1e-12)


def weighted_common(a: list[str], b: list[str]) -> float:
    """The definition in Lin (2004), cell by cell."""
    cells: dict[tuple[int, int], tuple[float, int]] = {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                cells[i, j] = (0.0, 0)
            elif a[i - 1] == b[j - 1]:
                value, run = cells[i - 1, j - 1]
                cells[i, j] = (value + (run + 1) ** 1.2 - run**1.2, run + 1)
            else:
                cells[i, j] = (max(cells[i - 1, j][0], cells[i, j - 1][0]), 0)
    return cells[len(a), len(b)][0]


@settings(deadline=None)
@given(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=9),
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=9),
)
def test_rouge_w_follows_its_definition(said: list[str], heard: list[str]) -> None:
    common = weighted_common(said, heard)
    recall, precision = ((common / len(side) ** 1.2) ** (1 / 1.2) for side in (said, heard))
    expected = 2 * precision * recall / (precision + recall) if common else 0.0
    assert one(" ".join(said), " ".join(heard), "rouge_w") == pytest.approx(expected, abs=1e-12)


def test_rouge_w_rewards_words_that_stay_together() -> None:
    together, apart = (
        one("a b c d x y z", "a b c d h i k", "rouge_w"),
        one("a b c d x y z", "a h b i c k d", "rouge_w"),
    )
    assert together is not None and apart is not None and together > apart
    assert one("a b c d x y z", "a b c d h i k", "rouge_l") == one(
        "a b c d x y z", "a h b i c k d", "rouge_l"
    )


@settings(deadline=None)
@given(SENTENCES, SENTENCES)
def test_every_value_lies_where_it_should(reference: str, hypothesis: str) -> None:
    scores = score([reference], [hypothesis])
    for name in LEXICAL:
        value = scores.column(name)[0]
        if value is None:
            assert scores.reasons[name][0]
        else:
            assert value >= 0 and math.isfinite(value)
            assert value <= 1 + 1e-12 or name in ("wer", "cer", "semantic_wer"), name


@settings(deadline=None)
@given(READABLE)
def test_a_text_is_perfect_against_itself(text: str) -> None:
    scores = score([text], [text])
    for name in LEXICAL:
        value = scores.column(name)[0]
        if value is not None and name != "meteor":
            assert METRICS[name].oriented(value) == pytest.approx(1.0), name


def test_nothing_recognised_is_everything_lost() -> None:
    scores = score(["no chest pain"], [""])
    for name in LEXICAL:
        assert scores.column(name)[0] == (0.0 if METRICS[name].higher_is_better else 1.0), name
    assert scores.undefined() == [""]


@pytest.mark.parametrize("hypothesis", ["", "something", None])
@pytest.mark.parametrize("reference", ["", "  \n", None])
def test_without_a_reference_no_metric_exists(reference: str | None, hypothesis: str | None) -> None:
    scores = score([reference], [hypothesis])
    assert all(scores.column(name) == [None] for name in LEXICAL)
    assert "wer" in scores.undefined()[0] and "the reference has no words" in scores.undefined()[0]


def test_rouge_reads_all_letters_of_another_language_and_a_to_z_in_english() -> None:
    said, heard = ["боль в груди", "pain 痛み", "prüfen", "— !"], ["боль в руке", "pain 痛", "prufen", "—"]
    scores = score(said, heard, ["wer", "rouge_1"], languages=["ru", None, "de", None])
    assert scores.column("wer") == [pytest.approx(1 / 3), pytest.approx(1 / 3), 1.0, 0.5]
    assert scores.column("rouge_1") == [pytest.approx(2 / 3), 1.0, 0.0, None]
    assert "a-z" in scores.reasons["rouge_1"][3]
    assert score(["prüfen"], ["prufen"], ["rouge_1"], languages=["en"]).column("rouge_1") == [0.0]
    assert score(["prüfen"], ["pr fen"], ["rouge_1"], languages=["en"]).column("rouge_1") == [1.0]


def test_mixed_scripts_are_compared_sign_by_sign() -> None:
    scores = score(["темп 38 °C"], ["темп 39 °C"], ["wer", "cer", "chrf"])
    assert scores.column("wer") == [pytest.approx(1 / 3)]
    assert scores.column("cer") == [pytest.approx(1 / 10)]


def test_one_pass_gives_what_single_calls_give() -> None:
    said, heard = ["left arm pain", "no"], ["left arm pan", "yes no"]
    together = score(said, heard)
    for name in LEXICAL:
        assert together.column(name) == score(said, heard, [name]).column(name)
