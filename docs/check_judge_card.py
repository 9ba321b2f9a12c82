"""Check a judge card (judge-card.md) with Python 3.11 and nothing else: its form, hashes, dates and signature.

    python check_judge_card.py CARD [--signers KEYS] [--manifest FILE] [--schema FILE] [--at MOMENT]

Exit status 0: sound and in force. 6: refused, each reason by its name. 2: it could not be checked. Whether the jury
is good is for the reader: the words of the verdicts are printed."""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

WORDS = ("VALIDATED", "AUXILIARY", "NOT VALIDATED", "INCOMPLETE")  # the best first
FORCES = {"VALIDATED": "validated", "AUXILIARY": "auxiliary"}
SAY_NOTHING = {"$schema", "$id", "$defs", "title", "description", "default"}
TYPES = {"object": dict, "array": list, "string": str, "null": type(None)}
TYPES |= {"integer": int, "number": (int, float)}


def read(file):
    """The card, where it is JSON that every reader reads in one way; else why it is not, by its name."""

    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name appears twice")
        return dict(pairs)

    content = Path(file).read_bytes()
    try:
        finite = {"parse_int": lambda digits: int(digits) if len(digits) < 309 else float("inf")}
        card = json.loads(content.decode(), object_pairs_hook=once, **finite)
        json.dumps(card, allow_nan=False, ensure_ascii=False).encode()  # no NaN, and no half of a character
    except (ValueError, RecursionError) as error:
        return {}, f"file: {error}"
    kind = f"{card.get('format')} {card.get('format_version')}" if isinstance(card, dict) else "no object"
    return card, "" if kind == "judge card 1.0" else f"format: {kind}; this program reads judge card 1.0"


def form_problems(value, schema, root, at="card"):
    """What the schema forbids. A keyword that is not known here ends the program: it might forbid something."""
    parts, places = (value if isinstance(value, kind) else kind() for kind in (dict, list))
    for keyword, asked in schema.items():
        if keyword == "$ref":
            yield from form_problems(value, root["$defs"][asked.removeprefix("#/$defs/")], root, at)
        elif keyword == "type":
            if not is_type(value, asked):
                yield f"{at}: not of the type {asked}"
        elif keyword == "anyOf":
            if all(any(form_problems(value, each, root, at)) for each in asked):
                yield f"{at}: in none of the forms that are allowed"
        elif keyword in ("const", "enum"):
            if value not in (asked if keyword == "enum" else [asked]):
                yield f"{at}: not one of the words that are allowed"
        elif keyword == "pattern":  # ours begin with ^ and end with $, before which Python allows a line end
            if isinstance(value, str) and not re.fullmatch(asked[1:-1], value):
                yield f"{at}: not of the form {asked}"
        elif keyword in ("minimum", "maximum"):
            if is_type(value, "number") and (value < asked if keyword == "minimum" else value > asked):
                yield f"{at}: beyond the {keyword} of {asked}"
        elif keyword == "required":
            yield from (f"{at}: {name} is missing" for name in asked if parts is value and name not in parts)
        elif keyword == "items":
            for number, each in enumerate(places):
                yield from form_problems(each, asked, root, f"{at}[{number}]")
        elif keyword == "properties":
            for name in (each for each in asked if each in parts):
                yield from form_problems(parts[name], asked[name], root, f"{at}.{name}")
        elif keyword == "additionalProperties":
            for name in (each for each in parts if each not in schema.get("properties", {})):
                if asked is False:
                    yield f"{at}: {name} is not a part of it"
                elif asked is not True:
                    yield from form_problems(parts[name], asked, root, f"{at}.{name}")
        elif keyword not in SAY_NOTHING:
            raise ValueError(f"the schema uses {keyword!r}, which this program does not know")


def is_type(value, name):
    if isinstance(value, bool) or name == "boolean":
        return isinstance(value, bool) and name == "boolean"
    return isinstance(value, TYPES[name])


def hash_of(content, *left_out):
    """SHA-256 of a content without some of its names: sorted, without white space, in ASCII."""
    kept = {name: value for name, value in content.items() if name not in left_out}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def moment(text):
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def contradictions(card):
    """What cannot have come about, although each part has its form."""
    worst = max((each["word"] for each in card["verdicts"]), key=WORDS.index, default="INCOMPLETE")
    if card["force"] != FORCES.get(worst, "unvalidated"):
        yield f"verdict: in force as {card['force']}, and its worst verdict is {worst}"
    for verdict in card["verdicts"]:
        failed = [rule["id"] for rule in verdict["rules"] if rule["state"] == "fails"]
        failed += [each["name"] for each in card.get("loosened", ())]
        failed += [] if card["run"]["protocol_hash"] else ["registered"]
        if verdict["word"] == "VALIDATED" and failed:
            yield f"verdict: {verdict['dimension']} is VALIDATED although {failed[0]} fails"
        for each in (*verdict["rules"], *verdict["numbers"]):
            ends = [each.get("low"), each.get("high")]
            if None not in ends and ends[0] > ends[1]:
                yield f"numbers: an interval of {verdict['dimension']} ends before it begins"
    for name, counts in card["population"]["groups"].items():
        if sum(counts.values()) != card["population"]["cases"]:
            yield f"numbers: the groups of {name} do not add up to the cases"


def date_problems(card, now):
    """Whether the dates can be, in this order, and whether the card is in force now."""
    dates = (card["run"]["finished_at"], card["made_at"], card["expires_at"])
    try:
        ended, made, end = (moment(each) for each in dates)
    except ValueError as error:
        yield f"dates: {error}"
        return
    if ended - made > timedelta(seconds=1):
        yield "dates: made before its run ended"
    if abs(end - ended - timedelta(days=card["expires_days"])) > timedelta(seconds=1):
        yield f"dates: it does not expire {card['expires_days']} days after its run ended"
    if now >= end:
        yield f"dates: expired on {card['expires_at']}"
    if now < made:
        yield f"dates: made in the future, on {card['made_at']}"


def signature_problems(card, signers):
    """Whether OpenSSH says that one of the trusted keys signed the hash; without `signers`, that any key did."""

    def ssh_keygen(action, *options):
        command = ["ssh-keygen", "-Y", action, "-n", "judge-card", "-s", str(signature), *options]
        return subprocess.run(command, input=card["hash"].encode(), capture_output=True, check=False)  # noqa: S603

    if not card.get("signature"):
        if signers:
            yield "signature: there is none"
        return
    with tempfile.TemporaryDirectory() as folder:
        signature, trusted = Path(folder, "signature"), Path(folder, "signers")
        signature.write_text(card["signature"])
        if not signers:
            if ssh_keygen("check-novalidate").returncode:
                yield "signature: it is not of this card"
            return
        text = Path(signers).read_text().strip()  # a public key, or OpenSSH's file of allowed signers
        trusted.write_text(f"key {text}\n" if re.match(r"(ssh|ecdsa|sk)-\S+ \S+", text) else f"{text}\n")
        found = ssh_keygen("find-principals", "-f", str(trusted))
        who = (found.stdout.decode().splitlines() or [""])[0]
        if found.returncode or not who:
            yield "signature: made with none of the trusted keys"
        elif ssh_keygen("verify", "-f", str(trusted), "-I", who).returncode:
            yield "signature: it is not of this card"


def problems(options):
    card, unreadable = read(options.card)
    if unreadable:
        return [unreadable]
    schema = json.loads(Path(options.schema).read_bytes())
    found = [f"schema: {each}" for each in form_problems(card, schema, schema)]
    if hash_of(card, "hash", "signature") != card.get("hash"):
        found.append("hash: the content is not what was hashed; it was edited since")
    if any(each.startswith("schema") for each in found):
        return found
    found += [*contradictions(card), *date_problems(card, options.at)]
    found += signature_problems(card, options.signers)
    run = json.loads(Path(options.manifest).read_bytes()) if options.manifest else None
    if run and hash_of(run, "hash", "report_files") != card["run"]["manifest_hash"]:
        found.append("hash: the manifest is of another run, or was edited")
    words = ", ".join(f"{each['dimension']} {each['word']}" for each in card["verdicts"])
    signed = "signed" if card.get("signature") else "not signed, so anybody could have written it"
    print(f"{'REFUSED' if found else 'SOUND'} until {card['expires_at']}: {words}; {signed}")
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Check a judge card: its form, hashes, dates and signature.")
    parser.add_argument("card")
    parser.add_argument("--signers", help="a public key, or a file of allowed signers: one of them signed it")
    parser.add_argument("--manifest", help="the manifest.json of the run that the card is of")
    parser.add_argument("--schema", default=Path(__file__).with_name("judge-card.schema.json"))
    parser.add_argument("--at", type=moment, default=datetime.now(UTC), help="the dates, as of this moment")
    try:
        refused = problems(parser.parse_args())
    except (OSError, LookupError, TypeError, ValueError) as error:
        parser.exit(2, f"it could not be checked: {type(error).__name__}: {error}\n")
    sys.stdout.writelines(f"REFUSED {each}\n" for each in refused)
    sys.exit(6 if refused else 0)
