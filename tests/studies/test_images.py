"""Images of cases reach the endpoints as they were hashed, and nothing of a file but its picture reaches
anything."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cases.pictures import SECRETS, dicom, jpeg, png
from tests.loopback import Call, LoopbackServer
from tests.studies.running import manifest_of, ratings_of, run_without_report

from medjury.cli import main
from medjury.intake.cases import read_cases

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("GEMINI_API_KEY", "k")


def rows(folder: Path) -> list[dict[str, Any]]:
    """Three reports: of a PNG, of a JPEG with a label and a DICOM file that is named by its patient."""
    (folder / "one.png").write_bytes(png())
    (folder / "two.png").write_bytes(jpeg())  # its ending is wrong
    dicom(folder / "Testperson.dcm")
    named = [["one.png"], [{"path": "two.png", "label": "PA view"}, "Testperson.dcm"], ["one.png"]]
    return [
        {"id": f"c{n}", "system": "a", "candidate": f"Report {n}: no effusion.", "images": images}
        for n, images in enumerate(named)
    ]


def judges(server: LoopbackServer) -> list[dict[str, Any]]:
    return [
        {"kind": "openai", "name": "one", "url": server.url, "model": "m", "images": True},
        {"kind": "anthropic", "name": "two", "url": server.url, "model": "claude-x"},
        {"kind": "google", "name": "three", "url": server.base_url, "model": "gemini-x"},
    ]


def shown(call: Call) -> list[bytes]:
    """The images of a request, in their order, by its protocol's own form."""
    body, found = call.json, []
    for message in body.get("messages") or body.get("contents") or ():
        content = message.get("content", message.get("parts"))
        for part in content if isinstance(content, list) else ():
            if call.protocol == "openai" and part["type"] == "image_url":
                head, _, data = part["image_url"]["url"].partition(",")
                assert head in ("data:image/png;base64", "data:image/jpeg;base64")
                found.append(base64.b64decode(data, validate=True))
            elif call.protocol == "anthropic" and part["type"] == "image":
                assert part["source"]["type"] == "base64"
                found.append(base64.b64decode(part["source"]["data"], validate=True))
            elif call.protocol == "google" and "inlineData" in part:
                data = part["inlineData"]["data"]
                found.append(base64.b64decode(data.replace("-", "+").replace("_", "/")))
    return found


def test_an_image_reaches_every_protocol_byte_for_byte_as_it_was_hashed(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    study = write_study(
        cases=rows(tmp_path),
        instrument="image_report",
        dimensions=["findings_present"],
        judges=judges(server),
    )
    assert run_without_report(study) == 0
    cases = {case.candidate: case for case in read_cases(tmp_path / "cases.jsonl")}
    asked: dict[str, set[str]] = {}
    for call in server.calls:
        case = next(case for words, case in cases.items() if (words or "") in call.prompt)
        content = shown(call)
        assert content == [each.content for each in case.images]
        assert [hashlib.sha256(each).hexdigest() for each in content] == [each.hash for each in case.images]
        assert "image 1 (32 × 32)" in call.prompt
        assert ("PA view" in call.prompt) == (case.id == "c1")
        asked.setdefault(call.protocol, set()).add(case.id)
    assert asked == {protocol: {"c0", "c1", "c2"} for protocol in ("openai", "anthropic", "google")}
    assert (ratings_of(study).filter(rater_kind="judge")["status"] == "scored").all()
    assert run_without_report(study) == 0
    assert len(server.calls) == 9, "nothing is asked twice"
    (tmp_path / "one.png").write_bytes(png(seed=5))
    assert run_without_report(study) == 0
    assert len(server.calls) == 15, "another picture is another case, for two of the three"


def test_nothing_of_the_file_but_its_picture_is_in_the_run_the_store_or_a_prompt(
    write_study: Write, server: LoopbackServer, tmp_path: Path
) -> None:
    study = write_study(
        cases=rows(tmp_path),
        instrument="image_report",
        dimensions=["findings_present"],
        judges=judges(server),
    )
    assert main(["run", str(study), "--quiet"]) == 0
    written = [file for file in (tmp_path / "runs").rglob("*") if file.is_file()]
    assert {"manifest.json", "ratings.sqlite", "report.html", "audit.jsonl"} <= {
        file.name for file in written
    }
    bodies = {file.name: file.read_bytes() for file in written}
    bodies |= {f"request {call.number}": call.body for call in server.calls}
    bodies |= {f"picture {call.number}": b"".join(shown(call)) for call in server.calls}
    for word in (*SECRETS, "Erika"):
        for form in ("utf-8", "utf-16-le", "utf-16-be"):
            there = [name for name, body in bodies.items() if word.encode(form) in body]
            assert not there, (word, form, there)
    left_out = manifest_of(study)["cases_left_out"]["parts"]
    assert any("burnt in" in each for each in left_out) and any(
        "name of the patient" in each for each in left_out
    )


@pytest.mark.parametrize("kind", [{"kind": "openai", "model": "other"}, {"kind": "embedded"}])
def test_a_model_that_is_not_known_to_take_images_is_refused_before_the_first_call(
    write_study: Write,
    server: LoopbackServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: dict[str, Any],
) -> None:
    judge = kind | ({"url": server.url} if kind["kind"] == "openai" else {})
    study = write_study(
        cases=rows(tmp_path),
        instrument="image_report",
        dimensions=None,
        judges=[judges(server)[0], {"name": "blind", **judge}],
    )
    assert main(["run", str(study), "--quiet"]) == 2
    printed = capsys.readouterr().err
    assert "the model blind is not known to take images" in printed and "`images: true`" in printed
    assert not server.calls and not server.preflights


def test_images_that_nobody_asks_for_are_stated_and_not_sent(
    write_study: Write, server: LoopbackServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [{**row, "texts": {"context": "A source."}} for row in rows(tmp_path)]
    study = write_study(cases=cases)
    assert main(["run", str(study), "--dry-run"]) == 0
    assert "3 cases with images: note_quality has no input `images`" in " ".join(
        capsys.readouterr().out.split()
    )
    assert run_without_report(study) == 0
    assert not any(b"base64" in call.body for call in server.calls)


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        (
            {"strategy": {"name": "deliberation"}},
            "this way of judging does not; take one of adaptive, repeats, single",
        ),
        ({"strategy": {"name": "closed_loop"}}, "this way of judging does not"),
    ],
)
def test_a_way_of_judging_that_shows_no_images_is_refused(
    write_study: Write, server: LoopbackServer, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    judge: dict[str, Any], words: str,
) -> None:  # fmt: skip
    study = write_study(
        cases=rows(tmp_path), instrument="image_report", dimensions=None, judges=[judges(server)[0] | judge]
    )
    assert main(["run", str(study), "--dry-run"]) == 2
    assert words in " ".join(capsys.readouterr().err.split()) and not server.calls


def test_a_row_whose_image_is_missing_is_refused_with_its_row_or_left_out_and_counted(
    write_study: Write, server: LoopbackServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = rows(tmp_path)
    (tmp_path / "two.png").unlink()
    study = write_study(
        cases=cases, instrument="image_report", dimensions=["findings_present"], judges=judges(server)
    )
    assert main(["run", str(study), "--quiet"]) == 2
    assert "cases.jsonl, row 2, images[1]: there is no such file" in capsys.readouterr().err
    assert run_without_report(study, "--skip-bad-cases") == 0
    assert set(ratings_of(study)["item"]) == {"c0", "c2"}
    assert json.loads((tmp_path / "runs" / "small" / "manifest.json").read_text())["cases_skipped"] == 1
