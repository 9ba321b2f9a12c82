"""Learned metrics: how alike two texts are to a neural network."""
