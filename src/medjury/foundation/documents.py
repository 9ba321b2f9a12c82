"""YAML files that people write: read with line numbers, so that every complaint names the line and the fix."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from medjury.foundation.errors import MedjuryError, no_such

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

Place = tuple[str | int, ...]
_MOST_REPEATED = 100_000
Model = TypeVar("Model", bound="BaseModel")


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed YAML file; `lines` tells on which line each value stands, by its path of keys and indices, and
    `stated` what a value is called that was given elsewhere (`--set budget.calls`)."""

    file: str
    value: Any
    lines: Mapping[Place, int]
    stated: Mapping[Place, str] = field(default_factory=dict)

    def line(self, place: Sequence[str | int]) -> int:
        """The line of a value, or of the nearest thing around it."""
        path = tuple(place)
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def complaint(self, place: Sequence[str | int], text: str) -> str:
        for stated, named in self.stated.items():
            shared = min(len(stated), len(place))
            if shared and stated[:shared] == tuple(place[:shared]):
                inner = ".".join(map(str, place[shared:]))
                return f"{named}: {inner + ': ' if inner else ''}{text}"
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")
        return f"{self.file}, line {self.line(place)}: {where + ': ' if where else ''}{text}"


def read_document(path: str | Path) -> Document:
    """Read one YAML file. Duplicate keys are an error: the second would silently replace the first."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise MedjuryError(no_such(file)) from None
    except IsADirectoryError:
        raise MedjuryError(f"{file}: is a folder; name the file in it") from None
    except (OSError, UnicodeDecodeError) as error:
        raise MedjuryError(f"{file}: cannot be read as UTF-8 text: {error}") from None
    return parse_document(text, str(file))


def parse_document(text: str, file: str) -> Document:
    """The same for a text in memory; `file` names it in complaints."""
    import yaml

    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            lines: dict[Place, int] = {}
            if node is not None:
                _Walk(file, lines).through(node, ())
            value = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f", line {mark.line + 1}" if mark else ""
        if error.problem and "'\\t'" in error.problem:
            raise MedjuryError(
                f"{file}{line}: there is a tab, which YAML does not allow; use spaces instead"
            ) from None
        raise MedjuryError(f"{file}{line}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise MedjuryError(f"{file}: not valid YAML: {error}") from None
    except (ValueError, OverflowError):  # 2020-13-45, 0x_, a number of ten thousand digits
        raise MedjuryError(
            f"{file}: holds something that looks like a number or a date and is not one; put it in quotes"
        ) from None
    except RecursionError:
        raise MedjuryError(f"{file}: its parts are nested too deeply to be read; make it flatter") from None
    return Document(file, value, lines)


def yaml_text(values: Mapping[str, Any]) -> str:
    """Values as the text of such a file, in their order; a text of several lines as it is read."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def lines(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    Dumper.add_representer(str, lines)
    return str(yaml.dump(dict(values), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110))


def validate(document: Document, model: type[Model]) -> Model:
    """The document as a pydantic model, or one error that lists every problem with its line."""
    if not isinstance(document.value, dict):
        found = "the file is empty; it" if document.value is None else "the file"
        raise MedjuryError(document.complaint((), f"{found} must hold `name: value` lines"))
    return validate_part(document, (), document.value, model)


def validate_part(document: Document, place: Place, value: object, model: type[Model]) -> Model:
    """The same for a value that stands at `place` of the document."""
    from pydantic import ValidationError

    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise MedjuryError("\n".join(_complaints(document, error, model, place))) from None


def own_file(name_or_path: str | os.PathLike[str]) -> Path | None:
    """The user's own file, where it is named by a path: a text that ends in `.yaml` or `.yml` or holds a path
    separator. None where it is the name of something built in."""
    text = os.fspath(name_or_path)
    is_path = not isinstance(name_or_path, str) or "/" in text or os.sep in text
    return Path(text) if is_path or text.endswith((".yaml", ".yml")) else None


def nearest(word: str, known: Sequence[str]) -> str:
    """`; did you mean X?` where one of the known words is near, else the list of them."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"


def _complaints(
    document: Document, error: ValidationError, model: type[BaseModel], root: Place = ()
) -> list[str]:
    complaints = []
    for problem in error.errors(include_url=False, include_input=False):
        place = (*root, *(step for step in problem["loc"] if isinstance(step, str | int)))
        place = _without_union_tags(document, place)
        if problem["type"] == "extra_forbidden":
            text = "no such setting here; remove it or correct its name"
            close = difflib.get_close_matches(str(place[-1]), _settings_at(model, problem["loc"][:-1]), n=1)
            text += f" (did you mean {close[0]!r}?)" if close else ""
        elif problem["type"] == "missing":
            text = "is missing; add it"
        else:
            text = _plain(problem["type"], problem.get("ctx", {})) or problem["msg"].removeprefix(
                "Value error, "
            )
        complaints.append(document.complaint(place, text))
    return list(dict.fromkeys(complaints))


def _plain(kind: str, limits: Mapping[str, Any]) -> str:
    """What pydantic found, in the words of somebody who writes the file; "" where its own words will do."""
    match kind:
        case "too_short":
            return f"holds too few; name {limits['min_length']} or more"
        case "greater_than_equal":
            return f"is too small; write {limits['ge']} or more"
        case "greater_than":
            return f"is too small; write more than {limits['gt']}"
        case "less_than_equal":
            return f"is too large; write {limits['le']} or less"
        case "less_than":
            return f"is too large; write less than {limits['lt']}"
        case "float_parsing" | "float_type" | "int_parsing" | "int_type" | "int_from_float":
            whole = "whole " if kind.startswith("int") else ""
            return f"is not a {whole}number; write one, without quotes or units"
        case "string_too_short":
            return "is empty; write something, or leave the setting out"
    return ""


def _settings_at(model: type[BaseModel], place: Sequence[str | int]) -> list[str]:
    """The settings that may stand at a place of a model, in any of the forms that it may have there."""
    from pydantic import BaseModel

    parts: list[type[BaseModel]] = [model]
    for step in place:
        named = [part.model_fields[step].annotation for part in parts if step in part.model_fields]
        if named:  # a step that is no setting is a place in a list, or names one of several forms
            parts = []
            while named:
                kind = named.pop()
                if isinstance(kind, type) and issubclass(kind, BaseModel):
                    parts.append(kind)
                named += get_args(kind)
    return [field.alias or name for part in parts for name, field in part.model_fields.items()]


def _without_union_tags(document: Document, place: Place) -> Place:
    """Pydantic puts the name of a union's branch into the path; keep only steps that are in the file."""
    kept: Place = ()
    for step in place[:-1]:
        longer = (*kept, step)
        if longer in document.lines or any(each[: len(longer)] == longer for each in document.stated):
            kept = (*kept, step)
    return (*kept, *place[-1:])


class _Walk:
    """Finds the line of every value. A part that `*name` repeats is walked through once for every time it stands in
    the file, so that a few lines can stand for thousands of millions: beyond a limit the file is refused."""

    def __init__(self, file: str, lines: dict[Place, int]) -> None:
        self._file = file
        self._lines = lines
        self._known: set[int] = set()
        self._repeated = 0

    def through(self, node: Any, place: Place) -> None:
        import yaml

        self._count(node)
        self._lines[place] = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            seen: dict[str, int] = {}
            for key, value in node.value:
                name = str(key.value)
                if name in seen:
                    raise MedjuryError(
                        f"{self._file}, line {key.start_mark.line + 1}: {name!r} appears twice, first on line "
                        f"{seen[name]}; keep one of them"
                    )
                seen[name] = key.start_mark.line + 1
                self.through(value, (*place, name))
                self._lines[(*place, name)] = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode):
            for index, value in enumerate(node.value):
                self.through(value, (*place, index))

    def _count(self, node: Any) -> None:
        if id(node) in self._known:
            self._repeated += 1
            if self._repeated > _MOST_REPEATED:
                raise MedjuryError(
                    f"{self._file}, line {node.start_mark.line + 1}: parts that are repeated with `*` come to more "
                    f"than {_MOST_REPEATED:,} values; write out what you mean"
                )
        self._known.add(id(node))


def choose(name: str, known: Iterable[str], what: str) -> None:
    """Raise, with the names there are, where `name` is not one of them."""
    names = list(known)
    if name not in names:
        raise MedjuryError(f"There is no {what} called {name!r}. Choose from {', '.join(names)}.")
