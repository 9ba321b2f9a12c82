"""Registering a study: its rules, instrument, prompts, jury and data are written down before a score is seen."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from medjury.errors import MedjuryError
from medjury.ratings import open_store
from medjury.records import dataclass
from medjury.runs import (
    EarlierProtocol,
    GateRules,
    Manifest,
    ManifestHumans,
    Protocol,
    SeenRun,
    files,
    protocols_in,
    read_manifest,
    read_protocol,
    tunings_in,
)
from medjury.statistics import counted
from medjury.studies._study import Study

_Same = Callable[[str, Iterable[str]], bool]
# What may differ while a protocol is still the same: when it was made, and what was known of its data then.
_OF_ITS_TIME = ("registered_at", "medjury", "seen", "earlier")


@dataclass(frozen=True, slots=True)
class Registered:
    """A protocol, where it lies, and whether it lay there before."""

    protocol: Protocol
    file: Path
    before: bool = False

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
            f"  an earlier protocol of these data: {each.hash[:16]}, {each.registered_at}"
            for each in made.earlier
        ]
        lines.append(
            "The hash proves what was registered. That it was registered now, only somebody else can prove: send "
            "the hash to your ethics board or your statistician, or put the file under version control."
        )
        return "\n".join(lines)

    def to_json(self) -> str:
        """The same for a program."""
        said = {
            "file": str(self.file),
            "hash": self.protocol.hash(),
            "registered_before": self.before,
            "protocol": self.protocol.content(),
        }
        return json.dumps(said, indent=1, ensure_ascii=False)


def registered_protocol(study: Study, data_hash: str, answers: Collection[str]) -> Protocol | None:
    """The protocol that a run of this study is held to: the one that the study file names, else the latest beside
    it for the same data, else for some of the same answers, else the latest there of the same name. One that was
    made when its data had been judged already takes the place of none that came before."""
    folder = study.file.resolve().parent
    if study.settings.protocol is not None:
        return read_protocol(folder / study.settings.protocol)
    beside = protocols_in(folder)
    same = (
        [each for each in beside if each.data_hash == data_hash and not each.seen]
        or [each for each in beside if each.data_hash == data_hash or {*each.answer_hashes} & {*answers}]
        or [each for each in beside if each.study == study.name]
    )
    unseen = [each for each in same if not each.seen] or same
    return unseen[-1] if unseen else None


def make_protocol(study: Study, manifest: Manifest, now: str) -> Protocol:
    """The protocol of a study as its manifest would describe it now."""
    humans = manifest.humans
    return Protocol(
        format=1,
        medjury=manifest.medjury,
        study=study.name,
        registered_at=now,
        data_hash=manifest.data_hash,
        answer_hashes=manifest.answer_hashes,
        cases=manifest.cases,
        instrument=manifest.instrument,
        prompt_version=manifest.prompt_version,
        judges=manifest.judges,
        jury=manifest.jury,
        **_stated_only(manifest),
        rules=GateRules(**{name: getattr(manifest.rules, name) for name in GateRules.model_fields}),
        # Names of clinicians are nobody's business here.
        humans=None
        if humans is None
        else ManifestHumans(
            file=humans.file,
            hash=humans.hash,
            ratings=humans.ratings,
            illustrative=humans.illustrative,
        ).replaced(
            **({"roles": humans.roles, "roles_hash": humans.roles_hash} if humans.roles else {}),
            **({} if humans.blinded is None else {"blinded": humans.blinded}),
        ),
        seen=tuple(judged_before(study, manifest.data_hash, {*manifest.answer_hashes})),
        earlier=(),
    )


def _stated_only(manifest: Manifest) -> dict[str, Any]:
    """What is not written down where there is none: protocols of earlier versions stay what they are."""
    known = {"juries": manifest.juries, "touched": manifest.touched}
    return {name: value for name, value in known.items() if value}


def register(study: Study, made: Protocol, folder: Path | None) -> Registered:
    """Write the protocol beside the study file, or into `folder`; one that says the same is not written twice."""
    place = study.file.resolve().parent if folder is None else folder
    known = protocols_in(place) if place.is_dir() else ()
    same = [each for each in known if _frozen(each) == _frozen(made)]
    if same:
        return Registered(same[0], place / same[0].file_name, before=True)
    earlier = tuple(
        EarlierProtocol(hash=each.hash(), registered_at=each.registered_at)
        for each in known
        if each.data_hash == made.data_hash or {*each.answer_hashes} & {*made.answer_hashes}
    )
    whole = made.replaced(earlier=earlier)
    try:
        return Registered(whole, whole.write(place))
    except OSError as error:
        raise MedjuryError(f"{place}: the protocol cannot be written ({error.strerror})") from None


def judged_before(study: Study, data_hash: str, answers: Collection[str]) -> Iterator[SeenRun]:
    """Runs of the same data, or of some of the same answers, that have judges' ratings: those in the study's store,
    and those whose folders lie beside its run folder."""
    found = {each.run: each for each in _runs(study, data_hash, answers)}
    yield from (found[name] for name in sorted(found))


def _runs(study: Study, data_hash: str, answers: Collection[str]) -> Iterator[SeenRun]:
    def same(other: str, others: Iterable[str]) -> bool:
        return other == data_hash or not {*others}.isdisjoint(answers)

    yield from _in_store(study, same)
    yield from _in_folders(study, same)
    for place, tuned in tunings_in(study.output.parent) if study.output.parent.is_dir() else ():
        if tuned.held_out_ratings and same("", tuned.answer_hashes):
            yield SeenRun(run=f"tuning {place.name}", ratings=tuned.held_out_ratings, since=tuned.finished_at)


def _in_store(study: Study, same: _Same) -> Iterator[SeenRun]:
    place = study.store.removeprefix("sqlite:///")
    if "://" not in place and not Path(place).is_file():
        return
    with open_store(study.store, create=False) as store:
        for each in store.runs():
            if same(each.manifest.get("data_hash", ""), each.manifest.get("answer_hashes", ())):
                judged = sum(row.count for row in store.counts(each.name) if row.rater_kind == "judge")
                if judged:
                    yield SeenRun(run=each.name, ratings=judged, since=each.created_at)


def _in_folders(study: Study, same: _Same) -> Iterator[SeenRun]:
    for file in sorted(study.output.parent.glob(f"*/{files.MANIFEST}")):
        try:
            manifest = read_manifest(file.parent)
        except MedjuryError:
            continue
        if same(manifest.data_hash, manifest.answer_hashes) and manifest.coverage.ratings:
            yield SeenRun(run=manifest.run, ratings=manifest.coverage.ratings, since=manifest.started_at)


def _frozen(protocol: Protocol) -> object:
    return {name: value for name, value in protocol.content().items() if name not in _OF_ITS_TIME}
