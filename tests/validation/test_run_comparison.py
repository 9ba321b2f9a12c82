"""What a comparison of two runs says, line by line: in a terminal, as JSON, in a notebook."""

from __future__ import annotations

import json
from dataclasses import replace

from medjury.statistics import Estimate, undefined
from medjury.validation._run_changes import RunChange, RunComparison

SHIFT = RunChange(
    "Accuracy",
    "mean score",
    Estimate(3.0, None, None, 1200, "as observed"),
    Estimate(3.5, None, None, 1200, "as observed"),
    Estimate(0.5, 0.25, 0.75, 1200, "95 % BCa-t bootstrap"),
)
NOTHING = RunChange(
    "Clarity",
    "weighted kappa with clinicians",
    undefined("a rater does not vary", 7, "as observed"),
    Estimate(0.4, None, None, 7, "as observed"),
    undefined("the first does not exist", 7, "none"),
)
COMPARISON = RunComparison(
    "morning (complete)",
    "évening <b> (failed)",
    (("prompt", "1", "2"),),
    (("Accuracy", "VALIDATED", "AUXILIARY"), ("Clarity", "not judged", "INCOMPLETE")),
    (("Accuracy", "100.0 %", "98.0 %"),),
    (SHIFT, NOTHING),
    ("read me first",),
)


def test_the_text_names_both_runs_then_warns_then_lists_what_differs() -> None:
    assert COMPARISON.text() == (
        "A: morning (complete)\n"
        "B: évening <b> (failed)\n"
        "! read me first\n"
        "\n"
        "What differs\n"
        "  prompt: 1 -> 2\n"
        "\n"
        "Verdicts\n"
        "  Accuracy: VALIDATED -> AUXILIARY\n"
        "  Clarity: not judged -> INCOMPLETE\n"
        "\n"
        "Coverage\n"
        "  Accuracy: 100.0 % -> 98.0 %\n"
        "\n"
        "Changes (B less A, on the same answers, 95 % paired intervals that resample whole cases)\n"
        "  Accuracy, mean score: 3.000 -> 3.500; difference 0.500 (0.250 to 0.750), n = 1,200\n"
        "  Clarity, weighted kappa with clinicians: not defined: a rater does not vary -> 0.400; "
        "difference not defined: the first does not exist, n = 7"
    )


def test_where_nothing_differs_the_text_says_nothing_under_each_title() -> None:
    alike = replace(COMPARISON, settings=(), verdicts=(), coverage=(), rows=(), warnings=(), by_patient=True)
    assert alike.text() == (
        "A: morning (complete)\nB: évening <b> (failed)\n\nWhat differs\n  nothing\n\nVerdicts\n  nothing\n"
        "\nCoverage\n  nothing\n\n"
        "Changes (B less A, on the same answers, 95 % paired intervals that resample whole patients)"
    )


def test_the_caption_names_the_confidence() -> None:
    caption = replace(COMPARISON, confidence=0.8).caption
    assert (
        caption == "Changes (B less A, on the same answers, 80 % paired intervals that resample whole cases)"
    )


def test_the_json_has_everything_under_its_name() -> None:
    text = COMPARISON.to_json()
    assert json.loads(text) == {
        "first": "morning (complete)",
        "second": "évening <b> (failed)",
        "warnings": ["read me first"],
        "settings": [{"what": "prompt", "first": "1", "second": "2"}],
        "verdicts": [
            {"dimension": "Accuracy", "first": "VALIDATED", "second": "AUXILIARY"},
            {"dimension": "Clarity", "first": "not judged", "second": "INCOMPLETE"},
        ],
        "coverage": [{"dimension": "Accuracy", "first": "100.0 %", "second": "98.0 %"}],
        "changes": [
            {
                "dimension": "Accuracy",
                "what": "mean score",
                "n": 1200,
                "first": 3.0,
                "second": 3.5,
                "difference": 0.5,
                "difference_low": 0.25,
                "difference_high": 0.75,
                "method": "95 % BCa-t bootstrap",
                "reason": "",
            },
            {
                "dimension": "Clarity",
                "what": "weighted kappa with clinicians",
                "n": 7,
                "first": None,
                "second": 0.4,
                "difference": None,
                "difference_low": None,
                "difference_high": None,
                "method": "none",
                "reason": "the first does not exist",
            },
        ],
    }
    assert text.startswith('{\n "first"') and "évening" in text


def test_a_notebook_shows_who_is_who_the_warnings_and_the_rows_and_escapes_all() -> None:
    assert COMPARISON.shown_rows()[0] == {
        "dimension": "Accuracy",
        "what": "mean score",
        "n": 1200,
        "A": SHIFT.first,
        "B": SHIFT.second,
        "B less A": SHIFT.difference,
    }
    page = COMPARISON._repr_html_()
    assert page.startswith(
        "<p>A: morning (complete)</p><p>B: évening &lt;b&gt; (failed)</p><p>read me first</p><table>"
    )
    heads = "<th>dimension</th><th>what</th><th>n</th><th>A</th><th>B</th><th>B less A</th>"
    assert heads in page and "<td>0.500 (0.250 to 0.750)</td>" in page
