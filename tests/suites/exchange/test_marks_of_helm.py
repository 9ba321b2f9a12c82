"""HELM's marks by our rules and by HELM itself, of the same predictions: right ones in many styles, and worse."""

from __future__ import annotations

import csv
import inspect
import json
import random
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import import_module, resources
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest
import yaml

from medjury.suites import library, load_benchmark, load_items, sample_file
from medjury.suites._benchmark import Benchmark, Item
from medjury.suites._exchange._others_answers import GivenAnswer, match_answers, read_published
from medjury.suites._marking._helm import helm_marks

pytest.importorskip("helm", reason="crfm-helm is not installed; `make test-interop` brings it")
pytestmark = pytest.mark.filterwarnings("ignore")
IN_HELM = [each for each in library(extras=True) if each.helm]
BY_RULE = [each.name for each in IN_HELM if each.helm and each.helm.rule != "jury"]
COUNT = 1_200

STYLES: tuple[Callable[[str], str], ...] = (
    str,
    "{}.".format, "({})".format, "{})".format, "**{}**".format, "`{}`".format, '"{}"'.format, "{}:".format,
    " {}".format, "{}\n".format, "\t{}\r\n".format, "Answer: {}".format, "The answer is {}.".format,
    '{{"answer": "{}"}}'.format, "```\n{}\n```".format, "\\boxed{{{}}}".format, "<answer>{}</answer>".format,
    "Let me think. It is not the first.\n\nFinal answer: {}".format, str.lower, str.upper,
    "{0} {0}".format, "{}, because the note says so".format, "\u00a0{}\u2003".format, "\u200b{}".format,
    "\ufeff{}".format, "{}\x00".format, "{}\ud800".format, "```sql\n{}\n```".format, "```sql\n{}```".format,
    "<sql>{}</sql>".format, "< SQL >\n{}\n<sql>".format, "sql\n{}".format, "{};".format, "{}; select 1".format,
    "{} mg/dL".format, "+{}".format, "0{}".format, "{}.0".format, "{}e0".format, "1_0{}".format,
    lambda text: text[:-1], lambda text: text[::-1], lambda text: f"{text}{'x' * 60_000}",
    lambda text: text.translate({48 + each: 0x660 + each for each in range(10)}),  # Arabic figures
)  # fmt: skip
MALFORMED = (
    "", " ", "\n", "I cannot help with that.", "A or B", "{", "[]", "null", "None", "nan", "inf", "-inf", "1e999",
    "?", ".", "🙂", "É", "<sql></sql>", "```sql\n```", "'; drop table patient; --", "\x00", "9" * 5_000, "CORRECT",
    "('2 weeks', '3 days')", "('2 weeks', '3 days') or so", "02/30/2024", "1/18/2024", "01/18/2024", "correct",
    "CORRECT.", "0 She is well.", "-1", "A B C", "ABCDE", "J18", "Z3A.20", "select 1 where 0",
    "delete from medication", "pragma table_info(patient)", "insert into patient values (9, 'x', 1)",
)  # fmt: skip


def items_of(benchmark: Benchmark) -> tuple[Sequence[Item], Path | None]:
    """The made-up rows, and others that each try one corner of a rule."""
    loaded = load_items(benchmark, sample_file(benchmark))
    first = loaded.items[0]
    more: list[Item] = []
    if benchmark.helm and benchmark.helm.rule == "calculation":
        for category in ("lab test", "risk", "severity", "diagnosis", "dosage conversion", "physical"):
            for gold, *limits in (("25.0", "23.75", "26.25"), ("-7", "-6.65", "-7.35"), ("4", "4", "4")):
                more.append(
                    replace(first, gold=(gold,), facts={"category": category, "stated_limits": tuple(limits)})
                )
        day = {"category": "date", "stated_limits": ("01/17/2024", "01/19/2024")}
        more.append(replace(first, gold=("01/18/2024",), facts=day))
    if benchmark.helm and benchmark.helm.rule == "codes":
        more += [
            replace(first, gold=(gold,)) for gold in ("S72.001A; I10", "Z3A.20", "0DTJ4ZZ", "E11.65; E11.65")
        ]
    if benchmark.helm and benchmark.helm.rule == "rows":
        more += [
            replace(first, gold=(gold,), facts={"is_impossible": False, "places": places})
            for gold in (
                "select drugname from medication order by drugname desc",
                "select age, 1.0 from patient",
                "select drugname from medication where drugname = 'nothing'",
                "select nothing from nowhere",
                "select null",
                "select current_time > '00' from patient",
            )
            for places in (False, True)
        ]
    if first.choices and benchmark.helm and not benchmark.helm.words:
        texts = list(first.choices.values())
        same = dict(zip(first.choices, [*texts[:-1], texts[0]], strict=True))
        more.append(replace(first, choices=same, gold=("A", list(same)[-1])))
        spelt = dict(zip(first.choices, [*texts[:-1], texts[0].upper()], strict=True))
        more.append(replace(first, choices=spelt, gold=("A", list(spelt)[-1])))
    return [*loaded.items, *more], loaded.database


def predictions(benchmark: Benchmark, items: Sequence[Item]) -> Iterator[tuple[Item, str]]:
    """Every style of every right answer, every malformed one, and others drawn at random."""
    words = benchmark.helm.words if benchmark.helm else {}
    made = [(item, style(words.get(item.gold[0], item.gold[0]))) for item in items for style in STYLES]
    made += [(item, text) for item in items for text in MALFORMED]
    drawn = random.Random(benchmark.name)
    while len(made) < COUNT:
        item = drawn.choice(items)
        other = drawn.choice(items).gold[0]
        near = str(round(drawn.uniform(-9, 30), drawn.randrange(3)))
        core = drawn.choice(
            [other, near, drawn.choice(ascii_uppercase[:6]), *words.values(), *item.choices.values()]
        )
        made.append((item, drawn.choice(STYLES)(core)))
    yield from made


def state_of(benchmark: Benchmark, item: Item, text: str, mapped: bool) -> Any:
    """The prediction as HELM holds it after its model answered: the references as its scenario makes them."""
    from helm.benchmark.adaptation.request_state import RequestState
    from helm.benchmark.scenarios.scenario import CORRECT_TAG, TEST_SPLIT, Input, Instance, Output, Reference
    from helm.common.request import GeneratedOutput, Request, RequestResult

    words = benchmark.helm.words if benchmark.helm else {}
    gold = item.gold[0]
    if not mapped:
        texts = {gold: ",".join(item.gold[0].split("; ")) if "codes" in item.facts else words.get(gold, gold)}
        texts = {gold: gold} if gold == "null" else texts
    else:
        texts = dict(item.choices) or {word: word for word in words}
    references = [
        Reference(Output(text=each), tags=[CORRECT_TAG] if name == gold else [])
        for name, each in texts.items()
    ]
    limits = item.facts.get("stated_limits") or ("", "")
    extra = {
        "category": item.facts.get("category"),
        "lower_limit": limits[0],
        "upper_limit": limits[1],
        "is_impossible": item.facts.get("is_impossible"),
        "value": {"drug": "x"} if item.facts.get("places") else {},
    }
    return RequestState(
        instance=Instance(Input(text="?"), references, TEST_SPLIT, id=item.id, extra_data=extra),
        reference_index=None,
        request_mode=None,
        train_trial_index=0,
        output_mapping=dict(zip(ascii_uppercase, texts.values(), strict=False)) if mapped else None,
        request=Request(model="simple/model1", model_deployment="simple/model1"),
        result=RequestResult(
            success=True,
            embedding=[],
            cached=False,
            completions=[GeneratedOutput(text=text, logprob=0, tokens=[])],
        ),
        num_train_instances=0,
        prompt_truncated=False,
    )


def run_spec(name: str) -> Any:
    """HELM's own specification of a run: how it is asked and which metrics there are."""
    from helm.benchmark.run_spec import get_run_spec_function

    import_module("helm.benchmark.run_specs.medhelm_run_specs")
    make = get_run_spec_function(name) or get_run_spec_function(f"medhelm_{name}")
    assert make is not None
    needed = [
        each.name
        for each in inspect.signature(make).parameters.values()
        if each.default is inspect.Parameter.empty
    ]
    return make(**dict.fromkeys(needed, "anything"))


@cache
def main_metrics() -> Mapping[str, str]:
    """The metric by which MedHELM's leaderboard shows each benchmark, as HELM's own schema has it."""
    schema = yaml.safe_load(
        resources.files("helm.benchmark.static").joinpath("schema_medhelm.yaml").read_text()
    )
    return {
        each["name"]: each["environment"]["main_name"]
        for each in schema["run_groups"]
        if "environment" in each
    }


def helms_number(benchmark: Benchmark, state: Any, spec: Any, database: Path | None) -> float | None:
    """What HELM's own metric says; None where it ends in an error."""
    from helm.benchmark.metrics import evaluate_reference_metrics as reference_metrics
    from helm.common.object_spec import create_object

    assert benchmark.helm is not None
    main = main_metrics()[benchmark.helm.name]
    if database is not None:
        from helm.benchmark.annotation.ehr_sql_annotator import EhrSqlAnnotator

        state = replace(state, annotations={"ehr_sql": EhrSqlAnnotator().annotate(state)})
    try:
        if main == "exact_match":
            assert any(main in each.args.get("names", ()) for each in spec.metric_specs)
            stats = reference_metrics.compute_reference_metrics([main], spec.adapter_spec, state, None)  # type: ignore[arg-type]
        else:
            metric = create_object(spec.metric_specs[0])
            stats = metric.evaluate_generation(spec.adapter_spec, state, None, "")
    except ValueError:
        return None
    (found,) = [each for each in stats if each.name.name == main]
    return float(found.mean)


def test_every_benchmark_of_medhelm_has_the_kind_of_mark_that_helm_gives_it() -> None:
    found = {each.helm.name: each.helm.rule for each in IN_HELM if each.helm}
    assert set(found) == set(main_metrics())
    by_jury = {
        name
        for name, main in main_metrics().items()
        if main == f"{name}_accuracy" and name != "medcalc_bench"
    }
    assert {name for name, rule in found.items() if rule == "jury"} == by_jury
    assert len(BY_RULE) == 24


@pytest.mark.parametrize("name", BY_RULE)
def test_marks_are_those_of_helm(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = load_benchmark(name)
    assert benchmark.helm is not None
    items, database = items_of(benchmark)
    spec = run_spec(benchmark.helm.name)
    if database is not None:
        helms_copy(database, tmp_path, monkeypatch)
    tried = list(predictions(benchmark, items))
    ours = helm_marks(
        benchmark,
        [item for item, _ in tried],
        [text for _, text in tried],
        database=database,
        asked_by_helm=True,
    )
    mapped = spec.adapter_spec.method == "multiple_choice_joint"
    number = partial(helms_number, benchmark, spec=spec, database=database)
    seen: set[float | None] = set()
    for (item, text), mark in zip(tried, ours, strict=True):
        with warnings.catch_warnings(action="ignore"):
            helms = number(state_of(benchmark, item, text, mapped))
        seen.add(helms)
        if helms is None or mark.score is None:
            assert helms is mark.score, (item.gold, text[:200], helms, mark)
        else:
            assert abs(helms - mark.score) <= 1e-9, (item.gold, item.facts, text[:200], helms, mark)
    assert len(tried) >= 1_000 and {0.0, 1.0} <= seen


def helms_copy(database: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database of its own for HELM, which runs whatever a model wrote, on a connection that may write."""
    from helm.benchmark.annotation import ehr_sql_annotator

    place = folder / "scenarios" / "ehr_sql"
    place.mkdir(parents=True)
    (place / "eicu.sqlite").write_bytes(database.read_bytes())
    monkeypatch.setattr(ehr_sql_annotator, "get_benchmark_output_path", lambda: str(folder))
    connect = sqlite3.connect

    def undone(path: str) -> Any:
        """What a prediction changed is gone with its connection: every prediction meets the same database."""
        memory = connect(":memory:")
        connect(path).backup(memory)
        return memory

    monkeypatch.setattr(ehr_sql_annotator, "sqlite3", Sqlite(undone))


class Sqlite:
    """The module as HELM's annotator uses it, with `connect` replaced."""

    OperationalError, Warning = sqlite3.OperationalError, sqlite3.Warning

    def __init__(self, connect: Callable[[str], Any]) -> None:
        self.connect = connect


def test_helms_table_of_results_is_read_as_its_summarizer_writes_it(tmp_path: Path) -> None:
    from helm.benchmark.presentation.table import Cell, HeaderCell, Table
    from helm.common.general import asdict_without_nones

    wanted = ("head_qa", "medec", "mental_health", "pubmedqa")
    helms = [each.helm.name for name in wanted if (each := load_benchmark(name)).helm]
    schema = yaml.safe_load(
        resources.files("helm.benchmark.static").joinpath("schema_medhelm.yaml").read_text()
    )
    shown = {
        each["name"]: each.get("short_display_name") or each["display_name"] for each in schema["run_groups"]
    }
    (title,) = [each["display_name"] for each in schema["metric_groups"] if each["name"] == "accuracy"]
    header = [HeaderCell("Model"), HeaderCell("Mean win rate")]
    header += [HeaderCell(name, metadata={"metric": "EM", "run_group": shown[name]}) for name in helms]
    rows = [
        [Cell("GPT-4o"), Cell(0.5), Cell(0.9), Cell(0.6), Cell(0.8), Cell(0.7)],
        [Cell("Another"), Cell(0.5), Cell(None), Cell(0.25), Cell(0.8), Cell(0.0)],
    ]
    seconds = Table("Efficiency", header, [[Cell("GPT-4o"), *(Cell(3.5) for _ in header[1:])]])
    file = tmp_path / "medhelm_scenarios.json"
    file.write_text(
        json.dumps([asdict_without_nones(each) for each in (Table(title, header, rows), seconds)])
    )
    found = read_published(file, [load_benchmark(name) for name in wanted])
    assert found == {
        "GPT-4o": {"head_qa": 0.9, "medec": 0.6, "pubmedqa": 0.7},
        "Another": {"medec": 0.25, "pubmedqa": 0.0},
    }


def instances(name: str, folder: Path) -> list[Any]:
    """The made-up rows of a benchmark as HELM's own scenario turns them into questions."""
    from helm.benchmark.scenarios.ehr_sql_scenario import EhrSqlScenario
    from helm.benchmark.scenarios.medcalc_bench_scenario import MedCalcBenchScenario
    from helm.benchmark.scenarios.medec_scenario import MedecScenario
    from helm.benchmark.scenarios.medhallu_scenario import MedHalluScenario
    from helm.benchmark.scenarios.pubmed_qa_scenario import PubMedQAScenario

    sample = sample_file(load_benchmark(name))
    if name == "pubmedqa":
        (folder / "data").mkdir()
        (folder / "data" / "test_set.json").write_bytes((sample / "ori_pqal.json").read_bytes())
        return PubMedQAScenario().get_instances(str(folder))
    if name == "medec":
        return MedecScenario().process_csv(str(sample), "test")
    if name == "ehrsql":
        made = EhrSqlScenario()
        return made.process_json(
            str(sample / "valid.json"), made.extract_schema(str(sample / "eicu.sql")), "test"
        )
    if name == "medcalc_bench":
        with sample.open(encoding="utf-8") as file:
            return MedCalcBenchScenario().process_csv(list(csv.DictReader(file)), "test")
    rows = [json.loads(line) for line in sample.read_text().splitlines()]
    return [
        MedHalluScenario().create_instance(row["Question"], row["Knowledge"], row[column], label, "test")
        for row in rows
        for label, column in enumerate(("Ground Truth", "Hallucinated Answer"))
    ]


@pytest.mark.parametrize("name", ["ehrsql", "medcalc_bench", "medec", "medhallu", "pubmedqa"])
def test_an_answer_to_a_question_of_helms_scenario_belongs_to_our_item(name: str, tmp_path: Path) -> None:
    benchmark = load_benchmark(name)
    items = load_items(benchmark, sample_file(benchmark)).items
    answers = [
        GivenAnswer(f"id{place}", str(each.input.text), str(place))
        for place, each in enumerate(instances(name, tmp_path))
    ]
    found, _ = match_answers(benchmark, items, answers, by=benchmark.helm)
    assert [found[item.id].text for item in items] == [str(place) for place in range(len(items))]
