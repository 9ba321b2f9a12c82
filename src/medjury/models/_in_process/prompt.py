"""A question as the tokens of a model's own chat template, in which words of a case never become commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from medjury.instruments import Reason
from medjury.models._chat import Message, ModelError
from medjury.models._wording import with_instructions_first, without_surrogates

# Marks of templates that are ordinary text to their tokenizers.
_MARKS = (
    r"\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]",
    r"<</?SYS>>",
    r"<\|[^|<>\s]{1,40}\|>",
)


class Template:
    """`settings` are what the template itself takes, such as `enable_thinking: false`."""

    def __init__(self, tokenizer: Any, settings: dict[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._settings = settings
        special = {each.content for each in tokenizer.added_tokens_decoder.values() if each.special}
        special |= set(tokenizer.all_special_tokens)
        words = sorted((re.escape(each) for each in special if len(each) > 1), key=len, reverse=True)
        self._control = re.compile("|".join((*words, *_MARKS)))

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """The prompt up to where the answer begins."""
        try:
            text = self._text(messages)
        except (
            Exception
        ):  # templates refuse in words of their own; one without a role for instructions is common
            try:
                text = self._text(with_instructions_first(messages))
            except Exception as error:
                raise ModelError(
                    Reason.PROVIDER,
                    f"the model's chat template does not take this question ({type(error).__name__})",
                    fatal=True,
                ) from None
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _text(self, messages: Sequence[Message]) -> str:
        said = [{"role": each.role, "content": self._harmless(each.content)} for each in messages]
        return str(
            self._tokenizer.apply_chat_template(
                said, tokenize=False, add_generation_prompt=True, **self._settings
            )
        )

    def _harmless(self, text: str) -> str:
        """Control words inside a text stay text, whoever wrote them there."""
        return self._control.sub(lambda found: f"{found[0][0]} {found[0][1:]}", without_surrogates(text))
