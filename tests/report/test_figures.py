"""Figures: well-formed SVG in which everything stands inside the picture, and nothing is lost that was drawn."""

from __future__ import annotations

import html
import math
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from tests.chromium import chromium
from tests.report.planted import planted_frame, write_run

from medjury.foundation.errors import MedjuryError
from medjury.report import _pdf_and_png, write_page
from medjury.report._axes import Axes, round_ticks
from medjury.report._exhibits import Exhibits
from medjury.report._figure import Figure, heat
from medjury.report._material import short
from medjury.report._svg import MARKER_SHAPES, shade, width_of
from medjury.validation import about_judge

SVG = "{http://www.w3.org/2000/svg}"


def drawn(figure: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(figure.svg("what it shows"))


def one(figure: Figure, kind: str) -> list[ElementTree.Element]:
    return drawn(figure).findall(f".//{SVG}{kind}")


def test_points_stand_where_the_data_say() -> None:
    figure = Figure((4, 3))
    axes = figure.axes(x_limits=(0, 10), y_limits=(0, 1))
    axes.points([0, 5, 10], [0, 0.5, 1], "#000000")
    circles = [(float(each.get("cx", "")), float(each.get("cy", ""))) for each in one(figure, "circle")]
    (left, bottom), middle, (right, top) = circles
    assert left < right <= 4 * 72 and 0 <= top < bottom <= 3 * 72
    assert middle == pytest.approx(((left + right) / 2, (top + bottom) / 2), abs=0.1)


def test_a_scale_may_run_downwards_and_may_be_logarithmic() -> None:
    figure = Figure((4, 3))
    axes = figure.axes(x_limits=(1, 100), y_limits=(2, 0), x_log=True)
    axes.points([1, 10, 100], [0, 1, 2], "#000000")
    circles = [(float(each.get("cx", "")), float(each.get("cy", ""))) for each in one(figure, "circle")]
    assert circles[0][1] < circles[1][1] < circles[2][1]
    assert circles[1][0] - circles[0][0] == pytest.approx(circles[2][0] - circles[1][0], abs=0.2)
    assert [each.text for each in one(figure, "text")][:3] == ["1", "10", "100"]


def test_words_beside_a_mark_are_given_room() -> None:
    figure = Figure((4, 1))
    axes = figure.axes(x_limits=(0, 1))
    axes.text(1.0, 0.0, "n = 1,234,567 answers", shift=5, size=8)
    (words,) = (each for each in one(figure, "text") if (each.text or "").startswith("n ="))
    assert float(words.get("x", "")) + width_of(words.text or "", 8) <= 4 * 72


def test_a_line_breaks_where_a_value_is_missing() -> None:
    figure = Figure((4, 3))
    figure.axes().line([0, 1, 2, 3], [1, math.nan, 1, 2], "#123456")
    (path,) = (each for each in one(figure, "path") if each.get("stroke") == "#123456")
    assert len(re.findall("M", path.get("d", ""))) == 2


def test_an_interval_without_ends_is_not_drawn() -> None:
    figure = Figure((4, 3))
    axes = figure.axes()
    axes.span(None, 1.0, 0, "#123456")
    assert not [each for each in one(figure, "path") if each.get("stroke") == "#123456"]
    axes.span(0.0, 1.0, 0, "#123456")
    assert len([each for each in one(figure, "path") if each.get("stroke") == "#123456"]) == 1


def test_a_legend_names_each_thing_once_above_all_panels() -> None:
    figure = Figure((6, 3))
    figure.panels_of(["one", "two"], 2, lambda axes, thing: _panel(axes, thing))
    texts = [(each.text, float(each.get("y", ""))) for each in one(figure, "text")]
    assert [text for text, _ in texts].count("jury") == 1
    assert dict(texts)["jury"] < min(y for text, y in texts if text in ("one", "two"))


def _panel(axes: Axes, title: str) -> None:
    axes.title = title
    axes.line([0, 1], [0, 1], "#123456", label="jury", marker="s")


@pytest.mark.parametrize("marker", ["o", *MARKER_SHAPES])
def test_every_marker_is_drawn_full_and_hollow(marker: str) -> None:
    figure = Figure((4, 3))
    axes = figure.axes()
    axes.points([0], [0], "#123456", marker=marker)
    axes.points([1], [1], "#123456", marker=marker, hollow=True)
    shapes = [each.get("fill") for each in drawn(figure).iter() if each.get("fill") in ("#123456", "white")]
    assert shapes.count("#123456") == 1 and shapes.count("white") == 1


def test_a_heat_map_leaves_what_is_no_number_white_and_writes_the_rest() -> None:
    figure = Figure((4, 3))
    heat(
        figure.axes(),
        np.array([[np.nan, -0.5], [1.0, 0.0]]),
        ("#000000", "#ffffff"),
        -1,
        light=lambda _: False,
    )
    assert len(one(figure, "rect")) == 3
    texts = [each.text for each in one(figure, "text")]
    assert {"−0.50", "1.00", "0.00"} <= set(texts)


def test_unscored_bars_are_hatched_inside_their_edges() -> None:
    figure = Figure((4, 1))
    figure.axes(x_limits=(0, 10), y_limits=(0, 1)).box(
        (2, 8), (0.2, 0.8), "#123456", hatch=True, label="lost"
    )
    bar = next(each for each in one(figure, "rect") if each.get("stroke") == "white")
    left, wide = float(bar.get("x", "")), float(bar.get("width", ""))
    hatching = next(
        each for each in one(figure, "path") if each.get("stroke") == "white" and not each.get("fill")
    )
    places = [float(x) for x in re.findall(r"[ML](-?[\d.]+) ", hatching.get("d", ""))]
    assert places and min(places) >= left - 0.1 and max(places) <= left + wide + 0.1


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        (0.38, 1.02, ["0.4", "0.6", "0.8", "1"]),
        (-1.2, 0.6, ["−1", "−0.5", "0", "0.5"]),
        (0, 0, ["0"]),
        (1e-6, 4e-6, ["1e−06", "2e−06", "3e−06", "4e−06"]),
    ],
)
def test_ticks_are_round_numbers(first: float, last: float, labels: list[str]) -> None:
    assert [label for _, label in round_ticks(first, last, 4)] == labels


def test_colours_between_stops() -> None:
    assert shade(0, ("#000000", "#ffffff")) == "#000000" and shade(2, ("#000000", "#ffffff")) == "#ffffff"
    assert shade(0.5, ("#000000", "#102030", "#ffffff")) == "#102030"


def test_names_are_text_and_never_markup() -> None:
    figure = Figure((4, 3))
    figure.axes(title='<script>"&\x00').points([1], [1], "#000000", label="<b>")
    made = figure.svg('"><script>')
    assert "<script" not in made and "<b>" not in made and "\x00" not in made
    ElementTree.fromstring(made)


def test_a_figure_of_nothing_is_still_a_figure() -> None:
    figure = Figure((4, 3))
    figure.axes()
    assert drawn(figure).get("role") == "img" and drawn(figure).get("aria-label") == "what it shows"


def test_pixels_are_made_where_they_are_asked_for(tmp_path: Path) -> None:
    if chromium() is None:
        pytest.skip("Chromium is not installed")
    folder = write_run(tmp_path, planted_frame(cases=12, dimensions=("accuracy",)))
    write_page(folder)
    figures = sorted((folder / "figures").iterdir())
    assert {each.suffix for each in figures} == {".svg"}
    _pdf_and_png.write_pngs(figures[:1])
    made = figures[0].with_suffix(".png").read_bytes()
    assert made.startswith(b"\x89PNG") and len(made) > 2000
    write_page(folder)
    assert sorted((folder / "figures").iterdir()) == figures, "an earlier report's pixels are not this one's"


def test_pixels_without_a_browser_are_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEDJURY_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    folder = write_run(tmp_path / "run", planted_frame(cases=12, dimensions=("accuracy",)))
    with pytest.raises(MedjuryError, match="PNG needs Chromium"):
        write_page(folder, png=True)
    assert (folder / "report.html").is_file() and (folder / "figures" / "coverage.svg").is_file()


def test_a_title_that_is_wider_than_its_panel_is_set_smaller() -> None:
    figure = Figure((9, 2.4))
    titles = ["Short", "rescore panel: Differential diagnosis (n = 18)", "Quality without reasoning (n = 68)"]
    figure.panels_of(titles, 3, lambda axes, title: setattr(axes, "title", title))
    sizes = {
        each.text: (float(each.get("x", "")), float(each.get("font-size", "")))
        for each in one(figure, "text")
    }
    for place, title in enumerate(titles):
        x, size = sizes[title]
        assert x + width_of(title, size) < (place + 1) * 9 * 72 / 3, "nothing reaches into the next panel"
    assert sizes["Short"][1] > sizes[titles[2]][1] > sizes[titles[1]][1] > 5.5


def test_a_name_loses_its_brackets_before_it_loses_a_word() -> None:
    assert short("Patient safety (6 minus risk)") == "Patient safety"
    assert short("Diagnoses (weighted)") == "Diagnoses (weighted)", "it fits as it is"
    assert short("Appropriateness of the whole opinion (0 to 5)", 20) == "Appropriateness of …"
    assert short("(a name that is nothing but brackets)", 12) == "(a name tha…"


def test_legends_and_captions_speak_of_the_judge_where_there_is_no_jury() -> None:
    exhibits = Exhibits(speak=lambda words: about_judge(words, "reader-1"))
    page = html.unescape(
        exhibits.figure(
            "made",
            (4, 3),
            lambda figure: figure.axes().line([0, 1], [0, 1], "#000000", label="jury's score alone"),
            caption="What the jury said; more in `medjury triage`.",
            alt="what it shows",
        )
    )
    assert "reader-1's score alone" in page and "jury's" not in page
    assert "What judge reader-1 said; more in <code>medjury triage</code>." in page
