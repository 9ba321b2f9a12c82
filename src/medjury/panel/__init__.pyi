from ._database import PanelDatabase as PanelDatabase
from ._database import open_panel_database as open_panel_database
from ._erasing import erase_from_panel as erase_from_panel
from ._panel import Panel as Panel
from ._saving_files import (
    include_ratings as include_ratings,
)
from ._saving_files import (
    save_question_replies as save_question_replies,
)
from ._saving_files import (
    save_ratings as save_ratings,
)
from ._saving_files import (
    save_references as save_references,
)
from ._saving_files import (
    take_in_ratings as take_in_ratings,
)
from ._serve import (
    coordinators_link as coordinators_link,
)
from ._serve import (
    invitation_link as invitation_link,
)
from ._serve import (
    listen as listen,
)
from ._serve import (
    make_app as make_app,
)
from ._serve import (
    open_panel as open_panel,
)
from ._serve import (
    reached_at as reached_at,
)
from ._serve import (
    serve as serve,
)
from ._trail_text import trail_text as trail_text
from ._view import serve_evidence as serve_evidence
from ._view import write_evidence_file as write_evidence_file
