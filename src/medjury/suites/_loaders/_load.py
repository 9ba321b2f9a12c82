"""The loaders by name, what a benchmark's files hold, and which of its items are asked."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import file_hash
from medjury.suites._benchmark import Benchmark, Item, Loaded
from medjury.suites._loaders._choice_sources import (
    load_head_qa,
    load_medbullets,
    load_medhallu,
    load_medmcqa,
    load_medqa,
    load_pubmedqa,
    load_race_bias,
)
from medjury.suites._loaders._table import load_table
from medjury.suites._loaders._text_sources import (
    load_aci_bench,
    load_ehrsql,
    load_med_dialog,
    load_medcalc_bench,
    load_medec,
    load_medication_qa,
    load_mediqa_qa,
    load_mtsamples,
)

LOADERS: Mapping[str, Callable[[Benchmark, Path], Loaded]] = {
    "aci_bench": load_aci_bench,
    "ehrsql": load_ehrsql,
    "head_qa": load_head_qa,
    "med_dialog": load_med_dialog,
    "medbullets": load_medbullets,
    "medcalc_bench": load_medcalc_bench,
    "medec": load_medec,
    "medhallu": load_medhallu,
    "medication_qa": load_medication_qa,
    "mediqa_qa": load_mediqa_qa,
    "medmcqa": load_medmcqa,
    "medqa": load_medqa,
    "mtsamples": load_mtsamples,
    "pubmedqa": load_pubmedqa,
    "race_bias": load_race_bias,
    "table": load_table,
}

_LOST = "\ufffd"
_SAMPLES = (
    Path(__file__).resolve().parents[1] / "library" / "samples"
)  # which have the names of the real files

_ABOUT = {"readme.txt", "readme.md", "license", "license.txt"}


def load_items(benchmark: Benchmark, path: str | os.PathLike[str]) -> Loaded:
    """Every item of a benchmark from its source's file or folder. Rows that cannot be items are in `problems`; a
    file that is not the source's at all raises."""
    loader = LOADERS.get(benchmark.loader)
    if loader is None:
        raise MedjuryError(
            f"there is no loader {benchmark.loader!r}; {nearest(benchmark.loader, list(LOADERS))}"
        )
    loaded = loader(benchmark, Path(path))
    if not loaded.items and not loaded.problems:
        raise MedjuryError(f"{path}: holds no item of {benchmark.name}")
    return replace(
        loaded,
        remarks=_remarks(benchmark, Path(path), loaded),
        known=_is_known(benchmark, Path(path)),
        unread=_unread(Path(path), loaded),
    )


def _unread(path: Path, loaded: Loaded) -> tuple[str, ...]:
    read = {each.resolve() for each in loaded.read}
    found = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else []
    return tuple(str(each.relative_to(path)) for each in found if each.resolve() not in read)


def _is_known(benchmark: Benchmark, path: Path) -> bool:
    """Whether these are the source's own files, all of them: whatever else lies there may be a site's."""
    known = {each.sha256 for each in benchmark.files if each.sha256}
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    read = [each for each in files if each.name.casefold() not in _ABOUT]
    return bool(known and read) and all(file_hash(each) in known for each in read)


def check_data(benchmark: Benchmark, path: str | os.PathLike[str]) -> Loaded:
    """Read a benchmark's data to the end, whatever is wrong with them: all of that is among the problems."""
    try:
        loaded = load_items(benchmark, path)
    except MedjuryError as error:
        return Loaded((), problems=tuple(str(error).splitlines()))
    return replace(loaded, problems=(*loaded.problems, *loaded.remarks))


def _remarks(benchmark: Benchmark, path: Path, loaded: Loaded) -> tuple[str, ...]:
    """Files that have the name of the source's and are not that file: cut short, changed, or of another version. A
    table that lost its last rows is still a table, so that no loader can see it. Letters that were lost when a file
    was saved are told where the file is not known to be the source's own."""
    if path.resolve().is_relative_to(_SAMPLES):
        return ()
    copies = {
        file: each.sha256
        for each in benchmark.files
        if each.sha256
        for file in ([path] if path.name == each.name else path.rglob(each.name) if path.is_dir() else [])
    }
    others = {file.name: found for file, known in copies.items() if (found := file_hash(file)) != known}
    remarks = [
        f"{name}: is not the copy that {benchmark.name} {benchmark.version} was described from (its sha256 is "
        f"{found}); fetch it again, or say in your own copy of the benchmark's file which one you mean"
        for name, found in others.items()
    ]
    lost = sum(any(_LOST in text for text in (*item.inputs.values(), *item.gold)) for item in loaded.items)
    if lost and (others or not copies):
        remarks.append(
            f"{lost:,} items hold the sign {_LOST}, which stands for letters lost when a file was saved"
        )
    return tuple(remarks)


# Which of a benchmark's items are asked: those of its split, and of these at most as many as it says.


def draw_items(benchmark: Benchmark, loaded: Loaded, *, most: int | None = None) -> tuple[Item, ...]:
    """The items to ask, in the source's order. `most` takes the place of the benchmark's own limit. Whether an item
    is drawn depends on its id and the seed alone, so that a draw of 100 is part of a draw of 200."""
    split = benchmark.sampling.split
    known = {item.facts.get("split") for item in loaded.items}
    items = (
        [item for item in loaded.items if item.facts.get("split") == split]
        if split in known
        else loaded.items
    )
    limit = most if most is not None else benchmark.sampling.most
    if limit is None or len(items) <= limit:
        return tuple(items)
    seed = benchmark.sampling.seed
    order = sorted(items, key=lambda item: hashlib.sha256(f"{seed}\n{item.id}".encode()).digest())
    drawn = {item.id for item in order[:limit]}
    return tuple(item for item in items if item.id in drawn)
