"""The study file, the mapping of the physicians' table and the page of the recipe `pdsqi9`."""

from __future__ import annotations

from recipes._recording import ANSWERS

STUDY = f"""\
# Summaries of several notes, graded with PDSQI-9 by seven physicians and by language models in five ways.
# The design is that of Croxford et al., npj Digit Med 2025. All data and all answers here are made up.
study: pdsqi9

# One summary a patient, each by one of three writers: no system answered all cases.
cases: cases.jsonl
instrument: pdsqi9

# Each way of judging is a judge of its own. To ask your own models, replace `kind: recorded` and `file` by
# `kind: openai` and `url` (docs/your-own-endpoint.md); all other settings stay.
judges:
  # Zero-shot: no example. As published: bare scores, the median of seven runs, temperature 0.01, top-p 0.95.
  - kind: recorded
    file: {ANSWERS}
    name: reasoner-zero-shot
    model: example-reasoner
    vendor: Example Aster
    explain: false
    temperature: 0.01
    top_p: 0.95
    max_tokens: 400
    strategy: {{name: repeats, n: 7, rule: median}}
    price: {{input: 1.1, output: 4.4}}       # dollars for a million tokens, made up

  # Five-shot: the same model, shown five summaries with the physicians' median grades.
  - kind: recorded
    file: {ANSWERS}
    name: reasoner-five-shot
    model: example-reasoner
    vendor: Example Aster
    explain: false
    temperature: 0.01
    top_p: 0.95
    max_tokens: 400
    strategy: {{name: repeats, n: 7, rule: median}}
    examples: {{shots: 5, draw: random, cases: development.txt, clinicians: 3}}
    price: {{input: 1.1, output: 4.4}}

  # A model that does not reason first.
  - kind: recorded
    file: {ANSWERS}
    name: general-zero-shot
    model: example-general
    vendor: Example Aster
    explain: false
    temperature: 0.01
    top_p: 0.95
    max_tokens: 400
    strategy: {{name: repeats, n: 7, rule: median}}
    price: {{input: 2.5, output: 10.0}}

  # A small model of one's own: the paper drew at temperature 1.
  - kind: recorded
    file: {ANSWERS}
    name: small-zero-shot
    model: example-small
    vendor: Example Birch
    explain: false
    temperature: 1.0
    max_tokens: 512
    strategy: {{name: repeats, n: 7, rule: median}}
    price: {{input: 0, output: 0}}

  # Agents: a kind, a severe and a moderating reader talk, an orchestrator decides. One run, as published.
  - kind: recorded
    file: {ANSWERS}
    name: agents
    model: example-reasoner
    vendor: Example Aster
    temperature: 0.01
    top_p: 0.95
    strategy: {{name: deliberation, personas: moderated, max_turns: 4}}
    price: {{input: 1.1, output: 4.4}}

# The ways stand side by side. No jury: nothing is averaged that nobody asked to be.
jury: none

humans:
  path: physicians.csv
  mapping: physicians.yaml
  keep_names: true        # made-up names; leave this out for real people
  illustrative: true      # made-up ratings prove nothing, and the report says so
  consensus: median       # the reference is the median of the seven

gate:
  statistic: icc_2_1
  severe_dimensions: [accurate, thorough]
  danger_by: majority     # in the table of severe errors: of seven physicians, four call a summary dangerous
  parts: [specialty, notes_read, length, note_length]   # from the metadata of the cases

report:
  clinician_minutes_per_case: 10      # 600 seconds, as published
  clinician_cost_per_hour: 300
  system_vendors: {{aster-writer: Example Aster, birch-writer: Example Birch, cedar-writer: none}}
  cases_shown: 6
  resamples: 200                      # 2,000 for a study that counts
"""
MAPPING = """\
# One row for each physician and summary. An empty `synthesized` is no gap where `abstraction` is 0.
item: summary
rater: physician
specialty: physician_specialty
years: years
seniority: seniority
dimensions: [citation, accurate, thorough, useful, organized, comprehensible, succinct, abstraction, synthesized,
             stigmatizing_summary, stigmatizing_notes]
"""
PAGE = """\
# pdsqi9

Summaries of several notes graded on nine attributes by seven physicians and by judges in five ways; all made up.

Run it: `medjury run study.yaml`. Nobody is asked: the answers are in `answers.jsonl.gz`. Before that,
`medjury run study.yaml --dry-run` tells what such a study can show.

| file | what it is |
|---|---|
| `study.yaml` | the study: judges, ways of judging, reference, gate |
| `cases.jsonl` | 48 patients with three to five notes, and a summary by one of three writers |
| `physicians.csv`, `physicians.yaml` | the grades of seven physicians, and what the columns mean |
| `development.txt` | the 12 patients from which the five examples are drawn; they validate nothing |
| `answers.jsonl.gz` | the recorded answers of the judges |

What to look at in `runs/pdsqi9/report.html`:

1. *Attribute by attribute*: ICC(3,k), median difference and signed-rank test. `small-zero-shot` knows the ends of
   the scale only; `general-zero-shot` is too kind on citation, organized and synthesized.
2. *What moves the error*: `reasoner-zero-shot` was made too kind on summaries for surgeons.
3. *Ways of judging* and *Time and money*: what examples and deliberation cost, and whether they earn it.
4. *Deliberations*: who said what, and what the orchestrator decided.

The 36 patients outside development cannot validate a jury: the gate asks for 50 answers that two clinicians rated.
Where a section shows one judge, it is the first; `medjury agreement runs/pdsqi9 --raters agents` names another.
"""
