"""For the site: a code block's words for the tests (`file=NAME`, `norun`, `needs=MODULE`) are not shown."""

from __future__ import annotations

import re
from typing import Any

_FENCE = re.compile(r"^(```\w+)[ \t]+[^\n`]+$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    return _FENCE.sub(r"\1", markdown)
