"""The first page of a run: what was judged, what was not, and that nobody has validated this jury yet."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.errors import MedjuryError

if TYPE_CHECKING:
    import polars

_STYLE = """
:root { --ink: #1b2733; --soft: #5a6b7b; --line: #d5dde5; --warn: #8a1f11; --paper: #fff; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
       font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { margin: 2.2rem 0 .6rem; font-size: 1.2rem; }
.verdict { border-left: .5rem solid var(--warn); padding: .8rem 1.2rem; background: #fdf3f1; margin: 1rem 0; }
.verdict strong { color: var(--warn); font-size: 1.3rem; letter-spacing: .02em; }
.verdict p { margin: .4rem 0 0; }
table { border-collapse: collapse; width: 100%; } .scroll { overflow-x: auto; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .4rem; }
.soft { color: var(--soft); } details { border-bottom: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; }
@media print { details > * { display: block; } body { max-width: none; } }
"""


def write_page(folder: str | Path) -> Path:
    """Write `report.html` into a run folder and return its path."""
    import polars

    folder = Path(folder)
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        ratings = polars.read_parquet(folder / "ratings.parquet")
    except (OSError, ValueError, polars.exceptions.PolarsError) as error:
        raise MedjuryError(f"{folder}: not a finished run folder ({error}); run the study first") from None
    sections = [
        _verdict(manifest, ratings),
        _coverage(manifest),
        _scores(ratings),
        _cases(ratings),
        _methods(manifest),
    ]
    title = f"Medjury: {manifest['study']}"
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>{escape(manifest['study'])}</h1>"
        f'<p class="soft">{_subtitle(manifest)}</p>{"".join(sections)}</main></body></html>\n'
    )
    unfinished = folder / "report.html.part"
    unfinished.write_text(page, encoding="utf-8", errors="replace")
    unfinished.replace(folder / "report.html")
    return folder / "report.html"


def _subtitle(manifest: dict[str, Any]) -> str:
    instrument = manifest["instrument"]
    judges = ", ".join(judge["name"] for judge in manifest["judges"])
    return escape(
        f"{manifest['cases']:,} cases · instrument {instrument['name']} {instrument['version']} · judges: {judges}"
    )


def _verdict(manifest: dict[str, Any], ratings: polars.DataFrame) -> str:
    import polars

    parts = []
    if manifest["status"] != "complete":
        parts.append(_banner(manifest["status"].upper(), [manifest["why"]]))
    reasons = []
    clinicians = ratings.filter(polars.col("rater_kind") == "clinician")["rater"].n_unique()
    if any(model.get("kind") == "embedded" for judge in manifest["judges"] for model in judge["models"]):
        reasons.append(
            "The embedded model is there so that the whole machine runs offline on a real model. It is far too "
            "small to judge clinical text: its scores must not inform any decision."
        )
    if (manifest.get("humans") or {}).get("illustrative"):
        reasons.append(
            "The clinicians' ratings in this study are illustrative: the authors of the demonstration wrote them."
        )
    if not clinicians:
        reasons.append(
            "No clinician has rated these cases, so nothing can be said about agreement with clinicians."
        )
    reasons.append(
        "No validation gate has been passed: how far these scores agree with clinicians is unproven."
    )
    return "".join([*parts, _banner("NOT VALIDATED", reasons)])


def _banner(word: str, reasons: Iterable[str]) -> str:
    paragraphs = "".join(f"<p>{escape(reason)}</p>" for reason in reasons if reason)
    return f'<section class="verdict" role="note"><strong>{escape(word)}</strong>{paragraphs}</section>'


def _coverage(manifest: dict[str, Any]) -> str:
    covered = manifest["coverage"]
    rows = [
        ("cases judged", f"{manifest['cases']:,}"),
        ("cases left out because they could not be read", f"{manifest['cases_skipped']:,}"),
        (
            "units of work done, of those planned",
            f"{manifest['units']['done']:,} of {manifest['units']['planned']:,}",
        ),
        ("ratings with a score", f"{covered['scored']:,} of {covered['ratings']:,}"),
        ("ratings not applicable", f"{covered['not_applicable']:,}"),
        ("ratings unscored", f"{covered['unscored']:,}"),
    ]
    rows += [
        (f"  unscored: {reason}", f"{count:,}") for reason, count in covered["unscored_by_reason"].items()
    ]
    rows.append(("calls paid for", f"{manifest['calls']:,}"))
    cost = manifest["cost"]
    rows.append(("cost", "not known" if cost is None else f"{cost:.4g} {manifest['prices']['currency']}"))
    return "<h2>What was scored, and what was not</h2>" + _table(("", "number"), rows)


def _scores(ratings: polars.DataFrame) -> str:
    import polars

    summary = (
        ratings.group_by("dimension", "rater_kind", "rater")
        .agg(
            polars.col("score").mean().alias("mean"),
            polars.col("score").count().alias("n"),
            (polars.col("status") == "unscored").sum().alias("unscored"),
        )
        .sort("dimension", "rater_kind", "rater")
    )
    rows = [
        (
            row["dimension"],
            f"{row['rater']} ({row['rater_kind']})",
            "–" if row["mean"] is None else f"{row['mean']:.2f}",
            f"{row['n']:,}",
            f"{row['unscored']:,}",
        )
        for row in summary.iter_rows(named=True)
    ]
    return "<h2>Mean scores by dimension and rater</h2>" + _table(
        ("dimension", "rater", "mean", "n scored", "n unscored"), rows, numbers=(2, 3, 4)
    )


def _cases(ratings: polars.DataFrame) -> str:
    blocks = []
    shown = ratings.sort("item", "system", "dimension", "rater", "repeat").group_by(
        "item", "system", maintain_order=True
    )
    for (item, system), votes in list(shown)[:200]:
        rows = [
            (
                vote["dimension"],
                vote["rater"],
                vote["reason"] or vote["status"] if vote["score"] is None else f"{vote['score']:.3g}",
                vote["explanation"],
            )
            for vote in votes.iter_rows(named=True)
        ]
        name = f"{item} · {system}" if system else str(item)
        table = _table(("dimension", "rater", "score", "explanation"), rows, numbers=(2,))
        blocks.append(f"<details><summary>{escape(name)}</summary>{table}</details>")
    note = (
        "" if len(blocks) < 200 else '<p class="soft">The first 200 cases; the rest are in ratings.csv.</p>'
    )
    return f"<h2>Every vote, case by case</h2>{note}{''.join(blocks)}"


def _methods(manifest: dict[str, Any]) -> str:
    jury = manifest["jury"]
    facts = [
        ("medjury", manifest["medjury"]),
        ("run", manifest["run"]),
        ("started, finished", f"{manifest['started_at']}, {manifest['finished_at']}"),
        ("data hash", manifest["data_hash"]),
        ("instrument fingerprint", manifest["instrument"]["fingerprint"]),
        ("jury", f"{jury['rule']} of {len(manifest['judges'])} judges, {jury['repeats']} repeats"),
        ("hosts allowed", ", ".join(manifest["allow_hosts"]) or "none: everything stayed on this machine"),
    ]
    return "<h2>How this was made</h2>" + _table(("", ""), facts)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = (1,)) -> str:
    def cell(tag: str, index: int, value: object) -> str:
        kind = ' class="number"' if index in numbers and len(head) != 2 else ""
        return f"<{tag}{kind}>{escape(str(value))}</{tag}>"

    titles = "".join(cell("th", index, title) for index, title in enumerate(head))
    body = "".join(
        "<tr>" + "".join(cell("td", index, value) for index, value in enumerate(row)) + "</tr>"
        for row in rows
    )
    heading = f"<thead><tr>{titles}</tr></thead>" if any(head) else ""
    return f'<div class="scroll"><table>{heading}<tbody>{body}</tbody></table></div>'
