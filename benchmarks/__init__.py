"""Speed beside the peers, measured in the same run, as ratios: `make bench`, or `python -m benchmarks NAME ...`.

What a change does to our own speed is measured the same way, beside an older state of the code:

    git worktree add --detach ../before COMMIT
    python -m benchmarks report --before ../before

Nothing that was measured elsewhere is typed in here. Without `--before` there is today's time and no ratio.
"""
