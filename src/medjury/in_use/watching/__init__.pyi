from ._watch import watch as watch
