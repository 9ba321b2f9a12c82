"""The model inside this process: its weights, and the one thread that runs them."""
