"""How a model draws its words beside its temperature: top_p, top_k, and whatever else its endpoint knows.

What is stated is part of the model's identity, and so of every key; what is not stated leaves no trace. An endpoint
that does not take one of them says so, and that ends the call: an answer drawn otherwise would not be the one that
the study asked for.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError

_OWN = {  # settings with a place of their own in a study file
    "temperature": "temperature", "seed": "seed", "max_tokens": "max_tokens", "top_p": "top_p", "top_k": "top_k",
    "max_output_tokens": "max_tokens", "max_completion_tokens": "max_tokens",
}  # fmt: skip
_NEVER = (
    "model",
    "messages",
    "contents",
    "system",
    "stream",
    "n",
    "candidate_count",
    "response_format",
    "tools",
)


def stated_sampling(
    top_p: float | None,
    top_k: int | None,
    sampling: Mapping[str, Any] | None,
    known: Collection[str] | None = None,
) -> dict[str, Any]:
    """What is stated, checked; empty where nothing is. `known` are the further names that the kind takes, where it
    would not notice others."""
    if top_p is not None and not 0 < top_p <= 1:
        raise MedjuryError(f"top_p: must be above 0 and at most 1, not {top_p!r}")
    found: dict[str, Any] = {}
    if top_p is not None:
        found["top_p"] = top_p
    if top_k is not None:
        found["top_k"] = top_k
    for name, value in (sampling or {}).items():
        if name in _OWN:
            raise MedjuryError(f"sampling: {name!r} has its own setting; write `{_OWN[name]}:` beside it")
        if name in _NEVER:
            raise MedjuryError(f"sampling: {name!r} is not a way of drawing words; take it out")
        if known is not None and name not in known:
            raise MedjuryError(
                f"sampling: there is no {name!r} for this kind; {nearest(name, sorted(known))}"
            )
        if not _is_plain(value):
            raise MedjuryError(f"sampling: {name} must be a number, true or false, a word or a list of them")
        found[name] = value
    return found


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(_is_plain(each) and not isinstance(each, list) for each in value)
    return isinstance(value, str | int | float)


def with_sampling(identity: Mapping[str, str], sampling: Mapping[str, Any]) -> dict[str, str]:
    """The identity of a model that draws so. Without a stated setting it is what it was before there were any."""
    return dict(identity) | ({"sampling": json.dumps(sampling, sort_keys=True)} if sampling else {})
