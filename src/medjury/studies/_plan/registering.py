"""Registering a study: its rules, instrument, prompts, jury and data are written down before a score is seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from medjury.foundation.clock import utc_now
from medjury.foundation.errors import MedjuryError
from medjury.statistics import counted
from medjury.store.runs import (
    GateRules,
    Ledger,
    Manifest,
    ManifestHumans,
    Protocol,
    Registration,
    RunFolder,
    SeenRun,
    TuningManifest,
    files,
)
from medjury.studies._plan.clinicians import Humans
from medjury.studies._plan.plan import RunPlan
from medjury.studies._study.material import case_leaf, leaves_hash
from medjury.studies._study.study import Study, stored_runs

_Same = Callable[[str, Iterable[str]], bool]
# What may differ while a protocol is still the same: when it was made, and what was known of its data then.
_OF_ITS_TIME = ("registered_at", "medjury", "seen", "earlier", "ledger")


@dataclass(frozen=True, slots=True)
class Registered:
    """A protocol, where it lies, whether it lay there before, and the line to `publish`: it proves elsewhere when
    the study was registered, and that it was the first for its cases."""

    protocol: Protocol
    file: Path
    before: bool = False
    publish: str = ""

    def text(self) -> str:
        """What was fixed, and what its reader should do now."""
        made, hash = self.protocol, self.protocol.hash()
        lines = [
            f"{'Registered already' if self.before else 'Registered'}: {made.study}, {made.registered_at}",
            f"  {self.file}",
            f"  SHA-256 {hash}",
            f"  {made.cases:,} answers (data {made.data_hash[:12]}), {made.instrument.name} "
            f"{made.instrument.version}, {counted(len(made.judges), 'judge')}, "
            + (
                "no clinician has rated yet"
                if made.humans is None
                else f"{made.humans.ratings:,} ratings of clinicians"
            ),
        ]
        lines += [
            f"! {each.run} had {each.ratings:,} ratings of the same data, since {each.since}: these rules were "
            "stated after scores could be seen, and cannot validate a jury on these data"
            for each in made.seen
        ]
        lines += [
            f"  {each.what} has seen {each.cases:,} of these cases: they are development cases"
            for each in made.touched
        ]
        lines += [
            f"! an earlier protocol of these cases: {each.hash[:16]}, {each.registered_at}: "
            + (
                "the rules are the same"
                if each.rules == made.rules.hash()
                else "its rules count, and these cannot validate a jury on these cases"
            )
            for each in made.earlier
        ]
        if self.publish:
            lines += ["Publish this line:", self.publish]
        lines.append(
            "The hash proves what was registered. That it was registered now, and first, only somebody else can "
            "prove: send the line to your ethics board or your statistician, or put it into a public registry. "
            "`medjury runs verify RUN --anchor LINE` checks it."
        )
        return "\n".join(lines)

    def to_json(self) -> str:
        """The same for a program."""
        given = {
            "file": str(self.file),
            "hash": self.protocol.hash(),
            "registered_before": self.before,
            "publish": self.publish,
            "protocol": self.protocol.content(),
        }
        return json.dumps(given, indent=1, ensure_ascii=False)


def registered_protocol(study: Study, plan: RunPlan) -> Protocol | None:
    """The protocol that a run of this study is held to: the one that the study file names. Else, of those beside it
    for the same cases or for some of them, the first, or the latest that has the same rules and was made before the
    cases had been judged. Else the latest there of the same name."""
    folder = study.file.resolve().parent
    if study.settings.protocol is not None:
        return Protocol.read(folder / study.settings.protocol)
    beside = Protocol.all_in(folder)
    same = _in_order([each for each in beside if _same_data(each, plan)])
    if not same:
        named = [each for each in beside if each.study == study.name]
        unseen = [each for each in named if not each.seen] or named
        return unseen[-1] if unseen else None
    first = same[0]
    amended = [each for each in same if not each.seen and each.rules.hash() == first.rules.hash()]
    exact = [each for each in amended if each.data_hash == plan.data_hash]
    return (exact or amended or [first])[-1]


def _same_data(protocol: Protocol, plan: RunPlan) -> bool:
    return protocol.data_hash == plan.data_hash or not {*protocol.answer_hashes}.isdisjoint(
        plan.answer_hashes
    )


def _in_order(protocols: Iterable[Protocol]) -> list[Protocol]:
    """As they were registered: within one second, or with dates that were changed, the ledger knows the order."""
    return sorted(protocols, key=lambda each: (each.line, each.registered_at))


def registration_of(
    study: Study, plan: RunPlan, protocol: Protocol | None, given: Mapping[str, str]
) -> Registration | None:
    """What is known of the registrations of a study's cases: in the ledger beside the study file, in the protocols
    that lie there, and in runs of the same cases. `given` are the hashes of clinicians' ratings, case by case."""
    folder = study.file.resolve().parent
    ledger = Ledger.read(folder)
    runs = [(seen, run) for seen, run in _runs(study, plan.data_hash, plan.answer_hashes) if run is not None]
    own = () if protocol is None else (protocol,)
    remembered = [*own, *(each for each in Protocol.all_in(folder) if _same_data(each, plan))]
    remembered += [run.protocol for _, run in runs if run.protocol is not None]
    hash = "" if protocol is None else protocol.hash()
    listed = {each.hash: each for each in ledger.of(plan.cases_hash, plan.answer_hashes)}
    elsewhere = [each.listed() for each in remembered] + [each for it in remembered for each in it.earlier]
    for each in sorted(elsewhere, key=lambda each: each.registered_at):
        listed.setdefault(each.hash, each)
    if not listed:
        return None
    _refuse_erased(study, ledger, plan)
    placed = protocol is not None and not ledger.problem and not ledger.lacks(protocol)
    return Registration(
        ledger=ledger.end,
        first=next(iter(listed.values())),
        beside=tuple(each for each in listed.values() if each.hash != hash),
        **_erased(ledger, plan, protocol, given),
        tried=_tried(runs, hash),
        anchor=ledger.anchor_line(protocol) if protocol and placed else "",
        problem=_problem(ledger, remembered, runs),
    )


def _refuse_erased(study: Study, ledger: Ledger, plan: RunPlan) -> None:
    erased = {leaf: line.line for line in ledger.lines for leaf in line.erased}
    if found := [erased[leaf] for leaf in plan.leaves if leaf in erased]:
        raise MedjuryError(
            f"{study.settings.cases.path}: {counted(len(found), 'answer')} in it were erased ({ledger.file.name}, "
            f"line {found[0]:,}) and may not be judged; take them out of the file"
        )


def _erased(
    ledger: Ledger, plan: RunPlan, protocol: Protocol | None, given: Mapping[str, str]
) -> dict[str, Any]:
    """Whether the cases and what clinicians said of them are as registered, with what was erased since."""
    if protocol is None or not protocol.cases_hash:
        return {}
    known = "" if protocol.humans is None else protocol.humans.cases_hash
    if plan.cases_hash == protocol.cases_hash:
        return {"whole": True, "ratings_whole": leaves_hash(given.values()) == known}
    lines = ledger.erasures(protocol.cases_hash)
    erased = [each for line in lines for each in line.erased]
    ratings = [each for line in lines for each in line.ratings]
    return {
        "erasures": tuple(each.listed() for each in lines),
        "whole": plan.leaves.hash(erased) == protocol.cases_hash,
        "ratings_whole": leaves_hash([*given.values(), *ratings]) == known,
    }


def _tried(runs: Sequence[tuple[SeenRun, Manifest]], hash: str) -> tuple[SeenRun, ...]:
    """Runs under another protocol that had ratings of these cases before this protocol's first run had any."""
    for _, run in runs:
        if run.protocol_hash == hash and run.registration is not None:
            return run.registration.tried
    return tuple(seen for seen, run in runs if run.protocol_hash not in ("", hash))


def _problem(ledger: Ledger, remembered: Iterable[Protocol], runs: Iterable[tuple[SeenRun, Manifest]]) -> str:
    """What is wrong with the ledger, as far as protocols and runs remember it."""
    text = ledger.problem or next((text for each in remembered if (text := ledger.lacks(each))), "")
    for seen, run in runs:
        place = None if run.registration is None else run.registration.ledger
        if (
            not text
            and place is not None
            and ledger.registered(run.protocol_hash)
            and not ledger.holds(place)
        ):
            text = f"is not the one that {seen.run} read: it was cut or changed since"
    return f"{ledger.file.name}: {text}" if text else ""


def make_protocol(study: Study, manifest: Manifest, now: str) -> Protocol:
    """The protocol of a study as its manifest would describe it now."""
    humans = manifest.humans
    return Protocol(
        format=1,
        medjury=manifest.medjury,
        study=study.name,
        registered_at=now,
        data_hash=manifest.data_hash,
        cases_hash=manifest.cases_hash,
        answer_hashes=manifest.answer_hashes,
        cases=manifest.cases,
        instrument=manifest.instrument,
        prompt_version=manifest.prompt_version,
        judges=manifest.judges,
        jury=manifest.jury,
        # What is not written down where there is none: protocols of earlier versions stay what they are.
        **{name: value for name in ("juries", "touched") if (value := getattr(manifest, name))},
        rules=GateRules(**{name: getattr(manifest.rules, name) for name in GateRules.model_fields}),
        # Names of clinicians are nobody's business here.
        humans=None
        if humans is None
        else ManifestHumans(
            file=humans.file,
            hash=humans.hash,
            cases_hash=humans.cases_hash,
            ratings=humans.ratings,
            illustrative=humans.illustrative,
        ).replaced(
            **({"roles": humans.roles, "roles_hash": humans.roles_hash} if humans.roles else {}),
            **({} if humans.blinded is None else {"blinded": humans.blinded}),
        ),
        seen=tuple(judged_before(study, manifest.data_hash, {*manifest.answer_hashes})),
        earlier=(),
    )


def register(study: Study, made: Protocol, folder: Path | None) -> Registered:
    """Write the protocol beside the study file, or into `folder`, and into the ledger beside the study file; one
    that says the same is not written twice."""
    home = study.file.resolve().parent
    place = home if folder is None else folder
    known = Protocol.all_in(place) if place.is_dir() else ()
    ledger = Ledger.read(home)
    for each in known:
        if _frozen(each) == _frozen(made) and not ledger.problem and not ledger.lacks(each):
            return Registered(each, place / each.file_name, before=True, publish=ledger.anchor_line(each))
    whole, ledger = Ledger.enter_protocol(home, made)
    try:
        return Registered(whole, whole.write(place), publish=ledger.anchor_line(whole))
    except OSError as error:
        raise MedjuryError(f"{place}: the protocol cannot be written ({error.strerror})") from None


@dataclass(frozen=True, slots=True)
class RecordedErasure:
    """An erasure in the ledger of a study: how many answers, on which line, and why not where it could not be."""

    cases: int = 0
    line: int = 0
    why_not: str = ""

    def text(self) -> str:
        """What became of the registration, in words."""
        if self.why_not:
            lost = "The erasure is not recorded in the study's ledger, and its registration is lost"
            return f"{lost}: {self.why_not}."
        line = f"on line {self.line:,}" if self.line else "where it was already"
        return (
            f"Recorded in the study's ledger, {line}: {self.cases:,} answers, as hashes. Now take the cases out of "
            "the study's files and run it again; it stays registered."
        )


def record_erasure(study: Study, items: Collection[str], at: str = "") -> RecordedErasure | None:
    """Record in the study's ledger that these cases are erased, so that what is left is still recognised as the
    registered data. Only hashes are written. To be called while the files of the study still hold the cases and
    what clinicians said of them. None where the study was never registered."""
    folder = study.file.resolve().parent
    ledger = Ledger.read(folder)
    if not ledger.lines:
        return None
    leaves = [(case.id in items, case_leaf(case)) for case in study.cases]
    gone = [leaf for erased, leaf in leaves if erased]
    tied = _registered_as(ledger, [leaf for _, leaf in leaves])
    if not gone or not tied:
        why = "does not hold the cases as they were registered" if gone else "holds none of these cases"
        return RecordedErasure(why_not=f"{study.settings.cases.path} {why}")
    humans = Humans.read(study, rehearse=True)
    given = {} if humans is None else humans.leaves(study.cases)
    line = Ledger.enter_erasure(
        folder, tied, gone, [given[item] for item in given if item in items], at or utc_now()
    )
    return RecordedErasure(len(gone), 0 if line is None else line.line)


def _registered_as(ledger: Ledger, leaves: Collection[str]) -> str:
    """The registered cases that these are, with those that were erased before; nothing where they are no such."""
    for hash in dict.fromkeys(
        each.cases_hash for each in reversed(ledger.lines) if each.event == "registered"
    ):
        erased = [each for line in ledger.erasures(hash) for each in line.erased]
        if hash and leaves_hash([*(each for each in leaves if each not in {*erased}), *erased]) == hash:
            return hash
    return ""


def judged_before(study: Study, data_hash: str, answers: Collection[str]) -> Iterator[SeenRun]:
    """Runs of the same data, or of some of the same answers, that have judges' ratings: those in the study's store,
    and those whose folders lie beside its run folder."""
    found = {seen.run: seen for seen, _ in _runs(study, data_hash, answers)}
    yield from (found[name] for name in sorted(found))


_Judged = tuple[SeenRun, Manifest | None]


def _runs(study: Study, data_hash: str, answers: Collection[str]) -> Iterator[_Judged]:
    def same(other: str, others: Iterable[str]) -> bool:
        return other == data_hash or not {*others}.isdisjoint(answers)

    yield from _in_store(study, same)
    yield from _in_folders(study, same)
    for place, tuned in TuningManifest.all_in(study.output.parent) if study.output.parent.is_dir() else ():
        if tuned.held_out_ratings and same("", tuned.answer_hashes):
            name = f"tuning {place.name}"
            yield SeenRun(run=name, ratings=tuned.held_out_ratings, since=tuned.finished_at), None


def _in_store(study: Study, same: _Same) -> Iterator[_Judged]:
    for store, each in stored_runs(study.store):
        if same(each.manifest.get("data_hash", ""), each.manifest.get("answer_hashes", ())):
            judged = sum(n for (_, kind, *_), n in store.counts(each.name).items() if kind == "judge")
            if judged:
                seen = SeenRun(run=each.name, ratings=judged, since=each.created_at)
                yield seen, _read_manifest(each.manifest)


def _read_manifest(content: Mapping[str, Any]) -> Manifest | None:
    """A manifest as a store holds it; None where another version wrote it otherwise."""
    try:
        return Manifest.model_validate(content)
    except ValidationError:
        return None


def _in_folders(study: Study, same: _Same) -> Iterator[_Judged]:
    for file in sorted(study.output.parent.glob(f"*/{files.MANIFEST}")):
        manifest = RunFolder(file.parent).earlier()
        if (
            manifest is not None
            and same(manifest.data_hash, manifest.answer_hashes)
            and manifest.coverage.ratings
        ):
            since = manifest.started_at
            yield SeenRun(run=manifest.run, ratings=manifest.coverage.ratings, since=since), manifest


def _frozen(protocol: Protocol) -> object:
    return {name: value for name, value in protocol.content().items() if name not in _OF_ITS_TIME}
