"""Dataclasses as the standard library makes them, in less time.

The standard decorator writes and compiles up to six methods of every class while its module is loaded. Most are
never called, and a command that loads some hundred classes waits for all of them. Here each method is written when
it is first asked for, by the standard library itself.

A frozen record sets each of its fields by a call, which is most of what making one takes. A plain one (frozen, with
slots, without bases) is for a moment of a twin class instead, whose fields are set as usual: a fraction of the
time, and just as frozen afterwards.
"""

from __future__ import annotations

import abc
import dataclasses
import sys
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import MISSING, FrozenInstanceError, fields
from typing import TYPE_CHECKING, Any

_OURS = "_our_"  # what names begin with in a method that is written here
_set_class = object.__dict__["__class__"].__set__


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        repr: bool = True,
        eq: bool = True,
        frozen: bool = False,
        slots: bool = False,
    ) -> Any:
        """`dataclasses.dataclass` with these of its options, `InitVar` apart.

        >>> @dataclass(frozen=True, slots=True)
        ... class Grade:
        ...     dimension: str
        ...     score: int = 0
        >>> Grade("clarity", 4)
        Grade(dimension='clarity', score=4)
        """

        def wrap(cls: type) -> type:
            return _made(cls, repr, eq, frozen, slots)

        return wrap if cls is None else wrap(cls)


def _made(given: Any, repr: bool, eq: bool, frozen: bool, slots: bool) -> Any:
    own: Mapping[str, Any] = given.__dict__
    hash = own.get("__hash__", MISSING)
    by_python = hash is None and "__eq__" in own  # which sets it beside an __eq__
    hashed = hash is not MISSING and not by_python
    if not given.__doc__:
        given.__doc__ = given.__name__  # else the standard library would look for a signature
    # Which classes may extend which is for the standard library to say; one that extends none is frozen here.
    extends = any(hasattr(base, "__dataclass_fields__") for base in given.__mro__[1:])
    made: Any = dataclasses.dataclass(
        init=False, repr=False, eq=False, frozen=frozen and extends, slots=slots
    )(given)
    params = made.__dataclass_params__
    params.init, params.repr, params.eq, params.frozen = True, repr, eq, frozen
    _check(made)
    if frozen and not extends:
        _freeze(made, own, slots)
    if "__init__" not in own:
        made.__init__ = _LaterInit(made, slots)
    if repr and "__repr__" not in own:
        made.__repr__ = _later(made, "__repr__")
    if eq and "__eq__" not in own:
        made.__eq__ = _later(made, "__eq__")
    if eq and not hashed:
        made.__hash__ = _later(made, "__hash__") if frozen else None
    return abc.update_abstractmethods(made)


def _check(made: Any) -> None:
    """Refuse here what the standard library refuses when it writes a method."""
    given = fields(made)
    if len(given) < len(made.__dataclass_fields__):
        for each in made.__dataclass_fields__.values():
            if each._field_type is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
                raise TypeError(f"{made.__name__}: an InitVar needs the dataclass of the standard library")
    optional = False
    for each in given:
        if each.init and not each.kw_only:
            if each.default is not MISSING or each.default_factory is not MISSING:
                optional = True
            elif optional:
                raise TypeError(f"non-default argument {each.name!r} follows default argument")


def _freeze(made: Any, own: Mapping[str, Any], slots: bool) -> None:
    names = frozenset(each.name for each in fields(made))

    def set_attribute(self: Any, name: str, value: object) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def delete_attribute(self: Any, name: str) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    new: dict[str, Callable[..., object]] = {"__setattr__": set_attribute, "__delattr__": delete_attribute}
    for name, method in new.items():
        if name in own:
            raise TypeError(f"Cannot overwrite attribute {name} in class {made.__name__}")
        method.__name__, method.__qualname__ = name, f"{made.__qualname__}.{name}"
        setattr(made, name, method)
    if slots and "__getstate__" not in own:
        made.__getstate__ = _state
    if slots and "__setstate__" not in own:
        made.__setstate__ = _set_state


def _state(record: Any) -> list[object]:
    return [getattr(record, each.name) for each in fields(record)]


def _set_state(record: Any, state: list[object]) -> None:
    for each, value in zip(fields(record), state, strict=True):
        object.__setattr__(record, each.name, value)


class _LaterInit:
    """Stands for the `__init__` of a class until somebody asks for it, be it for its signature alone."""

    __slots__ = ("_class", "_slots")

    def __init__(self, cls: type, slots: bool) -> None:
        self._class = cls
        self._slots = slots

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        plain = self._slots and _is_plain(self._class)
        method = _quick_init(self._class) if plain else _standard_method(self._class, "__init__", self._slots)
        return _put(self._class, "__init__", self, method).__get__(instance, owner)


def _later(cls: Any, name: str) -> Callable[..., Any]:
    """Stands for another method. A function, for where a descriptor fails Python compares records by their places
    in memory, without a word."""

    def method(self: Any, *other: object) -> Any:
        return _put(cls, name, method, _standard_method(cls, name))(self, *other)

    method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
    return method


def _put(cls: Any, name: str, waiting: object, method: Any) -> Any:
    """The method in place of what stood for it, unless another has taken its place meanwhile."""
    if cls.__dict__.get(name) is waiting:
        setattr(cls, name, method)
    return method


def _is_plain(cls: Any) -> bool:
    given = fields(cls)
    return (
        cls.__dataclass_params__.frozen
        and cls.__bases__ == (object,)
        and cls.__slots__ == tuple(each.name for each in given)
        and not any(each.kw_only or each.name == "self" or each.name.startswith(_OURS) for each in given)
    )


def _standard_method(cls: Any, name: str, slots: bool = False) -> Any:
    """The method as the standard library writes it: taken from a class with the same fields."""
    content: dict[str, Any] = {each.name: copy(each) for each in fields(cls)}
    content |= {
        "__annotations__": {each.name: each.type for each in fields(cls)},
        "__doc__": cls.__doc__,
        "__module__": cls.__module__ if cls.__module__ in sys.modules else __name__,
        "__qualname__": cls.__qualname__,
    }
    if hasattr(cls, "__post_init__"):
        content["__post_init__"] = None
    twin: Any = dataclasses.dataclass(
        init=name == "__init__",
        repr=name == "__repr__",
        eq=name == "__eq__",
        unsafe_hash=name == "__hash__",
        frozen=name == "__init__" and cls.__dataclass_params__.frozen,
        slots=slots,  # then defaults that are no arguments are set as well
    )(type(cls.__name__, (), content))
    return twin.__dict__[name]


def _quick_init(cls: Any) -> Any:
    given = fields(cls)
    usual: list[Any] = []

    def as_usual(self: object, *values: object) -> None:
        """For a class that extends this one."""
        if not usual:
            usual.append(_standard_method(cls, "__init__", slots=True))
        usual[0](self, *values)

    known: dict[str, Any] = {
        "_our_class": cls,
        "_our_twin": type(cls.__name__, (), {"__slots__": cls.__slots__}),
        "_our_set_class": _set_class,
        "_our_usual": as_usual,
        "_our_new": dataclasses._HAS_DEFAULT_FACTORY,  # type: ignore[attr-defined]
    }
    taken, names, made, lines = ["self"], ["self"], [], []
    for each in given:
        name, default, value = each.name, "", each.name
        if each.default is not MISSING:
            known[f"_our_{name}"] = each.default
            default = f"_our_{name}"
            value = name if each.init else default
        elif each.default_factory is not MISSING:
            known[f"_our_{name}"] = each.default_factory
            default = "_our_new"
            # Before the class is another one: it may fail.
            made.append(
                f"{name} = _our_{name}()"
                if not each.init
                else f"if {name} is _our_new: {name} = _our_{name}()"
            )
        if each.init:
            names.append(name)
            taken.append(f"{name}={default}" if default else name)
        if each.init or default:
            lines.append(f"        self.{name} = {value}")
    lines = [
        f"def make({', '.join(known)}):",
        f"    def __init__({', '.join(taken)}):",
        "        if self.__class__ is not _our_class:",
        f"            return _our_usual({', '.join(names)})",
        *(f"        {line}" for line in made),
        "        _our_set_class(self, _our_twin)",
        *lines,
        "        self.__class__ = _our_class",
        *(["        self.__post_init__()"] if hasattr(cls, "__post_init__") else []),
        "    return __init__",
    ]
    # Of names of fields alone, and at home in the module of the class, as dataclasses do it: its hints hold there.
    written: dict[str, Any] = {}
    home = sys.modules.get(cls.__module__)
    exec("\n".join(lines), {} if home is None else home.__dict__, written)  # noqa: S102
    method = written["make"](**known)
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    method.__annotations__ = {each.name: each.type for each in given if each.init} | {"return": None}
    return method
