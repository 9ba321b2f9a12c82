"""Before the first call: what a run will ask, take and be able to show."""
