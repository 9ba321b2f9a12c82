from ._status import Watched as Watched
from ._watch import watch as watch
