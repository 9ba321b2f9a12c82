"""Tables of claims, deliberations and orders made a second time from `records.jsonl`, record by record."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.recipes.compared import amount
from tests.recipes.rated import Rated
from tests.recipes.share_checks import exact

Body = dict[str, Any]


def bodies(rated: Rated, kind: str) -> dict[str, list[tuple[str, Body]]]:
    """By rater the cases and records of one kind."""
    found: dict[str, list[tuple[str, Body]]] = defaultdict(list)
    for line in (rated.run / "records.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["kind"] == kind:
            found[record["rater"]].append((record["item"], record["body"]))
    return found


def claims_are_right(rated: Rated, truth: Mapping[str, float]) -> None:
    """All tables of claims; `truth` is what most clinicians say of each case."""
    of_judge = bodies(rated, "claims")
    for row in rated.table("claims-per-answer"):
        lists = [body["claims"] for _, body in of_judge[row["judge"]]]
        sizes = [len(claims) for claims in lists if claims]
        assert amount(row["not taken apart"]) == len(lists) - len(sizes)
        shown = [amount(row[name]) for name in ("answers", "claims", "mean each", "fewest", "most")]
        assert shown == pytest.approx([len(sizes), sum(sizes), np.mean(sizes), min(sizes), max(sizes)])
    for row in rated.table("claims-listing"):
        own = [body for _, body in of_judge[row["judge"]]]
        claims = [claim for body in own for claim in body["claims"]]
        assert amount(row["repeated"]) == sum(len(body["repeats"]) for body in own)
        assert amount(row["too slight to look for"]) == sum(len(body["set_aside"]) for body in own)
        assert amount(row["not found in their text"]) == sum(claim["place"] is None for claim in claims)
        assert amount(row["with a number their text lacks"]) == sum(
            bool(each["stray_numbers"]) for each in claims
        )
    verdicts = {"supported": "supported", "contradicted": "contradicted", "not_addressed": "not addressed"}
    for row in rated.table("claims-verdicts"):
        claims = [claim for _, body in of_judge[row["judge"]] for claim in body["claims"]]
        if row["importance"] != "all":
            claims = [claim for claim in claims if claim["importance"] == int(row["importance"][0])]
        counts = Counter(verdicts.get(claim["verdict"], "not verified") for claim in claims)
        assert amount(row["claims"]) == len(claims)
        for word in (*verdicts.values(), "not verified"):
            assert amount(row[f"{word} (%)"]) == pytest.approx(100 * counts[word] / len(claims)), (word, row)
    for row in rated.table("claims-evidence"):
        claims = [claim for _, body in of_judge[row["judge"]] for claim in body["claims"]]
        refused = sum(len(claim["invented"]) for claim in claims)
        shown = refused + sum(len(claim["evidence"]) for claim in claims)
        told = [claim for claim in claims if claim["told"]]
        assert (amount(row["quotations"]), amount(row["refused"])) == (shown, refused)
        assert amount(row["refused (%)"]) == pytest.approx(100 * refused / shown)
        assert amount(row["claims told"]) == len(told)
        assert amount(row["of these corrected"]) == sum(bool(claim["evidence"]) for claim in told)
        bare = [claim for claim in claims if claim["invented"] and not claim["evidence"]]
        assert amount(row["left without evidence"]) == len(bare)
    for row in rated.table("claims-area"):
        shares = {item: body["share"] for item, body in of_judge[row["judge"]]}
        used = [item for item in shares if item in truth and shares[item] is not None]
        assert amount(row["answers"]) == len(used)
        assert amount(row["concordant"]) == sum(truth[item] for item in used)
        assert amount(row["no share"]) == sum(shares[item] is None for item in shares)
        assert amount(row["clinicians tied"]) == sum(item not in truth for item in shares)
        sides = [[shares[item] for item in used if truth[item] == label] for label in (1, 0)]
        wanted = area_of(np.array(sides[0]), np.array(sides[1]))
        column = "area under the curve"
        assert [amount(row[f"{column}{end}"]) for end in ("", " low", " high")] == pytest.approx(
            wanted, abs=1e-9
        )


def area_of(good: np.ndarray, bad: np.ndarray) -> tuple[float, float, float]:
    """How often a good one has more than a bad one, half for a tie, with DeLong's interval on log-odds."""
    wins = (good[:, None] > bad) + (good[:, None] == bad) / 2
    area = float(wins.mean())
    error = np.sqrt(wins.mean(axis=1).var(ddof=1) / len(good) + wins.mean(axis=0).var(ddof=1) / len(bad))
    reach = stats.norm.ppf(0.975) * error / (area * (1 - area))
    middle = np.log(area / (1 - area))
    low, high = (float(1 / (1 + np.exp(-(middle + side * reach)))) for side in (-1, 1))
    return area, low, high


def deliberations_are_right(rated: Rated) -> None:
    """The tables `deliberation-endings` and `deliberation-personas`."""
    of_judge = bodies(rated, "deliberation")
    for row in rated.table("deliberation-endings"):
        own = [body for _, body in of_judge[row["judge"]]]
        ended = Counter(body["ended"] for body in own)
        assert amount(row["deliberations"]) == len(own)
        assert amount(row["agreed at once"]) == sum(body["agreed_at_once"] for body in own)
        spoken = [sum(step["act"] == "turn" for step in body["steps"]) for body in own]
        assert amount(row["turns each"]) == pytest.approx(np.mean(spoken), abs=1e-9)
        for title, word in (
            ("ended agreed", "agreed"),
            ("by the orchestrator", "orchestrator"),
            ("at max turns", "max_turns"),
            ("at max stalls", "max_stalls"),
            ("failed", "failed"),
        ):
            assert amount(row[title]) == ended[word], title
        assert amount(row["decided outside"]) == sum(len(body["outside"]) for body in own)
    for row in rated.table("deliberation-personas"):
        name = row["persona"]
        turns = changed = 0
        gaps = []
        for _, body in of_judge[row["judge"]]:
            held: dict[str, float | None] = {}
            for step in body["steps"]:
                if step.get("persona") != name or not step.get("grades"):
                    continue
                if step["act"] == "turn":
                    turns += 1
                    changed += sum(held.get(each) != grade for each, grade in step["grades"].items())
                held |= step["grades"]
            gaps += [
                held[each] - grade for each, grade in body["decided"].items() if held.get(each) is not None
            ]
        assert (amount(row["turns"]), amount(row["grades changed"])) == (turns, changed), row
        lost = [each for _, body in of_judge[row["judge"]] for each in body["failed"]]
        assert amount(row["left without an answer"]) == sum(each["persona"] == name for each in lost)
        share = 100 * np.mean([abs(gap) < 1e-9 for gap in gaps])
        assert amount(row["decided as it held (%)"]) == pytest.approx(share, abs=1e-9)
        assert amount(row["its grade less the decision"]) == pytest.approx(np.mean(gaps), abs=1e-9)


def orders_are_counted(rated: Rated) -> None:
    """The table `preference-orders`: pairs shown in both orders, and whether one place wins."""
    of_judge = bodies(rated, "concordance")
    for row in rated.table("preference-orders"):
        both = [
            [each["place"] for each in body["orders"]] for _, body in of_judge[row["judge"]] if body["orders"]
        ]
        known = [places for places in both if len(places) == 2 and None not in places]
        assert (amount(row["pairs"]), amount(row["failed"])) == (len(known), len(both) - len(known))
        # Shown the other way round, the same answer stands in the other place.
        same = [{*places} == {1, 2} or places == [0, 0] for places in known]
        assert amount(row["changed"]) == pytest.approx(1 - np.mean(same), abs=1e-9)
        leans = [places.count(1) - places.count(2) for places in known]
        leaning = [lean for lean in leans if lean]
        assert amount(row["first twice"]) == known.count([1, 1])
        assert amount(row["second twice"]) == known.count([2, 2])
        first = sum(places.count(1) for places in known)
        assert row["won by first"] == f"{first} of {first + sum(places.count(2) for places in known)}"
        if not leaning:
            assert not row["lean to first"]
            continue
        hits = sum(lean > 0 for lean in leaning)
        wanted = (hits / len(leaning), *exact(hits, len(leaning)))
        assert [amount(row[f"lean to first{end}"]) for end in ("", " low", " high")] == pytest.approx(
            wanted, abs=1e-9
        )
