"""For the site: our records are dataclasses, so that what makes one is shown with all that it takes."""

from __future__ import annotations

from typing import Any

from griffe import Alias, Extension


class Records(Extension):
    def on_alias_instance(self, *, alias: Alias, **_: Any) -> None:
        if alias.target_path == "medjury.records.dataclass":
            alias.target_path = "dataclasses.dataclass"
