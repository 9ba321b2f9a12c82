"""What looks like a speaker's name, and what only looks like one."""

from __future__ import annotations

import re


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
