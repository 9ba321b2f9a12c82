"""Who made a model, guessed from its name: the self-preference audit asks. A study may say it instead."""

from __future__ import annotations

_VENDORS = (
    ("gpt", "OpenAI"), ("o1", "OpenAI"), ("o3", "OpenAI"), ("o4", "OpenAI"), ("chatgpt", "OpenAI"),
    ("claude", "Anthropic"), ("gemini", "Google"), ("gemma", "Google"), ("medgemma", "Google"),
    ("llama", "Meta"), ("meta-llama", "Meta"), ("mistral", "Mistral AI"), ("mixtral", "Mistral AI"),
    ("ministral", "Mistral AI"), ("qwen", "Alibaba"), ("qwq", "Alibaba"), ("deepseek", "DeepSeek"),
    ("phi", "Microsoft"), ("command", "Cohere"), ("grok", "xAI"), ("smollm", "Hugging Face"),
    ("kimi", "Moonshot AI"), ("glm", "Zhipu AI"), ("olmo", "Allen Institute for AI"), ("granite", "IBM"),
)  # fmt: skip


def vendor_of(model: str) -> str:
    """The vendor, or an empty text where the name does not tell.

    >>> vendor_of("meta-llama/Llama-3.3-70B-Instruct")
    'Meta'
    """
    last = model.lower().rsplit("/", 1)[-1]
    for start, vendor in _VENDORS:
        if last.startswith(start):
            return vendor
    return ""
