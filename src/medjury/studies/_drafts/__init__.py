"""Studies that draft first: the drafter, its step, and its cases."""
