"""The worked examples of a study: from the file's words to what each of its judges draws."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from medjury.foundation.documents import Document
from medjury.foundation.errors import MedjuryError
from medjury.instruments import Instrument
from medjury.intake import mapping_in
from medjury.intake.cases import Case, Redactor
from medjury.store.ratings import Rating
from medjury.studies._file.models import ExamplesPart, JudgePart
from medjury.studies._file.study_file import StudyFile
from medjury.studies._study.material import case_ids
from medjury.studies._study.roles import correction, people_roles
from medjury.studies._study.stated_split import read_split

if TYPE_CHECKING:
    from medjury.judging import DrawnExamples, TrainingSplit


# The ways of judging in which the question is the judge's own, so that examples of it can be shown.
SHOWING = ("single", "repeats", "deliberation")
# The ways that show none, not even the instrument's own; and those that say in their own settings whether they do.
NEVER_OWN = ("claims",)
OWN_WORD = ("concordance",)
_SHARE = 0.3


class StudyExamples:
    """The training splits that a study's judges draw from. Cases and clinicians' ratings are read only where a
    judge draws examples, and once for all judges with the same split; the texts of its training cases, and of
    no others, are kept."""

    def __init__(
        self,
        document: Document,
        settings: StudyFile,
        instrument: Instrument,
        folder: Path,
        cases: Iterable[Case],
        redactor: Redactor | None,
    ) -> None:
        self._document = document
        self._settings = settings
        self._instrument = instrument
        self._folder = folder
        self._cases = cases  # as they were read: the redactor is put to those that are kept
        self._redactor = redactor
        self._ratings: tuple[Rating, ...] | None = None
        self._splits: dict[str, TrainingSplit] = {}
        self._passed: list[str] = []  # judges that the study's examples pass by

    def of_judge(self, index: int) -> DrawnExamples | None:
        """The examples of one judge, or None where it draws none."""
        part = self._settings.judges[index]
        wanted = self._settings.examples_of(part)
        place = ("examples",) if part.examples is None else ("judges", index, "examples")
        self._check_own(part, wanted, place)
        if not wanted.shots:
            return None
        if part.strategy["name"] not in SHOWING:
            problem = f"the strategy {part.strategy['name']} shows no examples"
            if part.examples is not None:
                raise MedjuryError(self._document.complaint(place, f"{problem}; take them out of this judge"))
            self._passed.append(f"examples: {problem}; judges with it are asked without any")
            return None
        from medjury.judging import DrawnExamples

        try:
            return DrawnExamples(
                self._split(wanted),
                self._instrument,
                wanted.shots,
                wanted.draw,
                wanted.seed,
                wanted.dimension,
            )
        except MedjuryError as error:
            raise MedjuryError(self._document.complaint(place, str(error))) from None

    def _check_own(self, part: JudgePart, wanted: ExamplesPart, place: tuple[str | int, ...]) -> None:
        """The instrument's own examples: asked for where there are none, or where a strategy does not go by it."""
        name, problem = part.strategy["name"], ""
        if name in OWN_WORD and part.examples is not None and not wanted.own and not wanted.shots:
            problem = f"say `strategy: {{name: {name}, examples: false}}` to leave out the instrument's own"
        elif wanted.own and name in NEVER_OWN:
            problem = f"the strategy {name} shows no examples"
        elif wanted.own and not self._instrument.examples:
            problem = f"the instrument {self._instrument.name} has no examples of its own"
        if problem and part.examples is not None:
            raise MedjuryError(self._document.complaint(place, problem))
        if problem:
            self._passed.append(f"examples: {problem}; judges are asked without any")

    def notes(self) -> tuple[str, ...]:
        """What was set apart, and what could not be used, for a reader of the plan."""
        lines = []
        for split in self._splits.values():
            lines.append(
                f"examples: {len(split.examples):,} of {split.rated:,} rated answers may be shown; the "
                f"{len(split.development):,} cases of that side are left out of the validation, for which "
                f"{split.held_out:,} rated cases remain"
            )
            lines += [
                f"examples: rated answers not used: {count:,} ({why})"
                for why, count in split.left_out.items()
            ]
        return tuple(dict.fromkeys([*lines, *self._passed]))

    def _split(self, wanted: ExamplesPart) -> TrainingSplit:
        from medjury.judging import split_training

        share, stated = _SHARE if wanted.share is None else wanted.share, self._settings.split
        if stated is not None and (wanted.share is not None or wanted.cases is not None):
            raise MedjuryError(
                "`split` says which cases may be shown: those of its part `train`; take `share` or `cases` out"
            )
        key = f"{share if wanted.cases is None else wanted.cases} {wanted.seed} {wanted.clinicians}"
        if key not in self._splits:
            items = None if wanted.cases is None else case_ids(wanted.cases, self._folder)
            if stated is not None:
                rated = {each.item for each in self._clinicians()}
                items = sorted(read_split(self._document, stated, self._cases).train & rated)
            self._splits[key] = split_training(
                self._cases,
                self._clinicians(),
                self._instrument,
                share=share,
                items=items,
                seed=wanted.seed,
                clinicians=wanted.clinicians,
                redactor=self._redactor,
            )
        return self._splits[key]

    def _clinicians(self) -> tuple[Rating, ...]:
        """The ratings of the reference, names untouched: nothing of who said what leaves this place but comments. A
        second panel teaches no judge."""
        part = self._settings.humans
        if part is None:
            raise MedjuryError(
                "examples are graded by clinicians, and the study names no ratings of theirs; add `humans`, or "
                "use `examples: true` for the instrument's own"
            )
        if self._ratings is None:
            from medjury.store.ratings import read_ratings

            imported = read_ratings(
                self._folder / part.path,
                mapping=mapping_in(self._folder, part.mapping),
                instrument=self._instrument,
                cases=self._cases,
                on_bad=part.on_bad,
                on_unknown=part.on_unknown,
                advice=correction(Path(self._document.file), part),
            )
            reference = people_roles(Path(self._document.file), part, imported).yardstick
            self._ratings = tuple(each for each in imported.ratings if each.rater in reference)
        return self._ratings
