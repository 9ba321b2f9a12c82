"""Making a passport of a registered, gated run."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from medjury.analysis.audits import COMPARING, audit
from medjury.analysis.calibration import apply_calibrations, load_calibrations
from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports._document import (
    FORMAT,
    FORMAT_VERSION,
    MOST_DAYS,
    Force,
    Passport,
    PassportAudits,
    PassportClinicians,
    PassportFinding,
    PassportLimit,
    PassportNumber,
    PassportRule,
    PassportRun,
    PassportVerdict,
    aware,
    signed_passport,
)
from medjury.in_use.passports._population import Population, population_of
from medjury.in_use.passports._rebuilding import jury_of_run, rebuilding_changes, travelling_settings
from medjury.in_use.passports._scope import passport_scope
from medjury.intake.cases import Case
from medjury.store.runs import GateRules, LogAnchor, Manifest, ManifestHumans, RunFolder, file_hash, own_hash
from medjury.studies import Run, check_scores
from medjury.tables import RatingTable, open_run
from medjury.validation import Evidence, Verdict, evidence_of, validation_of
from medjury.version import __version__

# The verdict on one dimension with its evidence, as a passport carries it.


def passport_verdict(verdict: Verdict, evidence: Evidence, cases: Sequence[Case]) -> PassportVerdict:
    """The word, its scope among the judged `cases`, every rule, the jury's agreement with the clinicians, and how
    often it gave which score."""
    scores = Counter(
        f"{score:g}"
        for score in evidence.grid(verdict.dimension).scores[verdict.rater]
        if not math.isnan(score)
    )
    return PassportVerdict(
        dimension=verdict.dimension,
        label=verdict.label,
        word=verdict.word,
        scope=passport_scope(verdict.scope, evidence.shares_below(verdict.dimension), cases),
        rules=tuple(
            PassportRule(
                id=rule.id,
                name=rule.name,
                asked=rule.asked,
                found=nameless(rule.found, evidence.clinicians),
                state=rule.state,
                why=nameless(rule.why, evidence.clinicians),
                **rule.measured,
            )
            for rule in verdict.rules
        ),
        numbers=tuple(_numbers(verdict, evidence)),
        scores=dict(sorted(scores.items())),
    )


def nameless(text: str, clinicians: Iterable[str]) -> str:
    """The text with a number in place of each clinician's name."""
    for number, name in enumerate(clinicians, 1):
        if len(name) > 1:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", f"clinician {number}", text)
    return text


def _numbers(verdict: Verdict, evidence: Evidence) -> list[PassportNumber]:
    rows = [] if evidence.agreement is None else evidence.agreement.rows
    wanted = (verdict.rater, verdict.dimension, evidence.main_reference, "")
    return [
        PassportNumber(
            statistic=each.statistic,
            reference="consensus" if len(evidence.clinicians) > 1 else "clinician",
            **asdict(each.estimate),
        )
        for each in rows
        if (each.rater, each.dimension, each.reference, each.system or "") == wanted
    ]


EXPIRES_DAYS, ALPHA = 365, 0.05
_FORCES: dict[str, Force] = {"VALIDATED": "validated", "AUXILIARY": "auxiliary"}


def make_passport(
    folder: str | Path,
    *,
    calibration: str | Path | None = None,
    expires_days: int = EXPIRES_DAYS,
    alpha: float = ALPHA,
    cases: str | Path | None = None,
    allow_unvalidated: bool = False,
    sign: str | Path | None = None,
    now: datetime | None = None,
) -> Passport:
    """The passport of a run's first jury, signed with the SSH key `sign` where one is named. Refused where the
    run folder is not as the run left it, where the jury cannot be built anew as it was, and, unless it is allowed,
    where the gate says NOT VALIDATED or INCOMPLETE. It expires so many days after the run, not after the passport
    was made. `cases` names the cases that were judged, where they lie elsewhere."""
    place, moment = Path(folder), now or datetime.now(UTC)
    manifest = _whole_run(place)
    end = _end(place, manifest, expires_days, moment)
    table = open_run(place)
    evidence = evidence_of(table, checks=RunFolder(place).verify())
    found = validation_of(evidence)
    word = found.worst(first=True)
    if word not in _FORCES and not (allow_unvalidated and found.verdicts):
        raise MedjuryError(
            f"{place}: {word}, so there is no passport (`medjury gate {place}` says why). To try one out "
            "anyway: --allow-unvalidated; everything made with it will say so"
        )
    verdicts = found.of(found.raters[0])
    settings, instruments = _settings(place, manifest)
    judged = _judged(place, manifest, cases)
    population = _population(judged, manifest, table, alpha)
    passport = Passport(
        format=FORMAT,
        format_version=FORMAT_VERSION,
        made_with=f"medjury {__version__}",
        made_at=moment.isoformat(timespec="seconds"),
        expires_at=end.isoformat(timespec="seconds"),
        expires_days=expires_days,
        force=_FORCES.get(word, "unvalidated"),
        rater=verdicts[0].rater,
        jury=jury_of_run(manifest),
        study=settings,
        instruments=instruments,
        rules=GateRules(**{name: getattr(manifest.rules, name) for name in _STATED_RULES}),
        loosened=tuple(
            PassportLimit(name=name, stated=stated, loosest=ours)
            for name, stated, ours in manifest.rules.loosened()
        ),
        verdicts=tuple(passport_verdict(each, evidence, judged) for each in verdicts),
        population=population,
        clinicians=_clinicians(manifest.humans or ManifestHumans(), evidence),
        audits=_audits(manifest, evidence, judged, population),
        calibration=None if calibration is None else _calibration(calibration, table, verdicts[0].rater),
        run=_run(manifest, evidence, moment.replace(microsecond=0)),
    )
    # As it will be read: what cannot make the journey through the file is found here.
    passport = Passport.model_validate_json(passport.text()).sealed()
    _refuse_another_jury(passport)
    return passport if sign is None else signed_passport(passport, sign)


# Development cases are named by their ids in a run; a passport knows them by their marks alone.
_STATED_RULES = tuple(name for name in GateRules.model_fields if name != "development_cases")


def _run(manifest: Manifest, evidence: Evidence, made_at: datetime) -> PassportRun:
    stand = evidence.standing
    # Made anew later, a passport is the same, whatever was registered in the meantime.
    others = tuple(each for each in stand.others if datetime.fromisoformat(each.registered_at) <= made_at)
    known: dict[str, Any] = {"anchor": stand.anchor, "other_protocols": others, "erased": stand.erased}
    return PassportRun(
        run=manifest.run,
        finished_at=manifest.finished_at,
        manifest_hash=manifest_hash(manifest),
        audit_log=manifest.audit_log or LogAnchor(),
        data_hash=manifest.data_hash,
        protocol_hash=manifest.protocol_hash,
        registered_at="" if manifest.protocol is None else manifest.protocol.registered_at,
        **{name: value for name, value in known.items() if value},
    )


def _clinicians(humans: ManifestHumans, evidence: Evidence) -> PassportClinicians:
    return PassportClinicians(
        reference=len(evidence.clinicians),
        second_panel=len(evidence.table.people.second_panel),
        ratings=humans.ratings,
        consensus=humans.consensus,
        blinded=humans.blinded,
        illustrative=humans.illustrative,
        hash=humans.hash,
    )


def _audits(
    manifest: Manifest, evidence: Evidence, cases: Sequence[Case], population: Population
) -> PassportAudits:
    """What planted instructions did, and every audit of the jury and its judges that the ratings are enough for:
    what was tested, and how steady they are."""
    told: dict[str, Any] = {} if manifest.injection is None else {"injection": manifest.injection}
    groups = [name for name in population.groups if name != "system"]
    whose = {"", evidence.rater, *(each.name for each in manifest.judges)}
    try:
        made = audit(evidence.table, cases=cases, groups=groups)
    except MedjuryError as error:
        return PassportAudits(
            findings=(), not_made={"all": nameless(str(error), evidence.clinicians)}, **told
        )
    rows: list[dict[str, Any]] = [
        {
            name: nameless(value, evidence.clinicians) if isinstance(value, str) else value
            for name, value in row.as_dict().items()
        }
        for row in made.rows
        if row.rater in whose and (row.verdict or row.audit == "stability")
    ]
    left = {
        name: nameless(reason, evidence.clinicians)
        for name, reason in made.not_made.items()
        if name not in COMPARING
    }
    for each in made.audits:
        if each.name not in {row["audit"] for row in rows}:
            reasons = (row.estimate.reason for row in each.rows if row.estimate.reason)
            left[each.name] = nameless(next(reasons, "nothing could be tested"), evidence.clinicians)
    return PassportAudits(findings=tuple(PassportFinding(**row) for row in rows), not_made=left, **told)


def manifest_hash(manifest: Manifest) -> str:
    """The hash of a manifest but for what it says of reports, which may be written later."""
    return own_hash(
        {name: value for name, value in manifest.content().items() if name not in ("hash", "report_files")}
    )


def _end(place: Path, manifest: Manifest, days: int, moment: datetime) -> datetime:
    if not 1 <= days <= MOST_DAYS:
        raise MedjuryError(f"a passport is valid for one day to {MOST_DAYS:,} days, not for {days:,}")
    ended = aware(manifest.finished_at)
    end = ended + timedelta(days=days)
    if moment < ended - timedelta(seconds=1):
        raise MedjuryError(f"{place}: the run ended in the future ({ended}); set this machine's clock")
    if moment >= end:
        raise MedjuryError(
            f"{place}: the run ended on {manifest.finished_at[:10]}, and a passport for {days:,} days would "
            "have expired; validate the jury again on recent cases"
        )
    return end


def _whole_run(place: Path) -> Manifest:
    manifest = RunFolder(place).manifest
    if broken := [check for check in (*RunFolder(place).verify(), *check_scores(place)) if not check.sound]:
        words = "; ".join(f"{check.what}: {check.detail}" for check in broken)
        raise MedjuryError(
            f"{place}: the run folder is not as the run left it ({words}), so there is no passport"
        )
    if manifest.status != "complete":
        raise MedjuryError(f"{place}: the run is {manifest.status}; finish it first")
    if manifest.reread is not None:
        raise MedjuryError(
            f"{place}: was read again from stored replies; a passport needs a run that asked its jury"
        )
    if changed := manifest.changed_models():
        names = " and ".join(each.answered for each in changed[0])
        raise MedjuryError(
            f"{place}: the model behind {changed[0][0].asked} changed during the run ({names}), so it was not one "
            "jury that was validated; judge again with one of them"
        )
    return manifest


def _settings(place: Path, manifest: Manifest) -> tuple[dict[str, Any], dict[str, str]]:
    study = place / manifest.study_file
    if not study.is_file():
        raise MedjuryError(f"{place}: its study file ({manifest.study_file}) is not there; put it back")
    if file_hash(study) != manifest.study_file_hash:
        raise MedjuryError(f"{study}: was changed since the run; bring back the file as it was")
    return travelling_settings(read_document(study))


def _refuse_another_jury(passport: Passport) -> None:
    try:
        changes = rebuilding_changes(passport)
    except MedjuryError as error:
        raise MedjuryError(f"the jury cannot be rebuilt from its passport: {error}") from None
    if changes:
        raise MedjuryError(f"the jury is no longer the one that was validated: {'; '.join(changes)}")


def _judged(place: Path, manifest: Manifest, file: str | Path | None) -> list[Case]:
    """The cases that were judged; refused where the file holds others."""
    source = Run.cases_of(place, manifest, file)
    found = list(source)
    if source.hash != manifest.data_hash:
        raise MedjuryError(
            f"{place}: the cases in the study's file are not those that were judged; bring back the file as it "
            "was, or name it (--cases FILE)"
        )
    return found


def _population(cases: Sequence[Case], manifest: Manifest, table: RatingTable, alpha: float) -> Population:
    """Of the held-out cases that a clinician rated; those that served development are known by their marks."""
    rated = table.rows.filter(table.rows["rater_kind"] == "clinician")
    held_out = {(item, system) for item, system in rated.select("item", "system").unique().iter_rows()}
    items = {item for item, _ in held_out}
    systems_named = any(system for _, system in held_out)
    served = {*manifest.rules.development_cases, *manifest.touched_cases}
    validated: list[Case] = []
    development: list[Case] = []
    for case in cases:
        if case.id in served:
            development.append(case)
        elif (case.id, case.system) in held_out or (not systems_named and case.id in items):
            validated.append(case)
    return population_of(validated, development, alpha=alpha)


def _calibration(path: str | Path, table: RatingTable, rater: str) -> dict[str, Any]:
    """The content of a calibration file that fits the run's jury; its clinicians' names stay behind."""
    apply_calibrations(table, load_calibrations(path), raters=rater)
    content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    content["calibrations"] = [
        {**each, "reference": [f"clinician {number}" for number, _ in enumerate(each["reference"], 1)]}
        for each in content["calibrations"]
        if each["judge"] == rater
    ]
    return content
