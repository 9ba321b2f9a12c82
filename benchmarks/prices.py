"""What a judgement costs: a prompt cache with the record first, batch jobs, an adaptive jury, beside a plain run.

One loopback server keeps a prompt cache by the providers' stated rules (`tests/prefix_cache.py`) and takes batch
jobs. Each record has three systems' answers and nine dimensions, asked one by one. The scores are planted: every
juror sees the truth with an error of its own, so that it can be told what asking fewer of them costs in agreement.
Prices are those of the price list that ships. A judgement is one dimension of one answer, judged by the jury.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

RECORDS, SYSTEMS = 8, 3
CHARACTERS = 24_000
JURORS = ("gpt-5-nano", "gpt-4.1-nano", "gpt-5-mini")
INSTRUMENT = "pdsqi9"
DIMENSIONS = (
    "citation", "accurate", "thorough", "useful", "organized", "comprehensible", "succinct", "stigmatizing_summary",
    "stigmatizing_notes",
)  # fmt: skip
_MARKS = re.compile(r"Record (\d+)\..*Answer of system (\d+)", re.DOTALL)


def run() -> Iterator[dict[str, Any]]:
    from tests.loopback import LoopbackServer

    os.environ["MEDJURY_BATCH_POLL_SECONDS"] = "0.05"
    with tempfile.TemporaryDirectory() as name, LoopbackServer(_answer, latency=0.02) as server:
        folder = Path(name)
        naive = _measured(folder / "naive", server, _jury(server.base_url, prompt=1))
        cached = _measured(folder / "cached", server, _jury(server.base_url))
        jobs = _measured(folder / "jobs", server, _adaptive(server.base_url, mode="batch"))
    share, plain = cached["share"], f"plain {_money(naive)}"
    other = f"rubric first {100 * naive['share']:.1f} %"
    name = "input from the prompt cache, the record first"
    yield _row(name, f"{100 * share:.1f} %", other, share, ">= 0.9", share >= 0.9)
    ratio = cached["money"] / naive["money"]
    yield _row("money per 1,000 judgements, the record first", _money(cached), plain, ratio, "told")
    ratio = jobs["money"] / naive["money"]
    name = "money per 1,000 judgements, batch + cache + adaptive"
    yield _row(name, _money(jobs), plain, ratio, "<= 0.25", ratio <= 0.25)
    for name, what, form in (
        ("calls, batch + cache + adaptive", "calls", "{:,.0f}"),
        ("mean distance from the planted truth, in grades", "error", "{:.3f}"),
    ):
        ours, peer = jobs[what], naive[what]
        yield _row(name, form.format(ours), f"plain {form.format(peer)}", ours / peer, "told")
    apart = [abs(jobs["scores"][place] - score) for place, score in naive["scores"].items()]
    same = sum(each <= 0.5 for each in apart) / len(apart)
    name = "judgements within half a grade of the plain jury's"
    yield _row(name, f"{100 * same:.1f} %", f"{sum(apart) / len(apart):.3f} grades apart", same, "told")


def _row(
    name: str, ours: str, peer: str, ratio: float, target: str, holds: bool | None = None
) -> dict[str, Any]:
    return {
        "name": name,
        "ours": ours,
        "peer": peer,
        "ratio": f"{ratio:.2f}",
        "target": target,
        "holds": holds,
    }


def _money(measured: dict[str, Any]) -> str:
    return f"{measured['money']:.4f} USD"


def _jury(url: str, **settings: Any) -> list[dict[str, Any]]:
    return [
        {"kind": "openai", "url": url, "model": model, "per_dimension": True, **settings} for model in JURORS
    ]


def _adaptive(url: str, **settings: Any) -> list[dict[str, Any]]:
    jurors = [{"name": model, "model": model} for model in JURORS]
    first, *_ = _jury(url, **settings)
    return [{**first, "name": "adaptive", "strategy": {"name": "adaptive", "jurors": jurors}}]


def _measured(folder: Path, server: Any, judges: list[dict[str, Any]]) -> dict[str, Any]:
    """A whole run in a folder of its own, with a prompt cache that is empty at first."""
    import polars
    from tests.prefix_cache import PrefixCache

    from medjury.studies import load_study, run_study

    folder.mkdir()
    server.endpoint.cache = served = PrefixCache()
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in _cases()))
    study: dict[str, Any] = {
        "study": "prices",
        "cases": "cases.jsonl",
        "instrument": INSTRUMENT,
        "judges": judges,
    }
    study["dimensions"] = list(DIMENSIONS)
    file = folder / "study.yaml"
    file.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in study.items()))
    result = run_study(load_study(file), preflight=False)
    assert result.status == "complete" and result.money is not None, result.text()
    kind = "jury" if len(judges) > 1 else "judge"
    rows = polars.read_parquet(result.folder / "ratings.parquet").filter(
        polars.col("rater_kind") == kind, polars.col("status") == "scored"
    )
    asked = set(_planted())
    columns = rows.select("item", "system", "dimension", "score").rows()
    scores = {(item, system, name): score for item, system, name, score in columns if name in asked}
    errors = [abs(score - _truth(*place)) for place, score in scores.items()]
    judgements = RECORDS * SYSTEMS * len(asked)
    return {
        "money": 1000 * result.money / judgements,
        "share": served.share,
        "calls": result.calls,
        "scores": scores,
        "error": sum(errors) / len(errors),
    }


@cache
def _planted() -> dict[str, tuple[int, int]]:
    """The dimensions with their lowest and highest grade."""
    from medjury.instruments import load_instrument

    known = load_instrument(INSTRUMENT)
    return {name: (known.dimension(name).lowest, known.dimension(name).highest) for name in DIMENSIONS}


def _cases() -> Iterator[dict[str, Any]]:
    for record in range(RECORDS):
        text = f"Record {record}. " + "The patient slept well and had no complaints in the morning. " * 1_000
        for system in range(SYSTEMS):
            yield {
                "id": f"record-{record}",
                "system": f"system-{system}",
                "candidate": f"Answer of system {system} to record {record}. " + "No complaints. " * 60,
                "notes": [{"id": "N1", "text": text[:CHARACTERS]}],
                "texts": {"specialty": "Internal medicine"},
            }


def _drawn(*what: object) -> float:
    digest = hashlib.blake2b(repr(what).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def _truth(item: str, system: str, dimension: str) -> int:
    low, high = _planted()[dimension]
    return low + round((high - low) * _drawn(item, system, dimension) ** 0.5)


def _answer(call: Any) -> str:
    """The truth with an error of one grade now and then, each juror's own."""
    found = _MARKS.search(call.prompt)
    assert found is not None
    item, system = f"record-{found[1]}", f"system-{found[2]}"
    scores = {}
    for name in call.schema["properties"]:
        low, high = _planted()[name]
        chance = _drawn(call.json["model"], item, system, name)
        off = -1 if chance < 0.12 else 1 if chance > 0.88 else 0
        scores[name] = {
            "explanation": "As the record says.",
            "score": min(high, max(low, _truth(item, system, name) + off)),
        }
    return f"ok:{json.dumps(scores)}"
