"""`medjury bench` as it is typed."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from medjury.cli import main
from medjury.instruments import load_instrument
from medjury.suites import load_benchmark, load_items, prompt_of, sample_file

Captured = pytest.CaptureFixture[str]


def test_list_tells_what_a_benchmark_is(capsys: Captured) -> None:
    assert main(["bench", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert len(listed) == 35
    assert next(each for each in listed if each["name"] == "mimic_iv_billing_code") == {
        "name": "mimic_iv_billing_code",
        "title": "MIMIC-IV Billing Code",
        "suite": "medhelm",
        "category": "Administration and Workflow",
        "subcategory": "Overseeing Financial Activities",
        "access": "gated",
        "fetched": False,
        "curation": "existing",
        "metric": "code_f1",
        "open": False,
        "helm": "codes",
    }
    assert main(["bench", "list"]) == 0
    shown = capsys.readouterr().out
    assert "of other collections: medmcqa, medqa, medxpertqa, mmlu_med, askdocs" in shown
    assert "* medjury bench fetch NAME brings its files (8 of them)" in shown and shown.count("public*") == 8


def test_tasks_shows_the_taxonomy_and_what_is_covered(capsys: Captured) -> None:
    assert main(["bench", "tasks"]) == 0
    assert "done by: Researchers and epidemiologists" in capsys.readouterr().out
    assert main(["bench", "tasks", "--covered", "medec", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["subcategory"] for each in found["subcategories"] if each["benchmarks"]] == [
        "Planning Treatments"
    ]


def test_check_names_the_rows_that_are_wrong(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "ours.csv"
    file.write_text("id,note,gold\n1,Cough,Yes\n2,,No\n3,Rash,Perhaps\n1,Fall,No\n", encoding="utf-8")
    assert main(["bench", "check", "hospice_referral", "--data", str(file), "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "name": "hospice_referral",
        "items": 1,
        "problems": [
            "ours.csv, row 3: note is empty",
            "ours.csv, row 4: the right answer is none of the choices",
            "ours.csv, row 5: its id appears twice, first in ours.csv, row 2",
        ],
        "read": ["ours.csv"],
        "not_read": [],
    }


def test_check_tells_what_was_left_out(capsys: Captured) -> None:
    assert main(["bench", "check", "medec"]) == 0
    assert capsys.readouterr().out == "medec: 3 items, 0 problems\n  left out: blank row (1)\n"


def test_check_of_a_missing_file_is_a_problem_not_a_crash(capsys: Captured) -> None:
    assert main(["bench", "check", "medec", "--data", "/nowhere", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"] == ["/nowhere: there is no such file or folder"]


def test_new_guesses_the_columns_and_its_file_passes_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("exam.csv").write_text(
        "No.;Vignette;Question;Option A;Option B;Correct answer;Remark\n"
        "1;Fever;What next?;Rest;Surgery;A;x\n2;Fall;What next?;X-ray;Tea;X-ray;\n",
        encoding="utf-8",
    )
    assert main(["bench", "new", "exam", "--data", "exam.csv"]) == 0
    out = capsys.readouterr().out
    assert "choices        Option A, Option B" in out
    assert "gold           Correct answer" in out
    assert "not used       Remark" in out
    assert main(["bench", "check", "exam.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == 2
    benchmark = load_benchmark("exam.yaml")
    items = load_items(benchmark, sample_file(benchmark)).items
    assert [(item.id, item.gold) for item in items] == [("1", ("A",)), ("2", ("A",))]
    assert "Vignette:\nFever" in prompt_of(benchmark, items[0])
    assert main(["bench", "new", "exam", "--data", "exam.csv"]) == 2
    assert "is there already" in capsys.readouterr().err


def test_new_takes_any_scale_and_direction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("letters.csv").write_text(
        "case,text\nA,Write to the insurer\nB,Write to the patient\n", encoding="utf-8"
    )
    words = ["bench", "new", "letters", "--data", "letters.csv", "--scale", "0-10", "--lower-is-better"]
    assert main(words) == 0
    benchmark = load_benchmark("letters.yaml")
    assert (benchmark.open, benchmark.metrics, benchmark.gold) == (True, ("jury",), "")
    dimension = load_instrument(benchmark.instrument or "").dimensions[0]
    assert dimension.values == tuple(range(11))
    assert not dimension.higher_is_better
    assert dimension.grades[0].startswith("The best")


def test_new_takes_every_choice_and_reads_true_and_false(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    letters = "ABCDEFGHIJKL"
    header = ",".join(f"choice_{each}" for each in letters)
    cells = ",".join(letters.lower())
    Path("wide.csv").write_text(f"id,question,gold,{header}\n1,q,L,{cells}\n", encoding="utf-8")
    assert main(["bench", "new", "wide", "--data", "wide.csv"]) == 0
    assert len(load_items(load_benchmark("wide.yaml"), "wide.csv").items[0].choices) == 12
    rows = [{"id": str(number), "question": "q", "answer": number % 2 == 0} for number in range(4)]
    Path("facts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["bench", "new", "facts", "--data", "facts.jsonl"]) == 0
    benchmark = load_benchmark("facts.yaml")
    assert benchmark.options["choices"] == {"A": "no", "B": "yes"}
    assert [item.gold for item in load_items(benchmark, "facts.jsonl").items] == [
        ("B",),
        ("A",),
        ("B",),
        ("A",),
    ]


CONTENT = b"id,question,gold\n1,Why?,Because\n"


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if self.path == "/moved.csv":
            self.send_response(302)
            self.send_header("Location", "/data.csv")
            self.end_headers()
            return
        self.send_response(404 if self.path == "/gone.csv" else 200)
        self.send_header("Content-Length", str(len(CONTENT) + (self.path == "/cut.csv")))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def pages() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    server.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def write_benchmark(folder: Path, address: str, sha256: str) -> Path:
    from tests.suites.test_library import GOOD

    file = folder / "mine.yaml"
    part = f"files: [{{name: data.csv, sha256: '{sha256}', address: '{address}'}}]\n"
    file.write_text(GOOD + part, encoding="utf-8")
    return file


RIGHT = hashlib.sha256(CONTENT).hexdigest()


def test_fetch_shows_the_licence_and_downloads_only_when_told(
    tmp_path: Path, pages: ThreadingHTTPServer, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = pages.asked  # type: ignore[attr-defined]
    file = write_benchmark(tmp_path, f"http://127.0.0.1:{pages.server_port}/data.csv", RIGHT)
    before = len(asked)
    assert main(["bench", "fetch", str(file)]) == 2
    told = capsys.readouterr()
    assert "licence: ours" in told.out
    assert f"sha256 {RIGHT}" in told.out
    assert "agree to the licence with --yes" in told.err
    assert len(asked) == before
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody is there, and nobody is asked
    monkeypatch.delenv("no_proxy", raising=False)
    assert main(["bench", "fetch", str(file), "--yes"]) == 0
    assert "mine: 1 item, 0 problems" in capsys.readouterr().out
    assert (tmp_path / "benchmark-data/mine/data.csv").read_bytes() == CONTENT
    assert main(["bench", "fetch", str(file), "--yes"]) == 0
    assert "is already here" in capsys.readouterr().out
    assert len(asked) == before + 1


def test_fetch_asks_a_person_and_takes_no_for_an_answer(
    tmp_path: Path, pages: ThreadingHTTPServer, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_benchmark(tmp_path, f"http://127.0.0.1:{pages.server_port}/data.csv", RIGHT)
    said = iter(["", "no", "y"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: next(said))
    for _ in range(2):
        assert main(["bench", "fetch", str(file), "--to", str(tmp_path / "to")]) == 0
        assert "nothing was downloaded" in capsys.readouterr().out
        assert not (tmp_path / "to").exists()
    assert main(["bench", "fetch", str(file), "--to", str(tmp_path / "to")]) == 0
    assert (tmp_path / "to/data.csv").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("path", "sha256", "words", "complaint"),
    [
        ("data.csv", "0" * 64, [], "not 0000"),
        ("moved.csv", RIGHT, [], "redirects to another address"),
        ("gone.csv", RIGHT, [], "could not be fetched (Not Found). Without internet"),
        ("cut.csv", RIGHT, [], "cut short"),
        ("data.csv", RIGHT, ["--most-mb", "0"], "is larger than 0 bytes"),
    ],
)
def test_what_is_not_the_agreed_file_is_not_kept(
    tmp_path: Path,
    pages: ThreadingHTTPServer,
    capsys: Captured,
    path: str,
    sha256: str,
    words: list[str],
    complaint: str,
) -> None:
    file = write_benchmark(tmp_path, f"http://127.0.0.1:{pages.server_port}/{path}", sha256)
    assert main(["bench", "fetch", str(file), "--yes", "--to", str(tmp_path / "to"), *words]) == 1
    assert complaint in capsys.readouterr().err
    assert list((tmp_path / "to").iterdir()) == []


def test_an_address_without_encryption_is_refused(tmp_path: Path, capsys: Captured) -> None:
    file = write_benchmark(tmp_path, "http://example.org/data.csv", RIGHT)
    assert main(["bench", "fetch", str(file), "--yes", "--to", str(tmp_path)]) == 2
    assert "is not encrypted on its way" in capsys.readouterr().err


def test_a_private_benchmark_says_what_to_bring_instead(capsys: Captured) -> None:
    assert main(["bench", "fetch", "n2c2_ct"]) == 2
    assert "as a table with the columns id, notes, criterion, gold" in capsys.readouterr().err
