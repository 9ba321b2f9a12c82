"""A YAML file together with the line on which each of its values stands, so that an error can name it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.errors import MedjuryError


class YamlError(MedjuryError):
    """The file cannot be read as YAML; the message names file, line and fix."""


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """What the file says (`data`), and where (`line_of`)."""

    path: Path
    data: Any
    _node: Any = field(repr=False, compare=False, default=None)

    def line_of(self, place: Sequence[str | int]) -> int:
        """The line of the value at `place` (keys and list positions), or of the nearest thing around it."""
        import yaml

        node = self._node
        line = 1 if node is None else node.start_mark.line + 1
        for step in place:
            if isinstance(node, yaml.MappingNode):
                found = [pair for pair in node.value if _same(pair[0].value, step)]
                if not found:
                    break
                line, node = found[0][0].start_mark.line + 1, found[0][1]
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                line = node.start_mark.line + 1
            else:
                break
        return int(line)


def read_yaml(path: Path | str) -> YamlDocument:
    """Read one YAML document. A key that stands twice is an error: YAML would silently keep the last."""
    import yaml

    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise YamlError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise YamlError(f"{path}: is not UTF-8 (byte {error.start}); save it as UTF-8") from None
    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader = base(text)
    try:
        node = loader.get_single_node()
        if node is None:
            raise YamlError(f"{path}: is empty")
        repeated = sorted(_repeated_keys(node))
        if repeated:
            raise YamlError(
                "\n".join(f"{path}:{line}: {key!r} stands twice; keep one" for line, key in repeated)
            )
        data = loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else f"{path}"
        problem = getattr(error, "problem", None) or "a value cannot be read"
        raise YamlError(f"{where}: is not valid YAML: {problem}") from None
    finally:
        loader.dispose()
    return YamlDocument(path, data, node)


def _same(key: object, step: str | int) -> bool:
    return str(key) == str(step)


def _repeated_keys(root: Any) -> set[tuple[int, str]]:
    import yaml

    found: set[tuple[int, str]] = set()
    visited: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in visited:
            continue
        visited.add(id(node))
        if isinstance(node, yaml.MappingNode):
            seen: set[tuple[str, str]] = set()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    if (key.tag, key.value) in seen:
                        found.add((key.start_mark.line + 1, key.value))
                    seen.add((key.tag, key.value))
                waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend(node.value)
    return found
