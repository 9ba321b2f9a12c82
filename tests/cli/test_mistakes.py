"""Typical mistakes of people who are new to it. Whatever went wrong, the command ends with status 2 and without a
trace, and its message says three things: what is wrong, where, and how to fix it. One row of the table each."""

from __future__ import annotations

import json
import shlex
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tests.report.planted import planted_frame, write_run

from medjury.cli import main

KEY = "sk-1234567890abcdef1234"
JUDGE: dict[str, Any] = {"kind": "openai", "name": "juror", "url": "http://127.0.0.1:9/v1", "model": "m"}
STUDY: dict[str, Any] = {
    "study": "small",
    "cases": "cases.jsonl",
    "instrument": "note_quality",
    "dimensions": ["accuracy"],
    "judges": [JUDGE],
    "humans": "clinicians.csv",
}
CASES = "".join(
    json.dumps({"id": f"0{n}", "candidate": f"Summary {n}.", "texts": {"context": f"Note {n}."}}) + "\n"
    for n in range(1, 7)
)
FIRST_CASE = CASES.splitlines()[0] + "\n"
HEADER = "item,rater,dimension,score\n"
CLINICIANS = HEADER + "".join(
    f"0{n},{rater},accuracy,{1 + n % 5}\n" for n in range(1, 7) for rater in ("ward", "clinic")
)
JUDGES = HEADER + "".join(f"0{n},juror,accuracy,{1 + n % 5}\n" for n in range(1, 7))
DRY_RUN = "run study.yaml --dry-run --no-preflight"
VALIDATE = "validate clinicians.csv judges.csv --scale 1 5 --resamples 50"


@dataclass(frozen=True)
class Mistake:
    """A mistake: the command, what was changed before it, and the words that its message must hold."""

    name: str
    what: str
    where: str
    how: str
    command: str = DRY_RUN
    study: Mapping[str, Any] = field(default_factory=dict)  # settings of the study; None takes one away
    files: Mapping[str, str | bytes | Callable[[Path], object]] = field(default_factory=dict)
    status: int = 2


def two_sheets(path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["a note"])
    for name in ("March", "April"):
        book.create_sheet(name).append(["item", "rater", "dimension", "score"])
    book.save(path)


def changed_manifest(**values: Any) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    return change


def judge(**options: Any) -> dict[str, Any]:
    """The study's one judge with these options on top; None takes one away."""
    settings = {name: value for name, value in (JUDGE | options).items() if value is not None}
    return {"judges": [settings]}


def clinicians(old: str, new: str) -> dict[str, str]:
    return {"clinicians.csv": CLINICIANS.replace(old, new)}


MISTAKES = [
    # what was typed
    Mistake("study file misspelt", "no such file", "stdy.yaml", "did you mean 'study.yaml'", "run stdy.yaml"),
    Mistake("study in another folder", "no such file", "notes/study.yaml", "check the path",
            "run notes/study.yaml"),
    Mistake("folder for the study file", "is a folder", ".:", "name the file in it", "run ."),
    Mistake("option misspelt", "no option", "--dryrun", "did you mean --dry-run", "run study.yaml --dryrun"),
    Mistake("option of another command", "no option", "--cases", "medjury run --help", "run study.yaml --cases x"),
    Mistake("a word too many", "one word too many", "'two.yaml'", "--help", "run study.yaml two.yaml"),
    Mistake("command misspelt", "no command", "'agrement'", "did you mean agreement", "agrement ratings.csv"),
    Mistake("letters swapped", "no command", "'rnu'", "did you mean run?", "rnu study.yaml"),
    Mistake("action left out", "say what to do", "medjury bench", "list, tasks, check", "bench"),
    Mistake("unknown recipe", "no recipe", "'pdsqi'", "did you mean 'pdsqi9'", "init --recipe pdsqi"),
    Mistake("file would be replaced", "exists already", "study.yaml", "--force", "init study.yaml"),
    Mistake("required option left out", "is missing", "plan kappa", "--shares", "plan kappa --value 0.7"),
    Mistake("value left out", "no value after the =", "--set study", "study=null", f"{DRY_RUN} --set study="),
    # the study file
    Mistake("setting misspelt", "no such setting", "line 7: max_unscoerd", "did you mean 'max_unscored'",
            study={"max_unscoerd": 0.1}),
    Mistake("dimension for dimensions", "no such setting", "dimension:", "did you mean 'dimensions'",
            study={"dimension": "accuracy"}),
    Mistake("tab", "there is a tab", "study.yaml, line 2", "use spaces instead",
            files={"study.yaml": "study: small\n\tcases: cases.jsonl\n"}),
    Mistake("key twice", "'cases' appears twice", "line 3", "first on line 2; keep one of them",
            files={"study.yaml": "study: small\ncases: a.csv\ncases: b.csv\n"}),
    Mistake("empty study file", "the file is empty", "study.yaml", "`name: value` lines", files={"study.yaml": ""}),
    Mistake("nothing named to judge", "is missing", "cases", "add it", study={"cases": None}),
    Mistake("name with a slash", "is not a name", "line 1: study", "only letters", study={"study": "my/study"}),
    Mistake("unknown instrument", "no built-in instrument", "line 3: instrument", "did you mean 'note_quality'",
            study={"instrument": "note_qality"}),
    Mistake("unknown dimension", "no dimension 'acuracy'", "line 4: dimensions", "did you mean 'accuracy'",
            study={"dimensions": ["acuracy"]}),
    Mistake("negative budget", "is too small", "budget.calls", "write 1 or more", study={"budget": {"calls": -5}}),
    Mistake("budget in words", "is not a number", "budget.money", "write one",
            study={"budget": {"money": "20 EUR"}}),
    Mistake("no repeats", "is too small", "line 7: repeats", "write 1 or more", study={"repeats": 0}),
    Mistake("percent for a share", "is too large", "max_unscored", "write 1.0 or less", study={"max_unscored": 5}),
    Mistake("quorum above the jury", "is 3, but there is only 1 judge", "jury.quorum", "lower it",
            study={"jury": {"quorum": 3}}),
    Mistake("unknown rule of the jury", "Input should be", "jury.aggregate", "'mean', 'median' or 'majority'",
            study={"jury": {"aggregate": "average"}}),
    Mistake("examples without training cases", "there are 0", "line 7: examples", "Raise `share`",
            study={"examples": {"shots": 3, "cases": []}}),
    Mistake("examples without clinicians", "graded by clinicians", "line 6: examples", "add `humans`",
            study={"examples": {"shots": 3}, "humans": None}),
    # its judges
    Mistake("no judge", "too few", "line 5: judges", "name 1 or more", study={"judges": []}),
    Mistake("judge without url", "needs 'url'", "judges[0]", "add `url: ...`", study=judge(url=None)),
    Mistake("url without a scheme", "is not an address", "judges[0]", "write it like https://",
            study=judge(url="localhost:8000/v1")),
    Mistake("unknown kind", "no endpoint kind 'opnai'", "judges[0]", "did you mean 'openai'",
            study=judge(kind="opnai")),
    Mistake("judge's setting misspelt", "no setting 'temprature'", "judges[0]", "did you mean 'temperature'",
            study=judge(temprature=0)),
    Mistake("unknown strategy", "no way of judging", "judges[0].strategy", "did you mean 'claims'",
            study=judge(strategy="claim")),
    Mistake("two judges of one name", "two judges are called 'juror'", "judges", "give each its own",
            study={"judges": [JUDGE, JUDGE]}),
    Mistake("key in the file", "a key does not belong in a file", "judges[0]: api_key", "write `api_key_env:",
            study=judge(api_key=KEY)),
    Mistake("key for the variable's name", "not the name of an environment variable", "api_key_env",
            "take it out of the file", study=judge(api_key_env=KEY)),
    Mistake("variable not set", "is not set", "model juror", "export MEDJURY_NO_SUCH_KEY=",
            study=judge(api_key_env="MEDJURY_NO_SUCH_KEY")),
    Mistake("host not allowed", "is not this machine", "model juror", "add `allow_hosts: [api.vendor.example]`",
            study=judge(url="https://api.vendor.example/v1")),
    Mistake("weights not there", "no such file", "model own: weights", "check its name and folder",
            study={"judges": [{"kind": "embedded", "name": "own", "weights": "model.gguf"}]}),
    # the cases
    Mistake("cases misspelt", "no such file", "line 2: cases", "did you mean 'cases.jsonl'",
            study={"cases": "case.jsonl"}),
    Mistake("no cases", "holds no case", "cases.jsonl", "needs a row", files={"cases.jsonl": ""}),
    Mistake("cases without the text", "no case has all", "cases.csv", "map your own columns",
            study={"cases": "cases.csv"}, files={"cases.csv": "id,summary\n01,Text\n"}),
    Mistake("case twice", "same id and the same system", "row 7", "Fix them",
            files={"cases.jsonl": CASES + FIRST_CASE}),
    Mistake("broken JSON", "not valid JSON", "row 7", "Fix them", files={"cases.jsonl": CASES + '{"id": "07", '}),
    Mistake("encoding", "not valid UTF-8", "cases.csv, row 2, candidate", "save the file as UTF-8",
            study={"cases": "cases.csv"},
            files={"cases.csv": "id,candidate,context\n01,Über 39,x\n".encode("latin-1")}),
    Mistake("cases in Word", "tables are read from", "cases.docx", "save it as one of these",
            study={"cases": "cases.docx"}, files={"cases.docx": b"PK"}),
    # the clinicians' ratings
    Mistake("ratings misspelt", "no such file", "study.yaml: humans", "did you mean 'clinicians.csv'",
            study={"humans": "clinican.csv"}),
    Mistake("ratings are a folder", "tables are read from", "run", "medjury look", study={"humans": "runs"},
            files={"runs/note.txt": ""}),
    Mistake("empty ratings", "is empty", "clinicians.csv", "must name the columns", files={"clinicians.csv": ""}),
    Mistake("header alone", "no ratings in it", "clinicians.csv", "needs a row", files={"clinicians.csv": HEADER}),
    Mistake("missing column", "which column is the score", "clinicians.csv", "It has item, rater, dimension, grade",
            files=clinicians("score", "grade")),
    Mistake("items of other cases", "'case-6' is not the id of a case", "clinicians.csv, row 12",
            "on_unknown: drop",
            files=clinicians("06,", "case-6,")),
    Mistake("ids without their zeros", "'1' is not the id of a case", "clinicians.csv, row 2", "did you mean '01'",
            files=clinicians("\n0", "\n")),
    Mistake("rated twice", "a second time", "clinicians.csv, row 14", "keep one of them",
            files={"clinicians.csv": CLINICIANS + "01,ward,accuracy,5\n"}),
    Mistake("off the scale", "'50' is not on the scale", "clinicians.csv, row 8, column 'score'",
            "on_bad: unscored",
            files=clinicians("accuracy,5", "accuracy,50")),
    Mistake("words for scores", "'good' is not a number", "clinicians.csv, row 8", "Correct clinicians.csv",
            files=clinicians("accuracy,5", "accuracy,good")),
    Mistake("dimension of another language", "no dimension 'Genauigkeit'", "column 'dimension'", "known: accuracy",
            files=clinicians("accuracy", "Genauigkeit")),
    Mistake("several sheets", "the sheet 'Sheet' was read", "clinicians.xlsx", "name another with `sheet`",
            study={"humans": "clinicians.xlsx"},
            files={"clinicians.xlsx": two_sheets}),
    Mistake("mapping names no column", "no column 'visit'", "clinicians.csv", "known: item, rater",
            "runs ratings import clinicians.csv --mapping m.yaml --out all.csv --keep-names",
            files={"m.yaml": "item: visit\nrater: rater\ndimension: dimension\nscore: score\n"}),
    # stores and run folders
    Mistake("store is no database", "is not a store", "ratings.sqlite", "name the .sqlite file",
            "run study.yaml --quiet --no-preflight",
            files={"runs/small/ratings.sqlite": "so many words in a text file"}),
    Mistake("store not there", "does not exist", "nowhere.sqlite", "name a store",
            "runs ratings runs nowhere.sqlite"),
    Mistake("file for a run folder", "is a file, not a run folder", "study.yaml", "such as runs/NAME",
            "report study.yaml"),
    Mistake("no run folder", "not a finished run folder", "nowhere", "run the study first", "gate nowhere"),
    Mistake("report of a run that never ended", "ratings.parquet is missing", "run", "run the study", "report run",
            files={"run/ratings.parquet": lambda path: path.unlink()}),
    Mistake("manifest of another version", "newer version", "run/manifest.json", "use that one", "report run",
            files={"run/manifest.json": changed_manifest(format=99)}),
    Mistake("broken manifest", "is damaged", "run/manifest.json", "run the study again", "report run",
            files={"run/manifest.json": "{"}),
    # tables of scores
    Mistake("no id in common", "Ids of cases are written differently: 0 of 6", "judges.csv", "--map", VALIDATE,
            files={"judges.csv": JUDGES.replace("\n0", "\nvisit-")}),
    Mistake("one file twice", "is in both tables", "'clinic'", "two names",
            "validate clinicians.csv clinicians.csv"),
    Mistake("wrong scale", "scale is probably wrong", "dimension 'accuracy'", "Scores run from 1 to 5",
            "agreement clinicians.csv --reference ward --scale 7 9"),
    Mistake("scale upside down", "not 5 to 1", "scale", "from low to high",
            "agreement clinicians.csv --reference ward --scale 5 1"),
    Mistake("unknown rater", "no rater 'wrad'", "to be the reference", "did you mean 'ward'",
            "agreement clinicians.csv --reference wrad"),
    Mistake("nobody to compare with", "whose scores are the yardstick", "reference", "--reference RATER",
            "agreement judges.csv"),
    Mistake("cases for ratings", "which columns are the item", "cases.jsonl", "It has id, candidate",
            "agreement cases.jsonl"),
    Mistake("confidence in percent", "not 95", "confidence", "such as 0.95",
            "agreement clinicians.csv --reference ward --confidence 95"),
    Mistake("unknown audit", "no audit 'lenght'", "audit", "there are self_preference",
            "audit judges.csv --audit lenght"),
    Mistake("port in use", "already in use", "port {port}", "another with --port",
            "panel serve study.yaml --port {port}",
            status=1),
]  # fmt: skip


@pytest.fixture(scope="module")
def taken_port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield int(listening.getsockname()[1])


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where all is well, and the process in it."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("cases.jsonl", CASES), ("clinicians.csv", CLINICIANS), ("judges.csv", JUDGES)):
        (tmp_path / name).write_text(text)
    return tmp_path


def make(ground: Path, mistake: Mistake) -> None:
    settings = {name: value for name, value in {**STUDY, **mistake.study}.items() if value is not None}
    (ground / "study.yaml").write_text(
        "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())
    )
    if any(name.startswith("run/") for name in mistake.files):
        write_run(ground / "run", planted_frame(cases=6, dimensions=("accuracy",)))
    for name, content in mistake.files.items():
        path = ground / name
        if callable(content):
            content(path)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_told_with_what_where_and_how(
    mistake: Mistake, ground: Path, taken_port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    make(ground, mistake)
    try:
        status = main(shlex.split(mistake.command.format(port=taken_port)))
    except SystemExit as stopped:  # argparse ends so
        status = int(str(stopped.code))
    told = capsys.readouterr().err
    assert status == mistake.status
    assert "Traceback" not in told and KEY not in told
    for words in (mistake.what, mistake.where, mistake.how):
        assert words.format(port=taken_port) in told


def test_the_ground_itself_holds_no_mistake(ground: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Or every row above could fail for another reason than its own. Semicolons are no mistake."""
    make(ground, Mistake("none", "", "", "", files={"clinicians.csv": CLINICIANS.replace(",", ";")}))
    assert main(shlex.split(DRY_RUN)) == 0
    assert capsys.readouterr().err == ""
