"""The security page names only tests that are there, and every attack that is kept as a test stands on it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAMED = set(re.findall(r"`(tests/[\w/]+\.py)`", (ROOT / "docs" / "security.md").read_text(encoding="utf-8")))


def test_every_test_that_it_names_is_there_and_tests_something() -> None:
    assert len(NAMED) > 10
    for name in NAMED:
        assert "def test_" in (ROOT / name).read_text(encoding="utf-8"), name


def test_every_attack_is_on_it() -> None:
    kept = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "adversarial").glob("test_*.py")}
    assert kept <= NAMED, f"say on docs/security.md which promise these hold: {sorted(kept - NAMED)}"


def test_reports_are_private_and_no_address_is_made_up() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "private vulnerability report" in text and "@" not in text and "http" not in text
