"""A passport in the forms that others read: every_eval_ever's record of an evaluation, CHAI's applied model card
(XML) and FHIR's DocumentReference. Each carries the whole card beside the fields that the form has for it, so that
it comes back as it was; a field that says otherwise than its card is refused."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from medjury.foundation import limits
from medjury.foundation.errors import MedjuryError
from medjury.in_use.passports._document import (
    Passport,
    RefusedError,
    content_hash,
    once,
    parsed_passport,
    signature_of,
)
from medjury.in_use.passports._population import population_words
from medjury.validation import ORDER

# What a form asks for and no card states: its owner fills it in.
OPEN = "OPEN: not stated by the judge card"
_CARD = "Judge Card 1.0"
_EEE = "0.3.0"
_NOT_KNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}
_CHAI = "https://mc.chai.org/v0.2/schema.xsd"
_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LOWER_IS_BETTER = ("absolute_offset", "mae", "rmse", "severe_error_rate", "severe_error_rate_worst")
Place = tuple[str | int, ...]
_AGGREGATED = {"mean": "average", "median": "median", "majority": "majority_vote"}


def passport_as(form: str, passport: Passport) -> str:
    """The file of this form; one of `FORMS`. Refused where the card comes back with another hash than it states."""
    if content_hash(passport.content()) != passport.hash:
        raise RefusedError(
            "this card cannot be exported: its numbers are not written as section 3 of docs/judge-card.md has them "
            "(one that may have a fraction keeps its point, as 1.0); make it again from its run"
        )
    return _FORMS[form](passport)


def passport_from(path: str | Path) -> Passport:
    """The passport that a file of one of the `FORMS` carries."""
    name, text = str(path), limits.read_bytes(Path(path)).decode("utf-8", "replace")
    form, carried, theirs = _carried(text, name)
    passport = parsed_passport(carried.encode(), name)
    signature_of(passport, name)
    for place, value in _fields(form, passport_as(form, passport)):
        if value != OPEN and theirs.get(place) != value:
            where = "/".join(str(each).removeprefix(f"{{{_CHAI}}}") for each in place)
            raise RefusedError(f"{name}: {where} does not say what the judge card in it says")
    return passport


def _carried(text: str, name: str) -> tuple[str, str, dict[Place, Any]]:
    """Which form it is, the card's text, and every value of the file by its place."""
    try:
        form, found = _form_and_card(text, name)
        return form, found, dict(_fields(form, text))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, SyntaxError) as error:
        raise MedjuryError(
            f"{name}: carries no judge card ({type(error).__name__}); `medjury passport export` writes one of "
            f"{', '.join(FORMS)}"
        ) from None


def _form_and_card(text: str, name: str) -> tuple[str, str]:
    if text.lstrip().startswith("<"):
        if "<!DOCTYPE" in text or "<!ENTITY" in text:
            raise ValueError("declares a document type or entities")
        root = ElementTree.fromstring(text.encode())  # noqa: S314 - what declares entities is refused above
        (found,) = (
            each.findtext(f"{{{_CHAI}}}ValueJson", "")
            for each in root.iter(f"{{{_CHAI}}}MetricResult")
            if each.findtext(f"{{{_CHAI}}}Label") == _CARD
        )
        return "chai", found
    limits.check_depth(Path(name), text)
    content = json.loads(text, object_pairs_hook=once)
    if content.get("resourceType") == "DocumentReference":
        attached = content["content"][0]["attachment"]["data"]
        return "fhir", base64.b64decode(attached, validate=True).decode()
    results = (each["metric_config"]["llm_scoring"] for each in content["evaluation_results"])
    (found,) = (block["card"] for each in results if "card" in (block := each["judge_validation"]))
    return "every_eval_ever", "" + found  # text, or nothing


def _fields(form: str, text: str) -> Iterator[tuple[Place, Any]]:
    """Every value of a file, by its place, and how many there are of what is listed: what others add has a name of
    its own."""
    if form == "chai":
        yield from _elements(ElementTree.fromstring(text.encode()), ())  # noqa: S314 - as above
    else:
        yield from _values(json.loads(text), ())


def _elements(element: ElementTree.Element, at: Place) -> Iterator[tuple[Place, Any]]:
    seen = Counter[str]()
    for each in element:
        seen[each.tag] += 1
        place = (*at, each.tag, seen[each.tag])
        yield place, "".join([each.text or "", *(inner.tail or "" for inner in each)]).strip()
        yield from _elements(each, place)
    yield from (((*at, tag, "count"), number) for tag, number in seen.items())


def _values(value: Any, at: Place) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _values(each, (*at, name))
    elif isinstance(value, list):
        yield (*at, "count"), len(value)
        for number, each in enumerate(value, 1):
            yield from _values(each, (*at, number))
    else:
        yield at, value


# Every Eval Ever: a judge's validation is an evaluation of the judge. The verdict on each dimension is a result in
# levels, each statistic one with its interval; `judge_validation` is the block that we propose beside `judges`.


def _every_eval_ever(passport: Passport) -> str:
    jury, run = passport.jury, passport.run
    models = [
        {
            "model_info": {
                "name": model.title,
                "id": model.model or model.title,
                **({"developer": model.vendor} if model.vendor else {}),
                "additional_details": _NOT_KNOWN,
            },
            **(
                {"temperature": heat}
                if isinstance(heat := judge.others.get("temperature"), int | float)
                else {}
            ),
            "additional_details": {
                "judge": judge.name,
                "strategy": judge.strategy,
                "settings": judge.settings_hash,
            },
        }
        for judge in jury.judges
        for model in judge.models
    ]
    data = {
        "dataset_name": run.run,
        "source_type": "other",
        "additional_details": {"data_hash": run.data_hash, "cases": str(passport.population.cases)},
    }
    how = {"aggregation_method": way} if (way := _AGGREGATED.get(jury.jury.rule)) else {}

    def scoring(**block: Any) -> dict[str, Any]:
        prompt = f"version {jury.prompt_version}, instrument {jury.instrument.fingerprint}"
        block = {"card_version": _CARD, "card_sha256": passport.hash, **block}
        return {"judges": models, "input_prompt": prompt, **how, "judge_validation": block}

    program, _, version = passport.made_with.partition(" ")
    results: list[dict[str, Any]] = []
    for each in passport.verdicts:
        lists = {"holds": (), "fails": (), "not_known": ()}  # also where a list is empty: nobody fills it in
        block = {"dimension": each.dimension, "verdict": each.word, "scope": lists | each.scope.content()}
        block |= {} if results else {"card": passport.text()}
        metric = {
            "evaluation_description": "May this jury take a colleague's chair?",
            "lower_is_better": False,
            "score_type": "levels",
            "level_names": list(reversed(ORDER)),
            "has_unknown_level": False,
            "llm_scoring": scoring(**block),
        }
        level = len(ORDER) - 1 - ORDER.index(each.word)
        results.append(_result(f"{each.dimension}: verdict", data, metric, {"score": level}))
        for number in each.numbers:
            if number.value is None:
                continue  # a statistic that does not exist has no score; the card says why
            lower = number.statistic in _LOWER_IS_BETTER
            metric = {"metric_id": number.statistic, "lower_is_better": lower, "llm_scoring": scoring()}
            ends = {"lower": number.low, "upper": number.high, "method": number.method}
            known = {} if None in ends.values() else {"confidence_interval": ends}
            score = {"score": number.value, "uncertainty": {**known, "num_samples": number.n}}
            results.append(_result(f"{each.dimension}: {number.statistic}", data, metric, score))
    return _json(
        {
            "schema_version": _EEE,
            "evaluation_id": f"judge validation/{passport.who}/{passport.made_at}",
            "evaluation_timestamp": run.finished_at,
            "retrieved_timestamp": str(int(datetime.fromisoformat(passport.made_at).timestamp())),
            "source_metadata": {
                "source_name": run.run,
                "source_type": "evaluation_run",
                "source_organization_name": OPEN,
                "evaluator_relationship": "other",
            },
            "model_info": {"name": passport.who, "id": passport.hash, "additional_details": _NOT_KNOWN},
            "eval_library": {"name": program, "version": version or "unknown"},
            "evaluation_results": results,
        }
    )


def _result(name: str, data: object, metric: object, score: object) -> dict[str, Any]:
    return {"evaluation_name": name, "source_data": data, "metric_config": metric, "score_details": score}


# CHAI's applied model card, version 0.2: elements in their fixed order; those that a card does not state are open.


def _chai(passport: Passport) -> str:
    jury, people = passport.jury, passport.clinicians
    verdicts = "; ".join(f"{each.label}: {each.word}" for each in passport.verdicts)
    where = "; ".join(f"{each.label}: {text}" for each in passport.verdicts if (text := each.scope.words()))
    models = "; ".join(model.title for judge in jury.judges for model in judge.models)
    population = "; ".join(population_words(passport.population))
    tested = f"{passport.population.cases} cases of {passport.population.patients} patients; {population}"
    blinded = {True: "blinded", False: "not blinded", None: "whether blinded is not stated"}[people.blinded]
    stated = (
        "limits were stated before the run" if passport.run.protocol_hash else "no limits were registered"
    )
    by = f"{people.reference} clinicians, {people.ratings} ratings, {blinded}; {stated}"
    asked = "Would anybody notice if the jury took a colleague's chair?"
    biased = [each for each in passport.audits.findings if each.stands_out]
    shifts = passport.audits.injection.shifts if passport.audits.injection else ()

    def metric(goal: str, values: Mapping[str, Any], meant: str, test: str = "audit") -> dict[str, Any]:
        results = [{"Label": label, "ValueJson": json.dumps(value)} for label, value in values.items()]
        return {
            "MetricGoal": goal,
            "Results": {"MetricResult": results or [{"Label": OPEN, "ValueJson": "null"}]},
            "Interpretation": meant,
            "TestType": test,
            "TestingDataDescription": tested,
            "ValidationProcessAndJustification": by,
        }

    useful = metric(
        asked,
        {
            f"{each.label}: {number.statistic}": number.content()
            for each in passport.verdicts
            for number in each.numbers
        },
        verdicts,
        "colleague test",
    )
    useful["Results"]["MetricResult"].append({"Label": _CARD, "ValueJson": passport.text()})
    tree = {
        "BasicInfo": {"ModelName": passport.who, "ModelDeveloper": OPEN, "DeveloperContact": OPEN},
        "ReleaseInfo": {
            "ReleaseStage": passport.force,
            "ReleaseDate": passport.made_at,
            "ReleaseVersion": passport.hash,
            "GlobalAvailability": OPEN,
        },
        "ModelSummary": {"Summary": passport.words(), "Keywords": {"Keyword": ["language models as judges"]}},
        "UsesAndDirections": {
            "IntendedUseAndWorkflow": f"Grades with {jury.instrument.name} {jury.instrument.version}",
            "PrimaryIntendedUsers": OPEN,
            "HowToUse": OPEN,
            "TargetedPatientPopulation": tested,
            "CautionedOutOfScopeSettings": where or OPEN,
        },
        "Warnings": {
            "KnownRisksAndLimitations": passport.limit or f"Valid until {passport.expires_at}",
            "KnownBiasesOrEthicalConsiderations": "; ".join(
                f"{each.rater} {each.dimension} {each.group}: {each.verdict}" for each in biased
            )
            or OPEN,
            "ClinicalRiskLevel": OPEN,
        },
        "TrustIngredients": {
            "AISystemFacts": {
                "OutcomesAndOutputs": ", ".join(each.label for each in passport.verdicts),
                "ModelType": "language models as judges",
                "FoundationModels": models,
                "InputDataSource": OPEN,
                "OutputAndInputDataTypes": OPEN,
                "DevelopmentDataCharacterization": OPEN,
                "BiasMitigationApproaches": OPEN,
                "OngoingMaintenance": f"Valid until {passport.expires_at}",
            },
            "TransparencyInformation": {"FundingSource": OPEN, "StakeholdersConsulted": OPEN},
        },
        "KeyMetrics": {
            "UsefulnessUsabilityEfficacy": useful,
            "FairnessEquity": metric(
                "Does the jury treat groups of cases alike?",
                {
                    f"{each.rater} {each.dimension} {each.group} {each.statistic}": each.content()
                    for each in biased
                },
                where or OPEN,
            ),
            "SafetyReliability": metric(
                "Do instructions planted in the text move the grade?",
                {f"{each.rater} {each.dimension} {each.kind}": each.content() for each in shifts},
                "; ".join(rule.why for each in passport.verdicts for rule in each.rules if rule.why) or OPEN,
            ),
        },
        "Resources": {"PeerReviewedPublications": OPEN, "PatientConsentOrDisclosure": OPEN},
        "Bibliography": "",
    }
    ElementTree.register_namespace("", _CHAI)
    root = ElementTree.Element(f"{{{_CHAI}}}AppliedModelCard")
    _grow(root, tree)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _grow(parent: ElementTree.Element, tree: Mapping[str, Any]) -> None:
    for name, content in tree.items():
        for each in content if isinstance(content, list) else [content]:
            element = ElementTree.SubElement(parent, f"{{{_CHAI}}}{name}")
            if isinstance(each, Mapping):
                _grow(element, each)
            else:
                element.text = _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", each)  # the card itself is ASCII


# FHIR R4: a document like any other, in force for a period, whose attachment is the card.


def _fhir(passport: Passport) -> str:
    content = passport.text().encode()
    named = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    attachment = {
        "contentType": "application/json",
        "data": base64.b64encode(content).decode(),
        "size": len(content),
        "title": f"{_CARD}: {passport.who}",
        "creation": passport.made_at,
    }
    return _json(
        {
            "resourceType": "DocumentReference",
            "masterIdentifier": {"system": "urn:ietf:rfc:3986", "value": f"ni:///sha-256;{named}"},
            "identifier": [{"system": "urn:ietf:rfc:3986", "value": f"urn:judge-card:1.0:{passport.hash}"}],
            "status": "current",
            "docStatus": "final",
            "type": {"text": f"{_CARD}: validation of language models as judges"},
            "category": [{"text": passport.force}],
            "date": passport.made_at,
            "author": [{"display": passport.made_with}],
            "description": passport.words(),
            "content": [{"attachment": attachment, "format": {"system": "urn:judge-card", "code": "1.0"}}],
            "context": {"period": {"start": passport.made_at, "end": passport.expires_at}},
        }
    )


def _json(content: object) -> str:
    return json.dumps(content, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


_FORMS: dict[str, Callable[[Passport], str]] = {
    "every_eval_ever": _every_eval_ever,
    "chai": _chai,
    "fhir": _fhir,
}
FORMS = tuple(_FORMS)
