"""Damaged and hostile files of the forms that others write: read exactly, or refused with the place and a cure."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.formats import fhir

from medjury.foundation.errors import MedjuryError
from medjury.intake import FileError
from medjury.intake.cases import CaseReader, read_cases
from medjury.store.ratings import ImportedRatings, read_ratings

MAPPING = {"item": "item", "rater": "rater", "dimensions": {"q": "q"}}


def attached(folder: Path, kind: str, content: str | bytes) -> CaseReader:
    return fhir.reader_of(folder, fhir.document(attachment=fhir.attached(content, kind)))


RTF = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}"
RTF_REFUSED = {
    "cut": (RTF + r"\f0 Take 5 mg.\par No asp", "ends too soon or goes on after its end"),
    "cut in a word": (RTF + r"\f0 Take 5 mg.\pa", "ends too soon or goes on after its end"),
    "text after the end": (RTF + r"Body\par} more", "ends too soon or goes on after its end"),
    "two documents": (RTF + r"Body\par}{\rtf1 second}", "ends too soon or goes on after its end"),
    "bytes beyond ASCII": ((RTF + "café\\par}").encode(), "characters beyond ASCII cannot be read"),
    "signs of a Macintosh": (r"{\rtf1\mac caf\'8e\par}", "characters beyond ASCII cannot be read"),
    "hidden on the web": (RTF + r"{\webhidden secret}kept\par}", "struck-out, deleted or hidden"),
    "no RTF": ("Take 5 mg.", "is not RTF, as it claims to be"),
}


@pytest.mark.parametrize("name", RTF_REFUSED)
def test_rtf_that_would_be_misread_is_refused(name: str, tmp_path: Path) -> None:
    content, words = RTF_REFUSED[name]
    assert words in attached(tmp_path, "application/rtf", content).bad[0].problem


RTF_READ = {
    "escapes": (r"a \{b\} \\c\par}", "a {b} \\c", {}),
    "a power": (r"Platelets 150 x 10{\super 9}/L\par}", "Platelets 150 x 10^9/L", {}),
    "a footnote": (r"Body{\footnote max 50 mg}\par}", "Body", {"footnote of an RTF, left out": 1}),
    "a header": (r"{\headerl Ward}Body\par}", "Body", {"header or footer of an RTF, left out": 1}),
    "a comment": (r"Body{\*\annotation wrong}\par}", "Body", {"comment in an RTF, left out": 1}),
    "a text box": (r"Body{\shp{\*\shpinst{\shptxt Box}}}\par}", "Body", {"text box of an RTF, left out": 1}),
    "a picture with braces in it": (r"Body{\pict\bin3 }{}}\par}", "Body", {"picture, left out": 1}),
}


@pytest.mark.parametrize("name", RTF_READ)
def test_what_is_left_out_of_rtf_is_counted(name: str, tmp_path: Path) -> None:
    pytest.importorskip("striprtf", reason="the extra medjury[rtf] is not installed")
    content, words, parts = RTF_READ[name]
    reader = attached(tmp_path, "application/rtf", RTF + content)
    assert [(each.candidate or "").strip() for each in reader] == [words]
    assert dict(reader.left_out.parts) == parts


def cda(body: str) -> str:
    return (
        f'<ClinicalDocument xmlns="urn:hl7-org:v3"><component><structuredBody>{body}</structuredBody></component>'
        "</ClinicalDocument>"
    )


def section(words: str) -> str:
    return f"<component><section><title>Plan</title><text>{words}</text></section></component>"


CDA = "application/hl7-cda+xml"


def test_a_silent_section_of_a_cda_is_counted_and_a_footnote_is_apart(tmp_path: Path) -> None:
    reader = attached(tmp_path, CDA, cda(section("") + section("dose<footnote>max 50 mg</footnote>")))
    assert [each.candidate for each in reader] == ["Plan\ndose\nmax 50 mg"]
    assert dict(reader.left_out.parts) == {"section of a document without text, left out": 1}


def test_the_lines_of_a_cda_of_plain_text_are_lines(tmp_path: Path) -> None:
    body = '<component><nonXMLBody><text mediaType="text/plain">Take:\n  5 mg</text></nonXMLBody></component>'
    words = f'<ClinicalDocument xmlns="urn:hl7-org:v3">{body}</ClinicalDocument>'
    assert [each.candidate for each in attached(tmp_path, CDA, words)] == ["Take:\n  5 mg"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + cda(section("&x;")),
            "document type or entities",
        ),
        (cda(section("Take 5 mg."))[:-30], "is not valid XML (line 1)"),
        (cda(section("a")) + cda(section("b")), "is not valid XML (line 1)"),
        (
            cda("<component><section><text>x</text>" * 300 + "</section></component>" * 300),
            "nested too deeply",
        ),
        (cda(section("café")).encode("latin-1"), "is not valid XML (line 1)"),
    ],
)
def test_a_hostile_cda_is_refused(content: str | bytes, words: str, tmp_path: Path) -> None:
    assert words in attached(tmp_path, CDA, content).bad[0].problem


SPACE = "urn:oasis:names:tc:opendocument:xmlns"


def ods(folder: Path, body: str) -> Path:
    names = " ".join(f'xmlns:{short}="{SPACE}:{name}:1.0"' for short, name in
                     (("o", "office"), ("t", "table"), ("x", "text"), ("s", "style")))  # fmt: skip
    with zipfile.ZipFile(folder / "o.ods", "w") as packed:
        packed.writestr("content.xml", f"<o:document-content {names}>{body}</o:document-content>")
    return folder / "o.ods"


def sheet(*rows: str, name: str = "S", more: str = "") -> str:
    header = "".join(cell(each) for each in ("item", "rater", "q"))
    return f'<t:table t:name="{name}" {more}><t:table-row>{header}</t:table-row>{"".join(rows)}</t:table>'


def cell(inner: str, more: str = 'o:value-type="string"') -> str:
    return f"<t:table-cell {more}><x:p>{inner}</x:p></t:table-cell>"


def row(item: str = "1", score: str = "4", more: str = "") -> str:
    shown = item if item.startswith("<t:") else cell(item)
    given = score if score.startswith("<t:") else cell(score, f'o:value-type="float" o:value="{score}"')
    return f"<t:table-row {more}>{shown}{cell('a')}{given}</t:table-row>"


def book(*sheets: str, before: str = "") -> str:
    return f"{before}<o:body><o:spreadsheet>{''.join(sheets)}</o:spreadsheet></o:body>"


def scores(found: ImportedRatings) -> list[tuple[str, float | None]]:
    return [(each.item, each.score) for each in found.ratings]


HIDDEN = '<o:s><s:style s:name="h"><s:table-properties t:display="false"/></s:style></o:s>'
ODS_READ = {
    "blanks": (book(sheet(row('a<x:s x:c="2"/>b'))), [("a  b", 4)]),
    "a value behind what is shown": (
        book(
            sheet(row('<t:table-cell o:value-type="string" o:string-value="07"><x:p>7</x:p></t:table-cell>'))
        ),
        [("07", 4)],
    ),
    "a hidden sheet first": (
        book(sheet(row(score="1"), name="H", more='t:style-name="h"'), sheet(row()), before=HIDDEN),
        [("1", 4)],
    ),
    "a sheet that was deleted": (
        book(
            f"<t:tracked-changes><t:deletion>{sheet(row(score='1'))}</t:deletion></t:tracked-changes>",
            sheet(row()),
        ),
        [("1", 4)],
    ),
}


@pytest.mark.parametrize("name", ODS_READ)
def test_an_opendocument_sheet_is_read_as_it_is_shown(name: str, tmp_path: Path) -> None:
    body, expected = ODS_READ[name]
    assert scores(read_ratings(ods(tmp_path, body), mapping=MAPPING)) == expected


TIME = '<t:table-cell o:value-type="time" o:time-value="PT10H30M00S"><x:p>10:30</x:p></t:table-cell>'
ODS_REFUSED = {
    "a formula without a result": (sheet(row(score='<t:table-cell t:formula="of:=1+1"/>')),
                                   "o.ods, row 2: holds a formula whose result is not stored"),
    "a time as an id": (sheet(row(TIME)), "row 2, column 'item': datetime.time.10, 30. is a time, not an id"),
    "repeats that are no number": (sheet(row(more='t:number-rows-repeated="x"')), "o.ods, row 2: states how often"),
    "repeats below one": (sheet(row(more='t:number-rows-repeated="-5"')), "o.ods, row 2: states how often"),
    "too many repeats": (sheet(row(more='t:number-rows-repeated="1000000000"')), "has 1,000,000,001 rows; at most"),
    "a tab in an id": (sheet(row("a<x:tab/>b")), "row 2, column 'item': .* an invisible character"),
    "a table in a cell": (sheet(row(score=f"<t:table-cell>{sheet(row())}</t:table-cell>")), "a table of its own"),
    "one name for two sheets": (sheet(row()) + sheet(row(score="1")), "two sheets have the same name"),
    "merged ids": (sheet(row(), row("<t:covered-table-cell/>", "3")), "row 3, column 'item': has a rating, but no"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODS_REFUSED)
def test_an_opendocument_sheet_that_would_be_misread_is_refused(name: str, tmp_path: Path) -> None:
    body, words = ODS_REFUSED[name]
    with pytest.raises(MedjuryError, match=words):
        read_ratings(ods(tmp_path, book(body)), mapping=MAPPING)


def test_a_hidden_sheet_of_a_workbook_is_not_the_first(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    made.active.append(["id", "candidate"])
    made.active.append(["old", "Old."])
    made.active.sheet_state = "hidden"
    shown = made.create_sheet("Shown")
    for each in (["item", "rater", "q", "id", "candidate"], ["1", "a", 4, "new", "New."]):
        shown.append(each)
    made.save(tmp_path / "t.xlsx")
    found = read_ratings(tmp_path / "t.xlsx", mapping=MAPPING)
    assert scores(found) == [("1", 4)]
    assert any("the sheet 'Shown' was read" in note for note in found.report.notes)
    assert [each.id for each in read_cases(tmp_path / "t.xlsx")] == ["new"]


def statistics(folder: Path, scores: list[Any], **settings: Any) -> Path:
    pyreadstat = pytest.importorskip("pyreadstat", reason="the extra medjury[spss] is not installed")
    pandas = pytest.importorskip("pandas")
    items = [float(at + 7) for at in range(len(scores))]
    frame = pandas.DataFrame({"item": items, "rater": ["a"] * len(scores), "q": scores})
    pyreadstat.write_sav(frame, str(folder / "t.sav"), variable_format={"item": "N3"}, **settings)
    return folder / "t.sav"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"missing_ranges": {"q": [99.0]}, "variable_value_labels": {"q": {99.0: "not rated"}}},
         "row 3, column 'q': '99' is a code that the file declares as missing .'not rated'.; name it"),
        ({"missing_ranges": {"q": [{"lo": 97.0, "hi": 99.0}]}}, "'99' is a code that the file declares as"),
    ],
)  # fmt: skip
def test_a_code_that_spss_declares_as_missing_is_no_score(settings: Any, words: str, tmp_path: Path) -> None:
    """Without a scale 99 would be a score, and a mean of scores would be anything."""
    file = statistics(tmp_path, [4.0, 99.0], **settings)
    with pytest.raises(FileError, match=words):
        read_ratings(file, mapping=MAPPING)
    found = read_ratings(file, mapping={**MAPPING, "blank": [99]})
    assert (scores(found), found.report.not_rated) == ([("007", 4)], 1)
    given = read_ratings(file, mapping={**MAPPING, "na": [99]})
    assert [each.status for each in given.ratings] == ["scored", "not_applicable"]


def test_a_cut_file_of_spss_is_refused(tmp_path: Path) -> None:
    file = statistics(tmp_path, [4.0, 3.0])
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(FileError, match=r"t.sav: not an SPSS or Stata file that can be read"):
        read_ratings(file, mapping=MAPPING)
