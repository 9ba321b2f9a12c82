"""Audits: what moves a judge's scores besides the quality of the answer?

Most read a rating table: one file, a name in `__init__.pyi`, its name, import and maker in `_every_audit.py`, a
line of help in `cli/audit.py` and a word in the line of `audit` in `cli/_main.py`, a line of
`docs/auditing.md`, a test in `tests/audits/`, and a design in `benchmarks/_audit_studies.py`, named in
`benchmarks/coverage.py`, whose coverage is in `docs/tables/coverage.md`. A slope on another property of the
text is one line of `FEATURES` in `_text_effects.py`. Where a run folder has all that it needs (it has no
texts), a function in `report/_sections/audits.py`, named in `report/_page.py`, draws it; its table is named in
`_NEEDS` of `studies/inspection/_report_tables.py` and in `docs/report.md`, and its numbers are made a second
time for `tests/recipes/every_number.py`. `_injection.py` asks the judges again, so it is also a part of the
study (`studies/_file/`), of its plan, its run and its manifest."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
