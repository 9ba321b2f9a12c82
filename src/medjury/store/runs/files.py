"""The names of the files in a run folder, and of its folders: each is written in one place and read by many."""

from __future__ import annotations

MANIFEST = "manifest.json"
RATINGS = "ratings.parquet"
RATINGS_CSV = "ratings.csv"
RECORDS = "records.jsonl"
DRAFTS = "drafts.jsonl"
PATIENTS = "patients.csv"
PARTS = "parts.csv"
RATERS = "raters.csv"
LABELS = "labels.csv"
CRITERIA = "criteria.json"
TUNING = "tuning.json"
TOUCHED = "touched.json"  # of a training: the cases that it saw
LINEAGE = "lineage.jsonl"
AUDIT_LOG = "audit.jsonl"
STORE = "ratings.sqlite"
REPORT = "report.html"
REPORT_PDF = "report.pdf"
BOARD = "board.html"
BOARD_PDF = "board.pdf"
GOVERNANCE = "governance.html"
GOVERNANCE_PDF = "governance.pdf"
PAGES = (REPORT, REPORT_PDF, BOARD, BOARD_PDF, GOVERNANCE, GOVERNANCE_PDF)
TABLES = "tables"
FIGURES = "figures"
SIGNATURE = "manifest.json.sig"
BUDGET_LOCK = "budget.lock"
# What a run folder may hold beside the files and the report that its manifest names; the store has files of its own
# beside it, whose names begin with the store's.
UNNAMED = (MANIFEST, SIGNATURE, AUDIT_LOG, BUDGET_LOCK, TUNING, LINEAGE)
# Files that only the run itself may add: one that the manifest does not name was put there by somebody else.
OF_THE_RUN = (RECORDS, DRAFTS, PATIENTS, PARTS, RATERS, LABELS, CRITERIA)
