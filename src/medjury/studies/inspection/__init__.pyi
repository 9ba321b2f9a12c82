from ._look import Look as Look
from ._look import look as look
from ._recognise import recognise as recognise
from ._two_tables import TwoTables as TwoTables
from ._two_tables import put as put
from ._two_tables import read_settings as read_settings
from ._two_tables import settings_text as settings_text
