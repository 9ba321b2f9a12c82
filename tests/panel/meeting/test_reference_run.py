"""From a panel that writes to a jury that reads: the file of references is the cases of a judged run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.loopback import LoopbackServer
from tests.panel.meeting.reference_panels import reference_study
from tests.panel.meeting.signed_in import send
from tests.panel.rounds import SYSTEMS
from tests.panel.visitors import Visitor, sign_in, token_in

from medjury.cli import main
from medjury.panel._access._people import Role
from medjury.panel._meeting._reference import work_of_person
from medjury.panel._serve import Panel, make_app, open_panel

AGREED = {
    "primary": "Embolism of the left lung",
    "differential": "Pleurisy",
    "reasoning": "The D-dimer is raised",
}
REFERENCE = """\
Primary diagnosis: Embolism of the left lung
Differential diagnosis: Pleurisy
Reasoning: The D-dimer is raised"""


def write_a_reference(panel: Panel) -> None:
    """Two clinicians and their coordinator, at the pages: one of two cases is written."""
    app = make_app(panel)
    coordinator = sign_in(app, Role.COORDINATOR, "Ada")
    members: list[Visitor] = [sign_in(app, Role.RATER, f"Dr Wallaby {each}") for each in range(2)]
    page = token_in(coordinator.get("/panels").text)
    ids = [each.person.id for each in members if each.person]
    sent = {"csrf": page, "name": "Chest", "member": ids, "cases": "marmoset-01"}
    assert coordinator.post("/panels", data=sent).status_code == 303
    with panel.database.reading() as connection:
        (work,) = work_of_person(connection, ids[0])
    path = f"/reference/{work.code}"
    for number, member in enumerate(members):
        words = AGREED | {"primary": f"Opinion of member {number}"}
        assert send(member, path, f"{path}/alone", version="0", do="submit", **words).status_code == 303
    assert send(members[0], path, f"{path}/begin").status_code == 303
    written = send(members[1], path, f"{path}/together", version="0", do="submit", **AGREED)
    assert written.status_code == 303
    judged = send(members[0], path, f"{path}/routine", version="0", agrees="no", why="No fever")
    assert judged.status_code == 303


def test_a_run_holds_answers_against_what_the_panel_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reference_study(tmp_path, cases=2)
    panel = open_panel(tmp_path / "study.yaml")
    write_a_reference(panel)
    panel.database.close()
    out = tmp_path / "referenced.jsonl"
    assert main(["panel", "references", str(tmp_path / "study.yaml"), "--out", str(out)]) == 0
    assert "1 cases with the reference of a panel, 1 without one left out" in capsys.readouterr().out
    with LoopbackServer() as server:
        (tmp_path / "judged.yaml").write_text(
            "study: judged\ncases: referenced.jsonl\ninstrument: diagnosis\ndimensions: [diagnosis, risk]\n"
            f'judges:\n  - {{kind: openai, name: juror, url: "{server.url}", model: m}}\n'
        )
        assert main(["run", str(tmp_path / "judged.yaml"), "--quiet"]) == 0
        asked = [
            "\n".join(str(each["content"]) for each in json.loads(call.body)["messages"])
            for call in server.calls
        ]
    for each in asked:
        assert REFERENCE in each, "every question holds the panel's reference"
        assert not [told for told in ("Opinion of member", "numbat", "Wallaby") if told in each]
    for place in range(len(SYSTEMS)):
        assert any(f"Opinion 1.{place}" in each for each in asked), "both systems' answers were judged"
    assert not any("Opinion 0." in each for each in asked), "a case without a reference is left out"
