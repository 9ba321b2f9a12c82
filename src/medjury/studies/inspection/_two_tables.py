"""Two tables to be compared: guess their columns, show it, ask what stays in doubt, and only then compare."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medjury.foundation.documents import nearest, read_document
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument, load_instrument
from medjury.studies.inspection._column_names import kind_of, looks_like_dimensions
from medjury.studies.inspection._guess import SIDES, Guess, column_doubt, guess, merged
from medjury.studies.inspection._propose import each_of
from medjury.tables import (
    COLUMNS,
    MATCHED,
    Answer,
    Doubt,
    Panel,
    UnclearColumnsError,
    dimension_doubt,
    id_doubt,
    read_panels,
    rescaled,
    reversed_doubt,
    scale_doubt,
    whole_scale,
    with_matched,
    with_paired_dimensions,
)

# A mapping as a person checks it: which column is what, what is not used, and three ratings as they were read.

_WIDTH = 80
_LONGEST = 24


def shown(found: Guess, panel: Panel, mapping: Mapping[str, Any]) -> str:
    """The lines of one table, each at most 80 columns wide."""
    count = panel.frame["item"].n_unique()
    lines = [f"{found.title}: {found.kind.name}, {panel.frame.height:,} ratings of {count:,} cases"]
    lines += [_line(name, _words(value)) for name, value in mapping.items()]
    used = {str(each) for value in mapping.values() for each in each_of(value)}
    unused = [name for name in found.columns if name not in used and name not in panel.frame.columns]
    if unused and not mapping.get("columns"):
        lines.append(_line("not used", ", ".join(unused)))
    lines += ["  three ratings, as they were read:", *(f"    {each}" for each in _samples(panel))]
    return "\n".join(lines)


def _line(name: str, words: str) -> str:
    start = f"  {name + ' ':<12}"
    return textwrap.fill(words, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start))


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(str(k) if k == v else f"{k}: {v}" for k, v in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _samples(panel: Panel) -> list[str]:
    """A rating of each of the first three cases, by another rater each time where there are several."""
    names = [
        name for name in ("item", "system", "rater", "dimension", "score") if name in panel.frame.columns
    ]
    found = []
    for place, (_, rows) in enumerate(panel.frame.select(names).group_by("item", maintain_order=True)):
        if place == 3:
            break
        row = rows.row(place % rows.height, named=True)
        parts = [f"{name} {_short(row[name])}" for name in names if row[name] not in (None, "")]
        found.append(", ".join(parts if row["score"] not in (None, "") else [*parts, "no score"]))
    return found


def _short(cell: object) -> str:
    text = " ".join(str(cell).split()).removesuffix(".0")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


Ask = Callable[[Doubt], Answer | None]
_KEYS = (*SIDES, "match", "scale", "columns", "dimension")
_OPTIONS = ("item", "system", "patient", "scores", "columns", "dimension")


@dataclass(slots=True)
class TwoTables:
    """What is known of two tables so far. `settings` is the mapping of both, as `text` writes it and `known` reads
    it; `given` are the options that hold for both. `ask` answers a doubt, or refuses with its question; `show`
    shows the mapping before the first thing is compared. `settled` is every doubt with its answer, `taken` what
    needed none."""

    humans: Path
    judges: Path
    ask: Ask
    show: Callable[[str], None]
    settings: dict[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    instrument: Instrument | str | None = None
    settled: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)

    def panels(self) -> list[Panel]:
        """Both tables as they are to be compared, with columns, ids and scales as guessed, given or asked for."""
        for side in SIDES:
            self.settings.setdefault(side, {})
        given = {name: value for name, value in self.given.items() if value}
        guesses = [
            guess(path, side, given) for path, side in ((self.humans, "humans"), (self.judges, "judges"))
        ]
        while (doubt := column_doubt(guesses, {**self.settings, **given})) is not None:
            self._settle(doubt)
        panels = self._read(guesses)
        self._keep(guesses, panels)
        mappings = self._mappings()
        self.show("\n\n".join(shown(guesses[n], panels[n], mappings[n]) for n in range(2)))
        self._take_scale({each.scale for each in guesses if each.scale is not None})
        panels = self._with_same_ids(panels)
        panels = self._with_same_scales(panels)
        if not self.scale and self.instrument is None and "scale" not in self.settings:
            doubt = whole_scale(panels)
            if doubt is not None:
                self._settle(doubt)
        return panels

    def _take_scale(self, stated: Collection[tuple[float, float]]) -> None:
        """The scale that names of columns state, where nobody says another."""
        if len(stated) == 1 and not self.scale and self.instrument is None and "scale" not in self.settings:
            (ends,) = stated
            self.settings["scale"] = list(ends)
            self.taken.append(f"the scale is the one in the columns' names: {ends[0]:g} to {ends[1]:g}")

    @staticmethod
    def known(file: Path | None, lines: Mapping[str, Any]) -> dict[str, Any]:
        """What a mapping says that an earlier call wrote, and its `lines` that a person gave."""
        settings = {} if file is None else read_settings(file)
        put(settings, lines)
        return settings

    def text(self) -> str:
        """The mapping as YAML, for next time."""
        import yaml

        kept = {key: part for key, part in self.settings.items() if part}
        if self.scale and "scale" not in kept:
            kept["scale"] = self.scale
        start = (
            "# How two tables were read. To read them in the same way again: medjury validate HUMANS "
            "JUDGES --mapping FILE\n"
        )
        return start + str(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=100))

    @property
    def scale(self) -> Any:
        """The scale that was given, or answered; None where none is known."""
        own = self.given.get("scale") or self.settings.get("scale")
        return None if own == "not known" else own or None

    def _mappings(self) -> list[dict[str, Any]]:
        return [{key: each for key, each in self.settings[side].items() if each} for side in SIDES]

    def _settle(self, doubt: Doubt) -> None:
        """Ask, and keep the answer. What may stay open stays so without one."""
        answer = self.ask(doubt)
        if answer is None:
            return
        put(self.settings, answer.sets)
        self.settled.append(f"{doubt.question} Answer: {answer.words}")

    def _read(self, guesses: Sequence[Guess]) -> list[Panel]:
        for each in guesses:
            self.settings[each.side] = merged(each, self.settings[each.side])
        options = {name: self.given.get(name) or self.settings.get(name) for name in _OPTIONS}
        for _ in range(3):
            try:
                panels = self._panels(options)
            except UnclearColumnsError as error:
                self._settle(_raters_or_dimensions(error.side, error.columns, f"{error.title}: "))
                continue
            odd = next((each for each in panels if self._is_odd(each, options)), None)
            if odd is None:
                return panels
            side = SIDES[panels.index(odd)]
            self._settle(_raters_or_dimensions(side, odd.wide, f"{odd.title}: "))
        return self._panels(options)

    def _panels(self, options: Mapping[str, Any]) -> list[Panel]:
        pairs = self.settings.get("match", {}).get("dimensions")
        return read_panels(self.humans, self.judges, **options, mappings=self._mappings(), pairs=pairs)

    def _is_odd(self, panel: Panel, options: Mapping[str, Any]) -> bool:
        """Columns that were taken for raters and are called what people grade."""
        own = self.settings["humans" if panel.role == "clinician" else "judges"]
        stated = options["columns"] or own.get("raters") or "dimension" in own
        return panel.meaning == "raters" and not stated and looks_like_dimensions(panel.wide)

    def _keep(self, guesses: Sequence[Guess], panels: Sequence[Panel]) -> None:
        """The settings as they are written: what wide columns are, and names that need no guess."""
        for each, panel in zip(guesses, panels, strict=True):
            own = self.settings[each.side]
            for name in ("item", "system", "patient"):
                if self.given.get(name) in each.columns:
                    own.setdefault(name, self.given[name])
            if panel.wide and panel.meaning and not own.keys() & {"raters", "dimensions"}:
                own.pop("scores", None)
                own[panel.meaning] = list(panel.wide)
            if each.columns and not own.keys() - {"rescale", "reversed"}:
                own.update({name: name for name in COLUMNS if name in each.columns})

    def _with_same_ids(self, panels: list[Panel]) -> list[Panel]:
        rules = self.settings.setdefault("match", {})
        for name in MATCHED:
            if name == "dimension" and name not in rules:
                while (doubt := dimension_doubt(panels, rules.get("dimensions") or {})) is not None:
                    self._settle(doubt)
                    panels = with_paired_dimensions(panels, rules.get("dimensions"))
                continue
            if name not in rules and (doubt := id_doubt(panels, name)) is not None:
                self._settle(doubt)
            if name in rules:
                panels = with_matched(panels, name, str(rules[name]))
        return panels

    def _with_same_scales(self, panels: list[Panel]) -> list[Panel]:
        def rules() -> dict[str, Any]:
            return {side: self.settings[side].get("rescale") for side in SIDES}

        while (doubt := scale_doubt(panels, self._known, rules())) is not None:
            self._settle(doubt)
        now = [rescaled(each, rules()[side]) for side, each in zip(SIDES, panels, strict=True)]
        judges = self.settings["judges"]
        while (
            doubt := reversed_doubt(now, self._known, judges.get("rescale"), judges.get("reversed"))
        ) is not None:
            self._settle(doubt)
        return [rescaled(each, rules()[side]) for side, each in zip(SIDES, panels, strict=True)]

    def _known(self, dimension: str) -> tuple[float, float] | None:
        """The ends of a dimension's scale, where it was given."""
        scale = self.scale
        if isinstance(scale, Mapping):
            scale = scale.get(dimension)
        if scale:
            return float(min(scale)), float(max(scale))
        if self.instrument is None:
            return None
        found = (
            self.instrument if isinstance(self.instrument, Instrument) else load_instrument(self.instrument)
        )
        values = next((each.values for each in found.dimensions if each.name == dimension), None)
        return None if not values else (float(min(values)), float(max(values)))


def _raters_or_dimensions(side: str, columns: Sequence[str], start: str) -> Doubt:
    question = f"{start}are the columns {', '.join(columns)} raters or dimensions? The tables do not tell."
    answers = {words: Answer(words, {f"{side}.{words}": list(columns)}) for words in ("raters", "dimensions")}
    return Doubt(question, tuple(answers.values()), answers.get(kind_of(columns)))


def put(settings: dict[str, Any], sets: Mapping[str, Any]) -> None:
    """Put values into the settings, by dotted key (`judges.rescale`, `judges.rescale.accuracy`)."""
    for key, value in sets.items():
        *path, last = key.split(".", 2)
        if (path[:1] and path[0] not in (*SIDES, "match")) or (not path and key not in _KEYS):
            raise MedjuryError(
                f"{key!r} is not a line of a mapping; {nearest(path[0] if path else key, _KEYS)}"
            )
        place = settings
        for step in path:
            inner = place.get(step)
            place[step] = inner if isinstance(inner, dict) else {} if inner is None else {"": inner}
            place = place[step]
        place[last] = value


def read_settings(path: Path) -> dict[str, Any]:
    """The mapping of two tables, as `TwoTables.text` writes it."""
    value = read_document(path).value
    if not isinstance(value, dict) or not value.keys() & set(SIDES):
        raise MedjuryError(
            f"{path}: a mapping of two tables has the keys humans and judges, each with its columns; `medjury "
            "validate` writes one. A mapping of one file goes in place of that file."
        )
    for key, part in value.items():
        if key not in _KEYS:
            raise MedjuryError(f"{path}: {key!r} is not a line of a mapping; {nearest(str(key), _KEYS)}")
        if key in (*SIDES, "match") and not isinstance(part or {}, dict):
            raise MedjuryError(f"{path}: {key} must hold lines of its own, such as `item: COLUMN`")
    return {key: part or {} for key, part in value.items()}
