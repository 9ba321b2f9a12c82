"""Models loaded into this process from a folder of weights, by transformers or by vLLM: nothing is fetched."""
