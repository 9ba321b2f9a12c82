"""Self-preference made a second time: the means of judge and system under a mixed model of cases and answers, the
effect of a shared vendor on them, and its interval by what judges like in single systems whoever made them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy import optimize, stats
from tests.recipes.compared import amount
from tests.recipes.rated import Rated
from tests.recipes.second_opinion import Numbers

Found = tuple[float, float, float]  # value, half the interval, p


class Nested:
    """score = cell + case + answer + error: the restricted likelihood, answers and cases summed out one by one."""

    def __init__(self, y: Numbers, cell: Numbers, answer: Numbers, case: Numbers) -> None:
        rows = np.column_stack([(cell[:, None] == np.unique(cell)).astype(float), y - y.mean()])
        self.mean, self.n, self.whole = y.mean(), len(y), rows.T @ rows
        in_answer = (np.unique(answer)[:, None] == answer).astype(float)
        self.many, self.sums = in_answer.sum(axis=1), in_answer @ rows
        of_case = np.array([case[answer == each][0] for each in np.unique(answer)])
        self.in_case = (np.unique(of_case)[:, None] == of_case).astype(float)

    def parts(self, roots: Numbers) -> tuple[Numbers, float]:
        """Cross products over the variance of a score, in units of the error's, and the logarithm of its size."""
        of_case, of_answer = np.asarray(roots) ** 2
        grown = 1 + self.many * of_answer
        cases = self.in_case @ (self.many / grown)
        sums = self.in_case @ (self.sums / grown[:, None])
        made = self.whole - (self.sums * (of_answer / grown)[:, None]).T @ self.sums
        made -= (sums * (of_case / (1 + of_case * cases))[:, None]).T @ sums
        return made, float(np.log(grown).sum() + np.log1p(of_case * cases).sum())

    def criterion(self, roots: Numbers) -> float:
        made, size = self.parts(roots)
        inside = made[:-1, :-1]
        left = made[-1, -1] - made[:-1, -1] @ np.linalg.solve(inside, made[:-1, -1])
        free = self.n - len(inside)
        return float(size + np.linalg.slogdet(inside)[1] + free * np.log(left))

    def cells(self) -> tuple[Numbers, Numbers]:
        """The means of the cells and the covariance of their errors."""
        found = optimize.minimize(
            self.criterion,
            [0.5, 0.5],
            method="Nelder-Mead",
            bounds=[(0, 1e3)] * 2,
            options={"xatol": 1e-8, "fatol": 1e-10},
        )
        made, _ = self.parts(found.x)
        inverse = np.linalg.inv(made[:-1, :-1])
        means = inverse @ made[:-1, -1]
        error = (made[-1, -1] - made[:-1, -1] @ means) / (self.n - len(means))
        return means + self.mean, inverse * error


def effects(
    means: Numbers, covariance: Numbers, judge: Numbers, design: Numbers, wanted: int
) -> list[Found | None]:
    """Of the last `wanted` columns: least squares on the cells' means. What is left of them beyond their errors is
    what judges like in single systems: one variance for all, and one for each judge; the wider interval counts."""
    back = np.linalg.pinv(design)
    freedom = len(means) - int(np.linalg.matrix_rank(design))
    away = np.eye(len(means)) - design @ back
    left = away @ means
    liking = max(0.0, (left @ left - np.trace(away @ covariance)) / freedom)
    inside = (np.unique(judge)[:, None] == judge).astype(float)
    shares = inside @ away**2 @ inside.T
    apart = np.linalg.matrix_rank(shares, tol=1e-9) == len(shares)
    found: list[Found | None] = []
    for place in range(design.shape[1] - wanted, design.shape[1]):
        others = np.delete(design, place, axis=1)
        if np.linalg.matrix_rank(others) == np.linalg.matrix_rank(design):
            found.append(None)
            continue
        row = back[place]
        value, noise = float(row @ means), float(row @ covariance @ row)
        choices = [(np.sqrt(noise + liking * row @ row), float(freedom))]
        if apart:
            own = np.linalg.solve(shares, inside @ (left**2 - np.diag(away @ covariance @ away)))
            own = inside @ row**2 * np.maximum(own, 0)
            parts = own + inside @ (row**2 * np.diag(covariance))
            each = np.maximum(inside @ np.diag(away), 1)
            few = min(parts.sum() ** 2 / np.sum(parts**2 / each), freedom)
            choices.append((np.sqrt(own.sum() + noise), few))
        error, few = max(choices, key=lambda pair: stats.t.ppf(0.975, pair[1]) * pair[0])
        found.append((value, stats.t.ppf(0.975, few) * error, 2 * stats.t.sf(abs(value) / error, few)))
    return found


def on_dimension(
    rated: Rated, name: str, judges: Sequence[str], vendors: Mapping[str, str]
) -> dict[str, Found | None]:
    """Of all judges together (``all judges``) and of each."""
    rows = [
        (score, judge, system, item)
        for judge in judges
        for (item, system), score in sorted(rated.scores.get((judge, name), {}).items())
    ]
    y = np.array([score for score, *_ in rows])
    known = sorted({(judge, system) for _, judge, system, _ in rows})
    cell = np.array([known.index((judge, system)) for _, judge, system, _ in rows])
    answer = np.unique([f"{item}\0{system}" for *_, system, item in rows], return_inverse=True)[1]
    case = np.unique([rated.patients[item] for *_, item in rows], return_inverse=True)[1]
    means, covariance = Nested(y, cell, answer, case).cells()
    judge = np.array([judges.index(one) for one, _ in known])
    systems = sorted({system for _, system in known})
    base = [np.ones(len(known)), *(judge == place for place in range(1, len(judges)))]
    base += [np.array([own == each for _, own in known]) for each in systems[1:]]
    mine = np.array([vendors[one] == vendors[system] for one, system in known])
    having = [place for place in range(len(judges)) if mine[judge == place].any()]
    (together,) = effects(means, covariance, judge, np.column_stack([*base, mine]).astype(float), 1)
    alone = [mine & (judge == place) for place in having]
    singles = effects(means, covariance, judge, np.column_stack([*base, *alone]).astype(float), len(having))
    return {"all judges": together} | dict(zip([judges[place] for place in having], singles, strict=True))


def compared_answers(
    rated: Rated, name: str, judge: str, judges: Sequence[str], vendors: Mapping[str, str]
) -> int:
    """Answers of the judge's own vendor and of neutral ones that it and all judges of other vendors scored."""
    others = [each for each in judges if vendors[each] != vendors[judge]]
    taken = {vendors[each] for each in others}
    shared = set.intersection(*(set(rated.scores.get((each, name), {})) for each in (judge, *others)))
    own = vendors[judge]
    neutral = {system for _, system in shared if vendors[system] != own and vendors[system] not in taken}
    return sum(vendors[system] == own or system in neutral for _, system in shared)


def self_preference_is_right(
    rated: Rated, labels: Mapping[str, str], judges: Sequence[str], vendors: Mapping[str, str]
) -> int:
    """The table `self-preference`; tells how many intervals there were."""
    names, rows = {label: name for name, label in labels.items()}, rated.table("self-preference")
    shown_for = dict.fromkeys(str(row["dimension"]) for row in rows)
    made = {label: on_dimension(rated, names[label], judges, vendors) for label in shown_for}
    families: dict[bool, list[tuple[float, dict[str, str]]]] = defaultdict(list)
    column = "grades more for its own"
    for row in rows:
        name, judge = names[row["dimension"]], str(row["judge"])
        if row["method"] == "paired contrast":
            having = [each for each in made[row["dimension"]] if each in judges]
            counts = {each: compared_answers(rated, name, each, judges, vendors) for each in having}
            assert amount(row["n"]) == (counts[judge] if judge in counts else max(counts.values())), row
            assert not row[column] and "too few" in row[f"{column} method"]
            continue
        assert amount(row["n"]) == sum(len(rated.scores.get((each, name), {})) for each in judges), row
        found = made[row["dimension"]][judge]
        if found is None:
            assert not row[column], row
            continue
        value, half, p = found
        shown = [amount(row[f"{column}{end}"]) for end in ("", " low", " high")]
        assert shown == pytest.approx([value, value - half, value + half], abs=1e-5), (found, row)
        families[judge == "all judges"].append((p, row))
    for family in families.values():
        held = 0.0
        for step, (p, row) in enumerate(sorted(family, key=lambda pair: pair[0])):
            held = max(held, min(1.0, p * (len(family) - step)))
            assert row["adjusted p"] == ("< 0.001" if held < 0.001 else f"{held:.3f}"), (held, row)
    return sum(map(len, families.values()))
