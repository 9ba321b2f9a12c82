"""An answer: a reply as the gate gives it, with what it took."""

from __future__ import annotations

from dataclasses import dataclass

from medjury.models._answering import readable_name
from medjury.models._chat import Reply


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply and what it took. `cost` is what was paid now: 0 for a cached reply, None where the price is
    not known. `worth` is what the reply costs whoever paid for it, so that ways of judging can be compared.
    `key` is that of the call, under which the reply is stored; `asked` is the model that was asked for, and
    `answered` the one that says it answered ("not told" where the endpoint does not say). `was_read` where an
    earlier run had read it as the answer to its question, which was put in other words then."""

    reply: Reply
    cost: float | None
    from_cache: bool
    attempts: int
    worth: float | None
    key: str = ""
    asked: str = ""
    was_read: bool = False

    @property
    def answered(self) -> str:
        return readable_name(self.reply.model)
