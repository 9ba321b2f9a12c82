"""The replies to further questions as a table, with the order that was shown, and how much the order did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from medjury.foundation.files import whole_file
from medjury.panel._design import Round
from medjury.panel._design._tables import assignments_table, items_table
from medjury.panel._meeting._questions._asking import LEFT, RIGHT, applies
from medjury.panel._meeting._tables import asked_table, replies_table
from medjury.panel._rating._saving import newest
from medjury.statistics import Estimate, counted_share, shown, undefined
from medjury.store.ratings import guard_frame

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True)
class QuestionReply:
    """One rater's last reply. `choice` is as it was shown, `chosen` what it means: the text that stood there."""

    item: str
    system: str
    person: str
    question: str
    left: str
    right: str
    choice: str
    chosen: str
    why: str
    said_at: str
    version: int
    probability: float | None


@dataclass(frozen=True)
class OrderCounts:
    """How often the left and the right text were chosen, whatever they were, and how often each text by its place.

    Without an effect of order `left` is half of `left + right`, and a text is chosen as often left as right. A
    habit is a person's, so the interval of `left_share` takes all replies of one rater together.
    """

    question: str
    left: int
    right: int
    neither: int
    by_text: dict[str, dict[str, tuple[int, int]]]  # text -> its place -> (chosen, shown there)
    left_share: Estimate  # of the replies that chose a side

    def text(self) -> str:
        """What order did, in a sentence."""
        sides = self.left + self.right
        chose = f"{sides:,} {'reply' if sides == 1 else 'replies'}"
        return (
            f"{self.question}: the left text was chosen in {shown(self.left_share)} of {chose} that chose a side "
            "(0.5 where order does nothing)"
        )


def question_replies(connection: Connection, round_: Round) -> Iterator[QuestionReply]:
    """The last replies of a round, without those whose grade was changed since, so that nobody would ask."""
    a, i, q, r = assignments_table, items_table, asked_table, replies_table
    stated = {each["name"]: each for each in round_.settings.get("questions", ())}
    query = (
        select(q, a.c.person, a.c.probability, a.c.id.label("own"), i.c.item.label("case_item"), i.c.system)
        .join(a, a.c.id == q.c.assignment)
        .join(i, i.c.id == a.c.item)
        .where(a.c.round == round_.id, a.c.withdrawn_at.is_(None))
        .order_by(q.c.question, i.c.id, a.c.person)
    )
    for row in connection.execute(query).all():
        last = newest(connection, row.own, submitted=True)
        said = connection.execute(
            select(r).where(r.c.asked == row.id).order_by(r.c.version.desc()).limit(1)
        ).first()
        question = stated.get(row.question)
        if said is None or last is None or question is None or not applies(question, last.outcomes):
            continue
        first, second = question["between"] or ("", "")
        left, right = (second, first) if row.turned else (first, second)
        chosen = {LEFT: left, RIGHT: right}.get(said.choice, said.choice) if left else said.choice
        yield QuestionReply(
            row.case_item, row.system, row.person, row.question, left, right, said.choice, chosen, said.why,
            said.said_at, said.version, row.probability,
        )  # fmt: skip


def order_counts(replies: Iterable[QuestionReply], question: str) -> OrderCounts:
    """Count the choices by place."""
    own = [each for each in replies if each.question == question and each.left]
    texts = sorted({name for each in own for name in (each.left, each.right)})
    by_text = {
        text: {
            LEFT: _counted(own, text, LEFT),
            RIGHT: _counted(own, text, RIGHT),
        }
        for text in texts
    }
    places = [each.choice for each in own]
    left, right = places.count(LEFT), places.count(RIGHT)
    return OrderCounts(question, left, right, len(places) - left - right, by_text, _left_share(own))


def _left_share(replies: list[QuestionReply]) -> Estimate:
    chose = [each for each in replies if each.choice in (LEFT, RIGHT)]
    raters = [each.person for each in chose]
    if len(set(raters)) < 2:
        return undefined("two raters or more must have chosen a side", len(chose), "none")
    return counted_share([each.choice == LEFT for each in chose], raters)


def write_question_replies(replies: Iterable[QuestionReply], file: str | Path) -> int:
    """Write the replies as CSV and say how many there are."""
    import polars

    rows = [asdict(each) for each in replies]
    kinds = {"version": polars.Int64, "probability": polars.Float64}
    schema = {each.name: kinds.get(each.name, polars.String) for each in fields(QuestionReply)}
    with whole_file(Path(file)) as out:
        out.write(guard_frame(polars.DataFrame(rows, schema=schema)).write_csv())
    return len(rows)


def _counted(replies: list[QuestionReply], text: str, place: str) -> tuple[int, int]:
    there = [each for each in replies if (each.left if place == LEFT else each.right) == text]
    return sum(each.choice == place for each in there), len(there)
