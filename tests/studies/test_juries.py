"""Several juries, or none: who votes in which is said by the study file, and nobody else votes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.loopback import Call, LoopbackServer
from tests.studies.running import run_without_report

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.store.runs import RunFolder
from medjury.studies import check_study, load_study, run_study
from medjury.tables import open_run, rating_table
from medjury.validation import validate

Write = Callable[..., Path]
SCORES = {"a": 1, "b": 2, "c": 3, "stray": 5}
JURIES: list[dict[str, Any]] = [
    {"name": "zero-shot", "members": ["a", "b"], "aggregate": "mean"},
    {"name": "five-shot", "members": ["b", "c"], "aggregate": "median", "quorum": 2},
]
DIMENSIONS = ("accuracy", "completeness", "clarity")


def study(write: Write, server: LoopbackServer, **settings: Any) -> Path:
    """Judges who give every dimension one score each, whatever the case."""

    def answer(call: Call) -> str:
        score = SCORES[str(call.json["model"])]
        return "ok:" + json.dumps(dict.fromkeys(call.schema["properties"], score)) if call.schema else "ok"

    server.endpoint.behaviours = answer
    judges = [
        {"kind": "openai", "url": server.url, "name": name, "model": name, "explain": False}
        for name in SCORES
    ]
    return write(judges=judges, **settings)


def ratings(file: Path) -> pl.DataFrame:
    assert run_without_report(file) == 0
    found = pl.read_parquet(load_study(file).output / "ratings.parquet")
    return found.filter(pl.col("dimension").is_in(DIMENSIONS))


def means(frame: pl.DataFrame) -> dict[str, float]:
    return dict(frame.group_by("rater").agg(pl.col("score").mean()).iter_rows())


def test_every_jury_has_rows_of_its_own_members_and_is_known_to_the_manifest_and_the_table(
    write_study: Write, server: LoopbackServer
) -> None:
    """The stray judge would change either mean: it is in no jury, and has no vote."""
    file = study(write_study, server, juries=JURIES)
    found = ratings(file)
    assert means(found) == {**SCORES, "zero-shot": 1.5, "five-shot": 2.5}
    assert set(found.filter(rater_kind="jury")["rater"]) == {"zero-shot", "five-shot"}
    folder = load_study(file).output
    manifest = RunFolder(folder).manifest
    assert [each.name for each in manifest.juries] == ["zero-shot", "five-shot"]
    assert manifest.jury == manifest.juries[0] and manifest.juries[1].members == ("b", "c")
    table = open_run(folder)
    assert [each.name for each in table.juries] == ["zero-shot", "five-shot"]
    roles = table.roles(need_reference=False)
    assert roles.jury == "zero-shot" and roles.on_trial == ("zero-shot", "five-shot")
    formed = rating_table(folder, jury="median")  # by another rule, and of the same members
    roles = formed.roles(need_reference=False)
    assert roles.jurors == ("a", "b")
    assert set(formed.grid("accuracy", roles).scores["jury"].tolist()) == {1.5}


def test_without_a_jury_every_judge_is_on_trial(write_study: Write, server: LoopbackServer) -> None:
    file = study(write_study, server, jury="none", humans="people.csv")
    rows = [f"case-{n},a,Ada,accuracy,{n % 5 + 1}" for n in range(6)]
    (file.parent / "people.csv").write_text("item,system,rater,dimension,score\n" + "\n".join(rows) + "\n")
    assert set(ratings(file)["rater_kind"]) == {"judge", "clinician"}
    table = open_run(load_study(file).output)
    assert not table.juries and table.roles().on_trial == tuple(SCORES)
    found = validate(load_study(file).output, resamples=200)
    assert found.raters == tuple(SCORES)


@pytest.mark.parametrize(
    ("settings", "where", "told"),
    [
        ({"juries": [{"name": "x", "members": ["a", "d"]}]}, "juries", "has no judge 'd'"),
        ({"juries": [{"name": "x", "members": ["a", "a"]}]}, "juries", "one judge counted twice"),
        ({"juries": [{"name": "a", "members": ["b"]}]}, "juries", "both called 'a'"),
        ({"juries": [*JURIES, JURIES[0]]}, "juries", "two juries are called 'zero-shot'"),
        ({"juries": [{"name": "x"}]}, "juries[0].members", "is missing; add it"),
        ({"juries": [{**JURIES[0], "quorum": 3}]}, "juries[0].quorum", "there are only 2 judges"),
        ({"juries": JURIES, "jury": {"aggregate": "mean"}}, "", "keep one of them"),
        ({"jury": "nobody"}, "jury", "is `none`, or how votes become one"),
    ],
)
def test_a_jury_that_cannot_be_is_refused_with_its_line(
    write_study: Write, server: LoopbackServer, settings: dict[str, Any], where: str, told: str
) -> None:
    with pytest.raises(MedjuryError) as refused:
        load_study(study(write_study, server, **settings))
    assert "study.yaml, line" in str(refused.value) and told in str(refused.value)
    assert f": {where}: " in str(refused.value) or not where


def test_ways_of_judging_are_not_averaged_unseen(write_study: Write, server: LoopbackServer) -> None:
    endpoint = {"kind": "openai", "url": server.url, "model": "m"}
    judges = [{**endpoint, "name": "plain"}, {**endpoint, "name": "talk", "strategy": "deliberation"}]
    told = "averages judges of 2 ways of judging (single; deliberation), and nobody named its members"
    assert told in check_study(load_study(write_study(judges=judges)), preflight=False).text()
    named = [{"name": "both", "members": ["plain", "talk"]}]
    assert "ways of judging" not in check_study(
        load_study(write_study(judges=judges, juries=named)), preflight=False
    ).text().replace("way of judging may take", "")
    result = run_study(load_study(write_study(judges=judges, cases=2)))
    assert main(["report", str(result.folder)]) == 0
    first = (result.folder / "report.html").read_text().split("<nav")[0]
    assert "averages judges of 2 ways of judging" in first


def test_gate_lists_every_jury_and_ends_with_the_first(
    write_study: Write, server: LoopbackServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first jury says what the clinicians say and the second does not; then the other way round."""
    rows = [f"case-{n},a,{who},{name},{grade}" for n in range(6) for who in ("Ada", "Ben")
            for name, grade in zip(DIMENSIONS, (1, 1, 1), strict=True)]  # fmt: skip
    for order in (JURIES, JURIES[::-1]):
        file = study(
            write_study,
            server,
            juries=order,
            humans="people.csv",
            output=f"runs/{order[0]['name']}",
            report={"resamples": 200},
        )
        (file.parent / "people.csv").write_text(
            "item,system,rater,dimension,score\n" + "\n".join(rows) + "\n"
        )
        ratings(file)
        folder = str(load_study(file).output)
        capsys.readouterr()
        ended = main(["gate", folder, "--json"])
        verdicts = json.loads(capsys.readouterr().out)
        assert list(dict.fromkeys(each["rater"] for each in verdicts)) == [each["name"] for each in order]
        alone = main(["gate", folder, "--rater", order[0]["name"], "--json"])
        assert ended == alone
        offsets = {
            each["rater"]: next(rule for rule in each["rules"] if rule["id"] == "offset") for each in verdicts
        }
        assert abs(offsets["zero-shot"]["value"]) < abs(offsets["five-shot"]["value"])
    assert main(["report", folder, "--quiet"]) == 0
    for exhibit in ("figures/bland-altman-jury-2.svg", "tables/differences-jury-2.csv"):
        assert (Path(folder) / exhibit).is_file(), "the second jury has figures of its own"
