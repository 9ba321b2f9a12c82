"""Watching: a jury in use judges what is new, clinicians read some of it, and an alarm holds whenever one looks."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.watching._settings import WatchStudy, load_watch
    from medjury.watching._status import QuantityFound, Watched
    from medjury.watching._watch import watch

__all__ = ["QuantityFound", "WatchStudy", "Watched", "load_watch", "watch"]
