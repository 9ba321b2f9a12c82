"""Before the first call: what a run will ask, take and can show, and what is recorded of it."""
