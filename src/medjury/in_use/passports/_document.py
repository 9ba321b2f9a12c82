"""A passport: which jury, by which evidence, for which cases, until when; its hash, its signature, and its file,
refused where it is not as it was made, or not signed by a trusted key. Its form is the Judge Card 1.0 of
`docs/judge-card.md`; `docs/judge-card.schema.json` is made from the classes here, and a wheel holds it too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationError, model_validator

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports._population import Population, population_words
from medjury.statistics import counted
from medjury.store.runs import (
    AnsweringModel,
    ConsensusRule,
    EarlierProtocol,
    GateRules,
    LogAnchor,
    ManifestInjection,
    ManifestInstrument,
    ManifestJudge,
    ManifestJury,
    RunPart,
    check_text,
    from_files_words,
    own_hash,
    sign_text,
)
from medjury.validation import ORDER, Scope, Word

FORMAT: Literal["judge card"] = "judge card"
FORMAT_VERSION: Literal["1.0"] = "1.0"
MOST_DAYS = 36525
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Moment = Annotated[
    str,
    Field(
        pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?$"
    ),
]
Force = Literal["validated", "auxiliary", "unvalidated"]
# What every output says of a jury that may not stand in for a clinician.
LIMITS: dict[Force, str] = {
    "validated": "",
    "auxiliary": "AUXILIARY: this jury was not validated; its scores may support a clinician's, never replace them",
    "unvalidated": "NOT VALIDATED: this jury failed its gate; its scores are for trials, not for patients",
}


RuleState = Literal["holds", "open", "fails", "not known", "does not apply"]


class StrictPart(RunPart):
    """A part that takes no name it does not know: a passport with anything added is not a passport."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class PassportRule(StrictPart):
    """A rule of the gate by its id: what it asked and what was found. A line of the colleague test has the jury's
    number, a colleague's, their difference with its bounds, and the limit."""

    id: str
    name: str
    asked: str
    found: str
    state: RuleState
    why: str = ""
    jury: float | None = None
    colleague: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    limit: float | None = None


class PassportScope(StrictPart):
    """For which parts of the cases (`column=value`) the verdict holds, fails (`why` has the reason) or is not
    known (`cases` has how many there were). `cuts` are the numbers at which a column was cut into thirds; a length
    is counted in words."""

    holds: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    not_known: tuple[str, ...] = ()
    why: dict[str, str]
    cases: dict[str, int]
    cuts: dict[str, tuple[float, ...]]

    def words(self) -> str:
        """The scope in one sentence; "" where nothing tells cases apart."""
        return Scope(self.holds, self.fails, self.not_known, self.cases).text()


class PassportLimit(StrictPart):
    """A limit of the gate that is looser than VALIDATED allows, beside the loosest that is allowed."""

    name: str
    stated: float
    loosest: float


class PassportNumber(StrictPart):
    """A statistic of the jury beside the clinicians, with its interval."""

    statistic: str
    reference: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    reason: str = ""


class PassportVerdict(StrictPart):
    """The word on one dimension, its scope and its evidence; `scores` counts the jury's scores on the validated
    cases."""

    dimension: str
    label: str
    word: Word
    scope: PassportScope
    rules: tuple[PassportRule, ...]
    numbers: tuple[PassportNumber, ...]
    scores: dict[str, int]


class PassportRun(StrictPart):
    """The run that the passport rests on, and the hashes by which it is held to it: those of its manifest, its
    cases and its protocol, and the last entry of its audit chain. `anchor` is the line that proves the registration
    where it was published, `other_protocols` are all others for the same cases, `erased` counts registered answers
    that were erased since."""

    run: str
    finished_at: Moment
    manifest_hash: Sha256
    audit_log: LogAnchor
    data_hash: Sha256
    protocol_hash: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")]
    registered_at: str
    anchor: str = ""
    other_protocols: tuple[EarlierProtocol, ...] = ()
    erased: int = 0

    def words(self) -> list[str]:
        """How it was registered, for a reader."""
        if not self.protocol_hash:
            return ["not registered"]
        lines = [f"registered {self.registered_at}, protocol {self.protocol_hash[:16]}"]
        lines += [
            f"  another protocol for the same cases: {each.hash[:16]}, {each.registered_at}"
            for each in self.other_protocols
        ]
        lines += [f"  {self.erased:,} registered answers were erased since"] if self.erased else []
        return [*lines, f"  {self.anchor}"] if self.anchor else lines


class PassportJury(StrictPart):
    """The jury: all that determines its answers. `answered` are the models that said they answered."""

    instrument: ManifestInstrument
    prompt_version: str
    judges: tuple[ManifestJudge, ...]
    jury: ManifestJury
    juries: tuple[ManifestJury, ...] = ()
    answered: tuple[AnsweringModel, ...] = ()


class PassportClinicians(StrictPart):
    """By whom it was validated, without a name: how many clinicians are the yardstick and how many a second panel,
    how the scores of several become one, whether they had not seen the judges' scores (null: not stated), and
    whether the ratings are made up. `hash` is that of all that they said."""

    reference: int
    second_panel: int
    ratings: int
    consensus: ConsensusRule
    blinded: bool | None
    illustrative: bool
    hash: str = ""


class PassportFinding(StrictPart):
    """One number of an audit for bias: about which rater, on which dimension, in which group of cases."""

    audit: str
    statistic: str
    rater: str
    dimension: str
    group: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    n_unscored: int
    p_value: float | None
    p_adjusted: float | None
    verdict: str
    stands_out: bool
    method: str
    reason: str


class PassportAudits(StrictPart):
    """What moves the scores besides quality: planted instructions (null: not audited), the `findings` of the audits
    for bias, and by name why one was `not_made`."""

    injection: ManifestInjection | None = None
    findings: tuple[PassportFinding, ...]
    not_made: dict[str, str]


class Passport(StrictPart):
    """All of it. `made_with` names the program and its version. `study` are the settings from which the jury is
    built anew, `instruments` the files that they name, `calibration` the content of a calibration file. It expires
    `expires_days` after the run ended. `hash` is that of all the rest but the `signature`, which signs the hash."""

    format: Literal["judge card"]
    format_version: Literal["1.0"]
    made_with: str
    made_at: Moment
    expires_at: Moment
    expires_days: Annotated[int, Field(ge=1, le=MOST_DAYS)]
    force: Force
    rater: str
    jury: PassportJury
    study: dict[str, Any]
    instruments: dict[str, str]
    rules: GateRules
    loosened: tuple[PassportLimit, ...] = ()
    verdicts: tuple[PassportVerdict, ...]
    population: Population
    clinicians: PassportClinicians
    audits: PassportAudits
    calibration: dict[str, Any] | None = None
    run: PassportRun
    hash: Sha256 = ""
    signature: str = ""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Passport:
        if problem := next(_contradictions(self), ""):
            raise ValueError(problem)
        return self

    def sealed(self) -> Passport:
        """The same with its hash."""
        return self.replaced(hash=content_hash(self.content()))

    def text(self) -> str:
        """The file."""
        return json.dumps(self.content(), indent=1, ensure_ascii=True, allow_nan=False) + "\n"

    @property
    def limit(self) -> str:
        """What every output says of a jury that may not stand in for a clinician; "" where it may."""
        return LIMITS[self.force]

    @property
    def who(self) -> str:
        """Whose verdict it is, for a reader: one judge is no jury."""
        names = [each.name for each in self.jury.judges]
        return names[0] if len(names) == 1 else self.rater

    def words(self) -> str:
        """The passport in a few lines for a reader; what limits it comes first."""
        population, signed = self.population, "signed" if self.signature else "not signed"
        lines = [
            f"{self.force.upper()}: {self.who} of {self.run.run}",
            self.limit,
            *from_files_words(self.jury.judges),
            f"valid until {self.expires_at[:10]}, {self.expires_days:,} days after the run ended",
            f"instrument {self.jury.instrument.name} {self.jury.instrument.version}, prompt "
            f"{self.jury.prompt_version}, judged by {', '.join(each.name for each in self.jury.judges)}",
            *self.run.words(),
            *(
                f"looser than VALIDATED allows: {each.name} {each.stated:g} (ours {each.loosest:g})"
                for each in self.loosened
            ),
            *(
                f"{each.label}: {each.word}" + (f", {text}" if (text := each.scope.words()) else "")
                for each in self.verdicts
            ),
            f"made from {counted(population.cases, 'answer')} of {population.patients:,} patients or cases, "
            f"rated by {counted(self.clinicians.reference, 'clinician')}",
            *(f"  {line}" for line in population_words(population)),
            f"SHA-256 {self.hash}, {signed}",
        ]
        first, *rest = filter(None, lines)
        return "\n".join([first, *(f"  {line}" for line in rest)])


def _contradictions(card: Passport) -> Iterator[str]:
    """What parts of a card say against one another, as `docs/judge-card.md` lists it: the form of each may be
    right, and the whole could still not have come about."""
    finished = aware(card.run.finished_at)
    if finished - aware(card.made_at) > timedelta(seconds=1):
        yield "made before its run ended"
    if abs(aware(card.expires_at) - finished - timedelta(days=card.expires_days)) > timedelta(seconds=1):
        yield f"it does not expire {card.expires_days:,} days after its run ended"
    worst = max((each.word for each in card.verdicts), key=ORDER.index, default="INCOMPLETE")
    if card.force != {"VALIDATED": "validated", "AUXILIARY": "auxiliary"}.get(worst, "unvalidated"):
        yield f"in force as {card.force}, and its worst verdict is {worst}"
    for verdict in card.verdicts:
        failed = [rule.id for rule in verdict.rules if rule.state == "fails"]
        failed += [each.name for each in card.loosened]
        failed += [] if card.run.protocol_hash else ["registered"]
        if verdict.word == "VALIDATED" and failed:
            yield f"{verdict.dimension}: VALIDATED although {failed[0]} fails"
        for low, high in (
            (each.low, each.high) for part in (verdict.rules, verdict.numbers) for each in part
        ):
            if low is not None and high is not None and low > high:
                yield f"{verdict.dimension}: an interval ends before it begins"
    for name, counts in card.population.groups.items():
        if sum(counts.values()) != card.population.cases:
            yield f"{name}: its groups do not add up to {card.population.cases:,} cases"


def aware(moment: str) -> datetime:
    """A moment of a card; one without a time zone is of UTC."""
    found = datetime.fromisoformat(moment)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def content_hash(content: dict[str, Any]) -> str:
    """SHA-256 of a passport's content without its hash and signature, however the file is laid out."""
    return own_hash({name: value for name, value in content.items() if name not in ("hash", "signature")})


def expired(passport: Passport, now: datetime | None = None) -> str:
    """Why the passport is no longer, or not yet, in force; nothing where it is."""
    moment = now or datetime.now(UTC)
    end, start = aware(passport.expires_at), aware(passport.made_at)
    if moment >= end:
        return f"expired on {passport.expires_at[:10]}; validate the jury again on recent cases"
    if moment < start:
        return f"is dated in the future ({passport.made_at}); set this machine's clock"
    return ""


_FOR = "judge-card"  # the namespace: a signature of a run is none of a card


class RefusedError(MedjuryError):
    """A passport that is not in force: edited, not signed by a trusted key, expired, or another jury's."""

    exit_status = 6


def read_passport(path: str | Path, signers: str | Path | None = None) -> Passport:
    """The passport in a file, as it was made. A signature is always checked; with `signers`, a file of
    the keys that you trust, there must be one of theirs."""
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise MedjuryError(f"{file}: the passport cannot be read ({error.strerror})") from None
    passport = parsed_passport(content, str(file))
    signature_of(passport, str(file), signers)
    return passport


def signed_passport(passport: Passport, key: str | Path) -> Passport:
    """The same, signed with an SSH key."""
    signature = sign_text(passport.hash.encode(), key, purpose=_FOR, what="the passport")
    return passport.replaced(signature=signature)


def signature_of(passport: Passport, name: str, signers: str | Path | None = None) -> str:
    """Who signed it, in words; refused where the signature is not of this passport, or of nobody trusted."""
    if not passport.signature:
        if signers is not None:
            raise RefusedError(
                f"{name}: there is no signature; have the passport signed, or get the signed one"
            )
        return "not signed: whoever wrote the file could have written anything"
    sound, words = check_text(
        passport.hash.encode(), passport.signature, signers, purpose=_FOR, what="passport"
    )
    if not sound:
        raise RefusedError(f"{name}: the signature {words}")
    return words


def parsed_passport(content: bytes, name: str) -> Passport:
    """The passport in the bytes of a file, its signature not looked at."""
    try:
        stated = json.loads(content, object_pairs_hook=once, parse_int=_finite)
    except TwiceError:
        raise RefusedError(
            f"{name}: a name appears twice, so two readers could read it differently; make it again from its run"
        ) from None
    except (ValueError, RecursionError) as error:
        raise MedjuryError(
            f"{name}: this is not a passport ({type(error).__name__}: not JSON). "
            "`medjury passport make RUN` writes one"
        ) from None
    if not isinstance(stated, dict) or stated.get("format") != FORMAT:
        raise MedjuryError(f"{name}: this is not a passport; `medjury passport make RUN` writes one")
    if stated.get("format_version") != FORMAT_VERSION:
        raise MedjuryError(
            f"{name}: was written by another version of medjury ({FORMAT} {stated.get('format_version')}); this "
            f"one reads {FORMAT} {FORMAT_VERSION}. Make a new one from the run: `medjury passport make RUN`"
        )
    if stated.get("hash") != content_hash(stated):
        raise RefusedError(
            f"{name}: the passport was edited after it was made: its content does not match the hash that "
            f"it states. "
            "Bring back the file as it was made, or make a new one from the run"
        )
    try:
        return Passport.model_validate_json(content, strict=True)  # no word is a number here
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RefusedError(
            f"{name}: this is not a whole passport ({place}: {first['msg']}); make it again from its run"
        ) from None


class TwiceError(ValueError):
    pass


def _finite(digits: str) -> int:
    if len(digits) > 308:
        raise ValueError("a number that no double reaches")
    return int(digits)


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; refused where a name appears twice, since two readers could read it differently."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise TwiceError
    return content
