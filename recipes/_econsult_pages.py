"""What a user of the recipe `econsult` reads and changes: the study file, the instrument and the page."""

from __future__ import annotations

from importlib.resources import files
from textwrap import indent

import yaml

from recipes._recording import ANSWERS

STUDY = f"""\
# AI drafts of answers to eConsults, held against the specialist's own answer. All data are made up.
study: econsult
cases: cases.jsonl                   # a question, the specialist's answer (reference), the draft (candidate)
instrument: instrument.yaml          # `concordance_asymmetric` and, of concordant pairs, the preferred answer
dimensions: [concordant, preference]

# Four models read both answers, after one concordant and one discordant example; the verdict comes first, its
# reason after it.
# A fifth takes the draft apart into claims and looks for each in the specialist's answer.
judges:
  - {{kind: recorded, file: {ANSWERS}, name: reader-north, model: example-north-1, vendor: Example North,
     strategy: concordance, explain: after}}
  - {{kind: recorded, file: {ANSWERS}, name: reader-east, model: example-east-1, vendor: Example East,
     strategy: concordance, explain: after}}
  - {{kind: recorded, file: {ANSWERS}, name: reader-south, model: example-south-1, vendor: Example South,
     strategy: concordance, explain: after}}
  - {{kind: recorded, file: {ANSWERS}, name: reader-west, model: example-west-1, vendor: Example West,
     strategy: concordance, explain: after}}
  - kind: recorded
    file: {ANSWERS}
    name: claim-checker
    model: example-checker-1
    vendor: Example South
    # As the paper counted: every claim alike, 80 % of those that the specialist addresses. Leave out `weights`,
    # `decisive` and `labels` for our way: a contradicted decisive claim makes a draft discordant.
    strategy:
      name: claims
      threshold: 0.8
      weights: equal
      decisive: weight
      labels: not_supported
      examples: true
jury: none                           # side by side, never averaged

humans:
  path: physicians.csv
  reference: [physician-1, physician-2, physician-3]
  consensus: majority                # best of three
  keep_names: true
  illustrative: true                 # made up: nothing is validated by it. Take this line out for your own ratings

gate:                                # state it before you run, then: medjury register study.yaml
  minimum_clinicians: 3              # one more than the gate asks for
  severe_dimensions: [concordant]    # danger: a discordant draft; missed where it is called concordant
  danger_by: majority                # in the table of severe errors; the verdict sets the jury beside a colleague
  parts: [specialty, age_group, sex]
report:
  cases_shown: 10
"""

PAGE = """\
# econsult

Drafted answers to eConsults against the specialist's: four judges, a claim checker and three physicians (40 cases).

Everything is made up, with a planted truth; the design is that of Wu DJH, et al., Automated Evaluation of Large
Language Model Response Concordance with Human Specialist Responses on Physician-to-Physician eConsult Cases.

    medjury run study.yaml --dry-run     # what the study can show, before anything is spent
    medjury run study.yaml               # nobody is asked: the answers are in answers.jsonl.gz
    medjury agreement runs/econsult --statistics fleiss_kappa --dimensions concordant

What to look at in `runs/econsult/report.html`:

- *Accuracy and F1*: each judge against the majority of the physicians. `claim-checker` is the weakest.
- *Who agrees with whom*: kappa of every two raters; judges beside physicians.
- *Claims*: how many each draft makes, what the specialist says of them, and how well their share tells drafts
  apart.
- *Concordance and preference*: physicians who agree on the care prefer different answers, and `reader-west` prefers
  whatever it reads first.

Forty cases cannot validate a jury, whatever is found: the gate asks for 50 answers that two clinicians rated.

| file | what it is |
|---|---|
| `study.yaml` | the design; change it here |
| `instrument.yaml` | what is asked |
| `cases.jsonl` | 40 questions with both answers |
| `physicians.csv` | what three physicians said; one left eight cases out |
| `answers.jsonl.gz` | what the models said |

To ask your own models, replace `kind: recorded` and `file:` by `kind: openai` and `url:`. What corresponds to which
table and figure of the paper, and what differs, is told in the documentation, `docs/recipes/econsult.md`.
"""


def _instrument() -> str:
    """`preference` with the words of `concordance_asymmetric`, since a file can extend only one."""
    library = files("medjury.instruments") / "library"
    asymmetric = yaml.safe_load((library / "concordance_asymmetric.yaml").read_text(encoding="utf-8"))
    (concordant,) = asymmetric["dimensions"]
    grades = "\n".join(f'      {grade}: "{words}"' for grade, words in concordant["grades"].items())
    return f"""\
# What judges and physicians are asked: concordance as in the built-in `concordance_asymmetric` (only what the draft
# adds or contradicts counts) and, of concordant pairs, which answer is preferred, as in `preference`.
name: econsult
version: "1.0"
extends: preference
title: Concordance of a draft with the specialist's answer, one way, and which of two concordant ones is preferred

instructions: |
{indent(asymmetric["instructions"].rstrip(), "  ", lambda line: bool(line.strip()))}

dimensions:
  - name: concordant
    definition: {concordant["definition"]}
    grades:
{grades}
"""


INSTRUMENT = _instrument()
