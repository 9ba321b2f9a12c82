"""Figures as pixels, for those who cannot take SVG: by Chromium, twice as fine as on a screen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.report._browser import NO_BROWSER, find_browser, run_browser

_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def write_pngs(figures: Iterable[Path]) -> None:
    """A PNG beside each SVG."""
    browser = find_browser()
    if browser is None:
        raise MedjuryError(
            f"PNG needs {NO_BROWSER}; the figures are saved as SVG, which papers and slides take"
        )
    for figure in figures:
        found = _SIZE.search(figure.read_text(encoding="utf-8"))
        assert found is not None
        width, height = (round(float(side) * 4 / 3) for side in found.groups())
        target = figure.resolve().with_suffix(".png")
        run_browser(
            browser,
            figure.resolve(),
            target,
            f"--window-size={width},{height}",
            "--force-device-scale-factor=2",
            f"--screenshot={target}",
        )
