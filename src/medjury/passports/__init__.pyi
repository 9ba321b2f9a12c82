from ._check import PassportCheck as PassportCheck, check_passport as check_passport
from ._document import Passport as Passport
from ._door import PassportDoor as PassportDoor
from ._judged import Judged as Judged
from ._judging import judge_with_passport as judge_with_passport
from ._making import make_passport as make_passport
from ._placing import Placed as Placed, Placing as Placing
from ._population import Population as Population, population_of as population_of
from ._reading import (
    RefusedError as RefusedError,
    read_passport as read_passport,
    signed_passport as signed_passport,
)
