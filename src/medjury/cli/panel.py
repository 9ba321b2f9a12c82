"""`medjury panel`: clinicians rate in the browser; this serves the pages and looks after the panel's people."""

from __future__ import annotations

import argparse
import sys

FORMATS = ("csv", "xlsx", "label-studio", "redcap")
ROLES = ("coordinator", "rater", "adjudicator", "viewer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    serve = _action(commands, "serve", "serve the panel to browsers; prints the coordinator's link", _serve)
    serve.add_argument(
        "--port", type=int, default=8765, help="the port to listen at (default 8765; 0: a free one)"
    )
    serve.add_argument(
        "--host", default="127.0.0.1", help="the address to listen at (default: this machine only)"
    )
    serve.add_argument(
        "--public-url", metavar="URL", help="the address that people type, if there is a proxy in front"
    )
    serve.add_argument(
        "--proxy",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="the proxy in front of the panel, trusted for visitors' addresses (127.0.0.1: here)",
    )
    serve.add_argument("--oidc", metavar="FILE", help="let people sign in with the site's OpenID Connect")
    serve.add_argument(
        "--passport", metavar="FILE", help="let programs have texts judged by this validated jury"
    )
    serve.add_argument(
        "--override", metavar="FILE", help="YAML: how that jury is reached here (as for judge)"
    )
    serve.add_argument(
        "--coordinator", metavar="NAME", default="Coordinator", help="the first coordinator's name"
    )

    invite = _action(
        commands, "invite", "print an invitation link, also for somebody who cannot sign in", _invite
    )
    invite.add_argument("--name", required=True)
    invite.add_argument("--role", choices=ROLES, required=True)
    invite.add_argument("--public-url", metavar="URL", help="the address that people type (as for serve)")

    trail = _action(commands, "trail", "print the audit trail: who did what, when", _trail)
    trail.add_argument("--check", action="store_true", help="only check that no row was changed or removed")

    _action(commands, "include", "bring the ratings into the study and its run; no model is asked", _include)

    export = _action(commands, "export", "write the ratings as a file for another program", _export)
    export.add_argument("--format", choices=FORMATS, default="csv", help="what the file is for (default csv)")
    export.add_argument("--out", metavar="FILE", required=True)

    bring = _action(commands, "import", "import ratings of the same cases that were given elsewhere", _import)
    bring.add_argument("file", metavar="FILE", help="CSV, Excel, Parquet or JSON")
    bring.add_argument("--mapping", metavar="FILE", help="says which column is what (.yaml)")

    references = _action(
        commands, "references", "write the cases with the references that panels wrote", _references
    )
    references.add_argument("--out", metavar="FILE", required=True, help="a file of cases (.jsonl)")

    questions = _action(commands, "questions", "write the replies to further questions", _questions)
    questions.add_argument(
        "--out", metavar="FILE", required=True, help="a table (.csv), with the order shown"
    )

    erase = _action(
        commands, "erase", "erase everything that the panel holds of a patient or of cases", _erase
    )
    what = erase.add_mutually_exclusive_group(required=True)
    what.add_argument("--patient", metavar="ID", help="all cases of this patient, as the study's cases say")
    what.add_argument("--case", metavar="ID", action="append", default=[], help="this case; may be repeated")
    erase.add_argument("--dry-run", action="store_true", help="count what would be erased, and erase nothing")


def run(options: argparse.Namespace) -> int:
    return int(options.act(options))


def _action(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, about: str, act: object
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=about, description=about)
    parser.add_argument("study", metavar="STUDY", help="the study file")
    parser.add_argument(
        "--database",
        metavar="URL",
        help="a path or postgresql://USER@HOST/NAME (default: beside the study file)",
    )
    parser.set_defaults(act=act)
    return parser


def _serve(options: argparse.Namespace) -> int:
    from medjury.cli._main import say
    from medjury.panel import listen, open_panel, reached_at, serve

    panel = open_panel(
        options.study,
        database=options.database,
        public_url=options.public_url,
        open_id=options.oidc,
        passport=options.passport,
        override=options.override,
    )
    with listen(options.host, options.port) as listening:
        panel = reached_at(panel, options.host, listening, options.public_url)
        serve(panel, listening, proxies=options.proxy, coordinator=options.coordinator, say=say)
    return 0


def _invite(options: argparse.Namespace) -> int:
    from medjury.models import is_local
    from medjury.panel import invitation_link, open_panel

    panel = open_panel(options.study, database=options.database, public_url=options.public_url)
    print(invitation_link(panel, options.name, options.role))
    if is_local(panel.host):
        print(
            "This link opens only on this machine; name the address that people type: --public-url",
            file=sys.stderr,
        )
    return 0


def _trail(options: argparse.Namespace) -> int:
    from medjury.panel import open_panel, trail_text

    print(trail_text(open_panel(options.study, database=options.database), check_only=options.check))
    return 0


def _references(options: argparse.Namespace) -> int:
    from medjury.panel import open_panel, save_references

    written, lacking = save_references(open_panel(options.study, database=options.database), options.out)
    print(f"{options.out}: {written} cases with the reference of a panel, {lacking} without one left out")
    return 0


def _questions(options: argparse.Namespace) -> int:
    from medjury.panel import open_panel, save_question_replies

    count, orders = save_question_replies(open_panel(options.study, database=options.database), options.out)
    print("\n".join([f"{options.out}: {count} replies", *orders]))
    return 0


def _include(options: argparse.Namespace) -> int:
    from medjury.panel import include_ratings, open_panel

    print(include_ratings(open_panel(options.study, database=options.database)))
    return 0


def _erase(options: argparse.Namespace) -> int:
    from medjury.panel import erase_from_panel, open_panel

    panel = open_panel(options.study, database=options.database)
    named = {"patient": options.patient, "cases": options.case}
    print(erase_from_panel(panel, **named, dry_run=options.dry_run))
    return 0


def _export(options: argparse.Namespace) -> int:
    from medjury.panel import open_panel, save_ratings

    count = save_ratings(open_panel(options.study, database=options.database), options.out, options.format)
    print(f"{options.out}: {count:,} ratings")
    return 0


def _import(options: argparse.Namespace) -> int:
    from medjury.panel import open_panel, take_in_ratings

    panel = open_panel(options.study, database=options.database)
    print(take_in_ratings(panel, options.file, options.mapping))
    return 0
