"""A run that is killed again and again never makes more requests than its cap allows."""

from __future__ import annotations

import json
from pathlib import Path

from tests.processes import Command, answered, endpoint, kill, start
from tests.studies.test_kill import CONCURRENCY, Accounts, arrived, hold, release

CAP = 60
KILLS = 6


def test_six_kills_do_not_exceed_the_cap(tmp_path: Path) -> None:
    cases = [
        {"id": f"{number}", "candidate": f"Summary {number}.", "texts": {"context": "A note."}}
        for number in range(200)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    log, study = tmp_path / "answered.log", tmp_path / "study.yaml"
    with endpoint(log) as url:
        study.write_text(
            f"study: capped\ncases: cases.jsonl\ninstrument: note_quality\nbudget: {{calls: {CAP}}}\n"
            f"judges: [{{kind: openai, name: juror, url: '{url}', model: m, concurrency: {CONCURRENCY}}}]\n"
        )
        for _ in range(KILLS):
            run = start(study, "--no-preflight")
            hold(run, log, CONCURRENCY, sum(answered(log).values()) + 1)
            kill(run)
            release(log, CONCURRENCY)
        assert arrived(log) < CAP, "the kills came before the cap was reached"
        with Command("run", str(study), "--quiet") as last:
            said = "".join(last.communicate())
    accounts = Accounts(tmp_path / "runs" / "capped")
    assert arrived(log) == accounts.sent == CAP, "every place of the budget was used, and none twice"
    unended = accounts.sent - accounts.ended
    assert unended == KILLS * CONCURRENCY
    assert "the budget was reached" in said
    assert f"{unended} calls have no end in the log: a run was killed while they were on their way" in said
