"""Does every score of a run follow from its reply? The replies are read again, and nothing is written.

The audit log, whose place the manifest holds, has the hash of every reply; the store has the reply; the run folder
has the score. Whoever rewrites one of them leaves it in conflict with the others.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from medjury.foundation.errors import MedjuryError
from medjury.foundation.limits import OWN, read_parquet
from medjury.instruments import TRANSIENT, Reason
from medjury.intake.cases import clean_text
from medjury.judging import EarlierRun, Progress, Rater, Reread, ScoresJudge, run_async
from medjury.models import audit_replies
from medjury.store.ratings import Question, Rating, RatingColumns, Store, StoredRecord, erasures, open_store
from medjury.store.runs import Check, Manifest, RunFolder, files
from medjury.studies._afterwards.earlier_run import read_again, study_of_run, with_drafts
from medjury.studies._study.study import Study
from medjury.version import __version__

SCORES, REPLIES = "scores", "replies"
_SHOWN = 5
_KINDS = ("judge", "jury", "clinician")
_AT_ONCE = 500
_NO_REPLY = "no reply to the question is stored"
_ERASED = "no reply to the question is stored, and the store has a log of erasures"
_OTHER_JUDGE = "the study file does not have this judge, or its file of scores, as the run had it"
Place = tuple[str, str, str, str, int]  # item, system, rater, dimension, repeat
Outcome = tuple[str, float | None]  # status and score


def check_scores(folder: str | Path, *, study: str | Path | None = None) -> tuple[Check, ...]:
    """Every stored score beside what its reply says, the replies beside the audit log, and the run folder's ratings
    beside the store. What cannot be compared is counted with its reason; where nothing can, the check is not known
    to be sound."""
    place = Path(folder)
    manifest = RunFolder(place).manifest
    if not manifest.run or not manifest.judges:
        return ()
    try:
        given, address = study_of_run(place, manifest, study)
        given = with_drafts(given, place)
        if "://" not in address and not Path(address).is_file():
            text = "is missing, so no score can be compared with its reply; put it back from a copy"
            return (Check(Path(address).name, False, text),)
        with open_store(address, create=False) as store:
            return tuple(_compared(place, manifest, given, store))
    except MedjuryError as error:
        return (Check(SCORES, False, f"not compared with their replies: {error}", known=False),)


def _compared(folder: Path, manifest: Manifest, study: Study, store: Store) -> Iterator[Check]:
    run = manifest.run
    if run not in {each.name for each in store.runs()}:
        yield Check(
            SCORES,
            False,
            f"the store ({store.place}) holds no run {run}: it is a different store, or was emptied",
        )
        return
    # Scores from a file have no replies, and are compared with the file: its hash is in the manifest.
    compared = [judge for judge in study.jury.judges if _is_as_then(judge, manifest)]
    stored = {_place(row): _outcome(row) for row in store.ratings(run) if row.rater_kind == "judge"}
    names = {judge.name for judge in compared}
    ledger = _Ledger()
    earlier = EarlierRun(store, run)
    judges = [Reread(judge, f"{run}-compared", earlier, study.prices) for judge in compared]
    run_async(read_again(study, judges, ledger, run, Progress()))
    logged = audit_replies(folder / files.AUDIT_LOG)
    erased = _were_erased(store, logged)
    yield _scores(stored, names, ledger.ratings, erased, manifest)
    yield from _replies(store, ledger.replies, logged)
    yield from _exported(folder, study.jury.blocks(store.blocks(run)), erased, manifest.status == "complete")


def _is_as_then(judge: Rater, manifest: Manifest) -> bool:
    """Whether a judge asks models now as it did then, or has its scores from the very same file."""
    then = manifest.judge(judge.name)
    now = {judge.file.hash} if isinstance(judge, ScoresJudge) else set()
    return then is not None and {each.scores for each in then.models} - {None} == now


def _were_erased(store: Store, logged: Iterable[str]) -> bool:
    """Whether the log of erasures accounts for what the store lacks: no more replies are gone than it counts."""
    entries = erasures(store)
    if not entries:
        return False
    keys = iter(logged)
    gone = 0
    while some := list(islice(keys, _AT_ONCE)):
        gone += len(some) - len(store.replies(some))
    return gone <= sum(each.rows.get("replies", 0) for each in entries)


class _Ledger:
    """Keeps what was read in memory; the store stays as it is."""

    def __init__(self) -> None:
        self.ratings: dict[Place, Rating] = {}
        self.replies: set[str] = set()  # the keys of those that were read

    async def settled(
        self, keys: Collection[str], retry: Collection[Reason], *, run: str | None = None
    ) -> set[str]:
        return set()

    async def write_ratings(
        self,
        run: str,
        ratings: Sequence[Rating],
        records: Sequence[StoredRecord] = (),
        questions: Sequence[Question] = (),
    ) -> None:
        self.ratings.update((_place(row), row) for row in ratings)
        self.replies.update(each.reply for each in questions if each.reply is not None)


def _scores(
    stored: dict[Place, Outcome],
    asked: Collection[str],
    read: dict[Place, Rating],
    erased: bool,
    manifest: Manifest,
) -> Check:
    """What is stored beside what was read. Unscored for another reason is no other score."""
    without: Counter[str] = Counter()
    differ: list[Place] = []
    for place, outcome in stored.items():
        now = read.get(place)
        if place[2] not in asked:
            without[_OTHER_JUDGE] += 1
        elif now is None or now.reason in TRANSIENT:
            if outcome[0] != "unscored":
                without[_ERASED if erased else _NO_REPLY] += 1
        elif _outcome(now) != outcome:
            differ.append(place)
    compared = len(stored) - without.total()
    source = f"their replies{' or their file of scores' if manifest.from_files else ''}"
    text = f"{compared:,} of {len(stored):,} ratings compared with {source}"
    text += "".join(f"; {count:,} not: {why}" for why, count in without.items())
    if differ:
        what = f"not what the reply says{', or the file' if manifest.from_files else ''}"
        text += f"; {_named(differ, what)}"
        if manifest.medjury != __version__:
            text += f" (the run was made by Medjury {manifest.medjury}, which may have read them differently)"
    if stored and not compared:
        return Check(SCORES, False, text, known=bool(differ))
    sound = not differ and not without[_NO_REPLY] and not without[_OTHER_JUDGE]
    return Check(SCORES, sound, text if differ else f"{text}; none differs")


def _replies(store: Store, keys: Iterable[str], logged: dict[str, set[str]]) -> Iterator[Check]:
    """The stored replies beside the hashes that the audit log has of them. One that another run paid for is in the
    log of that run."""
    own = iter(sorted(keys))
    same, elsewhere, altered = 0, 0, list[str]()
    while some := list(islice(own, _AT_ONCE)):
        for key, reply in store.replies(some).items():
            hash = hashlib.sha256(reply.text.encode("utf-8", "surrogatepass")).hexdigest()
            if key not in logged:
                elsewhere += 1
            elif hash in logged[key]:
                same += 1
            else:
                altered.append(key)
    text = f"{same:,} are those of the audit log"
    text += f"; {elsewhere:,} are not in this log: another run asked for them" if elsewhere else ""
    if altered:
        named = ", ".join(key[:12] for key in altered[:_SHOWN])
        text += f"; {len(altered):,} were changed after they came (keys {named}{' …' if altered[_SHOWN:] else ''})"
    yield Check(REPLIES, not altered, text)


def _exported(folder: Path, blocks: Iterable[RatingColumns], erased: bool, complete: bool) -> Iterator[Check]:
    """The ratings in the run folder beside those that follow from the store: votes, juries, composites, and what
    clinicians gave. A run that was stopped may not have written all of them."""
    table = read_parquet(folder / files.RATINGS, times=OWN)
    columns = ("item", "system", "rater", "dimension", "repeat", "rater_kind", "status", "score")
    written = {
        (item, system, rater, dimension, repeat): (status, score)
        for item, system, rater, dimension, repeat, kind, status, score in table.select(columns).iter_rows()
        if kind in _KINDS
    }
    differ, lacking, missing = list[Place](), list[Place](), set(written)
    for block in blocks:
        for row in block.ratings():
            place = _place(row)
            missing.discard(place)
            if row.rater_kind not in _KINDS:
                continue
            if place not in written:
                lacking.append(place)
            elif written[place] != _outcome(row):
                differ.append(place)
    if lacking and complete:
        yield Check(files.RATINGS, False, _named(lacking, "in the store and not in this file"))
    if differ:
        yield Check(files.RATINGS, False, _named(differ, "not what follows from the store"))
    if missing:
        why = ", which has a log of erasures" if erased else ""
        yield Check(files.RATINGS, erased, _named(sorted(missing), f"not in the store{why}"))


def _named(places: Sequence[Place], what: str) -> str:
    """How many, and the first few by their ids."""
    shown = "; ".join(
        f"{clean_text(item)}{f' ({clean_text(system)})' if system else ''}, {clean_text(rater)}, {dimension}"
        for item, system, rater, dimension, _ in places[:_SHOWN]
    )
    verb = "is" if len(places) == 1 else "are"
    return f"{len(places):,} {verb} {what} [{shown}{'; …' if places[_SHOWN:] else ''}]"


def _place(row: Rating) -> Place:
    return row.item, row.system, row.rater, row.dimension, row.repeat


def _outcome(row: Rating) -> Outcome:
    return row.status, row.score
