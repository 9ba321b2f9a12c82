from ._check import PassportCheck as PassportCheck
from ._check import check_passport as check_passport
from ._document import Passport as Passport
from ._door import PassportDoor as PassportDoor
from ._judged import Judged as Judged
from ._judging import judge_with_passport as judge_with_passport
from ._making import make_passport as make_passport
from ._placing import Placed as Placed
from ._placing import Placing as Placing
from ._population import Population as Population
from ._population import population_of as population_of
from ._reading import (
    RefusedError as RefusedError,
)
from ._reading import (
    read_passport as read_passport,
)
from ._reading import (
    signed_passport as signed_passport,
)
