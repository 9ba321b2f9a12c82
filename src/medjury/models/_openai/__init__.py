"""Endpoints that speak OpenAI's chat completions."""
