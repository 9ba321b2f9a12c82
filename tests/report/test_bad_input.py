"""Runs that are odd, large, poor or hostile still give a page that tells the truth."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from tests.report.planted import page_of, planted_frame, section_made, write_run

from medjury.foundation.errors import MedjuryError
from medjury.report import write_page
from medjury.report._sections.ranking import ranking
from medjury.report._sections.severe import cases

HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)"> "quoted" & \x00\x1b[31m \u202eevil'


class Tags(HTMLParser):
    """Which tags and attributes a browser would see, and whether every one is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_script_in_any_text_is_only_ever_text(tmp_path: Path) -> None:
    ratings = planted_frame(cases=30, dimensions=("accuracy",), explanation=HOSTILE)
    renamed = ratings.with_columns(
        pl.col("item") + HOSTILE,
        pl.col("rater").replace({"judge-a": f"judge{HOSTILE}"}),
        system=pl.lit(HOSTILE),
    )
    folder = write_run(tmp_path, renamed, study=f"study {HOSTILE}", why=HOSTILE, status="incomplete")
    for page in (page_of(folder), write_page(folder, cases_shown=3).read_text()):
        tags = Tags(page)
        assert not tags.open
        assert [tag for tag, _ in tags.seen].count("script") == 1
        assert "img" not in [tag for tag, _ in tags.seen]
        assert not [name for _, attributes in tags.seen for name in attributes if name.startswith("on")]
        assert "\x00" not in page and "\x1b" not in page
    for file in (folder / "figures").glob("*.svg"):
        assert "<script" not in file.read_text()


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a good run without a registered protocol."""
    ratings = planted_frame(cases=40, systems=("a", "b"))
    return write_page(write_run(tmp_path_factory.mktemp("good"), ratings, protocol=None)).read_text()


def test_the_page_refers_to_nothing_outside_itself(page: str) -> None:
    for tag, attributes in Tags(page).seen:
        for name in ("src", "href", "xlink:href", "action", "data", "poster"):
            target = attributes.get(name)
            assert target is None or target.startswith("#"), (tag, target)
    assert not re.findall(r"@import|url\((?!#)", page)
    assert "Content-Security-Policy" in page


def test_ids_are_unique_and_every_reference_finds_its_target(page: str) -> None:
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', page)) <= set(ids)


def test_one_judge_one_dimension_one_case(tmp_path: Path) -> None:
    ratings = planted_frame(
        cases=1, dimensions=("accuracy",), judges={"only": 0.1}, clinicians={"doctor": 0.1}
    )
    page = page_of(write_run(tmp_path, ratings))
    assert "NOT VALIDATED" in page and "No answer was rated by two clinicians; 50 are needed" in page
    assert "one judge, no jury" in page


def test_one_rater_alone(tmp_path: Path) -> None:
    ratings = planted_frame(cases=12, dimensions=("accuracy",), judges={"only": 0.1}, clinicians={})
    page = page_of(write_run(tmp_path, ratings, humans=None))
    assert "No clinician rated these cases" in page


def test_clinicians_alone(tmp_path: Path) -> None:
    page = page_of(write_run(tmp_path, planted_frame(cases=12, dimensions=("accuracy",), judges={})))
    assert "NOT VALIDATED" in page


def test_no_rating_at_all(tmp_path: Path) -> None:
    folder = write_run(tmp_path, planted_frame(cases=1), status="failed", why="the key is not valid")
    pl.read_parquet(folder / "ratings.parquet").clear().write_parquet(folder / "ratings.parquet")
    page = page_of(folder)
    assert "INCOMPLETE" in page and "There are no ratings to judge by: the key is not valid" in page


def test_everything_unscored(tmp_path: Path) -> None:
    page = page_of(write_run(tmp_path, planted_frame(cases=20, dimensions=("accuracy",), unscored=1.0)))
    assert "NOT VALIDATED" in page and "parse" in page


def test_many_dimensions_fit_in_tables_and_figures_say_that_they_show_a_part(tmp_path: Path) -> None:
    names = [f"dimension {number}" for number in range(14)]
    folder = write_run(tmp_path, planted_frame(cases=12, dimensions=names, judges={"one": 0.3, "two": 0.4}))
    page = write_page(folder, resamples=200).read_text()
    assert "The first 12 of 14 dimensions" in page
    assert (folder / "tables" / "agreement.csv").read_text().count("\n") == 1 + 14 * 3
    assert len(page) < 2_000_000


def test_sixty_systems_are_all_ranked(tmp_path: Path) -> None:
    systems = [f"system {number:02d}" for number in range(60)]
    ratings = planted_frame(cases=8, systems=systems, dimensions=("accuracy",))
    folder = write_run(tmp_path, ratings)
    page = section_made(folder, ranking)
    assert all(f'<th scope="row" class="short">{name}</th>' in page for name in systems)


def test_very_long_explanations_are_cut_in_the_page_and_say_where_they_are_whole(tmp_path: Path) -> None:
    ratings = planted_frame(cases=30, dimensions=("accuracy",), explanation="long words " * 5_000)
    page = section_made(write_run(tmp_path, ratings), cases)
    assert "whole in ratings.csv" in page and len(page) < 2_000_000


def test_hidden_texts_leave_no_explanation_and_no_name_of_a_case(tmp_path: Path) -> None:
    ratings = planted_frame(cases=30, dimensions=("accuracy",), explanation="a secret sentence")
    folder = write_run(tmp_path, ratings)
    page = write_page(folder, hide_texts=True).read_text()
    assert "secret" not in page and "case-00" not in page
    assert not [file for file in (folder / "tables").glob("*.csv") if "case-00" in file.read_text()]


def test_names_in_any_script_are_drawn_without_a_warning(tmp_path: Path) -> None:
    ratings = planted_frame(cases=12, systems=("系统 $a$ b$", "نظام\x07"), dimensions=("accuracy",))
    folder = write_run(tmp_path, ratings)
    page = write_page(folder).read_text()
    assert "系统 $a$ b$" in (folder / "figures" / "ranking.svg").read_text()
    assert "\x07" not in page and "نظام" in page


def test_a_folder_that_is_no_run_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MedjuryError, match="run the study first"):
        write_page(tmp_path)
    write_run(tmp_path, planted_frame(cases=2))
    (tmp_path / "ratings.parquet").write_bytes(b"not parquet")
    with pytest.raises(MedjuryError, match="cannot be read"):
        write_page(tmp_path)


@pytest.mark.parametrize("wrong", [{"resamples": 10}, {"cases_shown": -1}])
def test_settings_out_of_range_are_refused(tmp_path: Path, wrong: dict[str, int]) -> None:
    with pytest.raises(MedjuryError, match="or more, not"):
        write_page(write_run(tmp_path, planted_frame(cases=2)), **wrong)


def test_formulas_in_names_are_harmless_in_the_saved_tables(tmp_path: Path) -> None:
    ratings = planted_frame(cases=30, dimensions=("accuracy",))
    named = ratings.with_columns(pl.col("rater").replace({"judge-a": "=cmd|' /C calc'!A0"}))
    folder = write_run(tmp_path, named)
    write_page(folder)
    assert "\n'=cmd" in (folder / "tables" / "coverage.csv").read_text()


def test_words_to_type_are_shown_as_such_and_no_backtick_is_left(page: str) -> None:
    assert "<code>medjury register STUDY</code>" in page
    head = page.partition('id="study"')[0].partition("</head>")[2]
    assert "`" not in head, "on the first screen"


def test_where_judges_stand_side_by_side_sentences_name_the_judge_that_is_meant(tmp_path: Path) -> None:
    ratings = planted_frame(cases=60, systems=("alpha", "beta"), dimensions=("accuracy",))
    alone = ratings.filter(pl.col("rater_kind") != "jury")
    items = sorted(set(alone["item"]))
    wards = pl.DataFrame({"item": items, "ward": ["a" if n % 2 else "b" for n in range(len(items))]})
    run = write_run(tmp_path / "none", alone, jury={"name": "jury", "rule": "none"}, parts=wards)
    page = page_of(run)
    text = re.sub(r"<[^>]+>", " ", page.partition("</head>")[2])
    first_screen = page.partition('id="verdict"')[2].partition("<h3>")[0].lower()
    assert [each for each in ("judge-a", "judge-b") if f">{each}<" in first_screen] == ["judge-a", "judge-b"]
    assert first_screen.count("proven that this judge misses") == 2  # each below its name
    assert first_screen.count("whether the clinicians had seen a judge&#x27;s scores is not stated") == 1
    assert first_screen.count("scope: for ward a, b") == 2, "each word names its scope"
    assert "the jury" not in first_screen
    for caption in re.findall(r"<(?:fig)?caption>(.*?)</(?:fig)?caption>", page, re.DOTALL):
        assert "the jury" not in caption.lower()
    assert "as judge-a sees it" in text
    assert "The jury" in page_of(write_run(tmp_path / "jury", ratings))
