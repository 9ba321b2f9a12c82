"""Records too long for a model: refused, or shortened by a rule and recorded."""
