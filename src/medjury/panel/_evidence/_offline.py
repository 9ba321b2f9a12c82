"""The evidence as one HTML file: no server, no network, readable without JavaScript, quicker with it.

It is bounded, and says on its first line what was left out: nothing is dropped in silence.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_file
from medjury.panel._evidence._case_view import case_view
from medjury.panel._evidence._choice import Choice, chosen, overview, row_of, standing
from medjury.panel._evidence._run import EvidenceRun, State
from medjury.panel._evidence._snapshot import Numbers
from medjury.panel._look._look import gathered

_HERE = Path(__file__).parent
_LARGEST = 50_000_000  # characters: what a browser still opens at once


def write_evidence_file(
    folder: str | Path,
    out: str | Path,
    *,
    cases: str | Path | None = None,
    hide_texts: bool | None = None,
    most: int = 500,
) -> str:
    """Write the file, and say in words what is in it. Of more answers than `most`, those with the largest
    differences are written."""
    if most < 1:
        raise MedjuryError(f"a file holds one answer at least, not {most} (--most)")
    target = Path(out)
    run = EvidenceRun(folder, cases=cases, hide_texts=hide_texts)
    if target.resolve().is_relative_to(run.folder.resolve()):
        raise MedjuryError(f"{target}: nothing is written into the run folder; name a file elsewhere")
    state = run.state
    numbers, order = _kept(run, state, most)
    templates, files = gathered((_HERE, _HERE.parent / "_look"))
    written, size = 0, 0
    with whole_file(target) as file:
        # The head tells what is in the file, so that it is written when that is known.
        parts: list[str] = []
        for part in _answers(state, numbers, templates):
            if parts and size + len(part) > _LARGEST:
                break
            parts.append(part)
            size, written = size + len(part), written + 1
        said = _said(written, len(state.snapshot.keys), order, str(run.folder))
        for part in (*_around(run, state, templates, files, said, parts),):
            file.write(part)
    return f"Evidence: {target} ({said}, {(size + 1) / 1e6:.1f} MB)"


def _kept(run: EvidenceRun, state: State, most: int) -> tuple[Numbers, str]:
    count = len(state.snapshot.keys)
    if count <= most:
        return np.arange(count), "in the order of their names"
    numbers = chosen(run, state, Choice(sort="difference"))
    return numbers[:most], "those with the largest differences"


def _said(written: int, count: int, order: str, folder: str) -> str:
    if written == count:
        return f"all {count:,} answers"
    return (
        f"{written:,} of {count:,} answers, {order}; {count - written:,} are left out: "
        f"`medjury view {folder}` shows all"
    )


def _answers(state: State, numbers: Numbers, templates: Environment) -> Iterator[str]:
    template = templates.get_template("evidence/offline_case.html")
    dimensions = state.snapshot.dimensions
    for place in numbers.tolist():
        gap = state.snapshot.difference()[place]
        yield template.render(
            place=place,
            view=case_view(state, place),
            row=row_of(state, place, Choice(), dimensions),
            dimensions=dimensions,
            difference=0.0 if gap != gap else abs(float(gap)),
            apart=float(np.nan_to_num(state.snapshot.apart()[place])),
            dangerous=bool(state.snapshot.dangerous()[place]),
            missed=bool(state.snapshot.missed()[place]),
            unscored=bool(state.snapshot.with_status("unscored")[place]),
            development=bool(state.snapshot.development[place]),
            state=state,
            base="",
        )


def _around(
    run: EvidenceRun,
    state: State,
    templates: Environment,
    files: Mapping[str, bytes],
    said: str,
    parts: list[str],
) -> Iterator[str]:
    style = "".join(files[name].decode() for name in ("look/panel.css", "evidence/evidence.css"))
    script = files["evidence/offline.js"].decode()
    values: dict[str, Any] = {
        "run": run,
        "state": state,
        "standing": standing(state),
        "said": said,
        "style": style,
        "script": script,
        "policy": f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        "base": "",
        **overview(run, state),
    }
    values["systems"] = [name for name, _, _ in values["systems"]]
    head, foot = templates.get_template("evidence/offline.html").render(values).split("<!-- answers -->")
    yield head
    yield from parts
    yield foot


def _hash(text: str) -> str:
    """What a policy names a script or style by that stands in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
