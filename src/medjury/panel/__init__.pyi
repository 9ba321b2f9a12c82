from ._app import make_app as make_app
from ._database import PanelDatabase as PanelDatabase, open_panel_database as open_panel_database
from ._erasing import erase_from_panel as erase_from_panel
from ._opening import (
    coordinators_link as coordinators_link,
    invitation_link as invitation_link,
    open_panel as open_panel,
)
from ._panel import Panel as Panel
from ._saving_files import (
    include_ratings as include_ratings,
    save_question_replies as save_question_replies,
    save_ratings as save_ratings,
    save_references as save_references,
    take_in_ratings as take_in_ratings,
)
from ._serve import listen as listen, reached_at as reached_at, serve as serve
from ._trail_text import trail_text as trail_text
from ._view import serve_evidence as serve_evidence, write_evidence_file as write_evidence_file
