"""Running a suite: candidates answer benchmarks, answers are marked or judged, and what it took is counted."""
