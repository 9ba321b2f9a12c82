"""The recipe `transcripts`: what two recognisers did to patients' meaning, graded by three judges five times.

Truth is planted: every pair has an impact, two clinicians and three judges depart from it at named pairs only. The
cases are what `medjury transcripts` makes of the calls; nothing of it is written by hand.
"""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from tests.loopback import Call

from medjury.cli import main
from recipes._recording import ANSWERS, Made, chance
from recipes._transcript_calls import CALLS, DEVELOPMENT, CallText, impacts

# Who says something else than the planted impact, and where. Judges: one sign for each of the five runs.
CLINICIANS = {
    "Clinician A": {"eye-3-5": 0, "eye-4-5": 0, "practice-3-2": 2},
    "Clinician B": {
        "eye-1-3": 1, "eye-3-2": 1, "practice-2-4": 1, "practice-5-1": 1, "eye-1-4": 0, "eye-2-3": 0,
        "practice-4-5": 0, "practice-5-3": 0, "eye-3-3": 1, "practice-5-4": 1, "eye-6-2": 0,
    },
}  # fmt: skip
ADJUDICATOR = "Reconciled"
PROFILES = {
    "Clinician A": ("8", "ophthalmology"),
    "Clinician B": ("7", "ophthalmology"),
    ADJUDICATOR: ("", ""),
}
JUDGES = {
    "judge-large": {
        "eye-3-5": "00000", "eye-5-4": "11111", "practice-1-4": "22222", "eye-3-3": "12111",
        "practice-2-3": "11101", "eye-1-4": "11011", "practice-5-5": "00010", "eye-6-4": "11111",
    },
    "judge-medium": {
        "eye-1-4": "22222", "eye-2-3": "00000", "eye-3-5": "00100", "eye-4-5": "00000", "practice-1-4": "22122",
        "practice-3-2": "00000", "eye-3-3": "11111", "practice-3-4": "12122", "eye-5-3": "11111",
        "practice-2-1": "01000", "practice-4-2": "11110", "practice-5-2": "10101",
    },
    "judge-small": {
        "eye-4-4": "00000", "practice-2-2": "00001", "eye-5-2": "11011", "practice-1-5": "00000",
        "practice-5-4": "02000", "eye-1-1": "11111", "eye-1-3": "11121", "eye-2-2": "11011", "eye-3-1": "10111",
        "eye-4-3": "22222", "eye-5-5": "11111", "practice-1-2": "11110", "practice-2-4": "12111",
        "practice-3-5": "22122", "practice-4-4": "11111", "eye-1-4": "00000", "eye-2-3": "00000",
        "practice-1-4": "22222", "practice-3-2": "00100", "practice-5-3": "00000", "practice-6-1": "00000",
    },
}  # fmt: skip
RUNS = 5
METRICS = (
    "wer", "cer", "mer", "wil", "semantic_wer", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_1", "rouge_2",
    "rouge_l", "rouge_w_ellis", "chrf", "chrf++", "meteor",
)  # fmt: skip
HELD_BACK = ", ".join(name for name in impacts() if name.rsplit("-", 1)[0] in DEVELOPMENT)
STUDY = f"""\
# What did the recogniser do to the patient's meaning? All calls, labels and answers are made up.
# The cases are what `medjury transcripts calls --out FOLDER` makes of the folder calls/.
study: transcripts
cases: cases.jsonl
instrument: transcript_impact        # 0 none, 1 minimal, 2 significant clinical impact

# Judges side by side, no jury. To ask your own, write `kind: openai`, a url and a model instead of `recorded`.
judges:
  - {{kind: recorded, file: {ANSWERS}, name: judge-large, model: example-large-1, vendor: Example North, temperature: 1.0}}
  - {{kind: recorded, file: {ANSWERS}, name: judge-medium, model: example-medium-1, vendor: Example East, temperature: 1.0}}
  - {{kind: recorded, file: {ANSWERS}, name: judge-small, model: example-small-1, vendor: Example South, temperature: 1.0}}
jury: none
repeats: {RUNS}                           # each judge five times; the report tells the runs apart

# Text metrics rate every pair too. Learned ones need the `neural` extra and a model, such as
# {{sbert: models/all-MiniLM-L6-v2}}, {{semantic_wer_ellis: models/all-MiniLM-L6-v2}} or {{nli: models/nli-deberta-v3-base}}.
metrics: [{", ".join(METRICS[:8])},
          {", ".join(METRICS[8:])}]

# Two clinicians labelled every pair by themselves; where they differed they met, and the reconciled label settles.
humans:
  path: clinicians.csv
  keep_names: true
  illustrative: true                 # made up: take this line out for real labels
  reference: [Clinician A, Clinician B]
  consensus: adjudicated
  adjudicator: {ADJUDICATOR}

# State the rules before the run: medjury register study.yaml
gate:
  minimum_cases: 50                  # calls, not pairs; the gate itself asks for 30
  danger: 0.25                       # the worst quarter of the scale: significant impact
  gap: 0.75                          # missed: none is said of a significant one (1.5 grades lower)
  development_cases: [{HELD_BACK}]

report:
  resamples: 1000
  system_vendors: {{recogniser-a: none, recogniser-b: none}}  # no judge's maker sells a recogniser
  cases_shown: 10
"""  # noqa: E501
PAGE = """\
# transcripts

Errors of two speech recognisers in patients' words, labelled by two clinicians, graded by three judges five times.

Run it: `medjury run study.yaml`. Nobody is asked: the answers are in `answers.jsonl.gz`. All calls are made up.

| file | holds |
|---|---|
| `calls/` | twelve consultations: what was said (`CALL.gold.txt`) and recognised (`CALL.RECOGNISER.json`) |
| `truth/` | which segment belongs to which turn, by hand, for `medjury align --truth` |
| `cases.jsonl` | the 60 pairs that differ, made by `medjury transcripts calls --out mine` |
| `clinicians.csv` | the labels of two clinicians, and the reconciled one |

Look at these parts of the report:

- *Accuracy and F1*: how near each judge comes to the reconciled label, class by class.
- *Runs of each judge, one by one*: five runs, their mean and standard deviation.
- *Which text metric sees harm*: the plain word error rate does not; `semantic_wer`, which weighs clinical words,
  does.
- *Severe errors*: who calls a significant error harmless?

With calls of your own: `medjury transcripts FOLDER --out study --judges judges.yaml`.
"""


def said(judge: str, case: str, run: int) -> int:
    """What a judge says of a pair in a run: the planted impact, but where it is planted to err."""
    wrong = JUDGES[judge].get(case)
    return impacts()[case] if wrong is None else int(wrong[run])


def answer(call: Call) -> str:
    """The grade of the judge that is asked, of the pair that the question shows, in the run that the seed tells."""
    judge = f"judge-{call.json['model'].split('-')[1]}"
    *_, case = (  # the turn before is in the question too: the last that is there is meant
        f"{text.name}-{place}"
        for text in CALLS
        for place, turn in enumerate(text.turns, 1)
        if turn.asked in call.prompt and turn.said in call.prompt
    )
    grade = said(judge, case, call.json["seed"])
    words = ("The meaning is the same.", "Something clinical changed; little would.", "A key fact changed.")
    return json.dumps({"impact": {"explanation": words[grade], "score": grade}})


def gold_text(call: CallText) -> str:
    """What was said, turn by turn, with times."""
    lines: list[tuple[str, str]] = []
    for asked, answered in (call.opening, *((turn.asked, turn.said) for turn in call.turns)):
        lines += [("Doctor", asked), ("Patient", answered)]
    if call.closing:
        lines += [("Doctor", "That is all from me."), ("Patient", call.closing[0]), ("Doctor", "Take care.")]
        lines += [("Patient", call.closing[1])]
    return "".join(
        f"[{5 * place // 60:02}:{5 * place % 60:02}] {who}: {text}\n"
        for place, (who, text) in enumerate(lines)
    )


def heard_segments(call: CallText) -> tuple[list[dict[str, object]], dict[str, object]]:
    """What the recogniser wrote, and by hand which segment belongs to which turn of the patient."""
    plain = "".join(each for each in call.opening[1].lower() if each.isalpha() or each == " ")
    written = [([0], plain)] + [([place], turn.heard) for place, turn in enumerate(call.turns, 1)]
    last = len(written)
    if call.closing:
        both = " ".join(call.closing).lower().translate(str.maketrans("", "", ".,"))
        written.append(([last, last + 1], both))
    segments: list[dict[str, object]] = []
    groups: list[dict[str, object]] = []
    missed: list[int] = []
    for turns, text in written:
        parts = [part.strip() for part in text.split("|") if part.strip()]
        numbers = list(range(len(segments), len(segments) + len(parts)))
        for part in parts:
            start = 5.0 * (2 * turns[0] + 1) + 2 * parts.index(part)
            segments.append({"text": part, "start": round(start + 0.4, 1), "end": round(start + 2.2, 1),
                             "confidence": round(0.6 + 0.39 * chance(call.name, part), 2)})  # fmt: skip
        if numbers:
            groups.append({"golden_indices": turns, "asr_indices": numbers})
        else:
            missed += turns
    spurious = []
    if call.spurious:
        spurious = [len(segments)]
        end = 5.0 * (2 * last + 2)
        segments.append({"text": call.spurious, "start": end, "end": end + 2.0, "confidence": 0.31})
    truth = {"alignments": groups, "unused_golden_results": missed, "unused_asr_results": spurious}
    return segments, truth


def call_files() -> dict[str, str]:
    files = {}
    for call in CALLS:
        segments, truth = heard_segments(call)
        files[f"calls/{call.name}.gold.txt"] = gold_text(call)
        files[f"calls/{call.name}.{call.recogniser}.json"] = json.dumps(segments, indent=1) + "\n"
        files[f"truth/{call.name}.json"] = json.dumps(truth, indent=1) + "\n"
    return files


def cases_text(files: dict[str, str]) -> str:
    """The cases as the command makes them of the calls."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in files.items():
            place = Path(scratch, name)
            place.parent.mkdir(exist_ok=True)
            place.write_text(text, encoding="utf-8")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            if main(["transcripts", f"{scratch}/calls", "--out", f"{scratch}/made"]) != 0:
                raise SystemExit("the calls of the recipe `transcripts` cannot be aligned")
        return Path(scratch, "made", "cases.jsonl").read_text(encoding="utf-8")


def labels_text() -> str:
    """Every label of both clinicians, and the reconciled one."""
    rows = ["item,system,rater,years,specialty,dimension,score"]
    systems = {call.name: call.recogniser for call in CALLS}
    for rater, differing in {**CLINICIANS, ADJUDICATOR: {}}.items():
        for case, impact in impacts().items():
            described = ",".join(PROFILES[rater])
            system = systems[case.rsplit("-", 1)[0]]
            rows.append(f"{case},{system},{rater},{described},impact,{differing.get(case, impact)}")
    return "\n".join(rows) + "\n"


def make() -> Made:
    files = call_files()
    whole = {
        "study.yaml": STUDY,
        "README.md": PAGE,
        "cases.jsonl": cases_text(files),
        "clinicians.csv": labels_text(),
    }
    return Made({**whole, **files}, answer)
