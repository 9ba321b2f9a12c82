from ._answers import answers_of as answers_of
from ._case_columns import CASE_PARTS as CASE_PARTS
from ._case_columns import MOST_GROUPS as MOST_GROUPS
from ._case_columns import tells_groups as tells_groups
from ._clean import PROBABILITY as PROBABILITY
from ._clean import clean_rows as clean_rows
from ._consensus import (
    ConsensusRule as ConsensusRule,
)
from ._consensus import (
    adjudicated as adjudicated,
)
from ._consensus import (
    consensus_of as consensus_of,
)
from ._consensus import (
    majority as majority,
)
from ._consensus import (
    mean_of_raters as mean_of_raters,
)
from ._consensus_rater import with_consensus as with_consensus
from ._grades import (
    Grades as Grades,
)
from ._grades import (
    GradesArgument as GradesArgument,
)
from ._grades import (
    grades_from_instrument as grades_from_instrument,
)
from ._grades import (
    grades_of as grades_of,
)
from ._grid import (
    ABSENT as ABSENT,
)
from ._grid import (
    NOT_APPLICABLE as NOT_APPLICABLE,
)
from ._grid import (
    SCORED as SCORED,
)
from ._grid import (
    UNSCORED as UNSCORED,
)
from ._grid import (
    Grid as Grid,
)
from ._grid import (
    RepeatRule as RepeatRule,
)
from ._jury import (
    CALIBRATED as CALIBRATED,
)
from ._jury import (
    JURY as JURY,
)
from ._jury import (
    JuryName as JuryName,
)
from ._jury import (
    JuryRule as JuryRule,
)
from ._jury import (
    add_jury as add_jury,
)
from ._measured import Measured as Measured
from ._measured import of_instrument as of_instrument
from ._open import open_run as open_run
from ._open import rating_table as rating_table
from ._open import with_rules as with_rules
from ._plain import read_plain_table as read_plain_table
from ._probability import probability_of as probability_of
from ._rating_table import (
    RatingTable as RatingTable,
)
from ._rating_table import (
    case_columns as case_columns,
)
from ._rating_table import (
    danger_reference as danger_reference,
)
from ._read import read_rating_table as read_rating_table
from ._roles import (
    CONSENSUS as CONSENSUS,
)
from ._roles import (
    MACHINES as MACHINES,
)
from ._roles import (
    Names as Names,
)
from ._roles import (
    Roles as Roles,
)
from ._roles import (
    named as named,
)
from ._two_tables.doubt import AS_THEY_ARE as AS_THEY_ARE
from ._two_tables.doubt import Answer as Answer
from ._two_tables.doubt import Doubt as Doubt
from ._two_tables.panel import Meaning as Meaning
from ._two_tables.panel import Panel as Panel
from ._two_tables.panel_mapping import COLUMNS as COLUMNS
from ._two_tables.same_ids import MATCHED as MATCHED
from ._two_tables.same_ids import id_doubt as id_doubt
from ._two_tables.same_ids import with_matched as with_matched
from ._two_tables.same_scale import (
    rescaled as rescaled,
)
from ._two_tables.same_scale import (
    reversed_doubt as reversed_doubt,
)
from ._two_tables.same_scale import (
    scale_doubt as scale_doubt,
)
from ._two_tables.same_scale import (
    whole_scale as whole_scale,
)
from ._two_tables.two_panels import (
    UnclearColumnsError as UnclearColumnsError,
)
from ._two_tables.two_panels import (
    read_panels as read_panels,
)
from ._two_tables.two_panels import (
    table_of as table_of,
)
from ._two_tables.two_panels import (
    two_panels as two_panels,
)
