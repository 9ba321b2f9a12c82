"""`medjury passport make | check | export | import`: the passport of a validated jury."""

from __future__ import annotations

import argparse

from medjury.cli._options import add_json, add_signers, show

_EXIT = "Exit status: in force and 0 VALIDATED, 3 AUXILIARY, 4 not validated; 6 is refused, 2 wrong input."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    make = actions.add_parser("make", help="turn a registered, gated run into a passport")
    make.add_argument("run", metavar="RUN", help="the run folder")
    make.add_argument("--calibration", metavar="FILE", help="a file written by `medjury calibrate fit`")
    make.add_argument("--expires", metavar="DAYS", type=int, default=365, help="days after the run (365)")
    make.add_argument("--alpha", metavar="SHARE", type=float, default=0.05,
                      help="of cases like the validated ones, how many may be called unlike them")  # fmt: skip
    make.add_argument("--sign", metavar="KEY", help="sign it with this SSH key, such as an Ed25519 key")
    make.add_argument("--allow-unvalidated", action="store_true", help="also for a jury that failed its gate")
    check = actions.add_parser("check", help="is a passport in force? for pipelines", epilog=_EXIT)
    check.add_argument("--run", metavar="RUN", help="also compare it with the run that it was made from")
    add_signers(check)
    leave = actions.add_parser("export", help="a passport in a form that other programs read")
    leave.add_argument("--as", dest="form", choices=("every_eval_ever", "chai", "fhir"), required=True,
                       help="Every Eval Ever, CHAI's model card (XML), or FHIR's DocumentReference")  # fmt: skip
    come = actions.add_parser("import", help="the passport that a file in such a form carries")
    for action in (check, leave, come):
        action.add_argument("file", metavar="FILE", help="the file")
    for action in (make, leave, come):
        action.add_argument("--out", metavar="FILE", required=True, help="where to write it")
    add_json(make, check)
    for action in (make, check):
        action.add_argument("--cases", metavar="FILE", help="the cases that were judged, if they were moved")


def run(options: argparse.Namespace) -> int:
    from medjury.foundation.files import write_whole
    from medjury.in_use import passports

    if options.action == "check":
        how = {name: getattr(options, name) for name in ("run", "signers", "cases")}
        found = passports.check_passport(options.file, **how)
        show(options, found)
        return found.exit_status
    away = options.action == "export"
    if options.action == "make":
        taken = ("calibration", "alpha", "cases", "allow_unvalidated", "sign")
        how = {name: getattr(options, name) for name in taken}
        made = passports.make_passport(options.run, expires_days=options.expires, **how)
    else:
        made = (passports.read_passport if away else passports.passport_from)(options.file)
    write_whole(options.out, passports.passport_as(options.form, made) if away else made.text())
    json = options.action == "make" and options.json
    print(made.text() if json else f"{made.words()}\nPassport: {options.out}")
    return 0
