# ruff: noqa: E501  (a line names a table, the test and the columns)
"""What the reports of the recipes hold, table by table, and which of it the tests here make a second time.

`RECOMPUTED` names the test that compares a column, and `conftest` sees after each test that it did: with every report
it ran on that has the column. `VALUE ends` are the two ends of the value's interval. They are compared to nine
digits, but for estimates that a search ends near. Every column with a number is in one of the two lists: one that is in neither fails.
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
agreement / test_agreement_with_its_ends: ICC(2,1)
agreement / test_agreement_with_its_ends: ICC(2,1) ends | RMSE ends
agreement / test_agreement_with_its_ends: Spearman's rho ends
agreement / test_agreement_with_its_ends: offset ends
agreement / test_agreement_with_its_ends: weighted kappa ends
agreement / test_every_interval_that_follows_from_two_counts: same grade ends
agreement / test_agreement_with_its_ends: RMSE | Spearman's rho | n | offset | same grade
agreement / test_agreement_with_its_ends: weighted kappa
agreement / test_what_is_left_out_listed_and_put_in_order: unscored
agreement-by-system / test_agreement_between_systems_and_within_them_with_its_ends: all answers
agreement-by-system / test_agreement_between_systems_and_within_them_with_its_ends: all answers ends
agreement-by-system / test_agreement_between_systems_and_within_them_with_its_ends: between systems
agreement-by-system / test_agreement_between_systems_and_within_them_with_its_ends: knowing only the system
agreement-by-system / test_agreement_between_systems_and_within_them_with_its_ends: knowing only the system ends
agreement-by-system / test_agreement_between_systems_and_within_them_with_its_ends: within a system
agreement-by-system / test_agreement_between_systems_and_within_them_with_its_ends: within a system ends
agreement-other-coefficients / test_alpha_and_ac2_with_their_ends: Gwet's AC2 | Gwet's AC2 ends
agreement-other-coefficients / test_alpha_and_ac2_with_their_ends: Krippendorff's alpha
agreement-other-coefficients / test_alpha_and_ac2_with_their_ends: Krippendorff's alpha ends
answering-models / test_what_is_counted: ratings
attributes / test_attribute_by_attribute: ICC(3,k) | median difference | n | signed-rank p
attributes / test_agreement_with_its_ends: mean distance
attributes / test_agreement_with_its_ends: ICC(3,k) ends
calibration / test_before_and_after_calibration_with_their_ends: as scored | as scored ends | calibrated
calibration / test_before_and_after_calibration_with_their_ends: calibrated ends | change | change ends | n
calibration-curves / test_every_point_of_the_calibration_curves: answers | calibrated
cases-worth-reading / test_what_is_left_out_listed_and_put_in_order: difference in grades
claims-area / test_claims_and_orders_record_by_record: answers | area under the curve | clinicians tied | concordant
claims-area / test_claims_and_orders_record_by_record: area under the curve ends | no share
claims-area / test_how_well_the_supported_share_tells_drafts_apart: threshold used
claims-evidence / test_claims_and_orders_record_by_record: claims told | left without evidence | of these corrected
claims-evidence / test_claims_and_orders_record_by_record: quotations | refused | refused (%)
claims-listing / test_claims_and_orders_record_by_record: not found in their text | repeated
claims-listing / test_claims_and_orders_record_by_record: too slight to look for | with a number their text lacks
claims-per-answer / test_claims_and_orders_record_by_record: answers | claims | fewest | mean each | most
claims-per-answer / test_claims_and_orders_record_by_record: not taken apart
claims-thresholds / test_how_well_the_supported_share_tells_drafts_apart: F1 | accuracy | called concordant
claims-thresholds / test_how_well_the_supported_share_tells_drafts_apart: sensitivity | specificity
claims-verdicts / test_claims_and_orders_record_by_record: claims | contradicted (%) | not addressed (%)
claims-verdicts / test_claims_and_orders_record_by_record: not verified (%) | supported (%)
classes / test_agreement_with_its_ends: Cohen's kappa | F1 of -1 | F1 of 0 | F1 of 1 | accuracy
classes / test_agreement_with_its_ends: macro F1
classes / test_agreement_with_its_ends: F1 of 2 | n | precision | sensitivity | specificity
classes / test_what_is_left_out_listed_and_put_in_order: unscored
classes / test_an_adjudicator_of_disagreements_alone_does_not_make_clinicians_look_worse: F1 of 2 ends
classes / test_agreement_with_its_ends: Cohen's kappa ends | macro F1 ends
classes / test_every_interval_that_follows_from_two_counts: F1 of -1 ends | F1 of 0 ends | F1 of 1 ends
classes / test_every_interval_that_follows_from_two_counts: accuracy ends
classes / test_every_interval_that_follows_from_two_counts: precision ends | sensitivity ends | specificity ends
classes-crossed / test_clinicians_among_themselves_with_their_ends: answers
classes-clinicians / test_clinicians_among_themselves_with_their_ends: Fleiss' kappa | Fleiss' kappa ends | clinicians
classes-clinicians / test_clinicians_among_themselves_with_their_ends: rated by all | rated by two
classes-clinicians / test_every_interval_that_follows_from_two_counts: all say the same ends
classes-clinicians / test_clinicians_among_themselves_with_their_ends: all say the same
clinicians-together / test_clinicians_among_themselves_with_their_ends: all clinicians | all clinicians ends
clinicians-together / test_clinicians_among_themselves_with_their_ends: rated by two
confusion / test_what_is_counted: answers
confusion-by-rater / test_what_is_counted: answers
corpus / test_the_answers_that_were_rated: all | atlas | borea | cirrus | delta | development | east-flash
corpus / test_the_answers_that_were_rated: east-pro | held out | north-large | north-small | p | south-think | ward
corpus / test_the_answers_that_were_rated: west-fast
cost / test_calls_tokens_time_and_money: calls | cost (USD) | evaluations | seconds | tokens in | tokens out
cost / test_calls_tokens_time_and_money: total cost (USD)
cost-by-system / test_calls_tokens_time_and_money: answers | calls | cost (USD) | seconds | tokens in | tokens out
coverage / test_what_is_counted: not applicable | ratings | scored | unscored
coverage-by-system / test_what_is_counted: Clinician A | Clinician B | Reconciled | agents | clinician-01 | clinician-02
coverage-by-system / test_what_is_counted: clinician-03 | clinician-04 | clinician-05 | clinician-06 | clinician-07 | clinician-08
coverage-by-system / test_what_is_counted: clinician-09 | clinician-10 | clinician-11 | clinician-12 | general-zero-shot | judge-large
coverage-by-system / test_what_is_counted: judge-medium | judge-small | physician-1 | physician-2 | physician-3 | physician-4
coverage-by-system / test_what_is_counted: physician-5 | physician-6 | physician-7 | reasoner-five-shot | reasoner-zero-shot | small-zero-shot
coverage-by-system / test_what_is_counted: juror-east | juror-north | juror-south | primary panel | rescore panel
deliberation-endings / test_deliberations_record_by_record: agreed at once | at max stalls | at max turns
deliberation-endings / test_deliberations_record_by_record: by the orchestrator | decided outside | deliberations
deliberation-endings / test_deliberations_record_by_record: ended agreed | failed | turns each
deliberation-personas / test_deliberations_record_by_record: decided as it held (%) | grades changed | turns
deliberation-personas / test_deliberations_record_by_record: its grade less the decision | left without an answer
differences / test_agreement_with_its_ends: lower limit | lower limit ends
differences / test_agreement_with_its_ends: mean difference
differences / test_agreement_with_its_ends: mean difference ends
differences / test_agreement_with_its_ends: upper limit | upper limit ends
differences / test_what_is_left_out_listed_and_put_in_order: n
dimension-correlations / test_what_is_left_out_listed_and_put_in_order: answers | clinicians | jury
dimension-correlations / test_what_is_left_out_listed_and_put_in_order: reasoner-zero-shot
dimension-correlations-by-rater / test_what_is_left_out_listed_and_put_in_order: Spearman's rho | answers
distributions / test_what_is_counted: % at highest grade | % at lowest grade | SD | mean | median | n
errors / test_what_moves_the_error: adjusted p | points | points ends
human-baseline / test_agreement_beside_that_of_clinicians_with_their_ends: clinician with clinician
human-baseline / test_agreement_beside_that_of_clinicians_with_their_ends: clinician with clinician ends
human-baseline / test_agreement_beside_that_of_clinicians_with_their_ends: difference | difference ends | n | p
human-baseline / test_agreement_beside_that_of_clinicians_with_their_ends: rater with clinician
human-baseline / test_agreement_beside_that_of_clinicians_with_their_ends: rater with clinician ends
internal-consistency / test_alpha_and_ac2_with_their_ends: Cronbach's alpha | Cronbach's alpha ends | answers
jury-worth / test_the_votes_of_a_jury_and_its_best_judge_with_their_ends: answers | judges | effective votes
jury-worth / test_the_votes_of_a_jury_and_its_best_judge_with_their_ends: effective votes ends | jury | jury ends
jury-worth / test_the_votes_of_a_jury_and_its_best_judge_with_their_ends: its agreement | its agreement ends
jury-worth / test_the_votes_of_a_jury_and_its_best_judge_with_their_ends: difference | difference ends
preference / test_every_interval_that_follows_from_two_counts: answer preferred ends | concordant ends
preference / test_every_interval_that_follows_from_two_counts: specialist preferred ends
preference / test_what_is_left_out_listed_and_put_in_order: no verdict
preference / test_which_answer_each_rater_prefers: answer preferred | compared | concordant | neither
preference / test_which_answer_each_rater_prefers: not known | pairs | specialist preferred
preference-orders / test_claims_and_orders_record_by_record: changed | failed | first twice | lean to first | pairs
preference-orders / test_claims_and_orders_record_by_record: second twice
preference-orders / test_every_interval_that_follows_from_two_counts: changed ends | lean to first ends
ranking / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: mean score | mean score ends | rank
ranking / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: scores | unscored | win rate
ranking-agreement / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: Kendall's tau-b
ranking-agreement / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: pairs against
ranking-agreement / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: pairs alike | pairs tied
ranking-agreement / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: systems
ranking-agreement-calibrated / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: Kendall's tau-b
ranking-agreement-calibrated / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: pairs against
ranking-agreement-calibrated / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: pairs alike
ranking-agreement-calibrated / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: pairs tied
ranking-agreement-calibrated / test_the_ranking_and_its_agreement_with_the_panel_with_their_ends: systems
ranking-beside-clinicians / test_what_is_left_out_listed_and_put_in_order: clinicians' mean | clinicians' rank
ranking-beside-clinicians / test_what_is_left_out_listed_and_put_in_order: judge-large's mean | judge-large's rank
ranking-beside-clinicians / test_what_is_left_out_listed_and_put_in_order: jury's mean, calibrated
ranking-beside-clinicians / test_what_is_left_out_listed_and_put_in_order: jury's rank, calibrated
ranking-beside-clinicians / test_what_is_left_out_listed_and_put_in_order: jury's mean | jury's rank | scores
ranking-beside-clinicians / test_what_is_left_out_listed_and_put_in_order: reasoner-zero-shot's mean
ranking-beside-clinicians / test_what_is_left_out_listed_and_put_in_order: reasoner-zero-shot's rank
ranking-by-reference / test_systems_as_clinicians_would_rank_them: labels | mean score | mean score ends | rank
rater-kappas / test_what_is_counted: Spearman's rho | answers | weighted kappa
raters / test_the_draws_and_the_physicians_behind_them: years
repeats / test_every_run_of_a_judge_by_itself: SD across runs | answers | mean | runs
second-panel / test_win_rates_against_the_second_panel_with_their_ends: how much nearer | how much nearer ends
second-panel / test_win_rates_against_the_second_panel_with_their_ends: n | win rate (%)
second-panel-before-after / test_win_rates_against_the_second_panel_with_their_ends: calibrated (%)
second-panel-before-after / test_win_rates_against_the_second_panel_with_their_ends: calibrated: how much nearer
second-panel-before-after / test_win_rates_against_the_second_panel_with_their_ends: calibrated: how much nearer ends
second-panel-before-after / test_win_rates_against_the_second_panel_with_their_ends: how much nearer
second-panel-before-after / test_win_rates_against_the_second_panel_with_their_ends: how much nearer ends
second-panel-before-after / test_win_rates_against_the_second_panel_with_their_ends: n
second-panel-before-after / test_win_rates_against_the_second_panel_with_their_ends: win rate as scored (%)
second-panel-severe-errors / test_severe_errors_with_their_ends: panel's rate | panel's rate ends | rate | rate ends
second-panel-severe-errors / test_severe_errors_with_their_ends: scored by both
self-preference / test_whether_judges_favour_their_own_vendor_with_their_ends: adjusted p | n
self-preference / test_whether_judges_favour_their_own_vendor_with_their_ends: grades more for its own
self-preference / test_whether_judges_favour_their_own_vendor_with_their_ends: grades more for its own ends
severe-error-overlap / test_severe_errors_their_overlap_and_their_posterior: answers
severe-errors / test_severe_errors_with_their_ends: dangerous with a score | errors | dangerous without a score | rate | rate ends
severe-errors / test_severe_errors_with_their_ends: rate with unscored as errors | rate with unscored as errors ends
stability / test_spreads_of_repeats_with_their_ends: SD within an answer | SD within an answer ends | answers
stability / test_spreads_of_repeats_with_their_ends: answers that change | answers that change ends | mean CV
stability / test_spreads_of_repeats_with_their_ends: mean CV ends | two repeats differ | two repeats differ ends
stability / test_what_is_left_out_listed_and_put_in_order: repeats for a mean within ±0.25
stability-by-answer / test_spreads_of_repeats_with_their_ends: CV | SD | mean | repeats
stability-people / test_spreads_of_repeats_with_their_ends: SD within an answer | SD within an answer ends
stability-people / test_spreads_of_repeats_with_their_ends: answers that change ends | mean CV | mean CV ends
stability-people / test_spreads_of_repeats_with_their_ends: answers | answers that change
stability-people / test_spreads_of_repeats_with_their_ends: two repeats differ | two repeats differ ends
stability-people / test_what_is_left_out_listed_and_put_in_order: repeats for a mean within ±0.25
standardised / test_iccs_of_z_scores_with_their_ends: averaged first | averaged first ends | each rater first
standardised / test_iccs_of_z_scores_with_their_ends: each rater first ends
standardised / test_iccs_of_z_scores_with_their_ends: n
text-metrics / test_metrics_beside_labels_with_their_ends: clinicians differ | harm called worse | metric undefined
text-metrics / test_metrics_beside_labels_with_their_ends: Kendall's tau-b | Kendall's tau-b ends | answers
text-metrics / test_metrics_beside_labels_with_their_ends: enrichment (2 − 0) | enrichment (2 − 0) ends
triage / test_which_answers_a_clinician_must_see_first: dangerous | mean share caught
triage / test_which_answers_a_clinician_must_see_first: rated answers | share to review to catch 80 %
triage-labels / test_wrong_routine_diagnoses_with_the_ward_as_reference: cases | labelled | log-odds per point
triage-labels / test_wrong_routine_diagnoses_with_the_ward_as_reference: log-odds per point ends
triage-labels / test_wrong_routine_diagnoses_with_the_ward_as_reference: mean share found
triage-labels / test_wrong_routine_diagnoses_with_the_ward_as_reference: median score, label 0
triage-labels / test_wrong_routine_diagnoses_with_the_ward_as_reference: median score, label 1
triage-labels / test_wrong_routine_diagnoses_with_the_ward_as_reference: share to review to find 80 %
triage-labels-by-system / test_wrong_routine_diagnoses_by_the_ward_s_own_scores: answers | highest
triage-labels-by-system / test_wrong_routine_diagnoses_by_the_ward_s_own_scores: lower quartile | lowest
triage-labels-by-system / test_wrong_routine_diagnoses_by_the_ward_s_own_scores: median | upper quartile
verdicts / test_the_numbers_behind_the_verdicts: cases rated by two | colleague with clinician
verdicts / test_the_numbers_behind_the_verdicts: judge with clinician | jury with clinician
verdicts / test_the_numbers_behind_the_verdicts: share missed by a colleague | share of danger missed
ways-of-judging / test_calls_tokens_time_and_money: calls | cost (USD) | seconds
ways-of-judging / test_every_interval_that_follows_from_two_counts: rate ends
ways-of-judging / test_ways_of_judging_with_their_ends: errors | rate
ways-of-judging / test_ways_of_judging_with_their_ends: agreement | agreement ends | difference
ways-of-judging / test_ways_of_judging_with_their_ends: difference ends
ways-of-judging-by-dimension / test_every_interval_that_follows_from_two_counts: rate ends
ways-of-judging-by-dimension / test_ways_of_judging_with_their_ends: agreement | agreement ends | answers
ways-of-judging-by-dimension / test_ways_of_judging_with_their_ends: dangerous | difference | difference ends
ways-of-judging-by-dimension / test_ways_of_judging_with_their_ends: errors | left out | rate
""")

NOT_STATISTICS = _read("""
calibration-curves / where the curve is read: score
claims-thresholds / where the share is cut: threshold
classes-crossed / a grade: grade | their grade
confusion / a grade: clinicians
confusion / a grade: judge-large
confusion / a grade: jury
confusion / a grade: reader-north
confusion / a grade: reasoner-zero-shot
confusion-by-rater / a grade: clinicians
confusion-by-rater / a grade: grade
missed-danger / a grade: clinicians
missed-danger / a grade: jury
missed-danger / a grade: reader-north
judges / settings of the judges as the study file has them: *
gate / a rule in words, with numbers of other tables: *
preconditions / a rule in words, with numbers of other tables: *
severe-error-overlap / how many names the row lists: judges
triage-labels-by-system / a value of the label: value
tripod-llm / numbers of the checklist: *
""")

CHECKED_BY: dict[str, set[tuple[str, str]]] = {}
for _table, _columns in RECOMPUTED.items():
    for _column, _test in _columns.items():
        CHECKED_BY.setdefault(_test, set()).add((_table, _column))
