"""The learned metrics: how alike two texts are to a neural network. Formulas here, models elsewhere.

Each takes references, hypotheses (neither empty) and a loaded model, and gives one number per pair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.texts.metrics._counts import align, links
from medjury.texts.metrics._encoders import (
    Floats,
    Loaded,
    Pooling,
    batches,
    sentence_vectors,
    token_vectors,
    unit,
    word_vectors,
)
from medjury.texts.metrics._lexicons import FUNCTION, lexicons
from medjury.texts.metrics._semantic_wer import ALIKE, semantic_wer_ellis

Values = NDArray[np.float64]
Texts = Sequence[str]

# Weights of entailment, meaning and sound in the intelligibility score (Phukon et al. 2025).
INTELLIGIBILITY_WEIGHTS = (0.40, 0.28, 0.32)


def bert_score(references: Texts, hypotheses: Texts, model: Loaded) -> Values:
    """BERTScore F1 (Zhang et al. 2020): each token matched with its most similar one on the other side.

    P = mean over hypothesis tokens of the greatest cosine, R likewise over reference tokens, F1 = 2PR/(P + R).
    Special tokens may be matched but are not averaged; no idf weights, no rescaling; of the last layer.
    """
    values = []
    said, heard = token_vectors(model, references), token_vectors(model, hypotheses)
    for (first, first_special), (second, second_special) in zip(said, heard, strict=True):
        cosines = first @ second.T
        recall = _mean(cosines.max(axis=1), first_special)
        precision = _mean(cosines.max(axis=0), second_special)
        values.append(2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0)
    return np.array(values, dtype=np.float64)


def sentence_similarity(references: Texts, hypotheses: Texts, model: Loaded, pooling: Pooling) -> Values:
    """Cosine of sentence vectors: SBERT (Reimers & Gurevych 2019), SimCSE (Gao et al. 2021)."""
    said = sentence_vectors(model, references, pooling)
    heard = sentence_vectors(model, hypotheses, pooling)
    return np.asarray((said * heard).sum(axis=1), dtype=np.float64)


def semantic_wer(references: Texts, hypotheses: Texts, model: Loaded, pooling: Pooling) -> Values:
    """S-WER of Ellis et al. (2025): words whose own sentence vectors have a cosine of 0.6 or more are alike."""
    said, heard = ([text.lower().split() for text in texts] for texts in (references, hypotheses))
    every = dict.fromkeys(word for words in (*said, *heard) for word in words)
    places = {word: place for place, word in enumerate(every)}
    vectors = sentence_vectors(model, list(places), pooling)
    values = []
    for rows, columns in zip(said, heard, strict=True):
        first, second = (np.array([places[word] for word in words]) for words in (rows, columns))
        alike = ((vectors[second] @ vectors[word] >= ALIKE) | (second == word) for word in first)
        values.append(semantic_wer_ellis(alike, len(first), len(second)))
    return np.array(values, dtype=np.float64)


def mutual_entailment(references: Texts, hypotheses: Texts, model: Loaded) -> Values:
    """Mean probability that the reference entails the hypothesis and the hypothesis the reference."""
    label = _entailment_label(model)
    forward = _probabilities(model, references, hypotheses)[:, label]
    backward = _probabilities(model, hypotheses, references)[:, label]
    return (forward + backward) / 2


def bart_score(references: Texts, hypotheses: Texts, model: Loaded) -> Values:
    """BARTScore F (Yuan et al. 2021): mean log-probability per token of writing one text from the other,
    averaged over both directions. At most 0; higher is better."""
    return (
        _log_likelihood(model, references, hypotheses) + _log_likelihood(model, hypotheses, references)
    ) / 2


def bleurt(references: Texts, hypotheses: Texts, model: Loaded) -> Values:
    """The single number of a regression model that reads both texts, reference first (Sellam et al. 2020)."""
    logits = _logits(model, references, hypotheses)
    if logits.shape[1] != 1:
        raise MedjuryError(
            f"The model {model.name!r} gives {logits.shape[1]} numbers per pair; BLEURT needs one that gives 1."
        )
    return logits[:, 0]


def sema_score(references: Texts, hypotheses: Texts, model: Loaded) -> Values:
    """SeMaScore (Sasindran et al. 2024): segments that correspond, by meaning and by spelling.

    The word alignment cuts both texts into corresponding segments i. Each scores sᵢ = cos(reference segment,
    hypothesis segment) · (1 − MERᵢ), with the match error rate of its characters, and weighs
    wᵢ = cos(reference segment, whole reference), the greater with 0; the score is Σ wᵢ·sᵢ / Σ wᵢ. A segment
    without a counterpart scores 0; words added outside any segment of the reference do not weigh.
    """
    said, heard = [text.split() for text in references], [text.split() for text in hypotheses]
    said_vectors, heard_vectors = word_vectors(model, said), word_vectors(model, heard)
    values = []
    for row in range(len(said)):
        pairs = links(said[row], heard[row])
        whole = unit(said_vectors[row].mean(axis=0))
        total = weight_sum = 0.0
        for (start, stop), (first, last) in _segments(pairs, len(heard[row])):
            if start == stop:
                continue
            segment = unit(said_vectors[row][start:stop].mean(axis=0))
            weight = max(float(segment @ whole), 0.0)
            weight_sum += weight
            if first < last:
                other = unit(heard_vectors[row][first:last].mean(axis=0))
                hits, *edits = align(" ".join(said[row][start:stop]), " ".join(heard[row][first:last]))
                total += weight * float(segment @ other) * hits / (hits + sum(edits))
        values.append(total / weight_sum if weight_sum else 0.0)
    return np.array(values, dtype=np.float64)


def heval(references: Texts, hypotheses: Texts, model: Loaded) -> Values:
    """HEVAL (after Sasindran et al. 2023): distance of meaning on keywords, error rate on the rest.

    Keywords are the words of the reference that are not function words. H = λ·(1 − mean cosine of keyword and
    counterpart, 0 where there is none) + (1 − λ)·(edits among the other words / their number), λ = ½; a part
    that does not occur leaves its weight to the other.
    """
    kinds, canon = lexicons().kinds, lexicons().canon
    said, heard = [text.split() for text in references], [text.split() for text in hypotheses]
    said_vectors, heard_vectors = word_vectors(model, said), word_vectors(model, heard)
    values = []
    for row in range(len(said)):
        pairs = links(said[row], heard[row])
        key = [not all(kinds.get(each, 0) & FUNCTION for each in canon[word.lower()]) for word in said[row]]
        cosines, errors, others = [], 0, 0
        for (start, stop), (first, last) in _segments(pairs, len(heard[row])):
            keywords = [place for place in range(start, stop) if key[place]]
            rest = stop - start - len(keywords)
            others += rest
            if first < last:
                other = unit(heard_vectors[row][first:last].mean(axis=0))
                cosines += [float(unit(said_vectors[row][place]) @ other) for place in keywords]
            else:
                cosines += [0.0] * len(keywords)
            if not (stop - start == 1 and pairs[start] >= 0):
                errors += max(rest, last - first - len(keywords), 0)
        meaning = 1.0 - float(np.mean(cosines)) if cosines else None
        wording = errors / others if others else None
        if meaning is None or wording is None:
            values.append(meaning if wording is None else wording)
        else:
            values.append(0.5 * meaning + 0.5 * wording)
    return np.array(values, dtype=np.float64)


def intelligibility(references: Texts, hypotheses: Texts, entailment: Values, meaning: Values) -> Values:
    """0.40·entailment + 0.28·meaning + 0.32·sound (Phukon et al. 2025): NLI in both directions, BERTScore, and
    Jaro-Winkler similarity of Soundex codes."""
    sound = np.array([phonetic_similarity(*pair) for pair in zip(references, hypotheses, strict=True)])
    nli, semantic, phonetic = INTELLIGIBILITY_WEIGHTS
    return nli * entailment + semantic * meaning + phonetic * sound


def _segments(pairs: Sequence[int], length: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Corresponding spans of words: every matched word by itself, and what lies between matched words."""
    spans = []
    start = first = 0
    for place, other in enumerate([*pairs, length]):
        if place == len(pairs) or other >= 0:
            if place > start or other > first:
                spans.append(((start, place), (first, other)))
            if place < len(pairs):
                spans.append(((place, place + 1), (other, other + 1)))
            start, first = place + 1, other + 1
    return spans


def _mean(values: Floats, special: list[bool]) -> float:
    kept = values[~np.array(special, dtype=bool)]
    return float(kept.mean()) if len(kept) else 0.0


def _entailment_label(model: Loaded) -> int:
    for number, name in model.model.config.id2label.items():
        if "entail" in str(name).lower() and "not" not in str(name).lower():
            return int(number)
    names = ", ".join(map(str, model.model.config.id2label.values()))
    raise MedjuryError(f"The model {model.name!r} has no label for entailment (its labels: {names}).")


def _probabilities(model: Loaded, first: Texts, second: Texts) -> Values:
    logits = _logits(model, first, second)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _logits(model: Loaded, first: Texts, second: Texts) -> Values:
    import torch

    rows: list[NDArray[np.float64] | None] = [None] * len(first)
    for indices in batches([len(one) + len(other) for one, other in zip(first, second, strict=True)]):
        encoded = model.encode([first[index] for index in indices], [second[index] for index in indices])
        with torch.inference_mode():
            logits = model.model(**encoded).logits.double().cpu().numpy()
        for index, row in zip(indices, logits, strict=True):
            rows[index] = row
    return np.stack([row for row in rows if row is not None])


def _log_likelihood(model: Loaded, sources: Texts, targets: Texts) -> Values:
    import torch

    values = np.empty(len(sources))
    for indices in batches([len(one) + len(other) for one, other in zip(sources, targets, strict=True)]):
        encoded = model.encode([sources[index] for index in indices])
        wanted = model.encode([targets[index] for index in indices])
        mask = wanted["attention_mask"].bool()
        with torch.inference_mode():
            logits = model.model(
                input_ids=encoded["input_ids"],
                attention_mask=encoded["attention_mask"],
                labels=wanted["input_ids"].masked_fill(~mask, -100),
            ).logits
        logs = torch.log_softmax(logits.double(), dim=-1)
        chosen = logs.gather(-1, wanted["input_ids"].unsqueeze(-1)).squeeze(-1) * mask
        values[indices] = (chosen.sum(1) / mask.sum(1)).cpu().numpy()
    return values


# How alike two texts sound: Soundex codes of their words, compared by Jaro-Winkler.


DIGITS = {
    **dict.fromkeys("bfpv", "1"),
    **dict.fromkeys("cgjkqsxz", "2"),
    **dict.fromkeys("dt", "3"),
    "l": "4",
    **dict.fromkeys("mn", "5"),
    "r": "6",
}


def soundex(word: str) -> str:
    """American Soundex: a letter and three digits; "" for a word without a Latin letter.

    >>> soundex("throat"), soundex("Robert"), soundex("Rupert"), soundex("Ashcraft")
    ('T630', 'R163', 'R163', 'A261')
    """
    letters = [letter for letter in word.lower() if "a" <= letter <= "z"]
    if not letters:
        return ""
    code, before = letters[0].upper(), DIGITS.get(letters[0], "")
    for letter in letters[1:]:
        digit = DIGITS.get(letter, "")
        if digit and digit != before:
            code += digit
        # Vowels part two equal digits, h and w do not.
        if letter not in "hw":
            before = digit
    return (code + "000")[:4]


def jaro_winkler(first: str, second: str) -> float:
    """Jaro's similarity, raised for a common beginning of up to four signs (Winkler 1990).

    >>> round(jaro_winkler("MARTHA", "MARHTA"), 4), jaro_winkler("", "a")
    (0.9611, 0.0)
    """
    if not first or not second:
        return float(first == second)
    window = max(max(len(first), len(second)) // 2 - 1, 0)
    taken = [False] * len(second)
    matched = []
    for place, sign in enumerate(first):
        for other in range(max(0, place - window), min(len(second), place + window + 1)):
            if not taken[other] and second[other] == sign:
                taken[other] = True
                matched.append(sign)
                break
    if not matched:
        return 0.0
    others = [sign for sign, used in zip(second, taken, strict=True) if used]
    swaps = sum(one != other for one, other in zip(matched, others, strict=True)) / 2
    count = len(matched)
    jaro = (count / len(first) + count / len(second) + (count - swaps) / count) / 3
    common = 0
    while common < min(4, len(first), len(second)) and first[common] == second[common]:
        common += 1
    return jaro + common * 0.1 * (1 - jaro)


def phonetic_similarity(reference: str, hypothesis: str) -> float:
    """Jaro-Winkler similarity of the two texts written in Soundex codes."""
    return jaro_winkler(
        *(" ".join(filter(None, map(soundex, text.split()))) for text in (reference, hypothesis))
    )
