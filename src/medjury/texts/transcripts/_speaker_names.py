"""What looks like a speaker's name, and what only looks like one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from medjury.foundation.errors import MedjuryError


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_ROLES = _words(
    """
        doctor dr gp physician clinician provider practitioner consultant surgeon psychiatrist psychologist
        therapist nurse midwife pharmacist paramedic dietitian assistant agent interviewer interviewee
        interpreter translator patient pt client caller customer parent mother father mum mom dad wife
        husband partner daughter son sister brother carer caregiver guardian relative visitor student
        resident speaker spk participant person voice channel host guest operator moderator unknown
    """
)
_NOISES = _words(
    """
        inaudible unintelligible unclear indistinct crosstalk overlapping laughs laughing laughter chuckles
        coughs coughing cough sighs sigh sobs crying cries sniffs pause pauses silence music noise
        background applause beep ringing clears throat blank audio blank_audio redacted name date phone
        address sic foreign end start
    """
)
# A colon follows these words in what people say and write at the head of a page; nobody is called so.
_HEADINGS = _words(
    """
        time date title duration topic participants attendees recording transcript language file
        call
    """
)
_WORDS = _HEADINGS | _words(
    """
        note notes subject yes no so well ok okay remember warning example reminder diagnosis diagnoses medication
        medications plan allergies assessment history summary address phone email result results first
        second third finally also and but because then now please thanks kind
    """
)
_PARTICLES = _words(
    """
        de del della der den di da dos du la le van von zu ter ten al el bin ibn of the and
    """
)
_RELATIVES = _words(
    "mother father mum mom dad wife husband partner daughter son sister brother parent relative"
)
_NUMBERED = re.compile(r"[\W_]*\d+\Z|_\d+\Z")


def tidy(name: str) -> str:
    """A name with single blanks and without what marks it up."""
    return " ".join(name.strip(" \t*_>").split())


def is_relative(name: str) -> bool:
    """Whether a name is that of a relative, which patients say as often as they speak for themselves."""
    return name.strip().casefold() in _RELATIVES


def begins_with_role(name: str) -> bool:
    """Whether the first word is what people are called in a consultation: `Doctor`, but `patient coughs` too."""
    first = re.split(r"[\s_.(-]+", name.strip().casefold(), maxsplit=1)[0]
    return _NUMBERED.sub("", first) in _ROLES


def is_role(name: str) -> bool:
    """Whether a name says a role: `Doctor`, `SPEAKER_00`, `Dr. Smith`; not `patient coughs`."""
    return is_bare_role(name) or (begins_with_role(name) and like_a_name(name[:1].upper() + name[1:]))


def is_bare_role(name: str) -> bool:
    """Whether a name is such a word alone, or with a number or a letter: `Patient`, `speaker 1`, `SPEAKER_00`."""
    found = re.fullmatch(r"([^\W\d_]+)[\s_-]*(?:\d{1,3}|[A-Z])?", name.strip())
    return found is not None and found[1].casefold() in _ROLES


def is_noise(name: str) -> bool:
    """Whether words in brackets tell of a sound, or of something that is left out."""
    return bool(name) and all(
        word.strip(".,") in _NOISES for word in re.split(r"[\s_]+", name.casefold()) if word
    )


def like_a_name(name: str) -> bool:
    """Whether each word could be a part of a name: `Jane O’Neil-Ray (she/her)`, `Smith, J. 2`; not `One thing`."""
    words = re.sub(r"\([^()]*\)", "", name).replace(",", " ").split()
    if not 1 <= len(words) <= 6 or not any(letter.isalpha() for letter in name):
        return False
    if len(words) == 1 and words[0].casefold() in _WORDS:
        return False
    return all(_part(word) for word in words) and not words[0].isdigit()


def is_phrase(name: str) -> bool:
    """Whether words before a colon are no name but part of a sentence: `Can you hear me`."""
    return len(name.split()) > 2 and not like_a_name(name) and not begins_with_role(name)


def is_heading(name: str) -> bool:
    """Whether a word is what the head of a page says before its colons: `Date`, `Duration`."""
    return name.casefold() in _HEADINGS


def _part(word: str) -> bool:
    return not word[0].islower() or word.casefold() in _PARTICLES or word.isdigit()


# Which marks at the beginning of lines are speakers: decided once for the whole file, never line by line.


NAME = r"(?P<name>[^:\[\]{}<>?!;|\n]{1,60}?)"
# `Name: words`, `[Name]: words`, and either in bold.
NAMED = re.compile(
    rf"\s*(?:>>+\s*|[-•]\s+)?[*_]{{0,3}}(?:{NAME}|\[(?P<bracketed>[^\[\]:]{{1,60}})\])\s*:[*_]{{0,3}}(?:\s+(?P<rest>.*)|$)",
    re.DOTALL,
)
# `[Doctor] words`; remarks are written so too, so that only a role is a name there.
_BRACKETED = re.compile(r"\s*[\[(](?P<name>[^\[\]():]{1,60})[\])]\s*(?P<rest>.*)", re.DOTALL)
# `Doctor - words`
_SIGN = re.compile(r"\s*(?P<name>[^\W\d_]+[\s_]?\d{0,3})\s*(?:[-–—>|]\s+|\t\s*)(?P<rest>.*)", re.DOTALL)
# `Q. words` and `A. words`, as an interview is printed
_LETTER = re.compile(r"\s*(?P<name>[QA])\.\s+(?P<rest>\S.*)", re.DOTALL)
# `Smith<tab>words`
_TAB = re.compile(r"(?P<name>[^\t:]{1,40})\t+(?P<rest>\S.*)", re.DOTALL)


def speakers_among(
    marks: Sequence[tuple[str, int]],
    units: int,
    file: str,
    known: Collection[str] | None = None,
    *,
    own_line: bool = False,
) -> frozenset[str]:
    """Of what may be names, each with the line of the file that it begins, those that are speakers, casefolded.
    `units` is how many lines or cues could have had a mark.

    `known` names the speakers, so that nothing is guessed; empty, it says that nobody is named. Otherwise a name
    is sure that tells a role, that looks like a name and appears twice or has two words, or that looks like one
    where every unit has a mark and a unit is its writer's `own_line` (a cue; a line of text may go on with the one
    before). A name that is not sure is refused with its line, in a file that has speakers: whoever spoke, a guess
    would give the words to somebody else. What is plainly a phrase (`Can you hear me: well?`) is words.
    """
    if known is not None:
        return frozenset(tidy(name).casefold() for name in known)
    counts = Counter(tidy(name).casefold() for name, _ in marks)
    most = 2 * len(marks) >= units and len(marks) > 1
    every = own_line and units > 1 and len(marks) == units
    sure, doubtful = set(), []
    for written, line in marks:
        name = tidy(written)
        times, one_word = counts[name.casefold()], len(name.split()) == 1
        likely = like_a_name(name) and (every or times > 1 or not one_word)
        often = most and times > 2 and (one_word or begins_with_role(name))
        if is_role(name) or likely or often:
            sure.add(name.casefold())
        elif times > 1 or not (is_phrase(name) or (is_heading(name) and not sure and not own_line)):
            doubtful.append((written, line))
    if doubtful and (sure or most):
        raise MedjuryError(doubt(*doubtful[0], file))
    return frozenset(sure)


def named(text: str) -> tuple[str | None, str]:
    """Who may be named at the beginning of some words, and the words after it."""
    if found := NAMED.fullmatch(text):
        return found["name"] or found["bracketed"], (found["rest"] or "").strip()
    if (found := _BRACKETED.fullmatch(text)) and not is_noise(found["name"]) and is_role(found["name"]):
        return found["name"], found["rest"].strip()
    if (found := _SIGN.fullmatch(text)) and is_bare_role(found["name"]):
        return found["name"], found["rest"].strip()
    if found := _LETTER.fullmatch(text):
        return found["name"], found["rest"].strip()
    if (found := _TAB.fullmatch(text)) and like_a_name(tidy(found["name"])):
        return found["name"], found["rest"].strip()
    return None, text.strip()


def doubt(name: str, line: int, file: str) -> str:
    """What is said where nobody can tell whether a name is a speaker's."""
    return (
        f"{file}, line {line}: is {tidy(name)!r} a speaker? The file leaves doubt. Name all speakers "
        "with --speakers NAME NAME, say --speakers none, or delete the lines that nobody spoke"
    )


def refuse_names_within(said: Sequence[tuple[int, str]], names: Collection[str], file: str) -> None:
    """Refuse a line in which somebody who speaks elsewhere is named before words once more: `Hi Patient: Hello`.
    The words after it would be taken for those of who began the line. `said` has each line's number and words."""
    known = "|".join(sorted((re.escape(name) for name in names if name), key=len, reverse=True))
    if not known:
        return
    again = re.compile(rf"\S\s+[*_]{{0,3}}(?P<name>{known})[*_]{{0,3}}\s*:\s+\S")
    for number, words in said:
        if (found := again.search(words)) is not None:
            raise MedjuryError(
                f"{file}, line {number}: does {found['name']!r} begin to speak within the line? Begin a new line "
                f"there, or name who speaks with --speakers"
            )
