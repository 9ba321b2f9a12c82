"""The question: what was asked for a rating, and which stored reply answered it.

With it a reply can be found by the work it was given for, whatever words it was asked in; so a corrected
instrument, or a better reader, can read it again without asking.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """One question asked for the ratings whose key is `unit`. `name` tells it from the others by what it is about,
    not by its words. `reply` is the key of its stored reply; without one `failure` says why, as a JSON object.
    `read_as` states by which case the reply was read (see `Way`), "" where it was not, "not known" where an earlier
    version stored it."""

    unit: str
    name: str
    reply: str | None
    failure: str = ""
    read_as: str = ""
