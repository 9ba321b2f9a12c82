"""All that two runs or two tables of ratings may have otherwise: rules, data, judges, prices, people, scales."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import polars as pl

from medjury.runs import GateRules, Manifest, ManifestJudge
from medjury.statistics import moment
from medjury.tables import RatingTable
from medjury.validation._runs.registered import Difference, differences, rule_shown, stated_things

_HASHES = "judges' settings"


def setting_differences(one: RatingTable, two: RatingTable) -> tuple[Difference, ...]:
    """(what, first, second) wherever the two differ; a hash is shown only where nothing with a name explains it."""
    found = differences(_stated(one), _stated(two))
    named = any(what.startswith("judge ") for what, _, _ in found)
    return tuple(each for each in found if not (named and each[0] == _HASHES))


def _stated(table: RatingTable) -> dict[str, str]:
    rules = {f"rule {name}": rule_shown(table.rules, name) for name in GateRules.model_fields}
    return {**(rules if table.manifest is None else _of_run(table.manifest)), **_of_table(table)}


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
        **{name: said for judge in manifest.judges for name, said in _settings(judge).items()},
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
    said: dict[str, str] = {}

    def put(name: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for inner, each in value.items():
                put(f"{name}.{inner}", each)
        elif isinstance(value, list | tuple) and len(value) > 3:
            said[name] = f"{len(value):,} ({_mark(value)})"
        else:
            said[name] = str(value)

    for name, value in judge.others.items():
        put(f"judge {judge.name}: {name}", value)
    return said


def _of_table(table: RatingTable) -> dict[str, str]:
    """The scales, and what each clinician said: a clinician's file that differs is named."""
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
        f"scores of {key[0]}": f"{part['score'].count():,} ({_mark(part.select(columns).sort(columns).rows())})"
        for key, part in people.partition_by("rater", as_dict=True).items()
    }
    return {**scales, **scores}


def _mark(value: object) -> str:
    """A few signs that tell two values apart."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:8]
