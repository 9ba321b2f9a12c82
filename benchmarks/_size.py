"""How large the house is, now and at an earlier commit: `make size`. It reads the tree alone."""

from __future__ import annotations

import ast
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROWS = ("source lines", "source files", "comments, docstrings, blank lines", "exported names", "dataclasses",
        "rooms", "loose modules", "test lines", "words of documentation")  # fmt: skip


def measured(tree: Path) -> list[str]:
    """The numbers of one tree, as they are shown."""
    source = tree / "src" / "medjury"
    files = sorted([*source.rglob("*.py"), *source.rglob("*.pyi")])
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    trees = {file: ast.parse(text) for file, text in texts.items()}
    lines = sum(text.count("\n") for text in texts.values())
    quiet = sum(_quiet(texts[file], trees[file]) for file in files)
    tests = sum(file.read_text(encoding="utf-8").count("\n") for file in (tree / "tests").rglob("*.py"))
    words = sum(len(file.read_text(encoding="utf-8").split()) for file in (tree / "docs").rglob("*.md"))
    dataclasses = sum(
        any("dataclass" in ast.unparse(each) for each in node.decorator_list)
        for tree_ in trees.values()
        for node in ast.walk(tree_)
        if isinstance(node, ast.ClassDef)
    )
    rooms = [each for each in source.iterdir() if (each / "__init__.py").is_file()]
    loose = [each for each in source.glob("*.py") if each.stem not in ("__init__", "__main__", "version")]
    exported = sum(len({*_exported(file, trees)}) for file in files if _is_door(file, source))
    return [
        f"{lines:,}", f"{len(files):,}", f"{100 * quiet / lines:.1f} %", f"{exported:,}", f"{dataclasses:,}",
        f"{len(rooms):,}", f"{len(loose):,}", f"{tests:,}", f"{words:,}",
    ]  # fmt: skip


def _is_door(file: Path, source: Path) -> bool:
    return file.name == "__init__.py" and not any(
        part[0] == "_" for part in file.relative_to(source).parts[:-1]
    )


def _exported(door: Path, trees: dict[Path, ast.Module]) -> Iterator[str]:
    """What a package offers: the names of its list, else of its `__all__`."""
    listed = door.with_suffix(".pyi")
    if listed in trees:
        for node in ast.walk(trees[listed]):
            if isinstance(node, ast.ImportFrom):
                yield from (each.asname or each.name for each in node.names)
        return
    for node in trees[door].body:
        named = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        if named and isinstance(node.value, ast.List):
            yield from (str(ast.literal_eval(each)) for each in node.value.elts)


def _quiet(text: str, tree: ast.Module) -> int:
    """Lines that are blank, a comment or part of a docstring."""
    lines = text.splitlines()
    found = {
        place for place, line in enumerate(lines, 1) if not line.strip() or line.lstrip().startswith("#")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                found |= {*range(first.lineno, (first.end_lineno or first.lineno) + 1)}
    return len(found)


def main(commit: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(
            ["git", "archive", commit, "src", "tests", "docs"], cwd=ROOT, capture_output=True, check=True
        )
        with tarfile.open(fileobj=BytesIO(made.stdout)) as archive:
            archive.extractall(folder, filter="data")
        before = measured(Path(folder))
    print(f"{'':<50}{commit[:12]:>14}{'now':>14}")
    for name, then, now in zip(ROWS, before, measured(ROOT), strict=True):
        print(f"{name:<50}{then:>14}{now:>14}")


if __name__ == "__main__":
    main(sys.argv[1])
