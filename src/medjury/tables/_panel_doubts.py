"""What two tables leave open (ids written differently, other scales, scales turned around): a question that names
the doubt, and every answer with the option that gives it."""

from __future__ import annotations

import difflib
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError
from medjury.tables._panel import Panel

if TYPE_CHECKING:
    import polars

AS_THEY_ARE = "as they are"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: its words, and what it puts into the mapping, by dotted key (`judges.rescale`)."""

    words: str
    sets: Mapping[str, Any]

    @property
    def option(self) -> str:
        """The options of the command line that give this answer."""
        if set(self.sets) == {"humans.item", "judges.item"} and len(set(self.sets.values())) == 1:
            return f"--item {shlex.quote(str(next(iter(self.sets.values()))))}"
        return " ".join(_option(key, value) for key, value in self.sets.items())


@dataclass(frozen=True, slots=True)
class Doubt:
    """A question. `suggested` is the answer that the tables speak for, None where they speak for none. One that may
    stay open is left so where nobody can be asked; `typed` is a key whose value may be typed instead."""

    question: str
    answers: tuple[Answer, ...]
    suggested: Answer | None = None
    may_stay_open: bool = False
    typed: str = ""


def _option(key: str, value: Any) -> str:
    if key == "scale" and isinstance(value, list | tuple):
        return f"--scale {value[0]:g} {value[1]:g}"
    if key == "columns":
        return f"--columns {value}"
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f"--map {shlex.quote(f'{key}={text}')}"


# Names that two tables write differently (`case-001` and `1`): the rule that makes them meet.

_ONE_NUMBER = re.compile(r"\D*?(\d+)(?:\.0+)?\D*")
_WORDS = {"item": "Ids of cases", "system": "Names of systems", "dimension": "Names of dimensions"}
MATCHED = tuple(_WORDS)


def _no_blanks(name: str) -> str:
    return "".join(name.split())


def no_case(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def _no_zeros(name: str) -> str:
    whole = re.sub(r"(\d)\.0+$", r"\1", name.strip())
    return re.sub(r"(?<!\d)0+(?=\d)", "", no_case(whole))


def _no_ending(name: str) -> str:
    return re.sub(r"\.(md|txt|json|csv|tsv|pdf|docx?|html?|xml|rtf)$", "", name.strip(), flags=re.I)


def _number(name: str) -> str:
    """The one number in a name; a name that has none, or two, stays what it is and meets no number."""
    found = _ONE_NUMBER.fullmatch(name.strip())
    return str(int(found[1])) if found else f"no number: {name}"


ID_RULES: dict[str, Callable[[str], str]] = {
    "ignore blanks": _no_blanks,
    "ignore case and signs": no_case,
    "ignore case, signs and leading zeros": _no_zeros,
    "ignore endings of files": _no_ending,
    "compare numbers alone": _number,
}


def id_doubt(panels: Sequence[Panel], field: str) -> Doubt | None:
    """A doubt where some rule makes more names meet than meet as they are. A rule that would make two names of one
    table the same is never offered."""
    mine, theirs = (_names(each, field) for each in panels)
    as_written = len(set(mine) & set(theirs))
    best, most = "", as_written
    for rule, key in ID_RULES.items():
        if rule == "compare numbers alone" and field != "item":
            continue
        keys = [{key(name) for name in names} for names in (mine, theirs)]
        if [len(each) for each in keys] == [len(mine), len(theirs)] and len(keys[0] & keys[1]) > most:
            best, most = rule, len(keys[0] & keys[1])
    if not best:
        return None
    known = {ID_RULES[best](name): name for name in theirs}
    pairs = ((name, known.get(ID_RULES[best](name))) for name in mine)
    example = next((one, other) for one, other in pairs if other is not None and one != other)
    question = (
        f"{_WORDS[field]} are written differently: {as_written:,} of {len(mine):,} in {panels[0].title} are also "
        f"in {panels[1].title} as they are written, and {most:,} by the rule {best!r} (so that {example[0]!r} and "
        f"{example[1]!r} are the same). Are they the same?"
    )
    apply = Answer(f"yes, {best}", {f"match.{field}": best})
    keep = Answer(f"no, take them {AS_THEY_ARE}", {f"match.{field}": AS_THEY_ARE})
    return Doubt(question, (apply, keep), apply)


def with_matched(panels: Sequence[Panel], field: str, rule: str) -> list[Panel]:
    """The panels with the judges' names as clinicians write them, by the rule; how many met by it is reported."""
    import polars as pl

    humans, judges = panels
    if rule == AS_THEY_ARE:
        return [humans, judges]
    if rule not in ID_RULES:
        raise MedjuryError(
            f"match.{field}: there is no rule {rule!r}; {nearest(rule, [*ID_RULES, AS_THEY_ARE])}"
        )
    key = ID_RULES[rule]
    for panel in panels:
        seen: dict[str, str] = {}
        for name in _names(panel, field):
            if (other := seen.setdefault(key(name), name)) != name:
                raise MedjuryError(
                    f"{panel.title}: the rule {rule!r} makes {other!r} and {name!r} the same {field}; choose "
                    f"another rule, or say --map 'match.{field}={AS_THEY_ARE}'"
                )
    written = {key(name): name for name in _names(humans, field)}
    new = {name: written[key(name)] for name in _names(judges, field) if key(name) in written}
    changed = sum(name != other for name, other in new.items())
    frame = judges.frame.with_columns(pl.col(field).replace(new)) if new else judges.frame
    return [humans, replace(judges, frame=frame).saying(
        f"{_WORDS[field].lower()} were matched by the rule {rule!r}: {len(new):,} match, {changed:,} of them were "
        "written differently"
    )]  # fmt: skip


_UNNAMED = "score"  # what a dimension is called that no table names


def with_paired_dimensions(panels: Sequence[Panel], pairs: Mapping[str, str] | None) -> list[Panel]:
    """The panels with the judges' dimensions under the clinicians' names: those of `pairs`, and those that differ
    in capitals and signs alone."""
    import polars as pl

    humans, judges = panels
    mine, theirs = (_names(each, "dimension") for each in panels)
    given = pairs or {}
    pairs = {name: other for name, other in given.items() if other != AS_THEY_ARE}
    for name, other in pairs.items():
        if name not in theirs or other not in mine:
            raise MedjuryError(
                f"match.dimensions: {name!r} must be a dimension of {judges.title} ({', '.join(theirs)}) and "
                f"{other!r} one of {humans.title} ({', '.join(mine)})"
            )
    if mine != theirs and len(mine) == len(theirs) == 1 and _UNNAMED in (*mine, *theirs):
        # One table does not say what it grades: it is what the other says.
        (name,) = theirs if mine == [_UNNAMED] else mine
        if AS_THEY_ARE not in given.values():
            both = [replace(each, frame=each.frame.with_columns(dimension=pl.lit(name))) for each in panels]
            return [both[0], both[1].saying(f"the one dimension of both tables is {name!r}")]
    ours = {no_case(name): name for name in mine}
    new = {
        name: ours[no_case(name)]
        for name in theirs
        if name not in mine
        and name not in pairs
        and no_case(name) in ours
        and ours[no_case(name)] not in theirs
    } | pairs
    if not new or len(set(new.values())) < len(new):
        return [humans, judges]
    frame = judges.frame.with_columns(pl.col("dimension").replace(new))
    words = ", ".join(f"{name!r} is {other!r} of {humans.title}" for name, other in new.items())
    return [humans, replace(judges, frame=frame).saying(f"dimensions: {words}")]


_ALIKE = 0.6  # of two names, as difflib counts: accuracy and accurate
_TOGETHER = 0.5  # rank correlation by which scores are of one dimension


def dimension_doubt(panels: Sequence[Panel], settled: Mapping[str, str]) -> Doubt | None:
    """The first dimension of the judges that may be one of the clinicians' under another name: by the name, or by
    the scores of the same cases. Of two tables that share one none is asked for without a sign of that."""
    mine, theirs = (_names(each, "dimension") for each in panels)
    free = [name for name in mine if name not in theirs]
    for name in (each for each in theirs if each not in mine and each not in settled):
        if not free:
            return None
        likeness = {other: _likeness(name, other) for other in free}
        found = {other: _correlation(_under(panels, name, other), other) for other in free}
        together = {other: value or 0.0 for other, (value, count) in found.items() if count >= _FEWEST}
        best = max(
            free, key=lambda other: (likeness[other] >= _ALIKE, together.get(other, 0.0), likeness[other])
        )
        sure = likeness[best] >= _ALIKE or together.get(best, 0.0) >= _TOGETHER
        if not sure and set(mine) & set(theirs):
            continue
        ranked = sorted(free, key=lambda other: (other != best, -together.get(other, 0.0)))
        same = [Answer(f"{other!r}", {f"match.dimensions.{name}": other}) for other in ranked]
        none = Answer("none of them", {f"match.dimensions.{name}": AS_THEY_ARE})
        shown = f" (rank correlation {together[best]:.2f} with {best!r})" if best in together else ""
        question = f"Which dimension of {panels[0].title} is {name!r} of {panels[1].title}?{shown}"
        return Doubt(question, (*same, none), same[0] if sure else None)
    return None


def _likeness(one: str, other: str) -> float:
    first, second = no_case(one), no_case(other)
    if min(len(first), len(second)) >= 5 and first[:5] == second[:5]:
        return 1.0
    return difflib.SequenceMatcher(None, first, second).ratio()


def _under(panels: Sequence[Panel], name: str, other: str) -> list[Panel]:
    import polars as pl

    frame = panels[1].frame.filter(pl.col("dimension") == name)
    return [panels[0], replace(panels[1], frame=frame.with_columns(dimension=pl.lit(other)))]


def _names(panel: Panel, field: str) -> list[str]:
    if not panel.has(field):
        return []
    return [str(name) for name in panel.frame[field].drop_nulls().unique(maintain_order=True).to_list()]


# Scores that two tables give on different scales: percent beside 0-1, 0-4 beside 1-5, or turned around.

Ends = tuple[float, float]
Known = Callable[[str], Ends | None]
Rules = str | Mapping[str, str] | None  # one rule for all dimensions, or one for each
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RULE = re.compile(rf"{_NUMBER} to {_NUMBER} as {_NUMBER} to {_NUMBER}")
_FEWEST = 12  # answers on which a correlation says anything at all
_TURNED = -0.5
_APART = 1.8  # highest score of one table over that of the other: another scale, rather than a strict rater


@dataclass(frozen=True, slots=True)
class _Seen:
    low: float
    high: float
    whole: bool
    different: int

    @property
    def shown(self) -> str:
        return f"{self.low:g} to {self.high:g}"


def scale_doubt(panels: Sequence[Panel], known: Known, settled: Mapping[str, Rules]) -> Doubt | None:
    """The first dimension whose scores seem to be on two scales, with the rule that would bring them onto one."""
    seen = [_seen(each) for each in panels]
    for dimension in sorted(seen[0].keys() & seen[1].keys()):
        if any(rule_for(each, dimension) is not None for each in settled.values()):
            continue
        pair = seen[0][dimension], seen[1][dimension]
        found = (
            _percent(*pair, known(dimension))
            or _shifted(*pair, known(dimension))
            or _apart(*pair, known(dimension))
        )
        if found is None:
            continue
        side, what, rules, sure = found
        key = (
            f"{side}.rescale" if len(seen[0].keys() & seen[1].keys()) == 1 else f"{side}.rescale.{dimension}"
        )
        question = (
            f"On {dimension!r} the scores run from {pair[0].shown} in {panels[0].title} and from {pair[1].shown} "
            f"in {panels[1].title}: {what} Should the {side}' scores be read on the other scale?"
        )
        apply = [Answer(f"yes, read {rule}", {key: rule}) for rule in rules]
        keep = Answer(f"no, take them {AS_THEY_ARE}: it is one scale", {key: AS_THEY_ARE})
        return Doubt(question, (*apply, keep), apply[0] if sure else None)
    return None


def reversed_doubt(
    panels: Sequence[Panel], known: Known, rescale: Rules, turned_before: Rules
) -> Doubt | None:
    """The first dimension on which judges go down where clinicians go up; `rescale` are the judges' rules so far,
    `turned_before` says what is settled. Nothing is ever turned without a word: a bad jury looks the same."""
    seen = [_seen(each) for each in panels]
    for dimension in sorted(seen[0].keys() & seen[1].keys()):
        if rule_for(turned_before, dimension) is not None:
            continue
        correlation, count = _correlation(panels, dimension)
        if count < _FEWEST or correlation is None or correlation > _TURNED:
            continue
        both = [each[dimension] for each in seen]
        low, high = known(dimension) or (min(each.low for each in both), max(each.high for each in both))
        so_far = rule_for(rescale, dimension)
        ends = (low, high, low, high) if so_far in (None, AS_THEY_ARE) else _ends(str(so_far))
        rule = f"{ends[0]:g} to {ends[1]:g} as {ends[3]:g} to {ends[2]:g}"
        own = "" if len(seen[0].keys() & seen[1].keys()) == 1 else f".{dimension}"
        keep = Answer(
            "no, the judges disagree with clinicians: turn nothing", {f"judges.reversed{own}": "no"}
        )
        turn = Answer(
            f"yes, high means bad there: read {rule}",
            {f"judges.rescale{own}": rule, f"judges.reversed{own}": "yes"},
        )
        question = (
            f"On {dimension!r} judges give low scores where clinicians give high ones (rank correlation "
            f"{correlation:.2f} on {count:,} answers). Is the scale of {panels[1].title} reversed?"
        )
        return Doubt(question, (keep, turn), keep)
    return None


def whole_scale(panels: Sequence[Panel]) -> Doubt | None:
    """A question for the scale, where whole scores speak for one: it may stay open, and then there is no kappa."""
    seen = [found for each in panels for found in _seen(each).values()]
    if not seen or not all(each.whole for each in seen):
        return None
    low, high = min(each.low for each in seen), max(each.high for each in seen)
    if low not in (0, 1) or not 1 <= high - low <= 10:
        return None
    own = Answer(f"{low:g} to {high:g}", {"scale": [low, high]})
    none = Answer("not known: go on without kappa and severe errors", {"scale": "not known"})
    question = f"Which scale are the scores on? They are whole numbers from {low:g} to {high:g}."
    return Doubt(question, (own, none), own, may_stay_open=True, typed="scale")


def rule_for(rescale: Rules, dimension: str) -> str | None:
    """The rule of a dimension, from one rule for all or from one for each."""
    return rescale.get(dimension, rescale.get("")) if isinstance(rescale, Mapping) else rescale


def rescaled(panel: Panel, rescale: Rules) -> Panel:
    """The panel with its scores on another scale, each dimension by its rule; the rule is reported."""
    import polars as pl

    names = [str(name) for name in panel.frame["dimension"].unique(maintain_order=True).to_list()]
    if isinstance(rescale, Mapping) and (odd := [name for name in rescale if name and name not in names]):
        raise MedjuryError(f"{panel.title}: rescale names {odd[0]!r}, which is none of {', '.join(names)}")
    frame, words = panel.frame, []
    for name in names:
        rule = rule_for(rescale, name)
        if rule is None or rule == AS_THEY_ARE:
            continue
        low, high, to_low, to_high = _ends(rule)
        number = pl.col("score").cast(pl.Float64, strict=False)
        outside = frame.filter(
            pl.col("dimension") == name, number.is_finite(), ~number.is_between(low - 1e-9, high + 1e-9)
        ).height
        if outside:
            raise MedjuryError(
                f"{panel.title}: {outside:,} scores on {name!r} lie outside {low:g} to {high:g}, which the rule "
                f"{rule!r} is for; correct the rule, or the scores"
            )
        new = (to_low + (number - low) * ((to_high - to_low) / (high - low))).round(9)
        here = (pl.col("dimension") == name) & number.is_finite().fill_null(value=False)
        frame = frame.with_columns(
            pl.when(here).then(new.cast(pl.String)).otherwise(pl.col("score")).alias("score")
        )
        words.append(f"scores on {name!r} were read {rule}")
    return replace(panel, frame=frame).saying(*words)


def _ends(rule: str) -> tuple[float, float, float, float]:
    found = _RULE.fullmatch(rule.strip())
    ends = tuple(map(float, found.groups())) if found else ()
    if len(ends) != 4 or ends[0] >= ends[1] or ends[2] == ends[3]:
        raise MedjuryError(
            f"rescale: {rule!r} is not a rule; write `0 to 4 as 1 to 5` (lowest to highest as what they mean), or "
            f"`{AS_THEY_ARE}`"
        )
    return ends


Found = tuple[str, str, tuple[str, ...], bool]  # whose scores, what is odd, the rules, whether one is evident


def _percent(humans: _Seen, judges: _Seen, known: Ends | None) -> Found | None:
    what = "these look like percent beside shares from 0 to 1."
    for side, other, large, small in (
        ("judges", "humans", judges, humans),
        ("humans", "judges", humans, judges),
    ):
        if small.low >= 0 and small.high <= 1 and large.low >= 0 and 10 < large.high <= 100:
            if known == (0, 100):
                return other, what, ("0 to 1 as 0 to 100",), True
            return side, what, ("0 to 100 as 0 to 1",), True
    return None


def _shifted(humans: _Seen, judges: _Seen, known: Ends | None) -> Found | None:
    """Whole scores one below or above the scale. Without a scale, only a table that begins at 0 beside one that
    begins at 1 says so: 1 to 4 beside 2 to 5 may be a strict jury."""
    if not (humans.whole and judges.whole):
        return None
    for side, mine, other in (("judges", judges, humans), ("humans", humans, judges)):
        low, high = known or (other.low, other.high)
        if not (low <= other.low and other.high <= high) or high == low:
            continue
        if known:
            step = (
                -1
                if mine.low == low - 1 and mine.high < high
                else 1
                if mine.high == high + 1 and mine.low > low
                else 0
            )
        else:
            step = int(mine.low - low) if side == "judges" and {mine.low, low} == {0, 1} else 0
            step = step if mine.high <= high + step else 0
        if step:
            rule = f"{low + step:g} to {high + step:g} as {low:g} to {high:g}"
            way = "one down" if step < 0 else "one up"
            return (
                side,
                f"{side}' scores look shifted by {way}.",
                (rule,),
                bool(known) or mine.high == high + step,
            )
    return None


def _apart(humans: _Seen, judges: _Seen, known: Ends | None) -> Found | None:
    both = humans, judges
    if known and all(known[0] <= each.low and each.high <= known[1] for each in both):
        return None
    small, large = sorted(both, key=lambda each: each.high)
    few = small.different < 3 or small.high <= 0
    if few or large.high < _APART * small.high:
        return None
    target = known or (min(humans.low, 1), humans.high)
    usual = (0.0, 100.0) if judges.high > 10 else (0.0, 1.0) if judges.high <= 1 else (1.0, judges.high)
    sources = dict.fromkeys([(judges.low, judges.high), usual])
    rules = tuple(f"{low:g} to {high:g} as {target[0]:g} to {target[1]:g}" for low, high in sources)
    return "judges", "these look like two different scales.", rules, False


def usual_values(counts: Mapping[float, int]) -> set[float]:
    """The numbers that are grades: not a 55 among grades of one digit, nor the few 0 and 6 among a thousand from 1
    to 5."""
    whole = sum(counts.values())
    values = set(counts)
    low = {each for each in values if each <= 10}
    high = sum(counts[each] for each in values - low)
    if high and low and 20 * high <= whole and len(low) > 1:
        values = low
    for end in (5, 7, 10):
        inner = {each for each in values if 1 <= each <= end}
        if (
            len(inner) > 2
            and max(inner) == end
            and 200 * sum(counts[each] for each in values - inner) <= whole
        ):
            return inner
    return values


def _seen(panel: Panel) -> dict[str, _Seen]:
    """By dimension, the ends of the scores; a few that are off the scale of all others do not stretch it."""
    found = {}
    for (name,), rows in _numbers(panel).group_by("dimension"):
        scores = rows["number"]
        values = usual_values(Counter(scores.to_list()))
        whole = all(each == round(each) for each in values)
        found[str(name)] = _Seen(min(values), max(values), whole, len(values))
    return found


def _numbers(panel: Panel) -> polars.DataFrame:
    import polars as pl

    number = pl.col("score").cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    return panel.frame.with_columns(number=number).filter(pl.col("number").is_finite())


def _correlation(panels: Sequence[Panel], dimension: str) -> tuple[float | None, int]:
    """Spearman's, of the two panels' mean scores, and on how many answers."""
    import polars as pl

    keys = ["item", "system"] if all(each.has("system") for each in panels) else ["item"]
    means = [
        _numbers(each).filter(pl.col("dimension") == dimension).group_by(keys).agg(pl.col("number").mean())
        for each in panels
    ]
    joined = means[0].join(means[1], on=keys)
    value = (
        joined.select(pl.corr("number", "number_right", method="spearman")).item()
        if joined.height > 1
        else None
    )
    return (None if value is None or value != value else float(value)), joined.height
