from .analysis.agreement import agreement as agreement
from .analysis.audits import audit as audit
from .analysis.calibration import calibrate as calibrate
from .analysis.ranking import rank as rank
from .foundation.errors import MedjuryError as MedjuryError
from .instruments import load_instrument as load_instrument
from .intake.cases import Case as Case
from .intake.cases import cases_from_frame as cases_from_frame
from .intake.cases import read_cases as read_cases
from .judging import Judge as Judge
from .judging import Jury as Jury
from .judging import judge as judge
from .models import make_model as make_model
from .store.ratings import open_store as open_store
from .store.ratings import read_ratings as read_ratings
from .store.ratings import write_ratings as write_ratings
from .studies import (
    arun_study as arun_study,
)
from .studies import (
    load_study as load_study,
)
from .studies import (
    open_run as open_run,
)
from .studies import (
    run_study as run_study,
)
from .tables import RatingTable as RatingTable
from .tables import rating_table as rating_table
from .validation import validate as validate
from .version import __version__ as __version__
