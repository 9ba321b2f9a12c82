from ._look import look as look
from ._recipe_check import check_recipe as check_recipe
from ._recognise import recognise as recognise
from ._two_tables import TwoTables as TwoTables
