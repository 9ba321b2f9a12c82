"""A study judged by the workers of a Ray cluster: the same loop in each, one store, one log, one budget.

Ray starts workers and tells when one has died. What is to be done is cut into shares of the cases; who does which
matters to nobody, for every answer has its key in the store, and a key that one worker holds is not paid for by
another. No text of a case passes through Ray: workers read the cases themselves.
"""
