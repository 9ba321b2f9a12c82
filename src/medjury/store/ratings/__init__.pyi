from ._columns import RatingColumns as RatingColumns
from ._columns import rating_blocks as rating_blocks
from ._erasure.erasure import (
    Erased as Erased,
)
from ._erasure.erasure import (
    ErasureEntry as ErasureEntry,
)
from ._erasure.erasure import (
    Selection as Selection,
)
from ._erasure.erasure import (
    day as day,
)
from ._erasure.erasure import (
    erase as erase,
)
from ._erasure.erasure import (
    erasures as erasures,
)
from ._erasure.erasure import (
    mark_of as mark_of,
)
from ._erasure.erasure import (
    new_salt as new_salt,
)
from ._erasure.erasure_text import erased_text as erased_text
from ._erasure.erasure_text import not_found_text as not_found_text
from ._export import write_ratings as write_ratings
from ._files.problems import NoRatingsError as NoRatingsError
from ._files.problems import RatingsError as RatingsError
from ._files.reading import Reading as Reading
from ._files.table import Table as Table
from ._files.table import read_table as read_table
from ._files.text_table import plain_header as plain_header
from ._formula import guard_frame as guard_frame
from ._formula import unguard as unguard
from ._frame import rating_frame as rating_frame
from ._frame import ratings_from_frame as ratings_from_frame
from ._import.cell import shown_of as shown_of
from ._import.import_file import (
    FileImport as FileImport,
)
from ._import.import_file import (
    export_ratings as export_ratings,
)
from ._import.import_file import (
    import_into_file as import_into_file,
)
from ._import.import_file import (
    import_into_store as import_into_store,
)
from ._import.import_file import (
    runs_content as runs_content,
)
from ._import.import_file import (
    runs_text as runs_text,
)
from ._import.import_ratings import (
    ImportedRatings as ImportedRatings,
)
from ._import.import_ratings import (
    import_ratings as import_ratings,
)
from ._import.import_ratings import (
    open_pseudonyms as open_pseudonyms,
)
from ._import.import_ratings import (
    read_ratings as read_ratings,
)
from ._import.import_ratings import (
    table_files as table_files,
)
from ._import.known_cases import KnownCases as KnownCases
from ._import.labels import CaseLabels as CaseLabels
from ._import.redcap import is_redcap as is_redcap
from ._profiles import PROFILE as PROFILE
from ._pseudonyms import Pseudonyms as Pseudonyms
from ._pseudonyms import key_file_beside as key_file_beside
from ._question import Question as Question
from ._rating import RaterKind as RaterKind
from ._rating import Rating as Rating
from ._rating import Status as Status
from ._rating import outcome_of as outcome_of
from ._record import StoredRecord as StoredRecord
from ._record import write_records as write_records
from ._sharing.account import (
    Account as Account,
)
from ._sharing.account import (
    begin_account as begin_account,
)
from ._sharing.account import (
    spent_together as spent_together,
)
from ._sharing.budget import SharedBudget as SharedBudget
from ._sharing.drain import LogDrain as LogDrain
from ._sharing.pace import SharedPace as SharedPace
from ._store.copy import CopiedTable as CopiedTable
from ._store.copy import copy_store as copy_store
from ._store.database import is_empty_file as is_empty_file
from ._store.desk import StoreDesk as StoreDesk
from ._store.owner import Busy as Busy
from ._store.owner import Claimed as Claimed
from ._store.owner import Owner as Owner
from ._store.owner import new_owner as new_owner
from ._store.store import RatingCount as RatingCount
from ._store.store import Store as Store
from ._store.store import open_store as open_store
from ._store.store_error import (
    StoreError as StoreError,
)
from ._store.store_error import (
    StoreFull as StoreFull,
)
from ._store.store_error import (
    StoreLocked as StoreLocked,
)
from ._store.store_error import (
    StoreStopped as StoreStopped,
)
from ._store.transaction import StoredReply as StoredReply
