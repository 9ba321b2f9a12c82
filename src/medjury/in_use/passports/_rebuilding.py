"""The jury of a passport built anew: the settings that determine its answers leave with the passport and come back
as a study of other cases; any difference voids the passport."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from medjury.foundation.documents import Document, nearest, read_document, validate
from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, write_whole
from medjury.in_use.passports._document import Passport, PassportJury
from medjury.models import NOT_TOLD, same_model
from medjury.store.runs import AnsweringModel, Manifest, ManifestJudge, ManifestJury
from medjury.studies import (
    Study,
    StudyFile,
    describe_jury,
    load_study,
    recorded_judges,
)

# Where a model is reached is no part of what it is.
_ELSEWHERE = ("host", "recorded", "recorded_at")


def jury_changes(passport: PassportJury, now: PassportJury) -> tuple[str, ...]:
    """Every difference between the jury of a passport and one that would judge, with both values."""
    text = [
        *_differ("instrument", _instrument(passport), _instrument(now)),
        *_differ("prompt", passport.prompt_version, now.prompt_version),
        *_differ("judges", [each.name for each in passport.judges], [each.name for each in now.judges]),
        *_differ("jury", _jury(passport.jury), _jury(now.jury)),
        *_differ("juries", [*map(_jury, passport.juries)], [*map(_jury, now.juries)]),
    ]
    own = {each.name: each for each in now.judges}
    for judge in passport.judges:
        if judge.name in own:
            text += _judge_changes(judge, own[judge.name])
    return tuple(text)


def answering_changes(validated: Iterable[AnsweringModel], now: Iterable[AnsweringModel]) -> tuple[str, ...]:
    """Models that answer now and did not answer when the jury was validated."""
    known: dict[tuple[str, str], set[str]] = {}
    for each in validated:
        known.setdefault((each.judge, each.asked), set()).add(each.answered)
    text = []
    for each in now:
        names = known.get((each.judge, each.asked), set())
        if each.answered in names:
            continue
        words = names - {NOT_TOLD}
        if names and not words and same_model(each.asked, each.answered):
            continue  # nobody said who answered then; the one asked for does not contradict that
        was = " or ".join(sorted(words)) or "nobody"
        says = (
            "does not say which model answered"
            if each.answered == NOT_TOLD
            else f"is answered by {each.answered}"
        )
        text.append(f"{each.judge}: {each.asked} {says}; {was} was validated")
    return tuple(text)


def _judge_changes(then: ManifestJudge, now: ManifestJudge) -> list[str]:
    models = [[_model(each) for each in judge.models] for judge in (then, now)]
    text = _differ(f"{then.name}, model", *models)
    settings = [{"strategy": each.strategy, **each.others} for each in (then, now)]
    for name in dict.fromkeys([*settings[0], *settings[1]]):
        text += _differ(f"{then.name}, {name}", *(each.get(name, "not stated") for each in settings))
    if then.settings_hash != now.settings_hash and not text:
        text.append(f"{then.name}: its prompt or settings are not those that were validated")
    return text


def _model(model: Any) -> Mapping[str, Any]:
    return {name: value for name, value in model.content().items() if name not in _ELSEWHERE}


def _instrument(jury: PassportJury) -> str:
    return f"{jury.instrument.name} {jury.instrument.version} ({jury.instrument.fingerprint[:12]})"


def _jury(jury: ManifestJury) -> str:
    quorum = "more than half" if jury.quorum is None else jury.quorum
    who = ", ".join(jury.members) or "all judges"
    return f"{jury.name}: {jury.rule} of {who}, quorum {quorum}, repeats {jury.repeats}"


def _differ(what: str, then: Any, now: Any) -> list[str]:
    return [] if then == now else [f"{what}: {_shown(then)} was validated, not {_shown(now)}"]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(_shown, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return str(value)


# What determines the jury's answers, or how its models are reached; data, people, rules and places stay behind.
_TRAVELS = (
    "study", "instrument", "dimensions", "judges", "jury", "juries", "repeats", "redact", "model_check",
    "max_unscored", "allow_hosts",
)  # fmt: skip
_OVERRIDES = ("judges", "allow_hosts", "store", "store_reconnect_seconds", "budget", "share", "cases")
RUN = "run"  # the run folder within the output folder
_STUDY = "study.yaml"


def travelling_settings(document: Document) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings that a passport carries, and the instrument files that they name. What would take clinical text
    or a secret along is refused."""
    settings = validate(document, StudyFile)
    if settings.drafting is not None:
        raise MedjuryError(
            f"{document.file}: this study drafts the answers that it judges; a passport is for a jury alone. Write "
            "the drafts first (`medjury draft STUDY --cases FILE`), and validate on that file"
        )
    if any(settings.examples_of(part).shots for part in settings.judges):
        raise MedjuryError(
            f"{document.file}: a judge shows examples drawn from clinicians' ratings, which are clinical text; a "
            "passport carries none. Put examples without patients into the instrument"
        )
    folder = Path(document.file).resolve().parent
    kept = {name: copy.deepcopy(value) for name, value in document.value.items() if name in _TRAVELS}
    kept["judges"] = [{"kind": each} if isinstance(each, str) else each for each in kept["judges"]]
    if isinstance(document.value["cases"], dict) and (mapping := document.value["cases"].get("mapping")):
        kept["cases"] = {"mapping": mapping}
    texts: dict[str, str] = {}
    for part in (kept, *kept["judges"]):
        if str(part.get("instrument", "")).endswith((".yaml", ".yml")):
            name = f"instrument-{len(texts) + 1}.yaml"
            texts[name] = (folder / part["instrument"]).read_text(encoding="utf-8-sig")
            part["instrument"] = name
    for part in kept["judges"]:
        if isinstance(stated := part.get("prompt"), dict):
            name = f"prompt-{len(texts) + 1}.txt"
            texts[name] = (folder / stated["file"]).read_text(encoding="utf-8-sig")
            stated["file"] = name
        _refuse_secret(document, str(part.get("url", "")))
    kept["judges"] = [_with_whole_paths(each, folder) for each in kept["judges"]]
    if "redact" in kept:
        kept["redact"] = _with_whole_paths(kept["redact"], folder)
    plain: dict[str, Any] = json.loads(json.dumps(kept, default=str))
    return plain, texts


def rebuilding_changes(passport: Passport) -> tuple[str, ...]:
    """What the jury would have otherwise if it were built here and now."""
    with TemporaryDirectory() as folder:
        cases = Path(folder) / "cases.jsonl"
        write_whole(cases, "")
        return jury_changes(passport.jury, jury_of(rebuilt_study(passport, cases, Path(folder))))


def rebuilt_study(
    passport: Passport,
    cases: str | Path,
    folder: Path,
    override: str | Path | None = None,
    answers: str | Path | None = None,
) -> Study:
    """The study of a passport's jury on other cases, written into a folder and loaded from there. With recorded
    `answers` its models answer from that file, and nobody is asked."""
    import yaml

    settings = copy.deepcopy(passport.study)
    place = Path(cases).resolve()
    settings["cases"] = {**settings.get("cases", {}), "path": str(place)}
    if override is not None:
        _override(settings, read_document(override))
    if answers is not None:
        settings["judges"] = recorded_judges(settings["judges"], str(Path(answers).resolve()))
    settings["output"] = RUN
    private_folder(folder)
    for name, text in passport.instruments.items():
        if Path(name).name != name:
            raise MedjuryError(f"the passport names an instrument file outside its folder ({name!r})")
        write_whole(folder / name, text)
    top = f"# Written by `medjury judge` from the passport {passport.hash[:16]}.\n"
    write_whole(folder / _STUDY, top + yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))
    return load_study(folder / _STUDY)


def jury_of(study: Study, answered: tuple[AnsweringModel, ...] = ()) -> PassportJury:
    """The jury of a study, as a passport has it."""
    return PassportJury(**describe_jury(study), answered=answered)


def jury_of_run(manifest: Manifest) -> PassportJury:
    """The jury of a run, as a passport has it."""
    return PassportJury(
        instrument=manifest.instrument,
        prompt_version=manifest.prompt_version,
        judges=manifest.judges,
        jury=manifest.jury,
        juries=manifest.juries,
        answered=manifest.models_answered,
    )


def _refuse_secret(document: Document, url: str) -> None:
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query:
        raise MedjuryError(
            f"{document.file}: the url of a judge holds a name, a password or a query, which a passport "
            "may not carry; name the key's environment variable (api_key_env) and run the study with that"
        )


def _override(settings: dict[str, Any], document: Document) -> None:
    """How models are reached here. Whatever else it changes of a judge is found when the jury is compared."""
    given = document.value
    if not isinstance(given, dict):
        raise MedjuryError(
            f"{document.file}: an override file has names such as `judges:` and `allow_hosts:`"
        )
    for name, value in given.items():
        if name not in _OVERRIDES:
            problem = f"cannot be overridden; the passport fixes it. {nearest(str(name), _OVERRIDES)}"
            raise MedjuryError(document.complaint((name,), problem))
        if name == "judges":
            _override_judges(settings["judges"], value, document)
        elif name == "cases":
            path = settings["cases"]["path"]
            settings["cases"] = {**(value if isinstance(value, dict) else {}), "path": path}
        else:
            settings[name] = value


def _override_judges(judges: list[dict[str, Any]], given: Any, document: Document) -> None:
    known = {str(each.get("name") or each.get("model") or each["kind"]): each for each in judges}
    if not isinstance(given, Mapping):
        raise MedjuryError(
            document.complaint(("judges",), "is `NAME: {url: ...}` for each judge to be changed")
        )
    for name, options in given.items():
        if name not in known or not isinstance(options, Mapping):
            problem = f"the passport has no judge {name!r}; {nearest(str(name), list(known))}"
            raise MedjuryError(document.complaint(("judges", name), problem))
        known[name].update(options)


def _with_whole_paths(value: Any, folder: Path) -> Any:
    """Files that are named from the study's folder, such as recorded answers, by their whole path."""
    if isinstance(value, dict):
        return {
            name: str(folder / each)
            if name in ("file", "path", "rule", "mapping")
            and isinstance(each, str)
            and (folder / each).is_file()
            else _with_whole_paths(each, folder)
            for name, each in value.items()
        }
    return [_with_whole_paths(each, folder) for each in value] if isinstance(value, list) else value
