"""What an erasure did, in words, and what it could not reach."""

from __future__ import annotations

from medjury.store.ratings._erasure.erasure import Erased

_WORDS = {
    "ratings": ("rating", "ratings"),
    "replies": ("reply", "replies"),
    "records": ("record of how ratings came about", "records of how ratings came about"),
    "questions": ("question", "questions"),
    "runs": ("manifest with an id in it", "manifests with an id in them"),
}
_NOT_REACHED = (
    "This command does not reach, and you must see to:",
    "- the run folders{runs}: ratings, records, drafts, patients, tables and reports lie there as files. Take the "
    "cases out of the file of cases and run the study again (nothing is paid twice), or delete the folders. Their "
    "audit.jsonl holds hashes only and stays whole;",
    "- the files of cases, exports, answers written by `medjury runs record`, files for training, prompts with "
    "examples;",
    "- batch jobs that are still with a provider: their answers come with the next run of their study;",
    "- the database of the panel, if clinicians rated there: `medjury panel erase STUDY --patient ID`;",
    "- backups, copies and snapshots of this store; PostgreSQL's write-ahead log and replicas;",
    "- what a reply about another case may quote of it, where it was an example in the prompt.",
)


def erased_text(done: Erased, place: str, *, dry_run: bool) -> str:
    """A few lines; what is left over follows whatever was done."""
    if not done and not done.earlier:
        return f"{place} holds nothing that is older."
    if done.earlier:
        lines = [
            f"{place} holds nothing of it: it was erased at {done.earlier}. Free space was cleared again."
        ]
    else:
        rows = [
            f"{count:,} {words[count > 1]}"
            for name, words in _WORDS.items()
            if (count := done.rows.get(name))
        ]
        verb = "Would be erased from" if dry_run else "Erased from"
        lines = [f"{verb} {place}: {', '.join(rows) or 'links only'}."]
    if done.unlinked:
        fate = "are among them" if done.unlinked_go else "are kept"
        lines.append(
            f"{done.unlinked:,} replies belong to no rating, so that their case is not known (questions that were "
            f"asked again, runs that were stopped, an old store): they {fate}."
        )
    if done.undated:
        lines.append(f"{done.undated:,} ratings were kept because their date cannot be read.")
    runs = f" of {', '.join(done.runs)}" if done.runs else ""
    return "\n".join([*lines, "", *(each.format(runs=runs) for each in _NOT_REACHED)])


def not_found_text(done: Erased) -> str:
    """That nothing was found, and where something may be all the same."""
    told = "none of its ratings is of what was named; nothing was erased. Check the id."
    if not done.unlinked:
        return told
    return (
        f"{told} But {done.unlinked:,} replies belong to no rating, so that their case is not known; "
        "`--before DATE` erases them by their age."
    )
