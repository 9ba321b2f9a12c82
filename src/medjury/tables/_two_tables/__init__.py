"""Two tables of scores, clinicians' and judges', as one: how their columns, ids and scales meet."""
