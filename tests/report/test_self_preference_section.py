"""The report says how often shuffled vendors would be accused, and what a design cannot show."""

from __future__ import annotations

from pathlib import Path

from tests.audits.simulated import JUDGES, SYSTEMS
from tests.report.planted import planted_frame, section_made, write_run

from medjury.report._sections.audits import self_preference


def body(folder: Path, systems: tuple[str, ...]) -> str:
    """The section of a run whose judges see nothing but quality."""
    run = write_run(
        folder,
        planted_frame(cases=40, systems=systems, dimensions=("accuracy",), judges=dict.fromkeys(JUDGES, 0.5)),
        judges=[
            {"name": name, "models": [{"name": name, "vendor": vendor}], "settings_hash": name}
            for name, vendor in JUDGES.items()
        ],
        report={"resamples": 100, "system_vendors": {name: SYSTEMS[name] for name in systems}},
    )
    return section_made(run, self_preference, resamples=100)


def test_the_placebo_is_told_in_words(tmp_path: Path) -> None:
    said = body(tmp_path, tuple(SYSTEMS))
    assert "Placebo check: with the vendors shuffled over the systems (" in said
    assert "of the rows of the mixed model would be flagged. Nobody favours a shuffled vendor" in said
    assert "favours its own vendor" not in said


def test_too_few_systems_to_shuffle_are_told(tmp_path: Path) -> None:
    said = body(tmp_path, ("alpha-1", "beta-1"))
    assert "No placebo check: the vendors can be shuffled in 1 ways" in said
    assert "comparisons to show how far judges like single systems" in said
