"""What an endpoint behind a vendor's SDK takes; whatever it answers with 400 is dropped, and remembered."""

from __future__ import annotations

from dataclasses import dataclass, replace

from medjury.models._chat import Request
from medjury.models._openai.dialect import refuses

MOST_ADAPTATIONS = 5
_SCHEMA_WORDS = ("schema", "output_config", "output_format", "response_mime_type", "responsemimetype")


@dataclass(frozen=True, slots=True)
class SdkDialect:
    """Which settings are sent. Each call keeps the one it began with, so that calls in flight together learn from
    the same refusal, each for itself."""

    schema: bool = True
    temperature: bool = True
    seed: bool = True

    @property
    def dropped(self) -> tuple[str, ...]:
        """What is no longer sent, because the endpoint does not take it."""
        return tuple(name for name in ("temperature", "seed") if not getattr(self, name))

    def with_all_of(self, other: SdkDialect) -> SdkDialect:
        """Without what either has dropped."""
        return SdkDialect(
            self.schema and other.schema, self.temperature and other.temperature, self.seed and other.seed
        )


def adapt_sdk(dialect: SdkDialect, request: Request, words: str) -> SdkDialect | None:
    """The next dialect to try after a 400 that said `words`; None where no dialect would help."""
    said = words.lower()
    for name in ("temperature", "seed"):
        if getattr(dialect, name) and getattr(request, name) is not None and refuses(said, name):
            return replace(dialect, **{name: False})
    if dialect.schema and request.schema is not None and any(each in said for each in _SCHEMA_WORDS):
        return replace(dialect, schema=False)
    return None
