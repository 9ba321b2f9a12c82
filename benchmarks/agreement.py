"""Agreement beside its peers: 10,000 BCa resamples, the same data, CPU seconds of one process.

A peer that calls Python once per resample is measured on fewer resamples and scaled to 10,000 plus its
leave-one-out values; the row says how many. CPU time on one thread, not wall time, so that a busy machine does
not decide.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.analysis.agreement import cohen_kappa, icc, krippendorff_alpha
from medjury.analysis.agreement._icc import icc_statistics
from medjury.analysis.agreement._kappa import kappa_statistics
from medjury.analysis.agreement._krippendorff import alpha_statistics
from medjury.statistics import evaluate

SCALE = [1, 2, 3, 4, 5]
ITEMS = 300
RESAMPLES = 10_000
Scores = NDArray[np.float64]


def run() -> Iterator[dict[str, Any]]:
    """One row per claim: name, ours, peer, ratio, target, holds."""
    scores = _scores(ITEMS)
    yield _against_peer("quadratic kappa, 300 items", _kappa, _kappa_peer, scores, 400, 500)
    yield _against_peer("ICC(3,k), 300 items", _icc, _icc_peer, scores, 20, 5_000)
    yield _against_peer("ordinal alpha, 300 items", _alpha, _alpha_peer, scores, 400, 80)
    many = _scores(100_000)
    for name, ours, peer in (
        ("quadratic kappa", _kappa, _kappa_peer),
        ("ICC(3,k)", _icc, _icc_peer),
        ("ordinal alpha", _alpha, _alpha_peer),
    ):
        yield _many_items(f"{name}, 100,000 items × 3 raters", ours, peer, many)
    for name, ours, peer in (
        ("quadratic kappa", kappa_statistics(SCALE, ["quadratic"]), _kappa_peer),
        ("ICC(3,k)", icc_statistics(["icc_3_k"]), _icc_peer),
        ("ordinal alpha", alpha_statistics(["ordinal"]), _alpha_peer),
    ):
        columns = 2 if peer is _kappa_peer else 3
        yield _same_values(f"{name}, same resamples", ours, peer, scores[:, :columns])


def _kappa(scores: Scores) -> float | None:
    return cohen_kappa(scores[:, 0], scores[:, 1], scale=SCALE, weights="quadratic", resamples=RESAMPLES).low


def _icc(scores: Scores) -> float | None:
    return icc(scores, "icc_3_k", interval="bca", resamples=RESAMPLES).low


def _alpha(scores: Scores) -> float | None:
    return krippendorff_alpha(scores, "ordinal", resamples=RESAMPLES).low


def _kappa_peer(scores: Scores) -> float:
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(scores[:, 0], scores[:, 1], weights="quadratic", labels=SCALE))


def _icc_peer(scores: Scores) -> float:
    import pandas
    import pingouin

    items, raters = scores.shape
    table = pandas.DataFrame(
        {
            "item": np.repeat(np.arange(items), raters),
            "rater": np.tile(np.arange(raters), items),
            "score": scores.ravel(),
        }
    )
    found = pingouin.intraclass_corr(table, "item", "rater", "score")
    return float(found["ICC"].iloc[5])


def _alpha_peer(scores: Scores) -> float:
    import krippendorff

    return float(krippendorff.alpha(scores.T, level_of_measurement="ordinal"))


def _against_peer(
    name: str,
    ours: Callable[[Scores], object],
    peer: Callable[[Scores], float],
    scores: Scores,
    measured: int,
    target: int,
) -> dict[str, Any]:
    our_seconds = _best(lambda: ours(scores), 5)
    calls = measured
    if peer is _kappa_peer:
        seconds = _cpu(lambda: _scipy_bootstrap(scores, measured))
        calls += len(scores)
    else:
        resamples = np.random.default_rng(1).integers(0, len(scores), size=(measured, len(scores)))
        seconds = _cpu(lambda: [peer(scores[chosen]) for chosen in resamples])
    peer_seconds = seconds / calls * (RESAMPLES + len(scores))
    ratio = peer_seconds / our_seconds
    return {
        "name": f"{name} (peer on {measured} resamples, scaled)",
        "ours": f"{1000 * our_seconds:.1f} ms",
        "peer": f"{peer_seconds:.1f} s",
        "ratio": f"{ratio:,.0f} ×",
        "target": f"≥ {target:,} ×",
        "holds": ratio >= target,
    }


def _many_items(
    name: str, ours: Callable[[Scores], object], peer: Callable[[Scores], float], scores: Scores
) -> dict[str, Any]:
    our_seconds = _best(lambda: ours(scores), 3)
    peer_seconds = _best(lambda: peer(scores), 1)
    return {
        "name": name,
        "ours": f"{our_seconds:.3f} s",
        "peer": f"{peer_seconds:.3f} s, no interval",
        "ratio": f"{our_seconds / peer_seconds:.2f} ×",
        "target": "shown",
        "holds": None,
    }


def _same_values(name: str, ours: Any, peer: Callable[[Scores], float], scores: Scores) -> dict[str, Any]:
    resamples = np.random.default_rng(2).integers(0, len(scores), size=(25, len(scores)))
    (values,) = evaluate(scores, ours, resamples).values()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gap = max(abs(value - peer(scores[chosen])) for value, chosen in zip(values, resamples, strict=True))
    return {
        "name": name,
        "ours": "25 resamples",
        "peer": "same indices",
        "ratio": f"{gap:.0e} off",
        "target": "≤ 1e-12",
        "holds": gap <= 1e-12,
    }


def _scipy_bootstrap(scores: Scores, resamples: int) -> None:
    from scipy.stats import bootstrap

    bootstrap(
        (scores[:, 0], scores[:, 1]),
        lambda first, second: _kappa_peer(np.column_stack([first, second])),
        paired=True,
        vectorized=False,
        n_resamples=resamples,
        method="BCa",
        rng=np.random.default_rng(1),
    )


def _scores(items: int) -> Scores:
    generator = np.random.default_rng(0)
    truth = generator.normal(3.0, 1.0, size=(items, 1))
    return np.clip(np.rint(truth + generator.normal(0.0, 0.7, size=(items, 3))), 1, 5)


def _cpu(work: Callable[[], object]) -> float:
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        start = time.process_time()
        work()
        return time.process_time() - start


def _best(work: Callable[[], object], times: int) -> float:
    _cpu(work)  # imports and caches are nobody's merit
    return min(_cpu(work) for _ in range(times))
