"""What a form sent: read only where it came from one of our own pages."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartParser

from medjury.panel._access._secrets import form_secret, form_token
from medjury.panel._language import _

MOST_FIELDS = 2000
LARGEST_BODY = 2 * 1024 * 1024


class SentFile(NamedTuple):
    """A file that a form brought along, under the name that it had there."""

    name: str
    content: bytes


class Form(Mapping[str, str]):
    """The fields of a form; of a name that appears several times, `all` gives every value and `[]` the last."""

    def __init__(self, fields: list[tuple[str, str]], files: Mapping[str, SentFile] | None = None) -> None:
        self._fields = fields
        self._last = dict(fields)
        self.files = files or {}

    def __getitem__(self, name: str) -> str:
        return self._last[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._last)

    def __len__(self) -> int:
        return len(self._last)

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Every field in the order of the form."""
        return self._fields

    def all(self, name: str) -> list[str]:
        return [value for each, value in self._fields if each == name]

    def number(self, name: str) -> int:
        """What a field counts, such as the version that the form was opened with; what is no number is older than
        anything."""
        text = self.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


class _FormOf:
    """Reads a form, and refuses one that another site sent in a person's name (403)."""

    checks_origin: bool = True

    async def __call__(self, request: Request) -> Form:
        refuse_other_sites(request)
        form = request.state.form = await read_fields(request)
        secret = form_secret(request)
        given = request.headers.get("x-csrf-token") or form.get("csrf", "")
        if secret is None or not hmac.compare_digest(given.encode(), form_token(secret).encode()):
            if (claim := getattr(request.state, "claim", None)) is not None:
                await run_in_threadpool(claim.check)  # whoever is not signed in learns that first
            raise HTTPException(
                403, _("This form is no longer valid. Open the page again and send it once more.")
            )
        return form


form_of = _FormOf()
SentForm = Annotated[Form, Depends(form_of)]  # how a route that changes something reads its body


class _InMemory(MultiPartParser):
    """What is sent may hold clinical text: it is not written to a temporary file, however large it is."""

    spool_max_size = LARGEST_BODY + 1


async def read_fields(request: Request) -> Form:
    """The form as it was sent, whoever sent it."""
    kind = request.headers.get("content-type", "")
    try:
        if kind.startswith("multipart/form-data"):
            sent = await _InMemory(
                request.headers, request.stream(), max_files=4, max_fields=MOST_FIELDS
            ).parse()
        else:
            sent = await request.form(max_fields=MOST_FIELDS)
    except HTTPException:
        raise
    except Exception:  # whatever was sent is no form
        raise HTTPException(400) from None
    fields: list[tuple[str, str]] = []
    files: dict[str, SentFile] = {}
    for name, value in sent.multi_items():
        if isinstance(value, UploadFile):
            files[name] = SentFile(_storable(value.filename or ""), await value.read())
        else:
            fields.append((name, _storable(value)))
    await sent.close()
    return Form(fields, files)


def refuse_other_sites(request: Request) -> None:
    """A browser says which site a request comes from; one that is not ours changes nothing here."""
    origin = request.headers.get("origin")
    own = {urlsplit(request.app.state.panel.public_url).netloc, request.headers.get("host", "")}
    # "null" is what browsers send where a page asks, as ours do, that its address is not passed on.
    if origin not in (None, "null") and urlsplit(origin).netloc not in own:
        raise HTTPException(403, _("This request came from another site. Open the page here and try again."))
    if request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        raise HTTPException(403, _("This request came from another site. Open the page here and try again."))


def _storable(text: str) -> str:
    """Without what no database can keep: a zero byte, half a surrogate pair."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()
