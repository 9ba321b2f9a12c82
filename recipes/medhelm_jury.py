"""The recipe `medhelm-jury`: three judges and many clinicians with few answers each, after Bedi et al. (MedHELM).

Two open benchmarks (31 visit notes, 25 replies to patients), four systems on every item, and three closed
benchmarks for the ranking. Every answer has a planted grade on each axis and the faults that it stands for.
"""

from __future__ import annotations

import json

from tests.loopback import Call

from recipes._medhelm_texts import ITEMS, NOTES, REPLIES, answer_text, name_of, reference, source
from recipes._recording import ANSWERS, Made, chance

AXES = ("accuracy", "completeness", "clarity")
SYSTEMS = {"atlas": 0.86, "borea": 0.84, "cirrus": 0.66, "delta": 0.50}  # how good each is
COSTS = {"atlas": 21.40, "borea": 34.90, "cirrus": 9.80, "delta": 3.10}  # of all answers and their grading
# Closed benchmarks, scored by exact match: how many of 40 questions each system has right. There are ties.
CLOSED = {
    "coded-diagnosis": {"atlas": 34, "borea": 34, "cirrus": 27, "delta": 20},
    "dose-calculation": {"atlas": 26, "borea": 29, "cirrus": 30, "delta": 12},
    "trial-matching": {"atlas": 31, "borea": 30, "cirrus": 24, "delta": 24},
}
CLOSED_ITEMS = 40
JUDGES = {"juror-north": 0.0, "juror-east": 0.35, "juror-south": -0.35}  # how far each is off, in grades
# Specialty, years, how far off, and how much of the scale is used: what standardising each rater first takes away.
CLINICIANS = tuple(
    (f"clinician-{number + 1:02}", specialty, years, offset, spread)
    for number, (specialty, years, offset, spread) in enumerate((
        ("general practice", 12, 0.5, 0.8), ("acute medicine", 4, -0.5, 1.1), ("paediatrics", 9, 0.0, 1.0),
        ("cardiology", 21, -0.7, 1.1), ("general practice", 17, 0.3, 0.9), ("geriatrics", 8, 0.0, 1.2),
        ("psychiatry", 15, 0.6, 0.7), ("acute medicine", 6, -0.2, 1.0), ("dermatology", 11, 0.2, 0.9),
        ("obstetrics", 19, -0.4, 1.0), ("general practice", 3, 0.0, 1.1), ("neurology", 26, -0.6, 0.9),
    ))
)  # fmt: skip
# Who reads together, by place in CLINICIANS; every seventh item has a third reader, who may share nothing else.
TEAMS = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (0, 6), (3, 9), (1, 7), (5, 11))
OVERLOOKED = ("note-07", "reply-02")  # a danger that clinicians see in the rated answer and no judge does
STUDY = f"""\
# A jury of three models grades notes and replies of four systems, beside clinicians. All data are made up.
# Twelve clinicians each read a few answers: one system's answer to each of 56 items, read by two or three of them.
# The other 168 answers have no clinician's score: there the jury stands alone.
study: medhelm-jury
cases: cases.jsonl
instrument: note_quality
dimensions: [accuracy, completeness, clarity]   # 1 to 5; `overall` is their mean, over three judges that of nine
judges:
  # Recorded answers: nobody is asked. To ask a model of yours, write instead for example
  #   - {{kind: openai, name: juror-north, url: "http://127.0.0.1:8000/v1", model: MODEL, vendor: WHO MADE IT}}
  # `explain: after`: the score stands before its explanation, as in the paper. Ours is the other way round.
  - kind: recorded
    file: {ANSWERS}
    name: juror-north
    model: example-north-1
    vendor: Example North
    explain: after
    price: {{input: 2.5, output: 10}}             # per million tokens, made up
  - kind: recorded
    file: {ANSWERS}
    name: juror-east
    model: example-east-1
    vendor: Example East
    explain: after
    price: {{input: 3, output: 15}}
  - kind: recorded
    file: {ANSWERS}
    name: juror-south
    model: example-south-1
    vendor: Example South
    explain: after
    price: {{input: 0.7, output: 0.7}}
jury: {{aggregate: mean, quorum: 3}}
metrics: [rouge_l, chrf]                # rate beside the jury. With weights: {{bert_score: FOLDER OF THE MODEL}}
humans:
  path: clinicians.csv
  keep_names: true                      # these names are made up; leave it out for real ones
  illustrative: true                    # made up: never validates anything. Take it out for real ratings
  reference: clinicians                 # all of them; who read an answer is its reference
  consensus: mean
gate:                                   # what must be shown; state it before the run (`medjury register`)
  statistic: icc_2_1                    # not the paper's: its ICC on z-scores does not see that a judge is too kind
  severe_dimensions: [accuracy]         # danger: accuracy of 2 or less; missed: the jury 2 grades higher
  parts: [benchmark]
report:
  clinician_cost_per_hour: 120
  clinician_minutes_per_case: 4
  system_vendors: {{atlas: Example North, borea: Example East, cirrus: Example South, delta: Example West}}
"""
PAGE = """\
# medhelm-jury

Three models grade notes and replies beside many clinicians who read a few each, and text metrics; all data made up.

```
medjury run study.yaml --dry-run      # what the study can show, before anything is spent
medjury run study.yaml                # both benchmarks
medjury run notes.yaml                # the visit notes that clinicians read, alone
medjury run replies.yaml              # the replies to patients that clinicians read, alone
medjury rank scores.csv --by win_rate --ties win --cost costs.csv
medjury rank scores.csv               # ties count half, ranked by the mean over benchmarks
```

Nobody is asked: the answers are in `answers.jsonl.gz`. Each run writes a folder under `runs/` with `report.html`.

What to look at in the report of `study.yaml`:

- *Agreement with clinicians*, ICC on z-scores: jury, judges and text metrics beside the clinicians, and how few of
  their 66 pairs share two answers.
- in its table `agreement` the column *offset*: one judge is too kind and one too strict, which the ICC on z-scores
  does not see.
- *Severe errors*: in note-07 and reply-02 no judge sees the danger.
- *Ranking*: four systems, and which of them these answers do not tell apart.

`scores.csv` holds one score for every system, benchmark and item, from 0 to 1: the jury's on the two open
benchmarks, and exact match on three closed ones. `costs.csv` has what each system cost.

It follows the jury of Bedi et al., "MedHELM: Holistic Evaluation of Large Language Models for Medical Tasks". What
corresponds to which of its tables and figures, and what differs: `docs/recipes/medhelm-jury.md` in the source.
"""


def truth(number: int, system: str) -> dict[str, int]:
    """The planted grades: of the system's quality, of the item's difficulty, and of chance."""
    level = SYSTEMS[system] + 0.5 * (chance("item", number) - 0.5)
    found = {}
    for axis in AXES:
        moved = level + 0.5 * (chance("truth", number, system, axis) - 0.5)
        found[axis] = min(5, max(1 if axis == "accuracy" else 2, 1 + round(4 * moved)))
    if name_of(number) in OVERLOOKED and system == read_system(number):
        found["accuracy"] = 1
    return found


def read_system(number: int) -> str:
    """The system whose answer to the item clinicians read."""
    return tuple(SYSTEMS)[number % len(SYSTEMS)]


def readers(number: int) -> list[int]:
    """Who reads the item, by place in CLINICIANS."""
    team = TEAMS[number % len(TEAMS)]
    third = (5 * number + 3) % len(CLINICIANS)
    return [*team, third] if number % 7 == 0 and third not in team else list(team)


def judged(judge: str, number: int, system: str) -> dict[str, int]:
    """A judge's scores: the planted grade, moved by its offset and by chance, blind to what it overlooks."""
    seen = truth(number, system)
    if name_of(number) in OVERLOOKED and system == read_system(number):
        seen |= {"accuracy": 4}
    return {
        axis: min(
            5, max(1, round(seen[axis] + JUDGES[judge] + 2.6 * (chance(judge, number, system, axis) - 0.5)))
        )
        for axis in AXES
    }


def clinical(place: int, number: int) -> dict[str, int]:
    """A clinician's scores of the answer that is read."""
    name, _, _, offset, spread = CLINICIANS[place]
    seen = truth(number, read_system(number))
    return {
        axis: min(
            5,
            max(
                1,
                round(3.5 + spread * (seen[axis] - 3.5) + offset + 2.0 * (chance(name, number, axis) - 0.5)),
            ),
        )
        for axis in AXES
    }


def answer(call: Call) -> str:
    """The scores of the judge that is asked, of the item and system that the question shows."""
    judge = f"juror-{call.json['model'].split('-')[1]}"
    number, system = next((n, s) for (n, s), text in TEXTS.items() if text in call.prompt)
    scores = judged(judge, number, system)
    return json.dumps({axis: {"score": scores[axis], "explanation": f"Planted {axis}."} for axis in AXES})


TEXTS = {(n, s): answer_text(n, s, truth(n, s)) for n in range(len(ITEMS)) for s in SYSTEMS}


def make() -> Made:
    everything = [(number, system) for number in range(len(ITEMS)) for system in SYSTEMS]
    files = {"study.yaml": STUDY, "README.md": PAGE, "cases.jsonl": _cases(everything)}
    for name, benchmark in (("notes", NOTES), ("replies", REPLIES)):
        files[f"{name}.yaml"] = _alone(name)
        read = [(number, read_system(number)) for number, (one, _) in enumerate(ITEMS) if one == benchmark]
        files[f"cases-{name}.jsonl"] = _cases(read)
    files |= {"clinicians.csv": _ratings(), "scores.csv": _scores()}
    files["costs.csv"] = "system,cost\n" + "".join(f"{name},{cost}\n" for name, cost in COSTS.items())
    return Made(files, answer)


def _cases(chosen: list[tuple[int, str]]) -> str:
    return "".join(
        json.dumps(
            {
                "id": name_of(number),
                "system": system,
                "candidate": TEXTS[number, system],
                "reference": reference(number),
                "texts": source(number),
                "metadata": {"benchmark": ITEMS[number][0]},
            }
        )
        + "\n"
        for number, system in chosen
    )


def _alone(name: str) -> str:
    """The study of one benchmark: the same judges, clinicians and rules, on the answers of it that were read."""
    words = "visit notes" if name == "notes" else "replies to patients"
    made = f"# The {words} that clinicians read, alone. See study.yaml for what each setting does.\n"
    made += STUDY[STUDY.index("study: ") :]
    for old, new in (
        ("study: medhelm-jury", f"study: medhelm-{name}"),
        ("cases.jsonl", f"cases-{name}.jsonl"),
        (
            "  path: clinicians.csv\n",
            "  path: clinicians.csv\n  on_unknown: drop                      # of the other benchmark\n",
        ),
        ("  parts: [benchmark]\n", ""),
        (
            "report:\n",
            "report:\n  resamples: 1000                       # half as many as usual, to be quick\n",
        ),
    ):
        assert old in made, old
        made = made.replace(old, new)
    return made


def _ratings() -> str:
    made = ["item,system,rater,specialty,years,dimension,score"]
    for number in range(len(ITEMS)):
        for place in readers(number):
            name, specialty, years, *_ = CLINICIANS[place]
            for axis, score in clinical(place, number).items():
                made.append(
                    f"{name_of(number)},{read_system(number)},{name},{specialty},{years},{axis},{score}"
                )
    return "\n".join(made) + "\n"


def _scores() -> str:
    """Open benchmarks: the mean of nine ratings as a share of the scale. Closed ones: right or wrong."""
    made = ["system,benchmark,item,score"]
    for system in SYSTEMS:
        for number, (benchmark, _) in enumerate(ITEMS):
            nine = [score for judge in JUDGES for score in judged(judge, number, system).values()]
            made.append(f"{system},{benchmark},{name_of(number)},{(sum(nine) / 9 - 1) / 4:.6f}")
        for benchmark in CLOSED:
            order = sorted(range(CLOSED_ITEMS), key=lambda item: chance(benchmark, item, system))
            right = set(order[: CLOSED[benchmark][system]])
            made += [
                f"{system},{benchmark},q{item + 1:02},{int(item in right)}" for item in range(CLOSED_ITEMS)
            ]
    return "\n".join(made) + "\n"
