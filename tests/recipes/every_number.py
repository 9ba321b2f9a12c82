"""What the reports of the recipes hold, table by table, and which of it the tests here make a second time.

`RECOMPUTED` names the file with the check. Those of `count_checks` and `share_checks` run on all nine reports,
those of `exact_…` on one or more that have the table (test_every_number.py says on which), both to nine digits;
those of `interval_checks` on the main report of each recipe, and those of a recipe's own file on that recipe
alone. `VALUE ends` are the two ends of the value's interval. `NOT_YET` is what no test here makes a second time:
the functions behind it have tests of their own, beside their source. Nothing joins that list unseen.
"""

from __future__ import annotations


def _read(lines: str) -> dict[str, dict[str, str]]:
    """By table and column what stands between `/` and the colon."""
    found: dict[str, dict[str, str]] = {}
    for line in lines.strip().splitlines():
        start, _, columns = line.partition(": ")
        table, _, said = start.partition(" / ")
        found.setdefault(table, {}).update(dict.fromkeys(columns.split(" | "), said))
    return found


RECOMPUTED = _read("""
agreement / interval_checks: ICC(2,1) | ICC(2,1) ends | RMSE | RMSE ends | Spearman's rho | Spearman's rho ends
agreement / interval_checks: offset | offset ends | same grade | weighted kappa | weighted kappa ends
agreement / share_checks: same grade ends
agreement / test_diagnosis_jury: n
agreement-other-coefficients / exact_checks: Gwet's AC2 | Gwet's AC2 ends | Krippendorff's alpha
agreement-other-coefficients / exact_checks: Krippendorff's alpha ends
answering-models / count_checks: ratings
attributes / interval_checks: ICC(3,k) | ICC(3,k) ends
attributes / test_pdsqi9: median difference | n | signed-rank p
calibration / exact_orders: as scored | as scored ends | calibrated | calibrated ends | change | change ends | n
calibration-curves / test_diagnosis_jury: calibrated
claims-area / test_econsult: area under the curve | threshold used
claims-evidence / test_econsult: left without evidence | quotations | refused
claims-per-answer / test_econsult: answers | claims | fewest | mean each | most
claims-thresholds / test_econsult: F1 | accuracy | called concordant | sensitivity | specificity
claims-verdicts / test_econsult: claims | contradicted (%) | not addressed (%) | supported (%)
classes / interval_checks: Cohen's kappa | Cohen's kappa ends | F1 of -1 | F1 of 0 | F1 of 1 | F1 of 2
classes / interval_checks: F1 of 2 ends
classes / interval_checks: accuracy | macro F1 | macro F1 ends
classes / share_checks: F1 of -1 ends | F1 of 0 ends | F1 of 1 ends | accuracy ends
classes-clinicians / share_checks: all say the same ends
classes-clinicians / test_econsult: Fleiss' kappa | all say the same | rated by all | rated by two
confusion / count_checks: answers
confusion-by-rater / count_checks: answers
corpus / test_econsult: all
corpus / test_pdsqi9: development | held out | p
cost / test_pdsqi9: calls | cost (USD) | evaluations | seconds | total cost (USD)
coverage / count_checks: not applicable | ratings | scored | unscored
deliberation-endings / test_pdsqi9: agreed at once | by the orchestrator | decided outside | deliberations
deliberation-endings / test_pdsqi9: ended agreed | failed
deliberation-personas / test_pdsqi9: turns
differences / interval_checks: lower limit | lower limit ends | mean difference | mean difference ends
differences / interval_checks: upper limit | upper limit ends
dimension-correlations / test_diagnosis_jury: clinicians | jury
distributions / count_checks: % at highest grade | % at lowest grade | SD | mean | median | n
errors / test_pdsqi9: points
human-baseline / test_econsult: clinician with clinician | difference | rater with clinician
preference / share_checks: answer preferred ends | concordant ends | specialist preferred ends
preference / test_econsult: answer preferred | compared | concordant | neither | not known | pairs
preference / test_econsult: specialist preferred
preference-orders / share_checks: changed ends | lean to first ends
preference-orders / test_econsult: changed | first twice | pairs | second twice
ranking / exact_orders: mean score | mean score ends | rank | scores | unscored | win rate | win rate ends
ranking-agreement / exact_orders: Kendall's tau-b | Kendall's tau-b ends | pairs against | pairs alike
ranking-agreement / exact_orders: pairs tied | systems
ranking-agreement-calibrated / exact_orders: Kendall's tau-b | Kendall's tau-b ends | pairs against
ranking-agreement-calibrated / exact_orders: pairs alike | pairs tied | systems
ranking-beside-clinicians / test_diagnosis_jury: clinicians' mean | clinicians' rank | jury's mean
rater-kappas / count_checks: Spearman's rho | answers | weighted kappa
raters / test_pdsqi9: years
repeats / test_transcripts: SD across runs | answers | mean | runs
second-panel / exact_checks: how much nearer | how much nearer ends | n | win rate (%)
second-panel-before-after / exact_checks: calibrated (%) | calibrated: how much nearer
second-panel-before-after / exact_checks: calibrated: how much nearer ends | how much nearer
second-panel-before-after / exact_checks: how much nearer ends | win rate as scored (%)
second-panel-severe-errors / share_checks: panel's rate ends | rate ends
self-preference / test_diagnosis_jury: grades more for its own
severe-error-overlap / test_diagnosis_jury: answers
severe-errors / share_checks: rate with unscored as errors ends
severe-errors / test_diagnosis_jury: dangerous answers | errors | rate | rate ends
stability / exact_spreads: SD within an answer | SD within an answer ends | answers | answers that change
stability / exact_spreads: answers that change ends | mean CV | mean CV ends | two repeats differ
stability / exact_spreads: two repeats differ ends
stability-people / exact_spreads: SD within an answer | SD within an answer ends | answers | answers that change
stability-people / exact_spreads: answers that change ends | mean CV | mean CV ends | two repeats differ
stability-people / exact_spreads: two repeats differ ends
standardised / exact_spreads: averaged first | averaged first ends | each rater first | each rater first ends
standardised / test_medhelm_jury: n
text-metrics / exact_checks: Kendall's tau-b | Kendall's tau-b ends | answers | enrichment (2 − 0)
text-metrics / exact_checks: enrichment (2 − 0) ends
text-metrics / test_transcripts: clinicians differ | metric undefined
triage / test_diagnosis_jury: dangerous | mean share caught | mean share caught ends | rated answers
triage / test_diagnosis_jury: share to review to catch 80 %
triage-labels / test_diagnosis_jury: cases | labelled | log-odds per point | median score, label 0
triage-labels / test_diagnosis_jury: median score, label 1
triage-labels-by-system / test_diagnosis_jury: answers | highest | lower quartile | lowest | median
triage-labels-by-system / test_diagnosis_jury: upper quartile
verdicts / test_econsult: held-out cases
ways-of-judging / share_checks: rate ends
ways-of-judging / test_diagnosis_jury: agreement | agreement ends | difference | difference ends | errors | rate
ways-of-judging-by-dimension / share_checks: rate ends
""")

NOT_STATISTICS = _read("""
calibration-curves / where the curve is read: score
claims-thresholds / where the share is cut: threshold
confusion / a grade: clinicians
confusion / a grade: judge-large
confusion / a grade: jury
confusion / a grade: reader-north
confusion / a grade: reasoner-zero-shot
confusion-by-rater / a grade: clinicians
confusion-by-rater / a grade: grade
judges / settings of the judges as the study file has them: *
gate / a rule in words, with numbers of other tables: *
severe-error-overlap / how many names the row lists: judges
triage-labels-by-system / a value of the label: value
tripod-llm / numbers of the checklist: *
""")

NOT_YET = {
    (table, column)
    for table, columns in _read("""
agreement: unscored
agreement-by-system: all answers | all answers ends | between systems | between systems ends
agreement-by-system: knowing only the system | knowing only the system ends | within a system
agreement-by-system: within a system ends
calibration-curves: answers
cases-worth-reading: difference in grades
claims-area: answers | area under the curve ends | clinicians tied | concordant | no share
claims-evidence: claims told | of these corrected | refused (%)
claims-listing: not found in their text | repeated | too slight to look for | with a number their text lacks
claims-per-answer: not taken apart
claims-verdicts: not verified (%)
classes: n | unscored
classes-clinicians: Fleiss' kappa ends | clinicians
clinicians-together: all clinicians | all clinicians ends | rated by two
corpus: atlas | borea | cirrus | delta | east-flash | east-pro | north-large | north-small | south-think
corpus: ward | west-fast
cost: tokens in | tokens out
deliberation-endings: at max stalls | at max turns | turns each
deliberation-personas: decided as it held (%) | grades changed | its grade less the decision
deliberation-personas: left without an answer
differences: n
dimension-correlations: answers | reasoner-zero-shot
errors: adjusted p | points ends
human-baseline: clinician with clinician ends | difference ends | n | p | rater with clinician ends
preference: no verdict
preference-orders: failed | lean to first
ranking-beside-clinicians: judge-large's mean | judge-large's rank | jury's rank | reasoner-zero-shot's mean
ranking-beside-clinicians: reasoner-zero-shot's rank | scores
ranking-by-reference: labels | mean score | mean score ends | rank
second-panel-before-after: n
second-panel-severe-errors: panel's rate | rate | scored by both
self-preference: adjusted p | grades more for its own ends | n
severe-errors: of them unscored | rate with unscored as errors
stability: repeats for a mean within ±0.25
triage: share to review to catch 80 % ends
triage-labels: log-odds per point ends | mean share found | mean share found ends
triage-labels: share to review to find 80 % | share to review to find 80 % ends
verdicts: clinician with clinician | clinician with clinician ends | judge with clinician
verdicts: judge with clinician ends | jury with clinician | jury with clinician ends
ways-of-judging: calls | cost (USD) | seconds
ways-of-judging-by-dimension: agreement | agreement ends | answers | dangerous | difference | difference ends
ways-of-judging-by-dimension: errors | left out | rate
""").items()
    for column in columns
}

CHECKED_BY: dict[str, set[tuple[str, str]]] = {}
