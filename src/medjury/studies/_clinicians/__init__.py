"""The clinicians of a study: who they are, what they rated, and what they are to rate."""
