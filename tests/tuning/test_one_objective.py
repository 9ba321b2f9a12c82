"""One objective from start to end: the number that chose a prompt on the validation cases is the number of the
held-out cases, by the same name and on the same scale; and every model of a tuning counts at its own price."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, f1_score
from tests.loopback import LoopbackServer
from tests.tuning.labelled import IMPACT, cases, said
from tests.tuning.world import write_task

from medjury.foundation.errors import MedjuryError
from medjury.studies import load_study
from medjury.tuning import plan_study_tuning, read_settings, tune_study
from medjury.tuning._gepa import Found
from medjury.tuning._held_out import PLAIN, TUNED, evaluate_held_out
from medjury.tuning._objective import OBJECTIVES, make_objective
from medjury.tuning._plan import prepare
from medjury.tuning._result import TuningResult


@pytest.mark.parametrize("name", OBJECTIVES)
def test_held_out_is_the_number_that_chooses_on_the_validation_cases(name: str) -> None:
    draw = np.random.default_rng(3)
    truths = [n % 3 for n in range(60)]
    made_up = cases(truths, systems=2)
    made = make_objective(name, IMPACT, IMPACT.dimensions, made_up)
    sides = {
        who: said(*[truth if draw.random() < hit else int(draw.integers(3)) for truth in truths])
        for who, hit in ((PLAIN, 0.4), (TUNED, 0.8))
    }
    found = evaluate_held_out(made_up, sides, made, resamples=400)
    assert found.objective == made.name == name
    for who, outcomes in sides.items():
        assert found.value(who).value == pytest.approx(made.whole(made_up, outcomes))
    gain = found.value(TUNED).value - found.value(PLAIN).value
    assert found.gain.value == pytest.approx(gain) and found.gain.low is not None
    assert found.gain.low < gain < found.gain.high


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([0, 1, 2, None]), st.integers(0, 3)),
        min_size=4,
        max_size=25,
    )
)
def test_a_row_that_counts_twice_is_the_row_twice(name: str, rows: list[tuple[int, int | None, int]]) -> None:
    """The weights of a resample are how often each case is in it: the whole of weighted rows is that of the rows
    written out."""
    if not any(times for *_, times in rows):
        return
    truths, given_scores, times = (list(column) for column in zip(*rows, strict=True))
    made_up = cases(truths, systems=2)
    made = make_objective(name, IMPACT, IMPACT.dimensions, made_up)
    outcomes = said(*given_scores)
    table = made.rows(made_up, outcomes)
    weighted = float(made.read(table)(np.array([times], dtype=float))[0])
    places = [place for place, count in enumerate(times) for _ in range(count)]
    written = made.whole([made_up[place] for place in places], [outcomes[place] for place in places])
    assert (np.isnan(weighted) and written is None) or weighted == pytest.approx(written, abs=1e-9)


def test_the_wholes_are_those_of_other_libraries() -> None:
    draw = np.random.default_rng(5)
    truths = draw.integers(0, 3, 80).tolist()
    given_scores = [truth if draw.random() < 0.6 else int(draw.integers(3)) for truth in truths]
    made_up, outcomes = cases(truths, systems=2), said(*given_scores)

    def whole(name: str) -> float | None:
        return make_objective(name, IMPACT, IMPACT.dimensions, made_up).whole(made_up, outcomes)

    assert whole("quadratic_kappa") == pytest.approx(
        cohen_kappa_score(truths, given_scores, weights="quadratic")
    )
    assert whole("macro_f1") == pytest.approx(f1_score(truths, given_scores, average="macro"))
    squares = [(truth - given) ** 2 for truth, given in zip(truths, given_scores, strict=True)]
    assert whole("rmse") == pytest.approx(-(np.mean(squares) ** 0.5))
    within = [spearmanr(truths[half::2], given_scores[half::2]).statistic for half in (0, 1)]
    assert whole("within_system_correlation") == pytest.approx(np.mean(within))


def test_the_interval_resamples_whole_groups_whatever_the_objective() -> None:
    """Each case four times: groups of four copies make nobody surer than the cases themselves."""
    draw = np.random.default_rng(1)
    truths = [int(each) for each in draw.integers(0, 3, 40)]
    first = [truth if draw.random() < 0.7 else int(draw.integers(3)) for truth in truths]
    widths = {}
    for copies in (1, 4):
        made_up = cases(truths * copies, groups=40)
        made = make_objective("quadratic_kappa", IMPACT, IMPACT.dimensions, made_up)
        sides = {PLAIN: said(*[0, *first[1:]] * copies), TUNED: said(*first * copies)}
        found = evaluate_held_out(made_up, sides, made, resamples=800).value(TUNED)
        assert found.low is not None and found.high is not None
        widths[copies] = found.high - found.low
    assert widths[4] == pytest.approx(widths[1], rel=0.1)


def test_a_rare_class_leaves_f1_without_an_interval() -> None:
    truths = [0] * 40 + [1] * 16 + [2] * 4
    made_up = cases(truths)
    made = make_objective("macro_f1", IMPACT, IMPACT.dimensions, made_up)
    found = evaluate_held_out(made_up, {PLAIN: said(*[0] * 60), TUNED: said(*truths)}, made, resamples=400)
    assert found.gain.low is None and "the clinicians gave 2 only 4 times" in found.gain.method
    assert found.value(TUNED).low is None and found.value(TUNED).value == 1.0


def test_at_few_labels_nobody_is_said_to_have_learned_by_heart() -> None:
    """30 labels in five groups: there is no interval, so that no difference is more than chance."""
    truths = [n % 3 for n in range(30)]
    made_up = cases(truths, groups=5)
    made = make_objective("quadratic_kappa", IMPACT, IMPACT.dimensions, made_up)
    weak = [truth if n % 2 else (truth + 1) % 3 for n, truth in enumerate(truths)]
    found = evaluate_held_out(
        made_up, {PLAIN: said(*weak), TUNED: said(*weak)}, made, fits={TUNED: 1.0}, resamples=400
    )
    lines = TuningResult(Path(), "complete", found=chosen(), held_out=found).findings()
    (line,) = (each for each in lines if "on the training cases and" in each)
    assert "by heart" not in line and "5 clusters are too few" in line and "is not known" in line
    surer = evaluate_held_out(
        cases(truths * 2),
        {PLAIN: said(*weak * 2), TUNED: said(*weak * 2)},
        made,
        fits={TUNED: 1.0},
        resamples=400,
    )
    lines = TuningResult(Path(), "complete", found=chosen(), held_out=surer).findings()
    assert any("learned its cases by heart" in each for each in lines), "60 cases of their own show it"


def chosen(validation: float = 0.7) -> Found:
    return Found(replace(IMPACT, instructions="Look for a lost denial."), IMPACT, validation, 0.2)


def test_every_finding_and_the_report_name_the_same_objective(server: LoopbackServer, tmp_path: Path) -> None:
    study = load_study(write_task(tmp_path, server.url, tuning={"objective": "quadratic_kappa"}))
    found = tune_study(study, read_settings(study))
    assert found.found is not None and found.held_out is not None
    lines = [
        each for each in found.findings() if "Held out" in each or "training" in each or "validation" in each
    ]
    assert len(lines) >= 3 and all("quadratic_kappa" in each for each in lines)
    page = (found.folder / "report.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| tuned | all |"))
    assert "| quadratic_kappa |" in row and "The objective is quadratic_kappa" in page
    assert "mean reward" not in page
    # The planted prompt is right everywhere: the same number on both sides of the split.
    assert found.found.validation == pytest.approx(1.0) == found.held_out.value(TUNED).value


def priced(server: LoopbackServer, name: str, **price: float) -> dict[str, Any]:
    return {"kind": "openai", "name": name, "url": server.url, "model": name, "price": price}


def test_the_reflectors_own_price_is_counted(server: LoopbackServer, tmp_path: Path) -> None:
    """The judge is free, so that all money is the writer's: at twice the price it is twice as much."""
    judge = {**priced(server, "judge", input=0.0, output=0.0), "concurrency": 4}
    plans, costs = [], []
    for times in (1, 2):
        folder = tmp_path / str(times)
        folder.mkdir()
        reflector = priced(server, "writer", input=10.0 * times, output=20.0 * times)
        del reflector["name"]  # a reflector has no name of its own
        how = {"budget": 40, "reflector": reflector, "evaluate": False}
        study = load_study(write_task(folder, server.url, tuning=how, judges=[judge]))
        plans.append(plan_study_tuning(study, read_settings(study)).money)
        costs.append(tune_study(study, read_settings(study)).cost)
    assert None not in plans and plans[1] == pytest.approx(2 * plans[0]) and plans[0] > 0
    assert None not in costs and costs[1] == pytest.approx(2 * costs[0]) and costs[0] > 0


def test_a_reflector_without_a_price_leaves_the_cost_unknown(server: LoopbackServer, tmp_path: Path) -> None:
    reflector = {"kind": "openai", "url": server.url, "model": "writer"}
    study = load_study(
        write_task(tmp_path, server.url, tuning={"budget": 40, "reflector": reflector, "evaluate": False})
    )
    assert plan_study_tuning(study, read_settings(study)).money is None
    assert tune_study(study, read_settings(study)).cost is None


def test_a_model_that_is_run_at_the_end_counts_at_its_own_price(
    server: LoopbackServer, tmp_path: Path
) -> None:
    how = {"budget": 40, "runs": 2, "models": [priced(server, "second", input=500.0, output=900.0)]}
    study = load_study(write_task(tmp_path, server.url, tuning=how))
    made = prepare(study, read_settings(study), rehearse=True)
    (other,) = (model for model, _ in made.others)
    assert made.prices.price(other) is not None and made.prices.price(other).input == 500.0
    plain = load_study(write_task(tmp_path, server.url, tuning={**how, "models": [], "runs": 2}))
    plans = [plan_study_tuning(each, read_settings(each)) for each in (plain, study)]
    assert plans[0].money is not None and plans[1].money is not None and plans[1].money > 10 * plans[0].money


def test_models_that_nobody_would_ask_are_refused(server: LoopbackServer, tmp_path: Path) -> None:
    how = {"models": [priced(server, "second", input=1.0, output=1.0)]}
    study = load_study(write_task(tmp_path, server.url, tuning=how))
    with pytest.raises(MedjuryError, match="say `runs: 5` too"):
        read_settings(study)
