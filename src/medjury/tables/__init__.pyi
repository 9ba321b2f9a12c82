from ._answers import answers_of as answers_of
from ._case_columns import CASE_PARTS as CASE_PARTS, MOST_GROUPS as MOST_GROUPS, tells_groups as tells_groups
from ._clean import PROBABILITY as PROBABILITY, clean_rows as clean_rows
from ._consensus import (
    ConsensusRule as ConsensusRule,
    adjudicated as adjudicated,
    consensus_of as consensus_of,
    majority as majority,
    mean_of_raters as mean_of_raters,
)
from ._consensus_rater import with_consensus as with_consensus
from ._danger import danger_reference as danger_reference
from ._grades import (
    Grades as Grades,
    GradesArgument as GradesArgument,
    grades_from_instrument as grades_from_instrument,
    grades_of as grades_of,
)
from ._grid import (
    ABSENT as ABSENT,
    NOT_APPLICABLE as NOT_APPLICABLE,
    SCORED as SCORED,
    UNSCORED as UNSCORED,
    Grid as Grid,
    RepeatRule as RepeatRule,
)
from ._jury import (
    CALIBRATED as CALIBRATED,
    JURY as JURY,
    JuryName as JuryName,
    JuryRule as JuryRule,
    add_jury as add_jury,
)
from ._measured import Measured as Measured, of_instrument as of_instrument
from ._open import open_run as open_run, rating_table as rating_table, with_rules as with_rules
from ._plain import read_plain_table as read_plain_table
from ._probability import probability_of as probability_of
from ._rating_table import RatingTable as RatingTable, case_columns as case_columns
from ._read import read_rating_table as read_rating_table
from ._roles import CONSENSUS as CONSENSUS, MACHINES as MACHINES, Names as Names, Roles as Roles, named as named
from ._two_tables.doubt import AS_THEY_ARE as AS_THEY_ARE, Answer as Answer, Doubt as Doubt
from ._two_tables.panel import Meaning as Meaning, Panel as Panel
from ._two_tables.panel_mapping import COLUMNS as COLUMNS
from ._two_tables.same_ids import MATCHED as MATCHED, id_doubt as id_doubt, with_matched as with_matched
from ._two_tables.same_scale import (
    rescaled as rescaled,
    reversed_doubt as reversed_doubt,
    scale_doubt as scale_doubt,
    whole_scale as whole_scale,
)
from ._two_tables.two_panels import (
    UnclearColumnsError as UnclearColumnsError,
    read_panels as read_panels,
    table_of as table_of,
    two_panels as two_panels,
)
