"""The gate of a tuning: the study's hosts, budget, prices and pace, and a log in the tuning folder."""

from __future__ import annotations

from medjury.models import (
    AuditLog,
    Budget,
    ChatModel,
    Gate,
    Limits,
    MemoryCache,
    PriceList,
    ReplyCache,
    audit_totals,
)
from medjury.store.runs import files
from medjury.tuning._preparation import Preparation


def tuning_gate(made: Preparation, prices: PriceList, cache: ReplyCache | None) -> Gate:
    """The gate that every question of a tuning passes; without a cache, one to check with."""
    study, log = made.study, made.folder / files.AUDIT_LOG
    caps, spent = study.settings.budget, audit_totals(log)
    budget = Budget(
        money=caps.money, calls=caps.calls, spent_money=spent.money, spent_calls=spent.calls,
        perhaps_spent=spent.perhaps, perhaps_calls=spent.unended,
    )  # fmt: skip
    parts = {model.name: part for model, part in study.models}
    parts.setdefault(made.writer.model.name, made.writer_part)
    return Gate(
        cache=MemoryCache() if cache is None else cache,
        allow_hosts=study.settings.allow_hosts,
        budget=budget,
        prices=prices,
        audit=None if cache is None else AuditLog(log),
        limits={
            name: Limits(part.concurrency, part.requests_per_minute, part.tokens_per_minute)
            for name, part in parts.items()
        },
    )


def tuning_models(made: Preparation) -> list[ChatModel]:
    """Every model that a tuning may ask."""
    return list({id(each): each for each in (*made.judge.models, made.writer.model)}.values())
