"""HTML notes as record systems write them: line breaks of `<pre>` are kept, withdrawn text is not read as live."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats import fhir

from medjury.intake.cases import CaseReader

FORMATS = [
    {
        "format": "HTML note inside a FHIR document",
        "ending": ".json, .ndjson",
        "read": "paragraphs, lists, table rows and `<pre>` on lines of their own",
        "refused": "a struck-out passage that is never closed; struck-out and hidden text and pictures are left "
        "out and counted",
        "page": "reading-cases.md",
    }
]


def reader_of(folder: Path, html: str) -> CaseReader:
    return fhir.reader_of(folder, fhir.document(attachment=fhir.attached(html, "text/html")))


def text(folder: Path, html: str) -> str | None:
    (case,) = reader_of(folder, html)
    return case.candidate


@pytest.mark.parametrize(
    "opening",
    ["<pre>", "<pre>\n", "<div style='white-space: pre-wrap'>", '<div STYLE="color:red;WHITE-SPACE:pre">'],
)
def test_preformatted_text_keeps_its_lines_and_columns(tmp_path: Path, opening: str) -> None:
    closing = "</pre>" if opening.startswith("<pre") else "</div>"
    html = f"<p>Results\n of today</p>{opening}Na    140\r\nK     4.1\n\n\n\nEnd{closing}<p>Home.</p>"
    assert text(tmp_path, html) == "Results of today\n\nNa    140\nK     4.1\n\n\n\nEnd\n\nHome."


def test_bold_text_inside_a_preformatted_one_keeps_its_place(tmp_path: Path) -> None:
    assert text(tmp_path, "<pre>A   <b>B  C</b>\n  D</pre>") == "A   B  C\n  D"


@pytest.mark.parametrize(
    "struck",
    [
        "<del>80 mg</del>",
        "<s>80 mg</s>",
        "<strike>80 <b>mg</b></strike>",
        "<del>80 <s>mg</s></del>",
        "<span style='text-decoration: line-through'>80 mg</span>",
        "<span style='TEXT-DECORATION-LINE:underline line-through'>80<br>mg</span>",
    ],
)
def test_struck_out_text_is_left_out_and_counted(tmp_path: Path, struck: str) -> None:
    reader = reader_of(tmp_path, f"<p>Furosemide {struck} <ins>40 mg</ins> daily.</p>")
    assert [case.candidate for case in reader] == ["Furosemide 40 mg daily."]
    assert reader.left_out.parts == {"struck-out passage, left out": 1}


@pytest.mark.parametrize("hidden", ["<p hidden>Draft.</p>", "<div style='display : none'>Draft.</div>"])
def test_text_that_no_reader_sees_is_left_out_and_counted(tmp_path: Path, hidden: str) -> None:
    reader = reader_of(tmp_path, f"<p>Seen.</p>{hidden}<p>Home.</p>")
    assert [case.candidate for case in reader] == ["Seen.\n\nHome."]
    assert reader.left_out.parts == {"hidden passage, left out": 1}


def test_pictures_are_counted(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "<p>ECG: <img src='cid:1' alt='ECG'/> normal</p><img src='x'>")
    assert [case.candidate for case in reader] == ["ECG: normal"]
    assert reader.left_out.parts == {"picture, left out": 2}


def test_a_struck_out_paragraph_ends_where_the_next_begins(tmp_path: Path) -> None:
    line = "style='text-decoration:line-through'"
    assert (
        text(tmp_path, f"<p {line}>Warfarin.<p>Apixaban.<ul><li {line}>One<li>Two</ul>")
        == "Apixaban.\n\n- Two"
    )


def test_an_empty_struck_out_element_is_no_passage(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "<p>A<del> </del>B<s/>C</s></p>")
    assert reader.bad == ()
    assert reader.left_out.parts == {"struck-out passage, left out": 1}  # HTML knows no <s/>: it is <s>


@pytest.mark.parametrize("html", ["<p>Stop <del>aspirin. Continue bisoprolol.</p><p>Home.</p>", "<p>A <s>B"])
def test_a_struck_out_passage_without_an_end_is_refused(tmp_path: Path, html: str) -> None:
    (bad,) = reader_of(tmp_path, html).bad
    assert str(bad) == (
        "b.json, row 1, row: a struck-out passage of the HTML has no end; close it (</del>, </s>), so that it is "
        "clear which text counts"
    )


@pytest.mark.parametrize(
    "html",
    [
        "<div><span style='display:none'/>Seen.</div><p>Home.</p>",
        "<div><template>Seen.</div><p>Home.</p>",
        "<p>Seen.</p><style>p {} <p>Home.</p>",
    ],
)
def test_hidden_text_without_an_end_is_refused(tmp_path: Path, html: str) -> None:
    (bad,) = reader_of(tmp_path, html).bad
    assert str(bad) == (
        "b.json, row 1, row: a hidden passage of the HTML has no end; close it, so that it is clear which text is "
        "seen"
    )


def test_a_script_that_closes_itself_hides_nothing(tmp_path: Path) -> None:
    assert text(tmp_path, "<div><script src='x'/><p>Seen.</p></div>") == "Seen."


def test_bold_text_that_ends_after_what_strikes_it_out_is_no_mistake(tmp_path: Path) -> None:
    assert text(tmp_path, "<p>Stop <del><b>aspirin</del></b> bisoprolol.</p>") == "Stop bisoprolol."


def test_a_page_without_the_end_of_its_head_is_read(tmp_path: Path) -> None:
    assert text(tmp_path, "<html><head><title>x</title><body><p>Seen.</p></body></html>") == "Seen."


def test_a_power_of_ten_stays_one(tmp_path: Path) -> None:
    html = "<p>Platelets 150 x 10<sup>9</sup>/L, 1<sup>st</sup> visit, CO<sub>2</sub>, 10<sup>-3</sup></p>"
    assert text(tmp_path, html) == "Platelets 150 x 10^9/L, 1st visit, CO2, 10^-3"


@pytest.mark.parametrize(
    ("html", "why"),
    [
        (
            "<style>.x{text-decoration: line-through}</style><p><span class='x'>penicillin</span></p>",
            "style sheet",
        ),
        ("<style>.x{visibility:hidden}</style><p>doxycycline</p>", "style sheet"),
        ("<p><input type='checkbox' checked> Smoker <input type='checkbox'> Diabetes</p>", "form fields"),
        (
            "<p>Allergies: <select><option>None</option><option selected>Penicillin</option></select></p>",
            "form fields",
        ),
    ],
)
def test_html_whose_sight_is_not_in_its_text_is_refused(tmp_path: Path, html: str, why: str) -> None:
    (bad,) = reader_of(tmp_path, html).bad
    assert why in str(bad)


def test_a_passage_made_invisible_is_left_out_and_counted(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "<p>Give <span style='visibility: hidden'>warfarin</span> doxycycline</p>")
    assert [case.candidate for case in reader] == ["Give doxycycline"]
    assert reader.left_out.parts == {"hidden passage, left out": 1}
