"""Passports: a validated jury as one file: what it is, on whom it was validated, until when; and judging by it."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.passports._check import PassportCheck, check_passport
    from medjury.passports._document import Passport
    from medjury.passports._door import PassportDoor
    from medjury.passports._judged import Judged
    from medjury.passports._judging import judge_with_passport
    from medjury.passports._making import make_passport
    from medjury.passports._placing import Placed, Placing
    from medjury.passports._population import Population, population_of
    from medjury.passports._reading import RefusedError, read_passport, signed_passport

__all__ = [
    "Judged",
    "Passport",
    "PassportCheck",
    "PassportDoor",
    "Placed",
    "Placing",
    "Population",
    "RefusedError",
    "check_passport",
    "judge_with_passport",
    "make_passport",
    "population_of",
    "read_passport",
    "signed_passport",
]
