"""Two runs side by side: what was changed, what that did to scores and to agreement, with paired intervals."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from medjury.statistics import moment, percent
from medjury.store.runs import GateRules, Manifest, ManifestJudge, RunFolder
from medjury.tables import RatingTable, case_column, open_run, rating_table
from medjury.validation._evidence import Evidence, coverage_of, roles_of
from medjury.validation._registered import Difference, differences, rule_shown, stated_things
from medjury.validation._run_changes import Drawing, RunChange, RunComparison, changes_of, taken
from medjury.validation._validate import Validation, validate

# All that two runs or two tables of ratings may have otherwise: rules, data, judges, prices, people, scales.

_HASHES, _SCORES = "judges' settings", "scores of "
_ROLES = ("reference", "second panel")
_HASHES_OF_PEOPLE = ("clinicians", "division of clinicians")


def setting_differences(one: RatingTable, two: RatingTable) -> tuple[Difference, ...]:
    """(what, first, second) wherever the two differ; a hash is shown only where nothing with a name explains it."""
    same = _same_people(one, two)
    first, second = _stated(one), {_renamed(name, same): text for name, text in _stated(two).items()}
    second |= {name: _renamed(second[name], same) for name in _ROLES if name in second}
    other_names = any(name != own for name, own in same.items())
    if other_names and len(same) == len(_people(one)) == len(_people(two)):
        for name in _HASHES_OF_PEOPLE:  # they hold names, and the same people have others in each run
            second |= {name: first[name]} if name in first and name in second else {}
    found = differences(first, second)
    if any(what.startswith("judge ") for what, _, _ in found):
        return tuple(each for each in found if each[0] != _HASHES)
    return tuple(_in_words(each, one, two) if each[0] == _HASHES else each for each in found)


def _in_words(found: Difference, one: RatingTable, two: RatingTable) -> Difference:
    """Whose settings differ in something that has no name in the manifest, such as the words of a prompt."""
    before, after = (
        {} if run.manifest is None else {each.name: each.settings_hash for each in run.manifest.judges}
        for run in (one.run, two.run)
    )
    changed = [name for name in before if name in after and before[name] != after[name]]
    if not changed:
        return found
    return _HASHES, "as they were", f"others for {', '.join(changed)} (prompt, schema or examples)"


def _people(table: RatingTable) -> dict[str, str]:
    """A mark of each clinician's scores."""
    return {
        name.removeprefix(_SCORES): text
        for name, text in _of_table(table).items()
        if name.startswith(_SCORES)
    }


def _same_people(one: RatingTable, two: RatingTable) -> dict[str, str]:
    """By the name in the second run, the name in the first of clinicians who gave the very same scores: pseudonyms
    are new in every run. Two with the same scores are told apart by nothing, and keep their names."""
    first, second = _people(one), _people(two)
    free = {name: mark for name, mark in first.items() if second.get(name) != mark}
    found = {name: name for name, mark in second.items() if first.get(name) == mark}
    for name, mark in second.items():
        same = [each for each, own in free.items() if own == mark]
        if name not in found and len(same) == 1:
            found[name] = same[0]
    return found


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with the second run's names as the first has them."""
    other = {name: own for name, own in names.items() if name != own}
    if not other:
        return text
    listed = "|".join(re.escape(name) for name in sorted(other, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{listed})(?!\w)", lambda found: other[found.group()], text)


def _stated(table: RatingTable) -> dict[str, str]:
    rules = {f"rule {name}": rule_shown(table.rules, name) for name in GateRules.model_fields}
    return {**(rules if table.run.manifest is None else _of_run(table.run.manifest)), **_of_table(table)}


def _of_run(manifest: Manifest) -> dict[str, str]:
    protocol = manifest.protocol
    registered = (
        "" if protocol is None else f"{manifest.protocol_hash[:16]}, {moment(protocol.registered_at)}"
    )
    humans = manifest.humans
    return {
        "medjury": manifest.medjury,
        "python": manifest.python,
        **{f"package {name}": version for name, version in manifest.packages.items()},
        **stated_things(manifest),
        **{name: text for judge in manifest.judges for name, text in _settings(judge).items()},
        "cases skipped": f"{manifest.cases_skipped:,}",
        "cases that lack a text": f"{manifest.cases_lacking_input:,}",
        **{f"answers of {name or 'no system'}": f"{count:,}" for name, count in manifest.systems.items()},
        **{f"vendor of {name}": vendor for name, vendor in manifest.system_vendors.items()},
        **{f"text metric {name}": how for name, how in manifest.metrics.items()},
        "clinicians' ratings are made up": "yes" if humans is not None and humans.illustrative else "no",
        "ratings left out": "none" if humans is None else f"{humans.left_out:,}",
        "protocol": registered or "not registered",
        "redacted": str(manifest.redacted),
        **{f"report {name}": str(value) for name, value in manifest.report.model_dump().items()},
        "prices as of": manifest.prices.as_of,
        "currency": manifest.prices.currency,
        **{f"price of {name}": price for name, price in manifest.prices.models.items()},
        "calls": str(manifest.calls),
        "cost": "not known" if manifest.cost is None else f"{manifest.cost:.4g}",
    }


def _settings(judge: ManifestJudge) -> dict[str, str]:
    """A judge's settings, each under its name; those inside others with a full stop between."""
    text: dict[str, str] = {}

    def put(name: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for inner, each in value.items():
                put(f"{name}.{inner}", each)
        elif isinstance(value, list | tuple) and len(value) > 3:
            text[name] = f"{len(value):,} ({_mark(value)})"
        else:
            text[name] = str(value)

    for name, value in judge.others.items():
        put(f"judge {judge.name}: {name}", value)
    return text


def _of_table(table: RatingTable) -> dict[str, str]:
    """The scales, and what each clinician stated: a clinician's file that differs is named."""
    scales = {
        f"scale of {each.label}": "not stated"
        if each.grades is None
        else f"{', '.join(f'{grade:g}' for grade in each.grades.values)}, "
        f"{'higher' if each.higher_is_better else 'lower'} is better"
        for each in table.dimensions
    }
    rows = table.everything
    people = rows.filter(~pl.col("rater_kind").is_in(["judge", "jury", "metric"]))
    columns = [name for name in ("item", "system", "dimension", "repeat", "score") if name in rows.columns]
    scores = {
        f"{_SCORES}{key[0]}": f"{part['score'].count():,} ({_mark(part.select(columns).sort(columns).rows())})"
        for key, part in people.partition_by("rater", as_dict=True).items()
    }
    return {**scales, **scores}


def _mark(value: object) -> str:
    """A few signs that tell two values apart."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:8]


def compare_runs(
    first: object,
    second: object,
    *,
    confidence: float = 0.95,
    resamples: int | None = None,
    seed: int | None = None,
) -> RunComparison:
    """Compare two run folders: two models, two prompts, two months. Numbers are compared on the answers that the
    juries of both runs scored, and agreement on those that clinicians rated in the same way in both."""
    one, two = _side(first), _side(second)
    aside, units = _development(one.table, two.table)
    drawing = Drawing(one.table.resamples(resamples), one.table.seed(seed), confidence, tuple(sorted(units)))
    warnings = _warnings(one.table, two.table, len(aside))
    names = {each.name for each in two.table.counted}
    shared = [each for each in one.table.counted if each.name in names]
    rows: list[RunChange] = []
    for dimension in shared:
        other = two.table.dimension(dimension.name)
        if (other.grades and other.grades.values) != (dimension.grades and dimension.grades.values):
            warnings.append(f"{dimension.label}: the scales differ, so the scores are not compared")
            continue
        found, text = changes_of(one, two, dimension, drawing)
        rows += found
        warnings += text
    rows += taken(one, two, drawing)
    words = [_words(validate(side.table, resamples=resamples, seed=seed)) for side in (one, two)]
    labels = dict.fromkeys([*words[0], *words[1]])
    return RunComparison(
        _title(one.table),
        _title(two.table),
        setting_differences(one.table, two.table),
        tuple(
            (label, words[0].get(label, "not judged"), words[1].get(label, "not judged")) for label in labels
        ),
        tuple((each.label, _covered(one, each.name), _covered(two, each.name)) for each in shared),
        tuple(rows),
        tuple(warnings),
        one.table.by_patient,
        confidence,
    )


def _words(found: Validation) -> dict[str, str]:
    """The verdicts by dimension, and by jury where there are several."""
    several = len(found.raters) > 1
    return {
        f"{each.rater}, {each.label}" if several else each.label: str(each.word) for each in found.verdicts
    }


def _side(source: object) -> Evidence:
    table = open_run(source) if isinstance(source, str | os.PathLike) else rating_table(source)
    roles = roles_of(table)
    return Evidence(table, roles, roles.jury, None)


def _title(table: RatingTable) -> str:
    manifest = table.run.manifest
    if manifest is None:
        return "ratings of no run folder"
    return (
        f"{manifest.run or table.run.folder} ({manifest.status}, finished {manifest.finished_at or 'never'})"
    )


def _covered(side: Evidence, dimension: str) -> str:
    share, _, _ = coverage_of(side.table, side.grid(dimension), side.rater, side.roles)
    return percent(share, 1)


def _warnings(one: RatingTable, two: RatingTable, aside: int) -> list[str]:
    found = []
    for name, side in (("A", one), ("B", two)):
        found += _unsound(name, side)
    if aside:
        found.append(
            f"{aside:,} cases that served development in either run (tuning, examples) are left out of all "
            "changes: agreement on them proves nothing"
        )
    if one.run.manifest and two.run.manifest and one.run.manifest.data_hash != two.run.manifest.data_hash:
        found.append("the runs judged different data: only cases with the same name are compared, on trust")
    labels = [{each.label for each in side.counted} for side in (one, two)]
    for name, only in (("A", labels[0] - labels[1]), ("B", labels[1] - labels[0])):
        found += [f"only {name} has {', '.join(sorted(only))}"] if only else []
    return found


def _unsound(name: str, side: RatingTable) -> list[str]:
    if side.run.manifest is None or side.run.folder is None:
        return []
    found = [
        f"{name}: {check.what} {check.detail}"
        for check in RunFolder(side.run.folder).check_files(side.run.manifest)
        if not check.sound
    ]
    if side.run.manifest.status != "complete":
        found.append(f"{name} is {side.run.manifest.status}: {side.run.manifest.why}")
    return found


def _development(one: RatingTable, two: RatingTable) -> tuple[set[str], set[str]]:
    """Cases that served development in one run serve no comparison with the other either; and with them whatever
    units the tables have of them, such as their criteria."""
    named = {*one.rules.development_cases, *two.rules.development_cases}
    pairs = {
        pair
        for rows in (one.everything, two.everything)
        for pair in rows.select(case=case_column(rows), item="item").unique().iter_rows()
    }
    cases = {case for case, _ in pairs if case in named}
    return cases, cases | {item for case, item in pairs if case in named}
