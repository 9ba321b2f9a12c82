"""Ratings: one row shape for clinicians, judges, juries and metrics, and the store that keeps them."""

from medjury.doors import on_demand

with on_demand(__name__):
    from medjury.ratings._columns import RatingColumns, rating_blocks
    from medjury.ratings._erasure.erasure import Erased, Selection, day, erase, erasures
    from medjury.ratings._erasure.erasure_log import ErasureEntry, mark_of, new_salt
    from medjury.ratings._erasure.erasure_text import erased_text, not_found_text
    from medjury.ratings._export import write_ratings
    from medjury.ratings._files.problems import NoRatingsError, RatingsError
    from medjury.ratings._files.reading import Reading
    from medjury.ratings._files.table import Table, read_table
    from medjury.ratings._files.text_table import plain_header
    from medjury.ratings._formula import guard_frame, unguard
    from medjury.ratings._frame import rating_frame, ratings_from_frame
    from medjury.ratings._import.cell import shown_of
    from medjury.ratings._import.import_file import (
        FileImport,
        export_ratings,
        import_into_file,
        import_into_store,
        runs_content,
        runs_text,
    )
    from medjury.ratings._import.import_ratings import (
        ImportedRatings,
        import_ratings,
        open_pseudonyms,
        read_ratings,
        table_files,
    )
    from medjury.ratings._import.known_cases import KnownCases
    from medjury.ratings._import.labels import CaseLabels
    from medjury.ratings._import.redcap import is_redcap
    from medjury.ratings._profiles import PROFILE
    from medjury.ratings._pseudonyms import Pseudonyms, key_file_beside
    from medjury.ratings._question import Question
    from medjury.ratings._rating import RaterKind, Rating, Status, outcome_of
    from medjury.ratings._record import StoredRecord, write_records
    from medjury.ratings._sharing.account import Account, begin_account, spent_together
    from medjury.ratings._sharing.budget import SharedBudget
    from medjury.ratings._sharing.drain import LogDrain
    from medjury.ratings._sharing.pace import SharedPace
    from medjury.ratings._store.copy import CopiedTable, copy_store
    from medjury.ratings._store.database import is_empty_file
    from medjury.ratings._store.desk import StoreDesk
    from medjury.ratings._store.owner import Busy, Claimed, Owner, new_owner
    from medjury.ratings._store.store import RatingCount, Store, open_store
    from medjury.ratings._store.store_error import StoreError, StoreFull, StoreLocked, StoreStopped
    from medjury.ratings._store.transaction import StoredReply

__all__ = [
    "PROFILE",
    "Account",
    "Busy",
    "CaseLabels",
    "Claimed",
    "CopiedTable",
    "Erased",
    "ErasureEntry",
    "FileImport",
    "ImportedRatings",
    "KnownCases",
    "LogDrain",
    "NoRatingsError",
    "Owner",
    "Pseudonyms",
    "Question",
    "RaterKind",
    "Rating",
    "RatingColumns",
    "RatingCount",
    "RatingsError",
    "Reading",
    "Selection",
    "SharedBudget",
    "SharedPace",
    "Status",
    "Store",
    "StoreDesk",
    "StoreError",
    "StoreFull",
    "StoreLocked",
    "StoreStopped",
    "StoredRecord",
    "StoredReply",
    "Table",
    "begin_account",
    "copy_store",
    "day",
    "erase",
    "erased_text",
    "erasures",
    "export_ratings",
    "guard_frame",
    "import_into_file",
    "import_into_store",
    "import_ratings",
    "is_empty_file",
    "is_redcap",
    "key_file_beside",
    "mark_of",
    "new_owner",
    "new_salt",
    "not_found_text",
    "open_pseudonyms",
    "open_store",
    "outcome_of",
    "plain_header",
    "rating_blocks",
    "rating_frame",
    "ratings_from_frame",
    "read_ratings",
    "read_table",
    "runs_content",
    "runs_text",
    "shown_of",
    "spent_together",
    "table_files",
    "unguard",
    "write_ratings",
    "write_records",
]
