"""Records that are made quickly are the same records: what they take, check, refuse and allow."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from typing import Any, get_type_hints

import pytest

from medjury.instruments import Score
from medjury.models import Reply
from medjury.ratings import Rating
from medjury.records import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class Grade:
    dimension: str
    score: float = 0.0
    told: str | None = None

    def __post_init__(self) -> None:
        if self.score < 0:
            raise ValueError("below the scale")


@dataclass(frozen=True, slots=True)
class Plain:
    dimension: str
    score: float = 0.0
    told: str | None = None


@dataclass(frozen=True, slots=True)
class Wider(Grade):
    more: int = 0


RATING = Rating(
    "a", "s", "r", "judge", "x@1", "d", 0, 4.0, "scored", None, "why", 1.0, 10, 5, 0.0, "2026", "key"
)


def test_a_record_takes_what_its_dataclass_takes() -> None:
    taken: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        (("clarity", 4), {}), (("clarity",), {"told": "x"}), ((), {"dimension": "d"}),
    ]  # fmt: skip
    for given, named in taken:
        made, plain = Grade(*given, **named), Plain(*given, **named)
        assert (made.dimension, made.score, made.told) == (plain.dimension, plain.score, plain.told)
    assert str(inspect.signature(Grade)) == str(inspect.signature(Plain))
    assert get_type_hints(Rating.__init__) == {**get_type_hints(Rating), "return": type(None)}
    assert inspect.signature(Rating, eval_str=True).parameters["score"].annotation == float | None
    assert Grade.__init__.__module__ == __name__ and Grade.__init__.__qualname__ == "Grade.__init__"
    refused: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}), (("a", 1, None, 2), {}), (("a",), {"dimension": "b"}), (("a",), {"other": 1}),
    ]  # fmt: skip
    for given, named in refused:
        with pytest.raises(TypeError):
            Plain(*given, **named)
        with pytest.raises(TypeError):
            Grade(*given, **named)


@pytest.mark.parametrize("record", [Grade("a", 2), RATING, Score(4.0, "why"), Reply("text")])
def test_it_is_frozen_and_is_copied_pickled_and_compared_as_ever(record: Grade) -> None:
    name = next(iter(type(record).__slots__))
    with pytest.raises(FrozenInstanceError):
        setattr(record, name, "other")
    with pytest.raises(FrozenInstanceError):
        delattr(record, name)
    with pytest.raises((FrozenInstanceError, TypeError)):
        record.__class__ = Plain  # type: ignore[assignment]
    with pytest.raises((AttributeError, TypeError)):
        record.unknown = 1  # type: ignore[attr-defined]
    for same in (
        copy.copy(record),
        copy.deepcopy(record),
        pickle.loads(pickle.dumps(record)),
        replace(record),
    ):
        assert same == record and hash(same) == hash(record) and type(same) is type(record)
        assert repr(same) == repr(record)
    assert not hasattr(record, "__dict__")


def test_what_it_checks_is_checked() -> None:
    with pytest.raises(ValueError, match="below the scale"):
        Grade("a", -1)
    with pytest.raises(ValueError, match="cannot have the score"):
        replace(RATING, score=None)
    with pytest.raises(ValueError, match="cannot have the score"):
        replace(RATING, score=float("nan"))


def test_a_class_that_extends_one_works() -> None:
    made = Wider("a", 1.0, None, 7)
    assert (made.dimension, made.more) == ("a", 7) and isinstance(made, Grade)
    with pytest.raises(ValueError, match="below the scale"):
        Wider("a", -1.0)

    class Other(Grade):
        pass

    other = Other("a", 3.0)
    assert type(other) is Other and other.score == 3.0
    with pytest.raises(ValueError, match="below the scale"):
        Other("a", -1.0)


def test_what_is_no_plain_record_is_refused() -> None:
    with pytest.raises(TypeError, match="not a plain record"):

        @quickly_made
        @dataclass(frozen=True, slots=True)
        class _WithFactory:
            names: list[str] = field(default_factory=list)

    with pytest.raises(TypeError, match="not a plain record"):
        quickly_made(dataclass(frozen=True, slots=True)(type("Deeper", (Plain,), {})))
