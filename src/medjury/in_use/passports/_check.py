"""Is a passport in force? Everything that speaks against it, and what a pipeline ends with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports._document import (
    Force,
    Passport,
    RefusedError,
    expired,
    read_passport,
    signature_of,
)
from medjury.in_use.passports._making import make_passport, manifest_hash
from medjury.in_use.passports._rebuilding import (
    answering_changes,
    jury_changes,
    jury_of_run,
    rebuilding_changes,
)
from medjury.store.runs import RunFolder

State = Literal["in force", "refused"]
_STATUSES: dict[Force, int] = {"validated": 0, "auxiliary": 3, "unvalidated": 4}


@dataclass(frozen=True, slots=True)
class PassportCheck:
    """What a check found: in force or refused, and every reason in words; `signed` says by whom."""

    state: State
    reasons: tuple[str, ...]
    passport: Passport | None = None
    signed: str = ""

    @property
    def exit_status(self) -> int:
        """As `gate` ends: 0 validated, 3 auxiliary, 4 not validated; 6 where the passport is refused."""
        if self.state == "refused" or self.passport is None:
            return RefusedError.exit_status
        return _STATUSES[self.passport.force]

    def text(self) -> str:
        lines = [self.state.upper(), *(f"  {each}" for each in self.reasons)]
        if self.passport is not None:
            lines += [self.passport.words(), f"  {self.signed}"]
        return "\n".join(lines)

    def to_json(self) -> str:
        text: dict[str, Any] = {
            "state": self.state,
            "exit_status": self.exit_status,
            "reasons": list(self.reasons),
        }
        if self.passport is not None:
            text |= {"force": self.passport.force, "hash": self.passport.hash, "signed": self.signed}
            text |= {"expires_at": self.passport.expires_at, "run": self.passport.run.run}
        return json.dumps(text, indent=1, ensure_ascii=False)


def check_passport(
    path: str | Path,
    *,
    run: str | Path | None = None,
    signers: str | Path | None = None,
    cases: str | Path | None = None,
    now: datetime | None = None,
) -> PassportCheck:
    """Is it as it was made, in force, and of the jury that this medjury would build from it? With `run`, is it what
    that run says? With `signers`, did one of them sign it? A file that is not a passport at all is an error."""
    try:
        passport = read_passport(path, signers)
    except RefusedError as error:
        return PassportCheck("refused", (str(error),))
    reasons = [f"{path}: the passport {why}"] if (why := expired(passport, now)) else []
    reasons += _told(lambda: rebuilding_changes(passport))
    if run is not None:
        reasons += _told(lambda: run_changes(passport, run, cases))
    signed = signature_of(passport, str(path), signers)
    return PassportCheck("refused" if reasons else "in force", tuple(reasons), passport, signed)


def refuse_other_jury(path: str | Path, run: str | Path, signers: str | Path | None = None) -> None:
    """Refused unless the passport is in force and the run, which may be of other cases, was judged by its jury."""
    passport = read_passport(path, signers)
    now = jury_of_run(RunFolder(run).manifest)
    changes = [*jury_changes(passport.jury, now), *answering_changes(passport.jury.answered, now.answered)]
    why = [expired(passport)] if expired(passport) else []
    why += [f"is void: {run} was judged by a different jury: {'; '.join(changes)}"] if changes else []
    if why:
        raise RefusedError(f"{path}: the passport {'; '.join(why)}")


def run_changes(passport: Passport, folder: str | Path, cases: str | Path | None = None) -> tuple[str, ...]:
    """What a passport says otherwise than its run: it is made anew from the run and compared, part by part. The
    calibration is not the run's, and is not compared."""
    manifest = RunFolder(folder).manifest
    if manifest.run != passport.run.run or manifest_hash(manifest) != passport.run.manifest_hash:
        return (
            f"run: the passport is of {passport.run.run}; {folder} holds another run, or another manifest",
        )
    made = make_passport(
        folder,
        expires_days=passport.expires_days,
        alpha=passport.population.novelty.alpha,
        cases=cases,
        allow_unvalidated=passport.force == "unvalidated",
        now=datetime.fromisoformat(passport.made_at),
    )
    then, now = (json.loads(each.text()) for each in (passport, made))
    apart = ("hash", "signature", "made_with", "calibration")
    names = [name for name in dict.fromkeys([*then, *now]) if name not in apart]
    return tuple(f"{name}: is not what the run says" for name in names if then.get(name) != now.get(name))


def _told(look: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return tuple(look())
    except MedjuryError as error:
        return (str(error),)
