"""`medjury audit RATINGS`: what moves the judges' scores besides the quality of the answers?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medjury.cli._rated import interval, show_json, show_notes, show_table, words
from medjury.errors import MedjuryError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars

    from medjury.audits import Audit, Finding

_EPILOG = """
RATINGS is a table of ratings (columns item, rater, dimension, score; system, repeat, rater_kind, vendor and
judge_vendor where there are any), a mapping (.yaml) or a run folder. Without --audit, every audit is made for which
there is what it needs, and standard error says which are not and why:

  self-preference  vendors of judges and systems       stability    repeats of the same judge
  text             --cases, or a column `length`       consistency  two dimensions or more
  groups           --group                             drift        --earlier, or --versions
  position         --pairs, a table item, first, second, preferred (and rater)

--json prints a list of objects: audit, statistic, rater, dimension, group, value, low, high, n, n_unscored,
p_value, p_adjusted, verdict, stands_out, method, reason. value is null where there is none, and reason says why.
"""
_AUDITS = ("self-preference", "stability", "text", "position", "groups", "consistency", "drift")
# An audit with more findings than this prints those that stand out, unless all are asked for.
_SHORT = 40
_SAME = {"length": "text", "format": "text", "verbosity": "text"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add = parser.add_argument
    add("ratings", metavar="RATINGS", help="table of ratings, mapping or run folder")
    add("--audit", metavar="A[,A2...]", help=f"only these audits: {', '.join(_AUDITS)}")
    add("--judge", metavar="J[,J2...]", help="whom to audit (default: judges, juries and metrics)")
    add(
        "--reference", metavar="R[,R2...]", help="clinicians to compare with: tells bias from true difference"
    )
    add("--dimension", metavar="D[,D2...]", help="only these dimensions")
    add("--judge-vendor", action="append", default=[], metavar="JUDGE=VENDOR[,J2=V2...]",
        help="the maker of each judge; this and the options like it may be repeated")  # fmt: skip
    add("--system-vendor", action="append", default=[], metavar="SYSTEM=VENDOR[,S2=V2...]",
        help='the maker of each answering system; "none" where it has none')  # fmt: skip
    add("--own-model", action="append", default=[], metavar="JUDGE=SYSTEM",
        help="a system that is the very model of the judge")  # fmt: skip
    add("--cases", metavar="CASES", help="the cases that were judged: for text features and groups")
    add("--within-systems", action="store_true", help="text: compare answers of the same system only")
    add("--group", action="append", default=[], metavar="COLUMN[=CUT,CUT]",
        help="groups: a column of the ratings or the cases, a number cut into bands (age=18,65)")  # fmt: skip
    add(
        "--smallest-group",
        type=int,
        default=10,
        metavar="N",
        help="groups: test no group of fewer cases (10)",
    )
    add("--earlier", metavar="RATINGS", help="drift: the earlier ratings of the same cases")
    add(
        "--versions", metavar="COLUMN=EARLIER,LATER", help="drift: a column that tells the two versions apart"
    )
    add("--same-rater", action="append", default=[], metavar="LATER=EARLIER",
        help="drift: a judge whose new version has a new name")  # fmt: skip
    add("--bound", type=float, default=0.25, help="drift: a smaller shift of the mean does not matter (0.25)")
    add("--width", type=float, default=0.5, help="stability: how wide an answer's interval may be (0.5)")
    add("--threshold", type=float, help="stability: a flip is crossing this score, not any change")
    add("--pairs", metavar="TABLE", help="position: pairwise judgements")
    add("--adjust", choices=("holm", "benjamini_hochberg", "none"), default="holm",
        help="how p-values are corrected for many comparisons (holm)")  # fmt: skip
    add("--confidence", type=float, default=0.95)
    add("--resamples", metavar="N", type=int, default=10_000)
    add("--seed", metavar="N", type=int, default=0)
    add("--all", action="store_true", help=f"print every finding, also of an audit with more than {_SHORT}")
    add("--json", action="store_true", help="print a list of objects instead of tables")


def run(options: argparse.Namespace) -> int:
    try:
        from medjury.tables import read_rating_table
    except ModuleNotFoundError as error:
        raise MedjuryError(f"audit needs {error.name}: pip install 'medjury[stats]'") from None
    named = [_SAME.get(name.replace("_", "-"), name.replace("_", "-")) for name in words(options.audit) or []]
    unknown = [name for name in named if name not in _AUDITS]
    if unknown:
        raise MedjuryError(f"there is no audit {unknown[0]!r}; there are {', '.join(_AUDITS)}")
    if options.pairs is None and _is_pairwise(options.ratings):
        options.pairs, named = options.ratings, ["position"]
    frame, notes = (None, ()) if named == ["position"] else read_rating_table(options.ratings)
    done: list[Audit] = []
    left: list[str] = []
    for name in named or _AUDITS:
        try:
            done.append(_make(name, options, frame))
        except MedjuryError as error:
            if named:
                raise
            left.append(f"not audited: {name}: {error}")
    if not done:
        raise MedjuryError("nothing could be audited:\n" + "\n".join(left))
    if options.json:
        show_json([row for audit in done for row in audit.rows()])
    else:
        for place, audit in enumerate(done):
            _show(audit, first=place == 0, everything=options.all)
    warnings = [f"{audit.name}: {text}" for audit in done for text in audit.warnings]
    show_notes([*notes, *warnings, *left])
    return 0


def _make(name: str, options: argparse.Namespace, frame: polars.DataFrame | None) -> Audit:
    from medjury import audits

    shared: dict[str, Any] = {
        "confidence": options.confidence,
        "resamples": options.resamples,
        "seed": options.seed,
    }
    adjusted = shared | {"adjustment": options.adjust}
    raters, reference = words(options.judge), words(options.reference) or []
    if name == "position":
        if options.pairs is None:
            raise MedjuryError("give --pairs, a table with the columns item, first, second, preferred")
        return audits.position(_plain(options.pairs), raters=raters, **adjusted)
    about: dict[str, Any] = {"raters": raters, "dimensions": words(options.dimension)}
    compared = about | {"reference": reference}
    if name == "self-preference":
        return audits.self_preference(
            frame,
            judge_vendor=_pairs(options.judge_vendor, "--judge-vendor"),
            system_vendor=_case_vendors(options, frame) | _pairs(options.system_vendor, "--system-vendor"),
            own_model=_lists(options.own_model, "--own-model"),
            **compared,
            **adjusted,
        )
    if name == "stability":
        return audits.stability(frame, width=options.width, threshold=options.threshold, **about, **shared)
    if name == "text":
        features = None if options.cases is None else audits.case_features(_cases(options.cases))
        within = options.within_systems
        return audits.text_effects(frame, features, within_systems=within, **compared, **adjusted)
    if name == "groups":
        return _groups(options, frame, compared)
    if name == "consistency":
        return audits.internal_consistency(frame, **compared, **adjusted)
    return _drift(options, frame, about | adjusted)


def _groups(options: argparse.Namespace, frame: polars.DataFrame | None, compared: dict[str, Any]) -> Audit:
    from medjury import audits

    if not options.group:
        raise MedjuryError("give --group, such as --group specialty --group age=18,65")
    bands: dict[str, list[float]] = {}
    names = []
    for entry in options.group:
        name, equals, cuts = entry.partition("=")
        names.append(name)
        if equals:
            try:
                bands[name] = [float(cut) for cut in cuts.split(",")]
            except ValueError:
                raise MedjuryError(
                    f"--group {entry}: write COLUMN=CUT,CUT with numbers, such as age=18,65"
                ) from None
    groups: Any = names
    absent = [name for name in names if frame is None or name not in frame.columns]
    if options.cases is not None and absent:
        frame = _with_columns(frame, options.cases, absent)
    return audits.group_differences(
        frame,
        groups,
        bands=bands,
        smallest=options.smallest_group,
        adjustment=options.adjust,
        confidence=options.confidence,
        **compared,
    )


def _with_columns(frame: polars.DataFrame | None, path: str, names: Sequence[str]) -> polars.DataFrame:
    """The ratings with columns that only the cases have."""
    import polars as pl

    if frame is None:
        raise MedjuryError("there are no ratings to group")
    found: dict[str, dict[str, str]] = {name: {} for name in names}
    for case in _cases(path):
        for name in names:
            value = case.metadata.get(name)
            if value is not None and found[name].setdefault(case.id, str(value)) != str(value):
                raise MedjuryError(f"{path}: the cases of item {case.id!r} have different values of {name}")
    item = pl.col("item").cast(pl.String)
    return frame.with_columns(
        item.replace_strict(values, default=None, return_dtype=pl.String).alias(name)
        for name, values in found.items()
        if values
    )


def _drift(options: argparse.Namespace, frame: polars.DataFrame | None, shared: dict[str, Any]) -> Audit:
    from medjury import audits
    from medjury.tables import read_rating_table

    if options.versions is not None and frame is not None:
        column, equals, versions = options.versions.partition("=")
        earlier, comma, later = versions.partition(",")
        if not equals or not comma:
            raise MedjuryError(f"--versions {options.versions}: write COLUMN=EARLIER,LATER")
        before, after = audits.split_by(frame, column, earlier, later)
    elif options.earlier is not None and frame is not None:
        before, after = read_rating_table(options.earlier)[0], frame
    else:
        raise MedjuryError("give --earlier, the earlier ratings of the same cases, or --versions")
    names = _pairs(options.same_rater, "--same-rater")
    return audits.drift(before, after, bound=options.bound, same_rater=names, **shared)


def _show(audit: Audit, *, first: bool, everything: bool) -> None:
    """What stands out, then all findings; of a long list only what stands out, unless all is asked for."""
    print(
        ("" if first else "\n") + f"{audit.name.replace('_', ' ')} (n {audit.n}, unscored {audit.n_unscored})"
    )
    print(audit.method)
    loud = [finding for finding in audit.findings if finding.stands_out]
    shown = audit.findings if everything or len(audit.findings) <= _SHORT else loud
    rows = [_row(finding) for finding in shown]
    used = [name for name in (rows[0] if rows else ()) if any(row[name] != "" for row in rows)]
    show_table([{name: row[name] for name in used} for row in rows])
    if len(shown) < len(audit.findings):
        left = len(audit.findings) - len(shown)
        print(f"{left} other findings do not stand out or only describe: --all prints them")


def _row(finding: Finding) -> dict[str, object]:
    p_adjusted = "" if finding.p_adjusted is None else f"{finding.p_adjusted:.3g}"
    return {
        "statistic": finding.statistic,
        "rater": finding.rater,
        "dimension": finding.dimension,
        "group": finding.group,
        "value": interval(finding.estimate),
        "p_adjusted": p_adjusted,
        "verdict": finding.verdict,
        "n": finding.estimate.n,
        "n_unscored": finding.n_unscored,
    }


def _is_pairwise(path: str) -> bool:
    from medjury.ranking import read_plain_table

    frame = read_plain_table(Path(path)) if Path(path).is_file() else None
    return (
        frame is not None
        and {"first", "second", "preferred"} <= set(frame.columns)
        and "score" not in frame.columns
    )


def _plain(path: str) -> polars.DataFrame:
    from medjury.ranking import read_plain_table

    frame = read_plain_table(Path(path)) if Path(path).is_file() else None
    if frame is None:
        raise MedjuryError(f"{path}: no CSV, Parquet, JSONL or Excel table can be read there")
    return frame


def _cases(path: str) -> Any:
    from medjury.cases import read_cases

    return read_cases(path)


def _case_vendors(options: argparse.Namespace, frame: polars.DataFrame | None) -> dict[str, str]:
    """The vendors that the cases name, of systems that were rated."""
    if options.cases is None or frame is None or "system" not in frame.columns:
        return {}
    rated = set(frame["system"].to_list())
    return {
        case.system: case.vendor for case in _cases(options.cases) if case.vendor and case.system in rated
    }


def _pairs(entries: Sequence[str], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in (part for text in entries for part in text.split(",")):
        name, equals, value = (each.strip() for each in entry.rpartition("="))
        if not equals or not name or not value:
            raise MedjuryError(f"{option} {entry}: write NAME=NAME")
        if found.setdefault(name, value) != value:
            raise MedjuryError(f"{option}: {name} is given twice, as {found[name]} and as {value}")
    return found


def _lists(entries: Sequence[str], option: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in (part for text in entries for part in text.split(",")):
        name, equals, value = (each.strip() for each in entry.rpartition("="))
        if not equals or not name or not value:
            raise MedjuryError(f"{option} {entry}: write JUDGE=SYSTEM")
        found.setdefault(name, []).append(value)
    return found
