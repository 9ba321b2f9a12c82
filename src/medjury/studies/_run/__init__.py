"""The run: asked, watched, stopped, gone on with, concluded."""
