"""In which language a page speaks. English is the source; the raters' pages are in the catalogues of `locale/` too.

A rater's own choice counts, then what the browser asks for, then English. Whoever is no rater reads English. A
request begins with what its browser asks for, and learns the rater's choice with the rater; both are kept in the
context of the request, which goes along to the thread that writes.
"""

from __future__ import annotations

import gettext
import io
from contextvars import ContextVar
from functools import cache
from pathlib import Path

LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español", "fr": "Français"}
IN_ENGLISH = {"en": "English", "de": "German", "es": "Spanish", "fr": "French"}
ENGLISH = "en"
FOLDER, DOMAIN = Path(__file__).parent / "locale", "medjury"


# One entry, that of the request, which whoever learns of the rater's choice puts in its place.
_spoken: ContextVar[list[str]] = ContextVar("spoken")


def begin(accepted: str) -> None:
    """A new request, from a browser that sends this `Accept-Language`."""
    _spoken.set([asked_for(accepted)])


def speak(language: str) -> None:
    """From here on, to the end of the request."""
    if spoken := _spoken.get(None):
        spoken[0] = language


def language() -> str:
    """The language of this request; English outside of one."""
    return _spoken.get([ENGLISH])[0]


def asked_for(accepted: str) -> str:
    """The first of our languages in an `Accept-Language` such as `fr-CH, fr;q=0.9, en;q=0.8`."""
    wanted: list[tuple[float, str]] = []
    for each in accepted.split(",")[:20]:
        name, _, quality = each.partition(";")
        try:
            weight = float(quality.partition("=")[2]) if quality else 1.0
        except ValueError:
            weight = 0.0
        if weight > 0:
            wanted.append((-weight, name.strip().lower().partition("-")[0]))
    found = (name for _, name in sorted(wanted, key=lambda each: each[0]) if name in LANGUAGES)
    return next(found, ENGLISH)


def _(message: str, **values: object) -> str:
    """The message in the language of the request; `%(name)s` in it is the value of that name."""
    text = translations(language()).gettext(message)
    return text % values if values else text


def plural(one: str, many: str, number: int, **values: object) -> str:
    """The form that the language uses for this number, which is `%(number)s` in it."""
    return translations(language()).ngettext(one, many, number) % {"number": number, **values}


def decimal(number: float) -> str:
    """A number as the language writes it: 10,000 is 10.000 in German."""
    if language() == ENGLISH:
        return f"{number:,}".removesuffix(".0")
    from babel.numbers import format_decimal

    return str(format_decimal(number, locale=language()))


def marked(message: str) -> str:
    """A message that goes into the catalogues, and is translated where it is shown."""
    return message


@cache
def translations(language: str) -> gettext.NullTranslations:
    """The catalogue as `gettext` uses it, read from its text by Babel."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}.po").open("rb") as file:
        catalogue = read_po(file, language, DOMAIN)
    compiled = io.BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
