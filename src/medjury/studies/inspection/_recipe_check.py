"""The files that somebody put in the place of a recipe's: what each holds, what is wrong, and which tables of the
report they are enough for. No judge is asked, and nothing is written."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from medjury.foundation.documents import read_document
from medjury.foundation.errors import MedjuryError
from medjury.statistics import counted, text_table
from medjury.studies._plan.clinicians import Humans
from medjury.studies._recipes import PAGE, Recipe
from medjury.studies._run.run import check_study
from medjury.studies._study.study import Study, load_study
from medjury.studies.inspection._report_tables import TableToCome, tables_to_come
from medjury.studies.inspection._study_facts import StudyFacts, facts_text

_ENDINGS = (".yaml", ".yml")
_RUNS = "runs"
_NOT_HERE = "its context window is not known"  # of models, which the dry run tells


@dataclass(frozen=True, slots=True)
class CheckedStudy:
    """One study file: the `problems` that keep it from being run, what its files hold, and the tables of its
    report. `lost` are those that the recipe's own report has and this one will not."""

    file: str
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    tables: tuple[TableToCome, ...] = ()
    lost: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        yield f"{self.file}:"
        yield from (f"  {line}" for line in self.holds)
        yield from (f"  ! {problem}" for problem in self.problems)
        yield from (f"  note: {note}" for note in self.notes)
        if not self.tables:
            return
        come = sum(not each.needs for each in self.tables)
        yield f"  tables that the report will have ({come:,}):"
        yield from _grouped((each.about, each.name) for each in self.tables if not each.needs)
        for title, is_lost in (
            ("tables of the recipe's report that this one will not have, and what they need:", True),
            ("tables that the recipe's report does not have either, and what they need:", False),
        ):
            others = [each for each in self.tables if each.needs and (each.name in self.lost) is is_lost]
            if others:
                yield f"  {title}"
            yield from _grouped((each.needs, each.name) for each in others)


def _grouped(named: Iterable[tuple[str, str]]) -> Iterator[str]:
    together: dict[str, list[str]] = {}
    for words, name in named:
        together.setdefault(words, []).append(name)
    yield from (f"    {', '.join(names)}: {words}" for words, names in together.items())


@dataclass(frozen=True)
class CheckedRecipe:
    """All study files of a folder. `recipe` is the one that it was made from, "" where nobody knows; `files` has a
    row for each file: what the studies take it for, and whether it is still the recipe's own."""

    folder: Path
    recipe: str
    files: Sequence[dict[str, Any]]
    studies: tuple[CheckedStudy, ...]

    @property
    def is_sound(self) -> bool:
        """Whether every study file can be run as it is."""
        return not any(each.problems for each in self.studies)

    def content(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "recipe": self.recipe or None,
            "sound": self.is_sound,
            "files": self.files,
            "studies": [asdict(each) for each in self.studies],
        }

    def text(self) -> str:
        after = f"after the recipe {self.recipe}" if self.recipe else "which recipe it is after is not known"
        lines = [f"{self.folder}: {counted(len(self.studies), 'study file')}, {after}", ""]
        lines += text_table([
            {"file": each["file"], "": "the recipe's own" if each["is_ours"] else "yours", "it holds": each["use"]}
            for each in self.files
        ])  # fmt: skip
        for study in self.studies:
            lines += ["", *study.lines()]
        wrong = sum(bool(each.problems) for each in self.studies)
        lines += ["", f"{counted(wrong, 'study file')} cannot be run yet: see the lines with !" if wrong else
                  f"Next: medjury run {self.folder / self.studies[0].file} --dry-run"]  # fmt: skip
        return "\n".join(lines)


def check_recipe(folder: str | Path, *, recipe: str | None = None) -> CheckedRecipe:
    """Read every study file of a folder and all that it names. `recipe` is the one that it was made from; where it
    is not stated, the one of which a file is still there."""
    folder = Path(folder)
    if not folder.is_dir():
        raise MedjuryError(f"{folder} is not a folder; name the one that `medjury init --recipe` wrote")
    stated = None if recipe is None else Recipe.named(recipe)
    ours = {each.name: each.files() for each in ([stated] if stated else Recipe.all())}
    there = {
        place.relative_to(folder).as_posix(): place
        for place in sorted(folder.rglob("*"))
        if place.is_file() and place.relative_to(folder).parts[0] != _RUNS and not place.name.startswith(".")
    }
    sizes = {len(content) for files in ours.values() for content in files.values()}
    hashes = {  # a file of another size is no recipe's, however large it is
        name: _hash(place.read_bytes()) if place.stat().st_size in sizes else ""
        for name, place in there.items()
    }
    if stated is None:
        known = {name: {_hash(file) for file in files.values()} for name, files in ours.items()}
        found = max(known, key=lambda name: len(known[name] & set(hashes.values())))
        stated = Recipe.named(found) if known[found] & set(hashes.values()) else None
    own = {} if stated is None else {name: _hash(file) for name, file in ours[stated.name].items()}
    is_ours = {name: own.get(name) == hashed for name, hashed in hashes.items()}
    documents = [place for name, place in there.items() if name.endswith(_ENDINGS) and _is_study(place)]
    if not documents:
        raise MedjuryError(f"{folder} holds no study file: a .yaml file that begins with `study: NAME`")

    def at(place: Path) -> str:
        return place.relative_to(folder).as_posix()

    named: dict[str, list[str]] = {}
    studies = []
    # Of a folder as it was written nothing can be lost, and the recipe's own files need not be read beside it.
    as_written = own.keys() <= there.keys() and all(is_ours.values())
    before = {} if stated is None or as_written else _tables_of(stated, list(map(at, documents)))
    for place in documents:
        uses = _uses(place, folder)
        for name, use in uses.items():
            named.setdefault(name, []).append(f"{use} ({at(place)})")
        studies.append(_checked(place, at(place), uses, is_ours, before.get(at(place), ())))
    files = []
    for name in there:
        use = "; ".join(dict.fromkeys(named.get(name, ())))
        if any(place == there[name] for place in documents):
            use = "a study"
        files.append({"file": name, "use": use or _idle(name), "is_ours": is_ours[name]})
    return CheckedRecipe(folder, "" if stated is None else stated.name, files, tuple(studies))


def _idle(name: str) -> str:
    return "about the recipe" if name == PAGE else f"no study names it; `medjury look {name}` says what it is"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_study(place: Path) -> bool:
    """A file that cannot be read may be one: the reason is told with its line."""
    try:
        document = read_document(place)
    except MedjuryError:
        return True
    return isinstance(document.value, dict) and "study" in document.value


_USES = {
    ("cases", "mapping"): "how the cases are read",
    ("cases", "criteria"): "criteria of the cases",
    ("cases", "answers"): "answers to the cases",
    ("cases",): "cases",
    ("instrument",): "the instrument",
    ("humans", "mapping"): "how the clinicians' ratings are read",
    ("humans",): "clinicians' ratings",
    ("gate",): "development cases",
    ("split",): "a part of the split",
    ("examples",): "cases that may be shown as examples",
}


def _uses(place: Path, folder: Path) -> dict[str, str]:
    """By file of the folder, what a study file names it for; empty where it cannot be read."""
    try:
        value = read_document(place).value
    except MedjuryError:
        return {}
    found: dict[str, dict[str, None]] = {}
    for at, text in _texts(value, ()):
        try:
            name = (place.parent / text).resolve().relative_to(folder.resolve()).as_posix()
            there = (folder / name).is_file()
        except (OSError, ValueError):  # a text that is no name of a file, or of one outside the folder
            continue
        if there:
            words = [str(each) for each in at if not isinstance(each, int)]
            found.setdefault(name, {})[_use(value, at, words)] = None
    return {name: ", ".join(uses) for name, uses in found.items()}


def _use(value: Mapping[str, Any], at: Sequence[str | int], words: Sequence[str]) -> str:
    if words[0] == "judges":
        if "examples" in words:
            return _USES["examples",]
        if words[-1] in ("instrument", "mapping"):
            return f"{words[-1]} of a judge"
        kind = value["judges"][at[1]].get("kind")
        return {"recorded": "recorded answers", "scores": "stored scores"}.get(
            kind, f"`{words[-1]}` of a judge"
        )
    return _USES.get(tuple(words[:2])) or _USES.get((words[0],)) or f"`{'.'.join(words)}`"


def _texts(value: Any, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(each, (*at, name))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts(each, (*at, number))


def _tables_of(recipe: Recipe, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The tables that the recipe's own reports have, by the name of the study file."""
    found = {}
    with tempfile.TemporaryDirectory() as place:
        folder = recipe.write(Path(place) / recipe.name).parent
        for name in names:
            if (folder / name).is_file():
                study = load_study(folder / name)
                found[name] = tuple(each.name for each in tables_to_come(_facts(study)[0]) if not each.needs)
    return found


def _facts(study: Study) -> tuple[StudyFacts, tuple[str, ...], Humans | None]:
    plan = check_study(study, preflight=False)
    notes = tuple(each for each in plan.notes if _NOT_HERE not in each)
    return StudyFacts.of(study, plan, plan.humans), notes, plan.humans


def _checked(
    place: Path, name: str, uses: Mapping[str, str], is_ours: Mapping[str, bool], before: Sequence[str]
) -> CheckedStudy:
    try:
        study = load_study(place)
        facts, notes, humans = _facts(study)
    except MedjuryError as error:
        return CheckedStudy(name, (str(error),))
    tables = tables_to_come(facts)
    lost = tuple(each.name for each in tables if each.needs and each.name in before)
    problems = tuple(_foreign_answers(study, uses, is_ours))
    told = (*notes, *_about_ratings(study, uses, is_ours))
    if humans is not None:
        told = (*told, *humans.summary.warnings)
    return CheckedStudy(name, problems, tuple(dict.fromkeys(told)), tuple(facts_text(facts)), tables, lost)


def _of(uses: Mapping[str, str], is_ours: Mapping[str, bool], *wanted: str) -> dict[str, bool]:
    return {name: is_ours[name] for name, use in uses.items() if any(each in use for each in wanted)}


def _foreign_answers(study: Study, uses: Mapping[str, str], is_ours: Mapping[str, bool]) -> Iterator[str]:
    """Recorded answers answer one question each, to the letter: other cases or another instrument have none."""
    asked_of = _of(uses, is_ours, "cases", "criteria", "answers to", "the instrument")
    changed = [name for name, ours in asked_of.items() if not ours and "examples" not in uses[name]]
    for name, ours in _of(uses, is_ours, "recorded answers").items():
        if ours and changed:
            judges = [
                judge.name
                for judge, part in zip(study.jury.judges, study.settings.judges, strict=True)
                if part.kind == "recorded"
            ]
            yield (
                f"{name} has the recipe's recorded answers, which are about the recipe's own files and not about "
                f"{', '.join(changed)}: {', '.join(judges)} would leave everything unscored. Name an endpoint of "
                "yours, or scores that you have: `{kind: scores, name: WHO, path: FILE}`"
            )


def _about_ratings(study: Study, uses: Mapping[str, str], is_ours: Mapping[str, bool]) -> Iterator[str]:
    part, files = study.settings.humans, _of(uses, is_ours, "clinicians' ratings")
    if part is None or not files:
        return
    if all(files.values()):
        if not all(_of(uses, is_ours, "cases").values()):
            yield f"{part.path} is the recipe's own: made-up grades of the recipe's cases"
        return
    if part.illustrative:
        yield "`humans.illustrative` is true: your ratings would count as made up; take it out"
    if part.keep_names:
        yield "`humans.keep_names` is true: clinicians' names will be in the report; take it out for pseudonyms"
