from ._settings import WatchStudy as WatchStudy, load_watch as load_watch
from ._status import QuantityFound as QuantityFound, Watched as Watched
from ._watch import watch as watch
