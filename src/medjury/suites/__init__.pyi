from ._baselines import (
    AgainstBaseline as AgainstBaseline,
)
from ._baselines import (
    BaselineScore as BaselineScore,
)
from ._baselines import (
    CompletionProbe as CompletionProbe,
)
from ._baselines import (
    ExchangeabilityTest as ExchangeabilityTest,
)
from ._baselines import (
    UnanswerableEffect as UnanswerableEffect,
)
from ._baselines import (
    baseline_scores as baseline_scores,
)
from ._baselines import (
    beats_baseline as beats_baseline,
)
from ._baselines import (
    completion_probe as completion_probe,
)
from ._baselines import (
    decided_without_reading as decided_without_reading,
)
from ._baselines import (
    effect_of_unanswerable as effect_of_unanswerable,
)
from ._baselines import (
    exchangeability_test as exchangeability_test,
)
from ._baselines import (
    trivial_answers as trivial_answers,
)
from ._benchmark import Benchmark as Benchmark
from ._exchange import (
    AnswerJury as AnswerJury,
)
from ._exchange import (
    JuryAnnotator as JuryAnnotator,
)
from ._exchange import (
    Opinion as Opinion,
)
from ._exchange import (
    UnscoredError as UnscoredError,
)
from ._exchange import (
    deepeval_metric as deepeval_metric,
)
from ._exchange import (
    helm_jury_metric as helm_jury_metric,
)
from ._exchange import (
    inspect_scorer as inspect_scorer,
)
from ._exchange import (
    log_to_mlflow as log_to_mlflow,
)
from ._exchange import (
    ratings_of_given as ratings_of_given,
)
from ._item import Item as Item
from ._item import Loaded as Loaded
from ._leaderboard import (
    Board as Board,
)
from ._leaderboard import (
    Results as Results,
)
from ._leaderboard import (
    board_json as board_json,
)
from ._leaderboard import (
    board_of as board_of,
)
from ._leaderboard import (
    standings_csv as standings_csv,
)
from ._leaderboard import (
    write_leaderboard as write_leaderboard,
)
from ._library import (
    Guess as Guess,
)
from ._library import (
    guess_columns as guess_columns,
)
from ._library import (
    inputs_of as inputs_of,
)
from ._library import (
    library as library,
)
from ._library import (
    list_benchmarks as list_benchmarks,
)
from ._library import (
    listed as listed,
)
from ._library import (
    listing_text as listing_text,
)
from ._library import (
    load_benchmark as load_benchmark,
)
from ._library import (
    new_benchmark as new_benchmark,
)
from ._library import (
    prompt_of as prompt_of,
)
from ._library import (
    sample_file as sample_file,
)
from ._loaders import (
    DataCheck as DataCheck,
)
from ._loaders import (
    FetchError as FetchError,
)
from ._loaders import (
    check_data as check_data,
)
from ._loaders import (
    draw_items as draw_items,
)
from ._loaders import (
    fetch_files as fetch_files,
)
from ._loaders import (
    fetch_plan as fetch_plan,
)
from ._loaders import (
    load_items as load_items,
)
from ._mark import Mark as Mark
from ._marking import (
    METRICS as METRICS,
)
from ._marking import (
    CodeCounts as CodeCounts,
)
from ._marking import (
    code_counts as code_counts,
)
from ._marking import (
    mark as mark,
)
from ._marking import (
    mark_all as mark_all,
)
from ._marking import (
    micro_f1 as micro_f1,
)
from ._running import (
    Suite as Suite,
)
from ._running import (
    SuitePlan as SuitePlan,
)
from ._running import (
    SuiteRun as SuiteRun,
)
from ._running import (
    gold_cases as gold_cases,
)
from ._running import (
    keep_answerable as keep_answerable,
)
from ._running import (
    keep_probe as keep_probe,
)
from ._running import (
    load_suite as load_suite,
)
from ._running import (
    make_suite as make_suite,
)
from ._running import (
    plan_suite as plan_suite,
)
from ._running import (
    read_results as read_results,
)
from ._running import (
    run_suite as run_suite,
)
from ._taxonomy import (
    Coverage as Coverage,
)
from ._taxonomy import (
    Taxonomy as Taxonomy,
)
from ._taxonomy import (
    coverage as coverage,
)
from ._taxonomy import (
    read_taxonomy as read_taxonomy,
)
