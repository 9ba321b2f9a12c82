"""Speed beside the peers, measured in the same run, as ratios: `make bench`."""
