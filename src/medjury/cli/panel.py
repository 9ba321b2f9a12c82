"""`medjury panel`: clinicians rate in the browser; this serves the pages and looks after the panel's people."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from medjury.cli._main import say
from medjury.models import is_local

FORMATS = ("csv", "xlsx", "label-studio", "redcap")
ROLES = ("coordinator", "rater", "adjudicator", "viewer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    add = _action(commands, "serve", "serve the panel to browsers; prints the coordinator's link")
    add("--port", type=int, default=8765, help="the port to listen at (default 8765; 0: a free one)")
    add("--host", default="127.0.0.1", help="the address to listen at (default: this machine only)")
    add("--public-url", metavar="URL", help="the address that people type, if there is a proxy in front")
    add("--proxy", metavar="ADDRESS", action="append", default=[],
        help="the proxy in front of the panel, trusted for visitors' addresses (127.0.0.1: here)")  # fmt: skip
    add("--oidc", dest="open_id", metavar="FILE", help="let people sign in with the site's OpenID Connect")
    add("--passport", metavar="FILE", help="let programs have texts judged by this validated jury")
    add("--override", metavar="FILE", help="YAML: how that jury is reached here (as for judge)")
    add("--coordinator", metavar="NAME", default="Coordinator", help="the first coordinator's name")

    add = _action(commands, "invite", "print an invitation link, also for somebody who cannot sign in")
    add("--name", required=True)
    add("--role", choices=ROLES, required=True)
    add("--public-url", metavar="URL", help="the address that people type (as for serve)")

    add = _action(commands, "trail", "print the audit trail: who did what, when")
    add("--check", action="store_true", help="only check that no row was changed or removed")

    _action(commands, "include", "bring the ratings into the study and its run; no model is asked")

    add = _action(commands, "export", "write the ratings as a file for another program")
    add("--format", choices=FORMATS, default="csv", help="what the file is for (default csv)")
    add("--out", metavar="FILE", required=True)

    add = _action(commands, "import", "import ratings of the same cases that were given elsewhere")
    add("file", metavar="FILE", help="CSV, Excel, Parquet or JSON")
    add("--mapping", metavar="FILE", help="says which column is what (.yaml)")

    add = _action(commands, "references", "write the cases with the references that panels wrote")
    add("--out", metavar="FILE", required=True, help="a file of cases (.jsonl)")

    add = _action(commands, "questions", "write the replies to further questions")
    add("--out", metavar="FILE", required=True, help="a table (.csv), with the order shown")

    add = _action(commands, "erase", "erase everything that the panel holds of a patient or of cases")
    what = commands.choices["erase"].add_mutually_exclusive_group(required=True)
    what.add_argument("--patient", metavar="ID", help="all cases of this patient, as the study's cases say")
    what.add_argument("--case", metavar="ID", action="append", default=[], help="this case; may be repeated")
    add("--dry-run", action="store_true", help="count what would be erased, and erase nothing")


def _action(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, about: str
) -> Callable[..., argparse.Action]:
    """An action of the panel of a study; what adds its further options."""
    add = commands.add_parser(name, help=about, description=about).add_argument
    add("study", metavar="STUDY", help="the study file")
    add("--database", metavar="URL",
        help="a path or postgresql://USER@HOST/NAME (default: beside the study file)")  # fmt: skip
    return add


def run(options: argparse.Namespace) -> int:
    from medjury import panel

    stated = ("database", "public_url", "open_id", "passport", "override")
    opened = panel.open_panel(options.study, **{name: getattr(options, name, None) for name in stated})
    if options.action == "serve":
        where = {"public_url": options.public_url, "proxies": options.proxy}
        panel.serve(opened, options.host, options.port, **where, coordinator=options.coordinator, say=say)
    elif options.action == "invite":
        print(panel.invitation_link(opened, options.name, options.role))
        if is_local(opened.host):
            words = "This link opens only on this machine; name the address that people type: --public-url"
            print(words, file=sys.stderr)
    elif options.action == "trail":
        print(panel.trail_text(opened, check_only=options.check))
    elif options.action in ("references", "questions"):
        print(panel.write_export(opened, options.out, options.action))
    elif options.action == "include":
        print(panel.include_ratings(opened))
    elif options.action == "erase":
        named = {"patient": options.patient, "cases": options.case}
        print(panel.erase_from_panel(opened, **named, dry_run=options.dry_run))
    elif options.action == "export":
        print(panel.write_export(opened, options.out, f"ratings:{options.format}"))
    else:
        print(panel.take_in_ratings(opened, options.file, options.mapping))
    return 0
