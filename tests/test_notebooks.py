"""The notebooks of the documentation run, and their outputs are what they say."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
pytestmark = pytest.mark.filterwarnings("ignore")


def test_there_are_three_and_the_page_names_them() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 3 and all(each.name in page for each in NOTEBOOKS)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_from_top_to_bottom_and_shows_what_it_showed(notebook: Path, tmp_path: Path) -> None:
    kept = nbformat.read(notebook, as_version=4)
    shown = [_told(cell) for cell in kept.cells]
    assert any(shown), "it was kept without its outputs"
    NotebookClient(
        kept, timeout=200, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    assert [_told(cell) for cell in kept.cells] == shown


def _told(cell: nbformat.NotebookNode) -> list[str]:
    """The numbers and words that a cell printed; not pictures, and not the names of temporary folders."""
    found = []
    for output in cell.get("outputs", ()):
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        if "/tmp" not in text and "IPython" not in text:
            found.append(text)
    return found
