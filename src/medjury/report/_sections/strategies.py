"""Ways of judging: what each rater agrees, overlooks and takes on the same answers, and which earns its cost; and
what tuning and training took beside what they gained."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from medjury.report._exhibits import COLOURS, MARKERS
from medjury.report._figure import Figure
from medjury.report._html import Cell, Html, bullets, element, paragraph
from medjury.report._material import Material, Section, short
from medjury.report._svg import SOFT
from medjury.statistics import Estimate, counted, percent, shown
from medjury.validation import STATISTICS, Way, Ways, compare_ways

_TITLE = "Ways of judging"
_LONGEST_SETTING = 200


def ways_of_judging(material: Material) -> Section | None:
    ways = compare_ways(material.evidence.table)
    if ways is None:
        return None
    body = Html(
        paragraph(_lead(material, ways))
        + _conclusion(ways)
        + _figure(material, ways)
        + _table(material, ways)
        + _notes(material, ways)
        + tuning_cost(material, ways)
        + _details(material, ways)
        + _settings(material, ways)
    )
    return Section("strategies", _TITLE, body)


def _lead(material: Material, ways: Ways) -> str:
    if len(ways.rows) == 1:
        return (
            "One way of judging was run. To see whether another one earns its cost, name a second judge with "
            "another `strategy:` in the study file: questions that both ask are paid for only once."
        )
    text = "Every rater of this run, on the same answers: how well it agrees, what it overlooks and what it costs."
    if material.evidence.clinicians and not ways.problem:
        text += f" Every difference is to {ways.yardstick} ({ways.find(rater=ways.yardstick).strategy})."
    return text


def _conclusion(ways: Ways) -> Html:
    """Which earns its cost: stated only where the paired interval leaves zero out, and where no other rater agrees
    as well for less."""
    rest = [each for each in ways.rows if each.difference is not None and each.difference.value is not None]
    if not rest:
        return Html("")
    shown_better = [each for each in rest if _sure(ways, each) > 0]
    earning = [each.rater for each in shown_better if each.covers and each.on_front is not False]
    beaten = [each.rater for each in shown_better if each.covers and each.on_front is False]
    lacking = [each.rater for each in shown_better if not each.covers]
    open_ones = [each.rater for each in rest if _sure(ways, each) == 0]
    worse = [each.rater for each in rest if _sure(ways, each) < 0]
    base = ways.yardstick
    earns = _verb(earning, "earns its cost and agrees", "earn their cost and agree")
    text = (
        (earning, f"{earns if ways.price else _verb(earning, 'agrees', 'agree')} better than {base}"),
        (beaten, f"{_verb(beaten, 'agrees', 'agree')} better than {base}, but another does so for less"),
        (
            lacking,
            f"{_verb(lacking, 'agrees', 'agree')} better than {base} where {_verb(lacking, 'it', 'they')} gave a "
            f"score, but left too much unscored to be preferred",
        ),
        (open_ones, f"{_verb(open_ones, 'is', 'are')} not shown to be better than {base}"),
        (worse, f"{_verb(worse, 'agrees', 'agree')} worse than {base}"),
    )
    parts = [f"{_and(names)} {words}" for names, words in text if names]
    return Html(
        paragraph(element("strong", "; ".join(parts) + ".")) + bullets(_sentence(ways, each) for each in rest)
    )


def _sure(ways: Ways, way: Way) -> int:
    """1 better, −1 worse, 0 not shown."""
    if not ways.sure_of(way) or way.difference is None or way.difference.value is None:
        return 0
    return 1 if way.difference.value > 0 else -1


def _leaves_zero_out(found: Estimate | None) -> bool:
    return (
        found is not None and found.low is not None and found.high is not None and found.low * found.high > 0
    )


def _sentence(ways: Ways, way: Way) -> str:
    base = ways.find(rater=ways.yardstick)
    words = {1: "agrees better than", 0: "is not shown to be better or worse than", -1: "agrees worse than"}
    text = (
        f"{way.rater} {words[_sure(ways, way)]} {base.rater}: {shown(way.difference)}, "
        f"n = {counted(ways.answers, 'answer')}"
    )
    if ways.enough and not _sure(ways, way) and _leaves_zero_out(way.difference):
        several = counted(ways.comparisons, "comparison")
        text += f" (by itself this interval leaves zero out, which among {several} may be chance)"
    if ways.price is not None:
        mine, theirs = way.price(ways.price), base.price(ways.price)
        if mine is not None and theirs:
            as_much = f"{mine / theirs:,.2g} times the" if abs(mine / theirs - 1) > 0.005 else "the same"
            text += f"; it takes {as_much} {ways.price}" if mine else f"; its {ways.price} is zero"
    if way.severe is not None and base.severe is not None and way.errors != base.errors:
        more, change = "more" if way.errors > base.errors else "fewer", way.severe_change
        text += f"; it makes {more} severe errors ({way.errors:,} against {base.errors:,}"
        if change is not None and change.low is not None and change.high is not None:
            unsure = ", which may be chance" if change.low <= 0 <= change.high else ""
            text += f"; change of the rate {shown(change)}{unsure}"
        text += ")"
    if way.unscored and (not way.covers or way.unscored > (base.unscored or 0.0)):
        text += (
            f"; it left {percent(way.unscored, 1)} unscored ({base.rater} {percent(base.unscored, 1)}), and is "
            "compared without them"
        )
    return text + "."


def _table(material: Material, ways: Ways) -> Html:
    evidence = material.evidence
    currency = evidence.manifest.prices.currency
    with_clinicians = bool(evidence.clinicians) and not ways.problem
    compared = with_clinicians and len(ways.rows) > 1
    cost = f"cost ({currency})" if currency else "cost"
    rows: list[dict[str, Cell]] = []
    for way in ways.rows:
        took = way.spending
        row: dict[str, Cell] = {"rater": way.rater, "way of judging": way.strategy}
        if ways.price is not None:
            row["unbeaten"] = None if way.on_front is None else "yes" if way.on_front else "no"
        if with_clinicians:
            row["agreement"] = _defined(way.agreement)
        if compared:
            row["difference"] = way.difference
        if with_clinicians:
            row |= {"errors": None if way.severe is None else way.errors, "rate": way.severe}
        row |= {"calls": took.calls, "seconds": took.seconds, cost: took.cost}
        rows.append(row | {"unscored": percent(way.unscored, 1)})
    caption = (
        "Calls, seconds and cost are means per answer, all dimensions and repeats together; unscored is what has "
        "no score, also where it was called not applicable and a clinician could score it"
    )
    if with_clinicians:
        whole = "patient" if ways.by_patient else "case"
        caption = (
            f"Agreement ({_statistic(material, ways)} with {_whom(ways)}) is a mean over dimensions, each on the "
            f"answers that every rater scored ({counted(ways.answers, 'answer')} of "
            f"{counted(ways.cases, whole)} in all), with {percent(ways.confidence)} intervals that resample whole "
            f"{whole}s. {caption}"
        )
    return material.exhibits.table(
        "ways-of-judging", rows, caption=caption, digits={"calls": 1, "seconds": 1, cost: 4}
    )


def _whom(ways: Ways) -> str:
    """Those with whom agreement is: as in the gate, single clinicians where two or more scored an answer."""
    several = any(each.part.humans.shape[1] > 1 for each in ways.details)
    return "single clinicians, where two or more scored," if several else "the clinicians' one score"


def _statistic(material: Material, ways: Ways) -> str:
    used = dict.fromkeys(each.part.statistic for each in ways.details)
    return " or ".join(STATISTICS.get(name, name) for name in used) or material.evidence.rules.statistic


def _defined(found: Estimate | None) -> Estimate | None:
    """Why there is none is in a note: it would push the other columns out of sight."""
    return None if found is None or found.value is None else found


def _notes(material: Material, ways: Ways) -> Html:
    evidence = material.evidence
    lines = []
    if not evidence.clinicians:
        lines.append(
            "No clinician rated these cases, so nobody knows which way of judging agrees with clinicians: the "
            "table shows what each costs, and not what it is worth."
        )
    if ways.problem:
        lines.append(f"Agreement cannot be compared: {ways.problem}.")
    if ways.left_out:
        lines.append(
            f"{counted(ways.left_out, 'answer')} that clinicians rated {_was(ways.left_out)} left out for every "
            "rater, on one dimension or more, because some rater gave no score there."
        )
    if not ways.problem:
        lines += [
            f"{each.rater} has no agreement to compare: {each.agreement.reason}."
            for each in ways.rows
            if each.agreement is not None and each.agreement.value is None
        ]
    excluded = evidence.table.left_aside
    whose = evidence.table.whose_danger(evidence.clinicians)
    if excluded:
        lines.append(
            f"{counted(excluded, 'case')} used for development {_was(excluded)} left out, as in the gate."
        )
    if ways.uncounted and evidence.clinicians and not ways.problem:
        lines.append(
            "Not in the means, because not every rater's agreement exists there: "
            f"{', '.join(ways.uncounted)}. What there is, is in the table by dimension."
        )
    if ways.price is not None:
        lines.append(
            f"Unbeaten: no other rater agrees at least as well for at most the {ways.price}, and "
            "is better in one of the two. It goes by the estimates, whatever their intervals. A rater that "
            f"scored less than {percent(ways.coverage)} of what it was asked (the gate's rule) is not "
            "called unbeaten, "
            "and beats no other."
        )
    lines += [
        f"{each.rater} gave no score to {each.blind:,} of the {counted(each.dangerous, 'answer')} that {whose} "
        "called dangerous; whether it would have overlooked the danger there is not known, and is counted for no "
        "rater."
        for each in ways.rows
        if each.blind
    ]
    if ways.comparisons > 1:
        lines.append(
            "Each difference has its own 95 % interval: among many, one may leave zero out by chance alone. So a "
            f"rater is called better or worse only where an interval of {100 - 5 / ways.comparisons:.2f} %, 5 % of "
            f"error split among {ways.comparisons} comparisons, leaves zero out too."
        )
    if ways.comparisons and not ways.enough:
        lines.append(
            f"With fewer than {ways.fewest} {'patients' if ways.by_patient else 'cases'} no difference is called "
            "shown, whatever its interval: intervals of so few are too narrow."
        )
    dangerous = next((each.severe.n for each in ways.rows if each.severe is not None), None)
    if dangerous is not None:
        lines.append(
            "Errors are severe ones, and counted over answers: one on any dimension, among the "
            f"{counted(dangerous, 'answer')} that {whose} called dangerous on any."
        )
    lines.append(
        "Cost is that of the calls behind the ratings, whoever paid for them: a reply that was found in the "
        "store counts with its price. What the run itself spent is under Time and money. Seconds are added "
        "up over calls; on the clock it is less where calls run in parallel."
    )
    unknown = [each for each in ways.rows if each.spending.unknown and each.spending.cost is not None]
    lines += [
        f"{each.rater}: the cost of {each.spending.unknown:,} of {counted(each.spending.answers, 'answer')} is "
        "not known; the mean is that of the others."
        for each in unknown
    ]
    return bullets(map(material.of_marks, lines))


def _details(material: Material, ways: Ways) -> Html:
    """Dimension by dimension."""
    rows: list[dict[str, Cell]] = [
        {
            "dimension": each.part.dimension.label,
            "rater": each.rater,
            "answers": len(each.part.units),
            "left out": len(each.part.left_out),
            "agreement": _defined(each.agreement),
            "difference": each.difference,
            "errors": None if each.severe is None else each.severe.errors,
            "dangerous": None if each.severe is None else each.severe.dangerous,
            "rate": None if each.severe is None else each.severe.rate,
        }
        for each in ways.details
    ]
    return material.exhibits.table(
        "ways-of-judging-by-dimension",
        rows,
        caption=f"Ways of judging by dimension; on each, {_statistic(material, ways)} with {_whom(ways)} on the "
        "answers that every rater scored",
        shown=60,
        folded=True,
    )


def _settings(material: Material, ways: Ways) -> Html:
    """How each rater was set up, as the manifest has it."""
    models = {
        judge.name: ", ".join(dict.fromkeys(each.title for each in judge.models))
        for judge in material.evidence.manifest.judges
    }
    rows: list[dict[str, Cell]] = [
        {
            "rater": way.rater,
            "way of judging": way.strategy,
            "models": models.get(
                way.rater, "those of its judges" if way.strategy.startswith("jury") else None
            ),
            "settings": "; ".join(
                f"{name.replace('_', ' ')}: {_setting(value)}" for name, value in way.settings.items()
            ),
        }
        for way in ways.rows
    ]
    return material.exhibits.table(
        "ways-of-judging-settings",
        rows,
        caption="How each rater was set up",
        folded=True,
    )


def _setting(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    made = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return made if len(made) <= _LONGEST_SETTING else f"{made[:_LONGEST_SETTING]}…"


def _figure(material: Material, ways: Ways) -> Html:
    by = ways.price
    if by is None:
        return Html("")
    known = [each for each in ways.rows if each.on_front is not None]
    currency = material.evidence.manifest.prices.currency
    axis = f"cost per answer ({currency})" if by == "cost" else "calls per answer"
    statistic = _statistic(material, ways)
    return material.exhibits.figure(
        "ways-of-judging",
        (7.5, 3.6 + 0.16 * len(known)),
        lambda figure: _draw(figure, known, by, axis, f"agreement ({statistic})"),
        caption=f"Agreement, as in the table, against {axis}, with 95 % intervals. Filled points on the line are "
        "unbeaten; hollow ones are not.",
        alt="; ".join(
            f"{each.rater}: agreement {'not known' if each.agreement is None else shown(each.agreement)} at "
            f"{shown(each.price(by), 4)}"
            f"{', unbeaten' if each.on_front else ''}"
            for each in known
        ),
    )


def _draw(figure: Figure, ways: list[Way], by: Literal["cost", "calls"], across: str, up: str) -> None:
    axes = figure.axes(x_name=across, y_name=up)
    front = sorted((each for each in ways if each.on_front), key=lambda each: each.price(by) or 0.0)
    axes.line(
        [each.price(by) or 0.0 for each in front], [_number(each) for each in front], SOFT, dash="--", width=1
    )
    for place, way in enumerate(ways):
        found, price, colour = way.agreement, way.price(by) or 0.0, COLOURS[place % len(COLOURS)]
        if found is not None:
            axes.span(found.low, found.high, price, colour, upright=True)
        axes.points([price], [_number(way)], colour, marker=MARKERS[place % len(MARKERS)], size=4.5,
                    hollow=not way.on_front, label=short(f"{way.rater} ({way.strategy})", 44))  # fmt: skip
    prices = [each.price(by) or 0.0 for each in ways]
    if min(prices) > 0 and max(prices) > 20 * min(prices):
        axes.x_log = True
    else:
        axes.x_limits = (0, 1.08 * max(prices))


def _number(way: Way) -> float:
    return 0.0 if way.agreement is None or way.agreement.value is None else way.agreement.value


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _verb(names: list[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several


def _was(count: int) -> str:
    return "is" if count == 1 else "are"


def tuning_cost(material: Material, ways: Ways) -> Html:
    """A table of the tuned and trained judges; nothing where there are none."""
    tuned = {
        judge.name: facts
        for judge in material.evidence.manifest.judges
        if isinstance(facts := judge.others.get("tuned"), dict)
    }
    if not tuned:
        return Html("")
    minutes = material.evidence.manifest.report.clinician_minutes_per_case
    gains = {each.rater: each.difference for each in ways.rows}
    trained = any(facts.get("hours") is not None for facts in tuned.values())
    rows: list[dict[str, Cell]] = [
        {
            "rater": name,
            "tuned by": str(facts.get("way", "")),
            "gain on held-out cases": gains.get(name),
            "labelled cases": _as_number(facts.get("training", 0)) + _as_number(facts.get("validation", 0)),
            "labels": facts.get("labels"),
            "clinicians' hours": None
            if minutes is None or not facts.get("labels")
            else _as_number(facts["labels"]) * minutes / 60,
            "calls": facts.get("calls"),
            **({"machine hours": facts.get("hours")} if trained else {}),
            "cost": facts.get("cost"),
        }
        for name, facts in tuned.items()
    ]
    words = "; machine hours are those of the training, times its GPUs" if trained else ""
    table = material.exhibits.table(
        "tuning",
        rows,
        caption=f"What tuning took. The gain is over {ways.yardstick}, on cases that no tuning has seen; hours are "
        f"the labels at the study's minutes per case{words}",
        digits={
            "labelled cases": 0,
            "labels": 0,
            "clinicians' hours": 1,
            "calls": 0,
            "machine hours": 2,
            "cost": 4,
        },
    )
    return Html(
        element("h3", "What tuning took")
        + table
        + bullets(line for name, facts in tuned.items() for line in _curve(name, facts))
        + bullets(_by_size(tuned, gains))
    )


def _by_size(tuned: Mapping[str, Mapping[str, Any]], gains: Mapping[str, Estimate | None]) -> list[str]:
    """The learning curve of judges that were trained alike on more and more cases, on this study's own answers."""
    points: dict[str, dict[float, Estimate]] = {}
    for name, facts in tuned.items():
        gain = gains.get(name)
        if facts.get("hours") is not None and gain is not None and gain.value is not None:
            size = _as_number(facts.get("training")) + _as_number(facts.get("validation"))
            points.setdefault(str(facts.get("way", "")), {})[size] = gain
    lines = []
    for way, found in points.items():
        if len(found) < 2:
            continue
        words = "; ".join(f"{size:,.0f} labelled cases: {shown(found[size])}" for size in sorted(found))
        lines.append(f"{way}, gain by labelled cases: {words}: {_beat(found, 'judge')}.")
    return lines


def _beat(gains: Mapping[float, Estimate], plain: str) -> str:
    """From how many labelled cases on the gain is shown, at every larger number too."""
    short = [size for size, gain in gains.items() if (gain.low or 0.0) <= 0]
    better = [size for size in gains if size > max(short, default=-1.0)]
    if len(short) == len(gains):
        return f"it was not shown to beat the plain {plain}"
    if not better:
        return f"it beat the plain {plain} with fewer labelled cases, and not with the most"
    return f"it beat the plain {plain} from {min(better):,.0f} labelled cases on"


def _curve(name: str, facts: Mapping[str, Any]) -> list[str]:
    """How many labels until tuning beat the plain prompt, as its own learning curve has it."""
    points = facts.get("curve")
    if not isinstance(points, list) or not points:
        return []
    words = "; ".join(
        f"{_as_number(each.get('labels')):,.0f} labelled cases: {shown(_estimate(each))}" for each in points
    )
    gains = {_as_number(each.get("labels")): _estimate(each) for each in points}
    return [f"{name}, gain by labelled cases: {words}: {_beat(gains, 'prompt')}."]


def _estimate(point: Mapping[str, Any]) -> Estimate:
    return Estimate(point.get("gain"), point.get("gain_low"), point.get("gain_high"), 0, "of the tuning")


def _as_number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
