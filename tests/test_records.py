"""Records are the dataclasses of the standard library: what they take, check, refuse, say and allow."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
import threading
import types
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, replace
from typing import Any, ClassVar, Generic, TypeVar, get_type_hints

import pytest

from medjury import records
from medjury.instruments import Score
from medjury.models import Reply
from medjury.ratings import Rating
from medjury.records import dataclass

Decorator = Callable[..., Any]
OPTIONS: list[dict[str, bool]] = [
    {}, {"frozen": True}, {"slots": True}, {"frozen": True, "slots": True}, {"eq": False},
    {"frozen": True, "eq": False}, {"frozen": True, "slots": True, "eq": False}, {"repr": False},
    {"frozen": True, "eq": False, "repr": False},
]  # fmt: skip
_Value = TypeVar("_Value")
_ADDRESS = re.compile("0x[0-9a-f]+")


def plain(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Grade:
        """A grade."""

        dimension: str
        score: float = 0.0
        told: str | None = None

    return Grade


def checked(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Grade:
        dimension: str
        score: float = 0.0

        def __post_init__(self) -> None:
            if self.score < 0:
                raise ValueError("below the scale")

    return Grade


def with_all_kinds_of_fields(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Grade:
        dimension: str
        kinds: ClassVar[int] = 3
        words: list[str] = field(default_factory=list)
        hidden: int = field(default=1, repr=False, compare=False)
        unasked: int = field(default=7, init=False)
        made: list[int] = field(default_factory=list, init=False)
        named: bool = field(default=False, kw_only=True)
        unhashed: int = field(default=0, hash=False)

    return Grade


def with_fields_that_are_made(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Grade:
        dimension: str
        words: list[str] = field(default_factory=list)
        told: str = "nothing"
        _known: str = field(default="", init=False, repr=False, compare=False)
        _seen: list[int] = field(default_factory=list, init=False)
        _later: int = field(init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "_known", f"{self.dimension} {self.words} {self._seen}")
            object.__setattr__(self, "_later", 3)

    return Grade


def with_names_of_ours(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Grade:
        dimension: str
        _our_class: float = 0.0
        _our_new: list[str] = field(default_factory=list)

    return Grade


def with_own_methods(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Grade:
        dimension: str
        score: float = 0.0

        def __repr__(self) -> str:
            return "a grade"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.dimension == other.dimension

        def __hash__(self) -> int:
            return 17

    return Grade


def with_own_comparison(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Grade:
        dimension: str
        score: float = 0.0

        def __eq__(self, other: object) -> bool:
            return True

    return Grade


def extending(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Named:
        dimension: str

        def __post_init__(self) -> None:
            if not self.dimension:
                raise ValueError("no name")

    @make(**options)
    class Grade(Named):
        score: float = 0.0
        words: tuple[str, ...] = ()

    return Grade


def generic(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Grade(Generic[_Value]):
        dimension: str
        score: _Value | None = None

    return Grade


def of_itself(make: Decorator, options: dict[str, bool]) -> type:
    @make(**options)
    class Grade:
        self: str  # an odd name for a field, but one that is allowed
        score: float = 0.0

    return Grade


KINDS = [
    plain, checked, with_all_kinds_of_fields, with_fields_that_are_made, with_names_of_ours, with_own_methods,
    with_own_comparison, extending, generic, of_itself,
]  # fmt: skip
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}), (("clarity",), {}), (("clarity", 4), {}), ((), {"dimension": "d"}), (("a",), {"dimension": "b"}),
    (("a",), {"other": 1}), (("a", 1, None, 2, 3, 4), {}), (("a", -1.0), {}), (("",), {}), (("a",), {"score": 2.5}),
    (("a",), {"named": True}), (("a", ["x"]), {"hidden": 3}), ((), {"self": "s"}),
]  # fmt: skip


def told(record: Any) -> tuple[Any, ...]:
    """All that can be seen of a record."""
    names = [each.name for each in fields(record)]
    seen: list[Any] = [
        _ADDRESS.sub("", repr(record)),
        {name: getattr(record, name) for name in names},
        astuple(record),
    ]
    seen += [asdict(record), type(record).__match_args__, hasattr(record, "__dict__")]
    try:
        seen.append(hash(record) == hash(copy.copy(record)))
    except TypeError as error:
        seen.append(str(error))
    seen += [record == copy.copy(record), record == 1, record != copy.copy(record)]
    for act in (
        lambda: setattr(record, names[0], "other"),
        lambda: delattr(record, names[-1]),
        lambda: replace(record, **{names[0]: "changed"}),
    ):
        try:
            seen.append(_ADDRESS.sub("", repr(act())))
        except Exception as error:
            seen.append((type(error), str(error)))
    try:
        record.unknown = 1
    except (AttributeError, TypeError):  # the standard library of some versions stumbles over slots here
        seen.append("takes no other attribute")
    return tuple(seen)


def outcome(kind: Any, given: tuple[Any, ...], named: dict[str, Any]) -> object:
    try:
        return told(kind(*given, **named))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_record_does_what_the_standard_one_does(kind: Callable[..., Any], options: dict[str, bool]) -> None:
    ours, standard = kind(dataclass, options), kind(dataclasses.dataclass, options)
    for given, named in CALLS:
        assert outcome(ours, given, named) == outcome(standard, given, named), (given, named)
    assert str(inspect.signature(ours)) == str(inspect.signature(standard))
    assert ours.__init__.__qualname__ == standard.__init__.__qualname__
    assert ours.__init__.__module__ == standard.__init__.__module__ == __name__
    assert ours.__init__.__annotations__ == standard.__init__.__annotations__
    assert (ours.__hash__ is None) == (standard.__hash__ is None)
    assert (ours.__hash__ is object.__hash__) == (standard.__hash__ is object.__hash__)
    assert [each.name for each in fields(ours)] == [each.name for each in fields(standard)]
    assert ours.__dataclass_params__.frozen == standard.__dataclass_params__.frozen
    assert ours.__doc__ == "A grade." or standard.__doc__ != "A grade."


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_records_with_the_same_fields_are_equal_and_others_are_not(options: dict[str, bool]) -> None:
    ours, standard = plain(dataclass, options), plain(dataclasses.dataclass, options)
    for kind in (ours, standard):
        one, same, other = kind("a", 1.0), kind("a", 1.0), kind("b", 1.0)
        compared = options.get("eq", True)
        assert (one == same) is compared and one != other
        if compared and options.get("frozen"):
            assert hash(one) == hash(same) == hash(standard("a", 1.0)) and len({one, same, other}) == 2


@dataclass(frozen=True, slots=True)
class Grade:
    dimension: str
    score: float = 0.0
    told: str | None = None

    def __post_init__(self) -> None:
        if self.score < 0:
            raise ValueError("below the scale")


@dataclass(frozen=True)
class Unslotted:
    dimension: str
    score: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Wider(Grade):
    more: int = 0


RATING = Rating(
    "a", "s", "r", "judge", "x@1", "d", 0, 4.0, "scored", None, "why", 1.0, 10, 5, 0.0, "2026", "key"
)


@pytest.mark.parametrize(
    "record", [Grade("a", 2), Unslotted("a", 2), RATING, Score(4.0, "why"), Reply("text")]
)
def test_it_is_frozen_and_is_copied_pickled_and_compared_as_ever(record: Any) -> None:
    name = fields(record)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(record, name, "other")
    with pytest.raises(FrozenInstanceError):
        delattr(record, name)
    with pytest.raises((FrozenInstanceError, TypeError)):
        record.__class__ = Wider
    with pytest.raises((AttributeError, TypeError)):
        record.unknown = 1
    for same in (
        copy.copy(record),
        copy.deepcopy(record),
        pickle.loads(pickle.dumps(record)),
        replace(record),
    ):
        assert same == record and hash(same) == hash(record) and type(same) is type(record)
        assert repr(same) == repr(record)


def test_hints_and_checks_hold() -> None:
    assert get_type_hints(Rating.__init__) == {**get_type_hints(Rating), "return": type(None)}
    assert inspect.signature(Rating, eval_str=True).parameters["score"].annotation == float | None
    with pytest.raises(ValueError, match="below the scale"):
        Grade("a", -1)
    with pytest.raises(ValueError, match="cannot have the score"):
        replace(RATING, score=None)
    with pytest.raises(ValueError, match="cannot have the score"):
        replace(RATING, score=float("nan"))


def test_classes_of_others_may_extend_one() -> None:
    made = Wider("a", 1.0, None, 7)
    assert (made.dimension, made.more) == ("a", 7) and isinstance(made, Grade)
    with pytest.raises(ValueError, match="below the scale"):
        Wider("a", -1.0)

    class Other(Grade):
        pass

    other = Other("a", 3.0)
    other.anything = 1  # type: ignore[attr-defined]  # it has no slots, and is not one of ours
    assert type(other) is Other and other.score == 3.0
    with pytest.raises(FrozenInstanceError):
        other.score = 4.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="below the scale"):
        Other("a", -1.0)


def test_what_the_standard_library_refuses_is_refused() -> None:
    @dataclass
    class Open:
        name: str

    with pytest.raises(TypeError, match="cannot inherit frozen"):

        @dataclass(frozen=True)
        class _Frozen(Open):
            score: int = 0

    with pytest.raises(TypeError, match="cannot inherit non-frozen"):

        @dataclass
        class _Open(Unslotted):
            more: int = 0

    with pytest.raises(ValueError, match="mutable default"):

        @dataclass
        class _Mutable:
            words: list[str] = []  # noqa: RUF012 - that is the point

    with pytest.raises(TypeError, match="Cannot overwrite attribute __setattr__"):

        @dataclass(frozen=True)
        class _Setting:
            name: str

            def __setattr__(self, name: str, value: object) -> None: ...

    for make in (dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError, match="non-default argument 'more' follows"):

            @make(frozen=True)
            class _Late(Unslotted):
                more: int

    with pytest.raises(TypeError, match="InitVar"):

        @dataclass(frozen=True, slots=True)
        class _WithInitVar:
            name: dataclasses.InitVar[str]

    @dataclass(frozen=True, slots=True)
    class Named:
        known: ClassVar[dict[str, InitVarTable]]  # noqa: F821 - only its name is meant
        name: str

    assert Named("a") == Named("a")


@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"slots": True}, {"frozen": True, "slots": True}])
def test_an_abstract_method_that_a_record_has_is_no_longer_lacking(options: dict[str, bool]) -> None:
    class Shown(ABC):
        __slots__ = ()

        @abstractmethod
        def __repr__(self) -> str: ...

        @abstractmethod
        def __eq__(self, other: object) -> bool: ...

        @abstractmethod
        def __init__(self, name: str) -> None: ...

        @abstractmethod
        def other(self) -> str: ...

    def whole(make: Decorator) -> type:
        @make(**options)
        class Named(Shown):
            name: str

            def other(self) -> str:
                return self.name

        return Named

    ours, standard = whole(dataclass), whole(dataclasses.dataclass)
    assert repr(ours("a")) == repr(standard("a")) and ours("a") == ours("a")
    assert ours.__abstractmethods__ == standard.__abstractmethods__ == frozenset()


@dataclass(frozen=True, slots=True)
class Giving:
    number: int

    def __getstate__(self) -> list[int]:
        return [2 * self.number]


@dataclass(frozen=True, slots=True)
class Taking:
    number: int

    def __setstate__(self, state: list[int]) -> None:
        object.__setattr__(self, "number", 10 * state[0])


def test_a_record_may_say_itself_how_it_is_packed_or_unpacked() -> None:
    for way in (copy.copy, lambda each: pickle.loads(pickle.dumps(each))):
        assert way(Giving(2)) == Giving(4) and way(Taking(2)) == Taking(20)


def test_what_fails_while_a_method_is_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python forgets what goes wrong while it looks a method up, and goes on as if there were none."""

    def named() -> Any:
        @dataclass(frozen=True, slots=True)
        class Named:
            name: str

        return Named

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for act in (repr, hash, lambda each: each == type(each)("a"), lambda each: each != type(each)("a")):
        one = named()("a")
        with monkeypatch.context() as broken:
            broken.setattr(records, "_standard_method", fail)
            with pytest.raises(KeyboardInterrupt):
                act(one)
        assert (
            one == type(one)("a") and hash(one) == hash(type(one)("a")) and repr(one).endswith("(name='a')")
        )
    kind = named()
    with monkeypatch.context() as broken:
        broken.setattr(records, "_quick_init", fail)
        with pytest.raises(KeyboardInterrupt):
            kind("a")
    assert kind("a").name == "a"


def test_methods_can_be_written_when_their_module_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("gone")
    monkeypatch.setitem(sys.modules, "gone", module)
    code = "from __future__ import annotations\nfrom medjury.records import dataclass\n"
    for options in ("", "frozen=True, slots=True"):
        exec(f"{code}@dataclass({options})\nclass Named:\n    name: str = ''\n", module.__dict__)
        kind = module.__dict__["Named"]
        with monkeypatch.context() as away:
            away.delitem(sys.modules, "gone")
            assert kind("a") == kind("a") != kind("b") and repr(kind("a")) == "Named(name='a')"


def test_a_method_that_was_put_in_place_of_a_waiting_one_stays() -> None:
    @dataclass(frozen=True, slots=True)
    class Named:
        name: str

    waiting = Named.__dict__["__repr__"]
    Named.__repr__ = lambda self: "mine"  # type: ignore[method-assign]
    assert waiting(Named("a")) == f"{Named.__qualname__}(name='a')"
    assert repr(Named("a")) == "mine"


def test_methods_may_be_asked_for_first_by_many_at_once() -> None:
    for _ in range(20):

        @dataclass(frozen=True, slots=True)
        class Named:
            name: str
            score: float = 0.0

        found: list[object] = []
        ready = threading.Barrier(8)

        def ask(kind: Any = Named, found: list[object] = found, ready: Any = ready) -> None:
            ready.wait()
            one = kind("a", 2.0)
            found.append((repr(one), one == kind("a", 2.0), hash(one) == hash(kind("a", 2.0))))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert found == [(f"{Named.__qualname__}(name='a', score=2.0)", True, True)] * 8


def test_loading_a_class_compiles_nothing() -> None:
    """That is what it is for. A method is compiled when it is first asked for, and once."""
    code = (
        "import dataclasses, builtins\n"
        "from medjury import records\n"
        "made = []\n"
        "real = builtins.exec\n"
        "builtins.exec = lambda *given: (made.append(1), real(*given))[1]\n"
        "@records.dataclass(frozen=True, slots=True)\n"
        "class Named:\n"
        "    name: str\n"
        "print(len(made))\n"
        "Named('a'), Named('b')\n"
        "print(len(made))\n"
        "repr(Named('a')), repr(Named('b'))\n"
        "print(len(made))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "1", "2"]


def test_the_type_checker_sees_the_standard_one() -> None:
    source = inspect.getsource(records)
    assert "if TYPE_CHECKING:\n    from dataclasses import dataclass as dataclass\nelse:" in source


def test_a_record_of_which_a_part_cannot_be_made_stays_what_it_is() -> None:
    def fail() -> list[int]:
        raise RuntimeError("no parts")

    @dataclass(frozen=True, slots=True)
    class Grade:
        score: int
        parts: list[int] = field(default_factory=fail)

    record = Grade(1, [])
    with pytest.raises(RuntimeError, match="no parts"):
        record.__init__(5)  # type: ignore[misc]
    assert type(record) is Grade and record == Grade(1, [])
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.score = 7  # type: ignore[misc]
