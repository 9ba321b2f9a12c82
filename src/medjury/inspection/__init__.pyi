from ._door import Door as Door, put as put, read_settings as read_settings, settings_text as settings_text
from ._look import Look as Look, look as look
from ._recognise import Kind as Kind, recognise as recognise
