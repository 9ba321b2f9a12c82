"""Downloads a benchmark's files, on request alone and from the addresses in its YAML file alone."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NoReturn

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import private_folder, whole_part
from medjury.store.runs import file_hash
from medjury.suites._benchmark import Benchmark, inputs_of

MOST_BYTES = 500_000_000
_SECONDS = 60
_CHUNK = 1 << 20


class FetchError(MedjuryError):
    """A file did not come; nothing of it was kept."""

    exit_status = 1


def _plan(benchmark: Benchmark) -> str:
    """What would be downloaded, from where, under which licence, with which checksum; refused where nothing is."""
    if not benchmark.fetched:
        columns = ["id", *inputs_of(benchmark.prompt), *(["gold"] if benchmark.gold else [])]
        form = f" as a table with the columns {', '.join(columns)}" if benchmark.loader == "table" else ""
        raise MedjuryError(
            f"{benchmark.name} has no address to download from (access: {benchmark.access}). Its data: "
            f"{benchmark.source}. Check your copy{form} with: medjury bench check {benchmark.name} --data PATH"
        )
    lines = [f"{benchmark.title}", f"  licence: {benchmark.licence}", f"  source: {benchmark.source}"]
    for each in benchmark.fetched:
        known = each.sha256 or "none is known; that of the downloaded file will be shown"
        lines += [f"  {each.name}", f"    from {each.address}", f"    sha256 {known}"]
    return "\n".join(lines)


def fetch_files(benchmark: Benchmark, folder: Path, *, agree: Callable[[], bool], most_bytes: int) -> bool:
    """Print what would be downloaded, ask whether that is agreed to, and put every file of it into the folder;
    False where it is not. A file that is there already with its checksum is not asked for again; one that comes
    with another checksum is not kept."""
    print(_plan(benchmark))
    if not agree():
        return False
    private_folder(folder)
    for each in benchmark.fetched:
        target, wanted = folder / each.name, each.sha256
        if wanted and target.is_file() and file_hash(target) == wanted:
            print(f"{target}: is already here")
        else:
            came = download(each.address, target, wanted, most_bytes)
            remark = "" if wanted else " (none to compare it with)"
            print(f"{target}: {target.stat().st_size:,} bytes, sha256 {came}{remark}")
    return True


def download(address: str, target: Path, wanted: str, most_bytes: int) -> str:
    from medjury.models import host_of, is_local

    if not address.startswith("https://") and not is_local(host_of(address)):
        raise MedjuryError(
            f"{address}: is not encrypted on its way; write an address that begins with https://"
        )
    digest, size = hashlib.sha256(), 0
    try:
        with _open(address) as answer, whole_part(target) as part, part.open("wb") as file:
            while chunk := answer.read(_CHUNK):
                size += len(chunk)
                if size > most_bytes:
                    raise FetchError(
                        f"{address}: is larger than {most_bytes:,} bytes; nothing was kept (--most-mb)"
                    )
                digest.update(chunk)
                file.write(chunk)
            _require_whole(address, answer, size)
            if wanted and digest.hexdigest() != wanted:
                raise FetchError(
                    f"{address}: what came has the sha256 {digest.hexdigest()}, not {wanted}. The source has "
                    "changed, or the file was altered on its way; nothing was kept. Ask the source before "
                    "you use it"
                )
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise FetchError(
            f"{address}: could not be fetched ({reason}). Without internet: fetch it elsewhere, compare its "
            f"sha256, and put it here: {target}"
        ) from None
    return digest.hexdigest()


def _require_whole(address: str, answer: Any, size: int) -> None:
    stated = answer.headers.get("Content-Length")
    if size == 0 or (stated is not None and stated.isdecimal() and int(stated) != size):
        raise FetchError(
            f"{address}: came cut short ({size:,} of {stated or 'some'} bytes); nothing was kept"
        )


def _open(address: str) -> Any:
    headers = {"User-Agent": "medjury", "Accept-Encoding": "identity"}
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - http(s) alone, seen above
    opener = urllib.request.build_opener(
        _NoRedirect, urllib.request.ProxyHandler({})
    )  # nor anybody in between
    return opener.open(request, timeout=_SECONDS)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The address in the file is the one that was agreed to: no other is followed."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> NoReturn:
        raise FetchError(f"{req.full_url}: redirects to another address ({newurl}), which is not followed")
