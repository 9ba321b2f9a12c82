"""Names as a page needs them: in addresses of files, and in front of a reader."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

METRIC_NAMES = {
    "exact_match": "exact match",
    "code_f1": "F1 of codes",
    "medcalc": "within the limits",
    "error_flag": "error found or not",
    "error_sentence": "sentence with the error",
    "sql_execution": "result of the query",
    "yes_no_maybe": "exact match",
    "rouge_l": "ROUGE-L",
    "bertscore": "BERTScore",
    "embedding": "similarity of embeddings",
    "jury": "jury",
    "helm": "HELM's mark",
}


# Why there is no score, for a reader.
REASON_NAMES = {
    "refusal": "declined",
    "empty": "said nothing",
    "truncated": "cut off",
    "parse": "unreadable",
    "missing": "unreadable",
    "out_of_range": "off the scale",
    "context": "too long for the model",
    "timeout": "timed out",
    "rate_limit": "rate limit",
    "provider": "the endpoint failed",
    "over_budget": "over budget",
    "other_model": "another model answered",
    "not_stored": "not stored",
}


def reason_name(reason: str) -> str:
    return REASON_NAMES.get(reason, reason.replace("_", " "))


def metric_name(metric: str) -> str:
    return METRIC_NAMES.get(metric, metric.replace("_", " "))


def slugs(names: Iterable[str]) -> dict[str, str]:
    """A file name for each name, safe everywhere and never shared by two."""
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
        mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
        found[name] = plain if plain and plain.replace("-", "_") == name else f"{plain or 'name'}-{mark}"
    return found
