"""Exchange with other programs: their answers and scores on our leaderboard, our juries and runs in their hands.

Nothing of theirs is imported until it is used, and none of them is needed otherwise."""
