"""A panel for a study file: where its database lies, and the link by which its first coordinator comes in."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from medjury.foundation.errors import MedjuryError
from medjury.panel._database import open_panel_database
from medjury.panel._open_id_settings import read_open_id_settings
from medjury.panel._panel import Panel
from medjury.studies import load_rated_study

DEFAULT_PORT = 8765


def open_panel(
    study_file: str | Path,
    *,
    database: str | None = None,
    public_url: str | None = None,
    open_id: str | Path | None = None,
    passport: str | Path | None = None,
    override: str | Path | None = None,
) -> Panel:
    """The panel of a study, with its rounds set up. Unless another place is named, its database lies beside the
    study file, and so does what the jury of a `passport` keeps."""
    from medjury.in_use.passports import PassportDoor
    from medjury.panel._design import set_up
    from medjury.panel._meeting import set_up_references

    study = load_rated_study(study_file)
    url = checked_url(public_url or f"http://localhost:{DEFAULT_PORT}")
    settings = read_open_id_settings(open_id) if open_id else None
    place = database or str(study.file.resolve().parent / f"{study.name}.panel.sqlite")
    beside = study.file.resolve().parent / f"{study.name}.jury"
    jury = None if passport is None else PassportDoor.open(passport, beside, override)
    panel = Panel(open_panel_database(place), study=study, public_url=url, open_id=settings, jury=jury)
    with panel.database.writing() as connection:
        set_up(connection, study, panel.now())
        set_up_references(connection, study)
    return panel


def checked_url(url: str) -> str:
    """The address that people type, refused where it is none."""
    try:
        parts = urlsplit(url)
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        port = f":{parts.port}" if parts.port not in (None, usual) else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise MedjuryError(
            f"--public-url {url!r} is not an address; write it like https://panel.hospital.example"
        )
    if parts.path.rstrip("/") or parts.query or parts.fragment:
        raise MedjuryError("--public-url: the panel needs a host name of its own, without a path behind it")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{port}"


def coordinators_link(panel: Panel, name: str = "Coordinator") -> str | None:
    """A new link for the coordinator, where none has joined yet; a link that was printed before stops working."""
    from medjury.panel._access import Role, add_person, invite, join_address, people

    with panel.database.writing() as connection:
        found = [each for each in people(connection) if each.person.role == Role.COORDINATOR]
        if any(each.joined_at and not each.disabled_at for each in found):
            return None
        waiting = [each.person for each in found if not each.joined_at and not each.disabled_at]
        guest = waiting[0] if waiting else add_person(connection, name, Role.COORDINATOR, now=panel.now())
        return join_address(panel, invite(connection, guest, by="the command line", now=panel.now()))


def invitation_link(panel: Panel, name: str, role: str) -> str:
    """A link for a new person, or a new one for somebody who has lost theirs, from the command line."""
    from medjury.panel._access import Role, add_person, invite, join_address, person_named

    with panel.database.writing() as connection:
        found = person_named(connection, name)
        if found and found.person.role != role:
            raise MedjuryError(
                f"{found.person.name} is {found.person.role} here; choose another name for a {role}"
            )
        if found and found.disabled_at:
            raise MedjuryError(f"{found.person.name} is locked out; a coordinator can let them in again")
        guest = found.person if found else add_person(connection, name, Role(role), now=panel.now())
        return join_address(panel, invite(connection, guest, by="the command line", now=panel.now()))
