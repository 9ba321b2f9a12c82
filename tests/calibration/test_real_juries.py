"""Four real judges and one human on 5,000 answers: half of the calls are enough, and not just any half."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from medjury.agreement import read_rating_table
from medjury.calibration import JurySimulation, simulate_jury

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "mental_health_judges"
MAPPING = ROOT / "docs" / "examples" / "mental_health_judges.yaml"

pytestmark = pytest.mark.skipif(
    not (DATA.is_dir() and MAPPING.is_file()), reason=f"the judges' answers are not there: {DATA}"
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> JurySimulation:
    folder = tmp_path_factory.mktemp("judges")
    shutil.copy(MAPPING, folder / MAPPING.name)
    for file in DATA.glob("*.csv"):
        (folder / file.name).symlink_to(file)
    ratings = read_rating_table(folder / MAPPING.name)[0]
    return simulate_jury(ratings, reference=["human"], scale=(1, 5), resamples=500, draws=100)


def test_a_rule_found_on_half_of_the_conversations_keeps_the_agreement_on_the_other_half(
    found: JurySimulation,
) -> None:
    assert found.n_training[0] == found.n_tested[0] == 250
    adaptive = found.adaptive
    assert adaptive.calls <= 0.55
    for loss in (adaptive.loss, adaptive.within_loss):
        assert loss.value is not None and loss.low is not None and loss.high is not None
        assert loss.value <= 0.01 and loss.low < loss.value < loss.high
    assert (
        adaptive.loss.high is not None
        and adaptive.loss.high <= 0.01
        and "250 clusters" in adaptive.loss.method
    )
    assert found.kept


def test_asking_where_jurors_may_differ_beats_asking_at_random(found: JurySimulation) -> None:
    assert found.random.p_value is not None and found.random.p_value < 0.02
    assert found.adaptive.loss.value is not None and found.random.low > found.adaptive.loss.value


def test_it_agrees_better_than_the_best_fixed_pair_with_fewer_calls(found: JurySimulation) -> None:
    pair = next(each for each in found.policies if each.name == "best fixed pair")
    assert pair.loss.value is not None and found.adaptive.loss.value is not None
    assert found.adaptive.loss.value < pair.loss.value and found.adaptive.calls < pair.calls


def test_the_baseline_that_knows_only_the_system_is_shown_beside_it(found: JurySimulation) -> None:
    """Pooled agreement is mostly between systems: the system alone does better than any of these juries."""
    alone = found.policies[-1]
    assert alone.name.startswith("the system alone") and alone.calls == 0
    assert alone.loss.value is not None and alone.loss.value < 0 and alone.within.value is None
