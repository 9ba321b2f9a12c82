"""One spelling of all that looks alike, so that a grade is found however the author of a text wrote it."""

from __future__ import annotations

import html
import re
import unicodedata

_ALIKE = {
    **dict.fromkeys("´‘’‚‛′“”„‟″«»‹›", '"'),
    **dict.fromkeys("‐‑‒–—―−﹣", "-"),
    # Letters of other scripts that are drawn like Latin ones.
    **dict(
        zip(
            "аеорсухіјѕһԁԛԝкмтвнгҽӏαοεικνρτυχηɑɡıᴀᴄᴇᴏ",
            "aeopcyxijshdqwkmtbhrelaoeikvptuxhagiaceo",
            strict=True,
        )
    ),
}
# Soft hyphens, joiners and the like are not seen; accents and the frames of keycaps make no other letter.
_UNSEEN = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
                     "\u2060-\u206f\ufe00-\ufe0f\ufeff\u0300-\u036f\u20d0-\u20ff]")  # fmt: skip
_TAGGED = re.compile("[\U000e0020-\U000e007e]")  # letters that no reader sees and every model reads
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_STARS = re.compile("[★⭐✭✮✯\U0001f31f]+")
_ESCAPED = re.compile(r"\\u00([0-7][0-9a-f])")


def folded(text: str) -> str:
    """The text in small Latin letters, plain digits, one kind of quote and of dash, without escapes.

    >>> folded("“Аccurасy”： ５")
    '"accuracy": 5'
    """
    if "&" in text:
        text = html.unescape(html.unescape(text))
    if not text.isascii():
        text = _TAGGED.sub(lambda sign: chr(ord(sign.group()) - 0xE0000), text)
        text = _STARS.sub(lambda run: f" {len(run.group())} ", text)
        text = _UNSEEN.sub("", unicodedata.normalize("NFKD", text)).casefold()
        text = _FOREIGN.sub(_latin, text)
    text = text.lower()
    if "\\" in text:
        text = _ESCAPED.sub(lambda code: chr(int(code.group(1), 16)), text).lower()
        text = text.replace("\\n", "\n").replace("\\", "")
    return text.replace("'", '"').replace("`", '"')


def _latin(found: re.Match[str]) -> str:
    sign = found.group()
    number = unicodedata.numeric(sign, 0.5)  # 五 as well
    return str(int(number)) if number.is_integer() else _ALIKE.get(sign, sign)
