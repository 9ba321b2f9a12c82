"""A server of the Model Context Protocol on standard input and output: one JSON object a line, three tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, BinaryIO, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports import check_passport, refuse_other_jury
from medjury.in_use.programs._card_jury import VOTE, CardJury
from medjury.intake.cases import Case
from medjury.tables import RatingTable, open_run
from medjury.version import __version__

_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # of the protocol, the newest first
_LONGEST = 16 * 1024 * 1024
_PARSE, _INVALID, _NO_METHOD, _PARAMS = -32700, -32600, -32601, -32602
_ABOUT = (
    "The jury of a judge card. A case without a score has the reason instead, and never a number in its place. "
    "What is outside the validated cases is marked: a clinician must look at it."
)


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class JudgeCase(_Arguments):
    """Scores of the card's jury for one case: the `candidate` is what is judged, `texts` what it is judged
    against, and `metadata` has facts such as its specialty."""

    candidate: str
    reference: str | None = None
    texts: dict[str, str] = {}
    metadata: dict[str, bool | str | Annotated[int, Field(ge=-(2**63), lt=2**63)] | float] = {}
    system: str = ""
    id: str = "case"


class LookUpVotes(_Arguments):
    """Every vote on a case of the run: judges and jury."""

    item: str
    system: str | None = None


class ReadVerdict(_Arguments):
    """What the jury may be trusted with, for which cases, and until when."""


@dataclass(frozen=True)
class CardServer:
    """The tools of one card. It `judges` where the jury has recorded answers or is asked `live`; votes are those of
    a `run` that the card's jury judged, with the judges' explanations, which may quote a case, only where that is
    allowed."""

    card: Path
    jury: CardJury
    TOOLS: ClassVar[dict[str, type[_Arguments]]] = {
        "judge_case": JudgeCase, "look_up_votes": LookUpVotes, "read_verdict": ReadVerdict,
    }  # fmt: skip
    run: Path | None = None
    judges: bool = False
    live: bool = False
    explanations: bool = False

    def __post_init__(self) -> None:
        if self.run is not None:
            refuse_other_jury(self.card, self.run)

    @cached_property
    def _table(self) -> RatingTable:
        if self.run is None:
            raise MedjuryError("this server was started without --run, so there are no votes to look up")
        return open_run(self.run)

    def judge_case(self, given: JudgeCase) -> dict[str, Any]:
        if not self.judges:
            raise MedjuryError("this server asks no model: it was started with neither --answers nor --live")
        return self.jury.judge(Case(**given.model_dump())).content() | {"limit": self.jury.card.limit}

    def look_up_votes(self, given: LookUpVotes) -> dict[str, Any]:
        import polars as pl

        rows = self._table.everything.filter(pl.col("rater_kind").is_in(["judge", "jury"]), item=given.item)
        if given.system is not None:
            rows = rows.filter(system=given.system)
        if rows.is_empty():
            raise MedjuryError("the run has no votes on this case")
        names = VOTE if self.explanations else VOTE[:-1]
        return {"item": given.item, "votes": rows.select("system", *names).to_dicts()}

    def read_verdict(self, given: ReadVerdict) -> dict[str, Any]:
        verdicts = [
            {"dimension": each.dimension, "verdict": each.word, "scope": each.scope.words()}
            for each in self.jury.card.verdicts
        ]
        checked = json.loads(check_passport(self.card).to_json())
        return {**checked, "verdicts": verdicts, "words": self.jury.card.words()}

    def serve(self, lines: BinaryIO, out: BinaryIO) -> None:
        """Answer every request until the client closes its end."""
        while line := lines.readline(_LONGEST + 1):
            too_long = len(line) > _LONGEST
            answer = _error(None, _INVALID, "the message is too long") if too_long else _answer(self, line)
            if answer is not None:
                text = json.dumps({"jsonrpc": "2.0", **answer}, ensure_ascii=True, allow_nan=False)
                out.write(text.encode() + b"\n")
                out.flush()
            if too_long:
                return

    def listing(self) -> list[dict[str, Any]]:
        """The tools as a client is shown them; only a live judge does more than read."""
        instrument = self.jury.instrument
        reads = f"{instrument.name} reads {', '.join(each.name for each in instrument.inputs)}."
        return [
            {
                "name": name,
                "description": " ".join(f"{takes.__doc__} {reads if takes is JudgeCase else ''}".split()),
                "inputSchema": takes.model_json_schema(),
                "annotations": {
                    "readOnlyHint": not (asks := self.live and takes is JudgeCase),
                    "openWorldHint": asks,
                },
            }
            for name, takes in self.TOOLS.items()
        ]


def _answer(server: CardServer, line: bytes) -> dict[str, Any] | None:
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, _PARSE, "this is not JSON")
    if not isinstance(asked, dict) or not isinstance(asked.get("id", ""), str | int):
        return _error(None, _INVALID, "a message is one JSON object, whose id is a text or a whole number")
    if "id" not in asked or "method" not in asked:
        return None  # a notification, or the answer to a question that this server never asks
    method, given = asked["method"], asked.get("params") or {}
    if not isinstance(given, dict):
        return _error(asked["id"], _PARAMS, "params is an object")
    if method == "initialize":
        version = given.get("protocolVersion")
        found: dict[str, Any] = {
            "protocolVersion": version if version in _VERSIONS else _VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "medjury", "version": __version__},
            "instructions": _ABOUT,
        }
    elif method == "ping":
        found = {}
    elif method == "tools/list":
        found = {"tools": server.listing()}
    elif method == "tools/call":
        return _called(server, asked["id"], given)
    else:
        return _error(asked["id"], _NO_METHOD, f"there is no method {str(method)[:100]!r}")
    return {"id": asked["id"], "result": found}


def _called(server: CardServer, number: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    if (name := str(given.get("name"))) not in server.TOOLS:
        return _error(number, _PARAMS, f"there is no tool of that name; there are {', '.join(server.TOOLS)}")
    try:
        arguments = server.TOOLS[name].model_validate(given.get("arguments") or {})
        found: dict[str, Any] = getattr(server, name)(arguments)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return _error(number, _PARAMS, f"{'.'.join(map(str, first['loc']))[:100]}: {first['msg']}")
    except MedjuryError as error:
        return {"id": number, "result": {"content": [{"type": "text", "text": str(error)}], "isError": True}}
    content = [{"type": "text", "text": json.dumps(found, allow_nan=False)}]
    return {"id": number, "result": {"content": content, "structuredContent": found, "isError": False}}


def _error(number: Any, code: int, message: str) -> dict[str, Any]:
    return {"id": number, "error": {"code": code, "message": message}}
