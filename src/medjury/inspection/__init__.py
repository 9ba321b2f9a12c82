"""Inspection: what a file is, the mapping that would read it, what would be lost, and what it can answer."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.inspection._door import Door, put, read_settings, settings_text
    from medjury.inspection._look import Look, look
    from medjury.inspection._recognise import Kind, recognise

__all__ = ["Door", "Kind", "Look", "look", "put", "read_settings", "recognise", "settings_text"]
