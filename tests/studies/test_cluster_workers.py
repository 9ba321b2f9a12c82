"""Workers of a cluster, each in a process or a loop of its own, and no Ray: what they share lies in PostgreSQL."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars
import pytest
from tests.loopback import LoopbackServer
from tests.processes import _PRELOADED, endpoint, kill, lines

from medjury.cli import main
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Reason
from medjury.intake.cases import read_cases
from medjury.models import AuditLog, AuditTotals, audit_totals, verify_audit_log
from medjury.store.ratings import Account, LogDrain, open_store
from medjury.studies import Study, load_study, run_study
from medjury.studies._cluster.shares import Group, Share, ShareQueue, Window, cut, groups_of, share_size
from medjury.studies._cluster.worker import CHANGED, Order, Tallies, Worker, signature

LOG = "log"
CASES = 24


def order(study: Study, **more: Any) -> Order:
    judges = tuple(judge.name for judge in study.jury.judges)
    known = Order(str(study.file), (), False, "run", LOG, judges, 0, 2, preflight=False)
    return replace(known, **more)


def begin(study: Study) -> list[Share]:
    with open_store(study.store) as store:
        Account.begin(store, LOG, AuditTotals(0, 0.0))
    return list(cut(study.cases, 4))


def drained(study: Study, file: Path) -> AuditTotals:
    with open_store(study.store) as store:
        LogDrain(store, LOG, AuditLog(file)).finish()
    return audit_totals(file)


async def work(workers: Sequence[Worker], shares: Sequence[Share]) -> list[Any]:
    """All shares, each by whoever is free; what is said of them."""
    waiting, said = iter(shares), []

    async def one(worker: Worker) -> None:
        started = await worker.start()
        assert "signature" in started, started
        for share in waiting:
            said.append(await worker.judge(share))
        await worker.close()

    await asyncio.gather(*map(one, workers))
    return said


def rows(store: str) -> list[tuple[Any, ...]]:
    with open_store(store) as opened:
        return sorted(
            (row.item, row.rater, row.dimension, row.score, row.explanation, row.key, row.calls, row.cost)
            for row in opened.ratings()
        )


async def test_two_workers_give_the_ratings_of_one_run(
    write_study: Callable[..., Path], postgres_url: str, server: LoopbackServer, tmp_path: Path
) -> None:
    alone = write_study(cases=CASES, store="alone.sqlite", output="alone")
    assert await asyncio.to_thread(main, ["run", str(alone), "--quiet", "--no-preflight"]) == 0
    asked = len(server.calls)
    study = load_study(write_study(cases=CASES, store=postgres_url))
    shares = begin(study)
    said = await work([Worker(order(study, place=place)) for place in (0, 1)], shares)
    assert sum(each["counts"].judged for each in said) == CASES
    assert len(server.calls) - asked == CASES == drained(study, tmp_path / "audit.jsonl").calls
    assert rows(postgres_url) == rows(str(tmp_path / "alone.sqlite"))
    again = await work([Worker(order(study))], shares)
    assert sum(each["counts"].found for each in again) == CASES and len(server.calls) - asked == CASES


def _work(told: Order, shares: Sequence[Share]) -> None:
    asyncio.run(work([Worker(told)], shares))


async def test_a_worker_that_is_killed_loses_nothing_and_every_request_is_known(
    write_study: Callable[..., Path], postgres_url: str, tmp_path: Path
) -> None:
    log = tmp_path / "answered.log"
    places = 4
    with endpoint(log) as url:
        judge = {"url": url, "concurrency": places, "price": {"input": 0, "output": 1e4}, "max_tokens": 100}
        cap = CASES + places  # as many as a death may cost
        study = load_study(
            write_study(cases=CASES, store=postgres_url, judge=judge, budget={"money": cap, "calls": cap})
        )
        shares = begin(study)
        await work([Worker(order(study))], shares[:2])
        log.with_name(f"{log.name}.hold").touch()
        held = log.with_name(f"{log.name}.held")
        processes = get_context("forkserver")
        processes.set_forkserver_preload([*_PRELOADED, "medjury.studies._cluster.worker"])
        victim = processes.Process(
            target=_work, args=(order(study, workers=1), list(cut(study.cases, CASES)))
        )
        victim.start()
        await _until(lambda: len(lines(held)) >= places, victim.is_alive)  # a request in every place
        await asyncio.to_thread(kill, victim)
        log.with_name(f"{log.name}.hold").unlink()
        said = await work([Worker(order(study, place=place)) for place in (0, 1)], shares)
    assert sum(each["counts"].found + each["counts"].judged for each in said) == CASES
    with open_store(postgres_url) as store:
        rated = Counter((row.item, row.dimension) for row in store.ratings() if row.status == "scored")
    assert set(rated.values()) == {1} and len(rated) == 3 * CASES
    totals = drained(study, tmp_path / "audit.jsonl")
    assert totals.calls == len(lines(log.with_name(f"{log.name}.arrived"))) <= cap
    assert (totals.unended, totals.perhaps) == (places, places), "they count at their worst case"
    assert verify_audit_log(tmp_path / "audit.jsonl") == 2 * totals.calls - places


async def _until(reached: Callable[[], bool], alive: Callable[[], bool]) -> None:
    for _ in range(12_000):
        if reached():
            return
        assert alive(), "it ended before it came so far"
        await asyncio.sleep(0.01)
    raise AssertionError("it does not come so far")


async def test_a_budget_is_used_up_and_never_exceeded_by_both_together(
    write_study: Callable[..., Path], postgres_url: str, server: LoopbackServer
) -> None:
    study = load_study(write_study(cases=CASES, store=postgres_url, budget={"calls": 10}))
    said = await work([Worker(order(study, place=place)) for place in (0, 1)], begin(study))
    assert len(server.calls) == 10
    refused = sum(each["counts"].unscored[Reason.OVER_BUDGET] for each in said)
    assert refused == 3 * (CASES - 10), "the rest says why it has no score"


async def test_calls_at_a_time_are_shared_out(
    write_study: Callable[..., Path], postgres_url: str, server: LoopbackServer
) -> None:
    study = load_study(write_study(cases=CASES, store=postgres_url, judge={"concurrency": 5}))
    begin(study)
    workers = [Worker(order(study, place=place)) for place in (0, 1)]
    for worker in workers:
        await worker.start()
    allowed = [worker._gate.concurrency(worker._models[0])[1] for worker in workers]
    for worker in workers:
        await worker.close()
    assert allowed == [3, 2]


async def test_cases_that_changed_are_not_judged(
    write_study: Callable[..., Path], postgres_url: str, server: LoopbackServer
) -> None:
    study = load_study(write_study(cases=8, store=postgres_url))
    shares = begin(study)
    text = (study.file.parent / "cases.jsonl").read_text()
    (study.file.parent / "cases.jsonl").write_text(text.replace("Summary 5.", "Another summary."))
    said = await work([Worker(order(study))], shares)
    assert [each.get("fatal") for each in said] == [None, CHANGED]
    assert len(server.calls) == 4


async def test_a_worker_says_nothing_of_a_case_when_it_fails(
    write_study: Callable[..., Path], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = load_study(write_study(cases=4, store=postgres_url))
    shares = begin(study)

    async def breaks(*_: Any, **__: Any) -> None:
        raise ValueError("Summary 1. of a patient")

    monkeypatch.setattr("medjury.studies._cluster.worker.judge_all", breaks)
    [said] = await work([Worker(order(study))], shares)
    assert "ValueError" in said["error"] and "patient" not in repr(said)


async def test_a_worker_without_its_study_says_what_is_missing(tmp_path: Path) -> None:
    said = await Worker(Order(str(tmp_path / "gone.yaml"), (), False, "r", LOG, (), 0, 1)).start()
    assert "gone.yaml" in said["error"]


def test_a_study_that_a_cluster_cannot_judge_is_refused(write_study: Callable[..., Path]) -> None:
    with pytest.raises(MedjuryError, match=r"need a store that several machines can write"):
        run_study(load_study(write_study()), cluster=("auto", None))
    batch = write_study(store="postgresql://nobody@127.0.0.1/none", judge={"mode": "batch"})
    with pytest.raises(MedjuryError, match="asked through batch jobs"):
        run_study(load_study(batch), cluster=("auto", None))


def test_without_ray_the_command_says_how_to_get_it(
    write_study: Callable[..., Path],
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["run", str(write_study(store=postgres_url)), "--engine", "ray", "--quiet"]) == 2
    assert "pip install 'medjury[ray]'" in capsys.readouterr().err


def test_workers_without_a_cluster_are_refused(
    write_study: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(write_study()), "--workers", "4"]) == 2
    assert "add --engine ray" in capsys.readouterr().err


def test_every_setting_that_makes_keys_is_part_of_a_signature(write_study: Callable[..., Path]) -> None:
    one = signature(load_study(write_study()), ["juror"])
    other = signature(load_study(write_study(judge={"temperature": 1.0})), ["juror"])
    assert one["instrument"] == other["instrument"] and one["juror"] != other["juror"]
    assert "juror" not in signature(load_study(write_study()), [], [])


def test_shares_are_read_in_any_order_and_redacted(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    polars.DataFrame(
        {"id": [f"c{n}" for n in range(10)], "candidate": [f"{n} a@b.org" for n in range(10)]}
    ).write_csv(file)
    cases = read_cases(file)
    shares = list(cut(cases, 4))
    assert [(each.start, each.stop) for each in shares] == [(0, 4), (4, 8), (8, 10)]
    window = Window(cases)
    for place in (0, 2, 1, 1):
        ids = [case.id for case in window.take(shares[place])]
        assert ids == [f"c{n}" for n in range(shares[place].start, shares[place].stop)]
    from medjury.intake.cases import RedactedCases, make_redactor

    hidden = Window(RedactedCases(cases, make_redactor({"presidio": False})))
    assert [case.candidate for case in hidden.take(shares[2])] == ["8 [EMAIL-1]", "9 [EMAIL-1]"]


def test_judges_that_need_a_gpu_have_workers_of_their_own(write_study: Callable[..., Path]) -> None:
    judges = [
        {"kind": "openai", "name": name, "url": "http://127.0.0.1:1/v1", "model": name, **more}
        for name, more in (("a", {"concurrency": 3}), ("b", {}), ("c", {"gpus": 0.5}), ("d", {"gpus": 2}))
    ]
    study = load_study(write_study(judges=judges))
    assert groups_of(study, None, {"CPU": 8, "GPU": 2}) == [
        Group(("c",), 4, 0.5), Group(("d",), 1, 2.0), Group(("a", "b"), 3),
    ]  # fmt: skip
    assert groups_of(study, 2, {"CPU": 8, "GPU": 2})[0] == Group(("c",), 2, 0.5)
    assert Group(("c",), 4, 0.5).options()["num_gpus"] == 0.5
    with pytest.raises(MedjuryError, match="d needs 2 GPU, and the cluster has 1 in all"):
        groups_of(study, None, {"CPU": 8, "GPU": 1})
    with pytest.raises(MedjuryError, match=r"c needs 0\.5 GPU, and the cluster has none"):
        groups_of(study, None, {"CPU": 8})


def test_judges_that_say_how_many_processors_they_need_have_workers_of_their_own(
    write_study: Callable[..., Path],
) -> None:
    judges = [
        {"kind": "openai", "name": name, "url": "http://127.0.0.1:1/v1", "model": name, **more}
        for name, more in (("a", {}), ("b", {"cpus": 4}), ("c", {"cpus": 0.5, "gpus": 0.25}))
    ]
    study = load_study(write_study(judges=judges))
    groups = groups_of(study, None, {"CPU": 8, "GPU": 1})
    assert groups == [Group(("b",), 2, 0.0, 4.0), Group(("c",), 4, 0.25, 0.5), Group(("a",), 8)]
    told = [(each.options()["num_cpus"], each.options()["num_gpus"]) for each in groups]
    assert told == [(4.0, 0.0), (0.5, 0.25), (1.0, 0.0)]
    with pytest.raises(MedjuryError, match="b needs 4 CPU, and the cluster has 2 in all"):
        groups_of(study, None, {"CPU": 2, "GPU": 1})


def test_metrics_that_say_what_they_need_have_workers_of_their_own(write_study: Callable[..., Path]) -> None:
    metrics = ["cer", {"wer": None, "gpus": 0.5, "cpus": 2}, {"rouge_l": None, "cpus": 1}, "impact_estimate"]
    study = load_study(write_study(metrics=metrics))
    assert study.metrics is not None and study.metrics.for_workers == ("wer", "rouge_l")
    assert groups_of(study, None, {"CPU": 8, "GPU": 1}) == [
        Group(("juror",), 8), Group((), 2, 0.5, 2.0, ("wer",)), Group((), 8, 0.0, 1.0, ("rouge_l",)),
    ]  # fmt: skip
    with pytest.raises(MedjuryError, match=r"wer needs 0\.5 GPU, and the cluster has none"):
        groups_of(study, None, {"CPU": 8})


async def test_two_workers_score_a_metric_as_a_run_does_and_once(
    write_study: Callable[..., Path], postgres_url: str, tmp_path: Path
) -> None:
    cases = [
        {"id": f"c{n}", "system": "a", "candidate": f"pain since {n}", "texts": {"context": "Note."},
         **({} if n == 3 else {"reference": "pain since 1"})}
        for n in range(CASES)
    ]  # fmt: skip
    settings: dict[str, Any] = {"cases": cases, "metrics": [{"wer": None, "cpus": 1}]}
    alone = write_study(store="alone.sqlite", output="alone", **settings)
    assert await asyncio.to_thread(main, ["run", str(alone), "--quiet", "--no-preflight"]) == 0
    study = load_study(write_study(store=postgres_url, **settings))
    shares = begin(study)
    told = order(study, judges=(), metrics=("wer",))
    said = await work([Worker(replace(told, place=place)) for place in (0, 1)], shares)
    assert sum(each["counts"].judged for each in said) == CASES
    assert sum(each["counts"].judges["wer"].judged for each in said) == CASES
    wanted = polars.read_parquet(tmp_path / "alone" / "ratings.parquet").filter(rater="wer")
    with open_store(postgres_url) as store:
        found = {row.key: (row.score, row.status, row.reason) for row in store.ratings("run")}
    assert found == {
        row["key"]: (row["score"], row["status"], row["reason"]) for row in wanted.iter_rows(named=True)
    }
    again = await work([Worker(told)], shares)
    assert sum(each["counts"].found for each in again) == CASES and not sum(
        each["counts"].judged for each in again
    )


async def test_what_workers_scored_is_in_a_later_run_once_and_is_not_scored_again(
    write_study: Callable[..., Path], postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from medjury.texts import metrics

    cases = [
        {"id": f"c{n}", "system": "a", "candidate": f"pain since {n}", "reference": "pain since 1",
         "texts": {"context": "Note."}}
        for n in range(CASES)
    ]  # fmt: skip
    study = load_study(write_study(cases=cases, store=postgres_url, metrics=[{"wer": None, "cpus": 1}]))
    shares = begin(study)
    known = ["item", "rater", "dimension", "score", "status", "key"]

    async def ratings() -> tuple[str, polars.DataFrame]:
        result = await asyncio.to_thread(run_study, load_study(study.file))
        table = polars.read_parquet(result.folder / "ratings.parquet").filter(rater_kind="metric")
        return result.run, table.select(known).sort(known)

    run, wanted = await ratings()
    assert len(wanted) >= 3 * CASES and wanted.select("item", "dimension").is_unique().all()
    told = order(study, judges=(), metrics=("wer",), run=run)
    await work([Worker(told)], shares[:2])
    assert (await ratings())[1].equals(wanted), "some are stored: all are counted, and each is there once"
    await work([Worker(told)], shares)

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("all are stored")

    monkeypatch.setattr(metrics, "score", fail)
    assert (await ratings())[1].equals(wanted)


async def test_a_metric_that_failed_in_passing_is_scored_again_and_a_lasting_failure_is_not(
    write_study: Callable[..., Path], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from medjury.texts import metrics

    cases = [
        {
            "id": "whole",
            "system": "a",
            "candidate": "pain",
            "reference": "pain",
            "texts": {"context": "Note."},
        },
        {"id": "bare", "system": "a", "candidate": "pain", "texts": {"context": "Note."}},
    ]
    study = load_study(write_study(cases=cases, store=postgres_url, metrics=[{"wer": None, "cpus": 1}]))
    shares, told = begin(study), order(study, judges=(), metrics=("wer",))

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("CUDA out of memory")

    with monkeypatch.context() as broken:
        broken.setattr(metrics, "score", fail)
        await work([Worker(told)], shares)
    with open_store(postgres_url) as store:
        assert {(row.status, row.reason) for row in store.ratings("run")} == {("unscored", "provider")}
    said = await work([Worker(told)], shares)
    assert sum(each["counts"].judged for each in said) == 2
    with open_store(postgres_url) as store:
        found = {row.item: (row.score, row.reason) for row in store.ratings("run")}
    assert found == {"whole": (0.0, None), "bare": (None, "input")}
    said = await work([Worker(told)], shares)
    assert sum(each["counts"].found for each in said) == 2, "an answer without a reference has none tomorrow"


def test_a_share_is_small_enough_for_all_to_end_together() -> None:
    assert (share_size(1_000_000, 4), share_size(160, 2), share_size(3, 8)) == (250, 10, 1)


async def test_a_share_comes_back_while_its_worker_may_die() -> None:
    shares = [Share(number, number, number + 1, "") for number in range(2)]
    queue = ShareQueue(iter(shares), asyncio.Event())
    assert [await queue.next(), await queue.next()] == shares
    queue.done()
    waiting = asyncio.create_task(queue.next())
    await asyncio.sleep(0.01)
    assert not waiting.done(), "the other share may yet come back"
    queue.give_back(shares[1])
    assert await waiting == shares[1]
    queue.done()
    assert await queue.next() is None and queue.finished.is_set()


def test_a_share_counts_once_although_its_worker_died() -> None:
    from medjury.judging import Progress

    shown = Progress(planned=3)
    tallies = Tallies(shown)
    part, whole = Progress(found=1), Progress(found=2, judged=1)
    part.find("juror")
    tallies.running((0, 7), part)
    assert tallies.show() == 2
    tallies.forget((0, 7))
    tallies.done((1, 7), whole)
    assert tallies.show() == 3 and (shown.found, shown.judged) == (2, 1)
