"""Tables of pairs of texts: read from CSV, JSONL or Parquet, scored, and written back with columns added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from medjury.foundation import limits
from medjury.foundation.documents import nearest
from medjury.foundation.errors import MedjuryError, first_line, no_such
from medjury.foundation.files import private_folder, whole_part
from medjury.intake.cases import languages_of
from medjury.texts.metrics._catalogue import LEXICAL, metric_named
from medjury.texts.metrics._learned import Models, models_of
from medjury.texts.metrics._score import MetricScores, score
from medjury.texts.transcripts import FillerList, normalise

if TYPE_CHECKING:
    import polars

_SUFFIXES = (".csv", ".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True, eq=False)
class TextPairs:
    """A table of pairs: which column holds what was said, what was recognised and, if any, the turn before."""

    file: str
    frame: polars.DataFrame
    reference: str
    hypothesis: str
    question: str | None = None
    language: str | None = None

    @property
    def languages(self) -> list[str | None] | None:
        """What is stated of each pair: one language for all, or a column; None where nothing is."""
        if self.language is None:
            return None
        return (
            self.column(self.language)
            if self.language in self.frame.columns
            else [self.language] * len(self.frame)
        )

    @classmethod
    def _opened(
        cls,
        file: str | Path,
        reference: str,
        hypothesis: str,
        question: str | None = None,
        *,
        also: Sequence[str | None] = (),
        added: Sequence[str] = (),
    ) -> Self:
        """The table in a file, every named cell as text; `also` are further columns that it must have, `added`
        those that must not be there yet."""
        columns = [name for name in (reference, hypothesis, question, *also) if name]
        return cls(str(file), _read(Path(file), columns, added), reference, hypothesis, question)

    def column(self, name: str) -> list[str | None]:
        return self.frame[name].to_list()

    def labels(self, column: str) -> list[int]:
        """The column's cells as levels of impact, or one error that names the rows that hold none."""
        labels, wrong = [], []
        for row, cell in enumerate(self.column(column), start=1):
            text = (cell or "").strip().removesuffix(".0")
            if text in ("0", "1", "2"):
                labels.append(int(text))
            else:
                wrong.append(row)
        if wrong:
            rows = ", ".join(map(str, wrong[:10])) + (" …" if len(wrong) > 10 else "")
            raise MedjuryError(
                f"{self.file}: column {column!r} must hold 0, 1 or 2; it does not in {len(wrong)} rows (row {rows})"
            )
        return labels

    def write(self, frame: polars.DataFrame, path: str | Path) -> None:
        """Write the table with its new columns; the ending of the file's name decides the format."""
        file = Path(path)
        _check_suffix(file)
        try:
            private_folder(file.parent)
            with whole_part(file) as part:
                if file.suffix == ".csv":
                    frame.write_csv(part)
                elif file.suffix == ".parquet":
                    frame.write_parquet(part)
                else:
                    frame.write_ndjson(part)
        except OSError as error:
            raise MedjuryError(f"{file}: cannot be written: {error.strerror or error}") from None


@dataclass(frozen=True, eq=False)
class MetricPairs(TextPairs):
    """A table of pairs to be scored by text metrics."""

    metrics: Sequence[str] = ()
    models: Models | None = None

    @classmethod
    def read(
        cls,
        file: str | Path,
        reference: str,
        hypothesis: str,
        metrics: Sequence[str] | None = None,
        models: Models | None = None,
        also: Sequence[str | None] = (),
        language: str | None = None,
    ) -> MetricPairs:
        """The table in a file. `language` is that of the pairs, or the column that states it. `metrics` name
        those that are wanted, several of them in one word with commas; all lexical ones without any. One of
        several models becomes several."""
        words = [name for word in metrics or LEXICAL for name in word.split(",") if name]
        names = list(models_of(list(dict.fromkeys(metric_named(name).name for name in words)), models or {}))
        added = [*names, "undefined", *(["meteor_matches"] if "meteor" in names else [])]
        pairs = cls._opened(file, reference, hypothesis, also=also, added=added)
        return cls(pairs.file, pairs.frame, reference, hypothesis, None, language, names, models)

    def score(
        self,
        *,
        normalised: bool = False,
        remove_fillers: bool = False,
        filler_list: FillerList = "ours",
        device: str | None = None,
        allow_download: bool = False,
    ) -> MetricScores:
        """Every pair by every metric; `normalised` compares without case and signs, numbers in words."""
        said, heard = (
            [cell or "" for cell in self.column(name)] for name in (self.reference, self.hypothesis)
        )
        languages = languages_of(self.languages, said, heard)
        if normalised:
            said, heard = (
                [
                    normalise(text, remove_fillers=remove_fillers, filler_list=filler_list, language=language)
                    for text, language in zip(texts, languages, strict=True)
                ]
                for texts in (said, heard)
            )
        return score(
            said,
            heard,
            self.metrics,
            models=self.models or {},
            languages=languages,
            device=device,
            allow_download=allow_download,
        )

    def with_scores(self, scores: MetricScores) -> polars.DataFrame:
        """The table with a column for each metric and `undefined` with the reasons."""
        import polars as pl

        table = pl.concat([self.frame, scores.frame()], how="horizontal")
        if "meteor" in scores.values:
            table = table.with_columns(pl.lit(scores.notes["meteor"]).alias("meteor_matches"))
        return table


def _read(file: Path, columns: Sequence[str], added: Sequence[str]) -> polars.DataFrame:
    import polars

    _check_suffix(file)
    try:
        if file.suffix == ".csv":
            frame = limits.read_csv(file)
        elif file.suffix == ".parquet":
            frame = limits.read_parquet(file)
        else:
            frame = limits.read_json_lines(file)
    except FileNotFoundError:
        raise MedjuryError(no_such(file)) from None
    except (OSError, polars.exceptions.PolarsError, limits.UnreadableParquetError) as error:
        raise MedjuryError(f"{file}: cannot be read as a table: {first_line(error)}") from None
    for column in columns:
        if column not in frame.columns:
            raise MedjuryError(f"{file}: there is no column {column!r}; {nearest(column, frame.columns)}")
    taken = [column for column in added if column in frame.columns]
    if taken:
        raise MedjuryError(
            f"{file}: has a column {taken[0]!r} already, which would be added. Rename or drop it."
        )
    if not len(frame):
        raise MedjuryError(f"{file}: has no rows")
    try:
        return frame.with_columns(polars.col(column).cast(polars.String) for column in dict.fromkeys(columns))
    except polars.exceptions.PolarsError:
        raise MedjuryError(f"{file}: {', '.join(columns)}: every cell must be a text or a number") from None


def _check_suffix(file: Path) -> None:
    if file.suffix not in _SUFFIXES:
        raise MedjuryError(f"{file}: the name must end in one of {', '.join(_SUFFIXES)}")
