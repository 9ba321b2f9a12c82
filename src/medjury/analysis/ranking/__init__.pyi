from ._rank import agreement_after as agreement_after
from ._rank import rank as rank
from ._rank_scores import read_costs as read_costs
from ._ranking import Ranking as Ranking
from ._ranking import Standing as Standing
from ._scores import score_table as score_table
