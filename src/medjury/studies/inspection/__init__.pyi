from ._door import Door as Door
from ._door import put as put
from ._door import read_settings as read_settings
from ._door import settings_text as settings_text
from ._look import Look as Look
from ._look import look as look
from ._recognise import recognise as recognise
