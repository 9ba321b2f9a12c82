"""`medjury passport make | check`: the passport of a validated jury."""

from __future__ import annotations

import argparse

_EXIT = (
    "Exit status: in force and 0 VALIDATED, 3 AUXILIARY, 4 not validated; 6 refused: edited, expired, not signed "
    "by a trusted key, or of another model, prompt, instrument or run; 2 is wrong input."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    make = actions.add_parser("make", help="turn a registered, gated run into a passport")
    make.add_argument("run", metavar="RUN", help="the run folder")
    make.add_argument("--out", metavar="FILE", required=True, help="where to write the passport")
    make.add_argument("--calibration", metavar="FILE", help="a file written by `medjury calibrate fit`")
    make.add_argument("--expires", metavar="DAYS", type=int, default=365,
                      help="days after the run (default: 365)")  # fmt: skip
    make.add_argument(
        "--alpha", metavar="SHARE", type=float, default=0.05,
        help="of cases like the validated ones, the share that may be called unlike them (default: 0.05)",
    )  # fmt: skip
    make.add_argument("--sign", metavar="KEY", help="sign it with this SSH key, such as an Ed25519 key")
    make.add_argument("--allow-unvalidated", action="store_true", help="also for a jury that failed its gate")
    check = actions.add_parser("check", help="is a passport in force? for pipelines", epilog=_EXIT)
    check.add_argument("file", metavar="FILE", help="the passport")
    check.add_argument("--run", metavar="RUN", help="also compare it with the run that it was made from")
    check.add_argument("--signers", "--key", metavar="FILE",
                       help="refuse it unless this public key, or one of these, signed it")  # fmt: skip
    for action in (make, check):
        action.add_argument("--cases", metavar="FILE", help="the cases that were judged, if they were moved")
        action.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(options: argparse.Namespace) -> int:
    from medjury.foundation.files import write_whole
    from medjury.in_use.passports import check_passport, make_passport, signed_passport

    if options.action == "check":
        found = check_passport(options.file, run=options.run, signers=options.signers, cases=options.cases)
        print(found.to_json() if options.json else found.text())
        return found.exit_status
    passport = make_passport(
        options.run,
        calibration=options.calibration,
        expires_days=options.expires,
        alpha=options.alpha,
        cases=options.cases,
        allow_unvalidated=options.allow_unvalidated,
    )
    if options.sign:
        passport = signed_passport(passport, options.sign)
    write_whole(options.out, passport.text())
    print(passport.text() if options.json else f"{passport.words()}\nPassport: {options.out}")
    return 0
