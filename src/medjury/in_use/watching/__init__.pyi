from ._settings import WatchStudy as WatchStudy
from ._settings import load_watch as load_watch
from ._status import QuantityFound as QuantityFound
from ._status import Watched as Watched
from ._watch import watch as watch
