from ._baselines import (
    AgainstBaseline as AgainstBaseline,
    BaselineScore as BaselineScore,
    CompletionProbe as CompletionProbe,
    ExchangeabilityTest as ExchangeabilityTest,
    UnanswerableEffect as UnanswerableEffect,
    baseline_scores as baseline_scores,
    beats_baseline as beats_baseline,
    completion_probe as completion_probe,
    decided_without_reading as decided_without_reading,
    effect_of_unanswerable as effect_of_unanswerable,
    exchangeability_test as exchangeability_test,
    trivial_answers as trivial_answers,
)
from ._benchmark import Benchmark as Benchmark
from ._exchange import (
    AnswerJury as AnswerJury,
    JuryAnnotator as JuryAnnotator,
    Opinion as Opinion,
    UnscoredError as UnscoredError,
    deepeval_metric as deepeval_metric,
    helm_jury_metric as helm_jury_metric,
    inspect_scorer as inspect_scorer,
    log_to_mlflow as log_to_mlflow,
    ratings_of_given as ratings_of_given,
)
from ._item import Item as Item, Loaded as Loaded
from ._leaderboard import (
    Board as Board,
    Results as Results,
    board_json as board_json,
    board_of as board_of,
    standings_csv as standings_csv,
    write_leaderboard as write_leaderboard,
)
from ._library import (
    Guess as Guess,
    guess_columns as guess_columns,
    inputs_of as inputs_of,
    library as library,
    list_benchmarks as list_benchmarks,
    listed as listed,
    listing_text as listing_text,
    load_benchmark as load_benchmark,
    new_benchmark as new_benchmark,
    prompt_of as prompt_of,
    sample_file as sample_file,
)
from ._loaders import (
    DataCheck as DataCheck,
    FetchError as FetchError,
    check_data as check_data,
    draw_items as draw_items,
    fetch_files as fetch_files,
    fetch_plan as fetch_plan,
    load_items as load_items,
)
from ._mark import Mark as Mark
from ._marking import (
    METRICS as METRICS,
    CodeCounts as CodeCounts,
    code_counts as code_counts,
    mark as mark,
    mark_all as mark_all,
    micro_f1 as micro_f1,
)
from ._running import (
    Suite as Suite,
    SuitePlan as SuitePlan,
    SuiteRun as SuiteRun,
    gold_cases as gold_cases,
    keep_answerable as keep_answerable,
    keep_probe as keep_probe,
    load_suite as load_suite,
    make_suite as make_suite,
    plan_suite as plan_suite,
    read_results as read_results,
    run_suite as run_suite,
)
from ._taxonomy import (
    Coverage as Coverage,
    Taxonomy as Taxonomy,
    coverage as coverage,
    read_taxonomy as read_taxonomy,
)
