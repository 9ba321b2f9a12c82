"""The study files and the page of the recipe `diagnosis-jury`, as they ship."""

from __future__ import annotations

from recipes._recording import ANSWERS

_JUDGES = f"""\
judges:
  # Recorded answers: nobody is asked. To ask a model of yours, write instead for example
  #   - {{kind: openai, name: juror-north, url: "http://127.0.0.1:8000/v1", model: MODEL, vendor: WHO MADE IT}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-north, model: example-north-1, vendor: Example North}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-east, model: example-east-1, vendor: Example East}}
  - {{kind: recorded, file: {ANSWERS}, name: juror-south, model: example-south-1, vendor: Example South}}
jury: {{aggregate: mean, quorum: 2}}     # the mean of the three, not rounded
"""
# At temperature 0 a model says the same again, and there is no stability to measure.
_WARM = _JUDGES.replace("model: example", "temperature: 1.0, model: example").replace(
    "judges:\n", "judges:  # asked at temperature 1: at 0 a model says the same again, whatever it is worth\n"
)
_HUMANS = """\
humans:
  path: clinicians.csv
  keep_names: true                      # these are panels, not people; leave it out for real names
  illustrative: true                    # made up: never validates anything. Take it out for real ratings
  reference: primary                    # the panel (column `panel`) that the jury is held against
  second_panel: rescore                 # scored some of the answers again; compared beside the jury
"""

STUDY = f"""\
# A jury of three models grades diagnoses against those of an expert panel. All data are made up.
# Each of 54 cases has seven answers: the ward's routine diagnosis and those of six systems. The primary panel
# scored one system's answer to each case and 14 of the ward's; the second panel scored 18 of them again. The other
# 310 answers have no clinician's score: there the jury stands alone, once it is known how far it can be trusted.
study: diagnosis-jury
cases: cases.csv
instrument: diagnosis_plain_risk        # four grades from 1 to 5; safety is 6 less the risk; two composites
{_JUDGES}{_HUMANS}\
  labels: {{routine_is_wrong: routine_is_wrong}}   # 1 where the panel disagrees with the ward's diagnosis
gate:                                   # what must be shown; state it before the run (`medjury register`)
  severe_dimensions: [risk]             # danger: the panel's safety is 2 or less; missed: the jury's 2 higher
  # A panel agrees on one grade and is one rater: nobody knows what a colleague would say, so that such a design is
  # never validated. The second panel is compared beside the jury.
report:
  rank_by: quality                      # the composite without reasoning: the ward recorded none
  system_vendors:                       # who made the systems: does a judge favour its own vendor?
    north-large: Example North
    north-small: Example North
    east-pro: Example East
    east-flash: Example East
    south-think: Example South
    west-fast: Example West
    ward: none
"""

WARD_REFERENCE = f"""\
# Three systems' answers with the ward's diagnosis as the reference: where all look unsafe, is the ward wrong?
study: ward-reference
cases: cases-ward-reference.csv
instrument: diagnosis_plain_risk
{_JUDGES}{_HUMANS}  on_unknown: drop                      # scores of answers that are not judged here
  labels: {{routine_is_wrong: routine_is_wrong}}
gate: {{severe_dimensions: [risk]}}
"""

STABILITY = f"""\
# The 18 answers that both panels scored, each judged ten times: does a judge say the same when it is asked again?
study: stability
cases: cases-rescored.csv
instrument: diagnosis_plain_risk
repeats: 10
{_WARM}{_HUMANS}  on_unknown: drop                      # scores of answers that are not judged here
gate: {{severe_dimensions: [risk]}}
"""

PAGE = """\
# diagnosis-jury

Three models grade diagnoses against an expert panel's, beside a primary and a second panel; all data are made up.

```
medjury run study.yaml --dry-run      # what the study can show, before anything is spent
medjury run study.yaml                # the jury beside both panels
medjury run ward-reference.yaml       # which routine diagnoses are wrong?
medjury run stability.yaml            # the same question ten times
medjury rank runs/diagnosis-jury --calibrate isotonic
```

Nobody is asked: the answers are in `answers.jsonl.gz`. Each run writes a folder under `runs/` with `report.html`.

What to look at in the report of `study.yaml`:

- *Agreement with clinicians*: every judge is stricter than the primary panel (offset), and orders answers as it
  does.
- *Beside the second panel*: the jury against clinicians who scored the same answers again, before and after
  calibration.
- *Severe errors*: in case-04 and case-22 all three judges overlook a danger, in case-11 one of them.
- *Triage*, labelled cases by system: the ward's scores are low where the panel disagreed with the ward.
- *Ranking* and *Self-preference*: no judge favours its own vendor, because nothing of the kind was planted.

The verdict is NOT VALIDATED, and would be with real ratings: a panel that agrees on one grade is one rater, and
without a second one nobody knows what a colleague would say. Have two clinicians rate on their own first.

It follows the design of Rouillard et al., "Can LLMs Accurately Score Medical Diagnoses and Clinical Reasoning?".
What corresponds to which of its tables and figures, and what differs, is told in `docs/recipes/diagnosis-jury.md`.
"""

TEXTS = {
    "study.yaml": STUDY,
    "ward-reference.yaml": WARD_REFERENCE,
    "stability.yaml": STABILITY,
    "README.md": PAGE,
}
