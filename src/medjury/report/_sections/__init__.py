"""The sections of the report, by subject. To add one: write a function here, and name it in `_page.py`."""
