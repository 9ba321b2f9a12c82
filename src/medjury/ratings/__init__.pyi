from ._columns import RatingColumns as RatingColumns, rating_blocks as rating_blocks
from ._erasure.erasure import (
    Erased as Erased,
    Selection as Selection,
    day as day,
    erase as erase,
    erasures as erasures,
)
from ._erasure.erasure_log import ErasureEntry as ErasureEntry, mark_of as mark_of, new_salt as new_salt
from ._erasure.erasure_text import erased_text as erased_text, not_found_text as not_found_text
from ._export import write_ratings as write_ratings
from ._files.problems import NoRatingsError as NoRatingsError, RatingsError as RatingsError
from ._files.reading import Reading as Reading
from ._files.table import Table as Table, read_table as read_table
from ._files.text_table import plain_header as plain_header
from ._formula import guard_frame as guard_frame, unguard as unguard
from ._frame import rating_frame as rating_frame, ratings_from_frame as ratings_from_frame
from ._import.cell import shown_of as shown_of
from ._import.import_file import (
    FileImport as FileImport,
    export_ratings as export_ratings,
    import_into_file as import_into_file,
    import_into_store as import_into_store,
    runs_content as runs_content,
    runs_text as runs_text,
)
from ._import.import_ratings import (
    ImportedRatings as ImportedRatings,
    import_ratings as import_ratings,
    open_pseudonyms as open_pseudonyms,
    read_ratings as read_ratings,
    table_files as table_files,
)
from ._import.known_cases import KnownCases as KnownCases
from ._import.labels import CaseLabels as CaseLabels
from ._import.redcap import is_redcap as is_redcap
from ._profiles import PROFILE as PROFILE
from ._pseudonyms import Pseudonyms as Pseudonyms, key_file_beside as key_file_beside
from ._question import Question as Question
from ._rating import RaterKind as RaterKind, Rating as Rating, Status as Status, outcome_of as outcome_of
from ._record import StoredRecord as StoredRecord, write_records as write_records
from ._sharing.account import Account as Account, begin_account as begin_account, spent_together as spent_together
from ._sharing.budget import SharedBudget as SharedBudget
from ._sharing.drain import LogDrain as LogDrain
from ._sharing.pace import SharedPace as SharedPace
from ._store.copy import CopiedTable as CopiedTable, copy_store as copy_store
from ._store.database import is_empty_file as is_empty_file
from ._store.desk import StoreDesk as StoreDesk
from ._store.owner import Busy as Busy, Claimed as Claimed, Owner as Owner, new_owner as new_owner
from ._store.store import RatingCount as RatingCount, Store as Store, open_store as open_store
from ._store.store_error import (
    StoreError as StoreError,
    StoreFull as StoreFull,
    StoreLocked as StoreLocked,
    StoreStopped as StoreStopped,
)
from ._store.transaction import StoredReply as StoredReply
