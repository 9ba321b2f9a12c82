"""A language model small enough to be trained in a test: random weights, few words, a chat template."""

from __future__ import annotations

from pathlib import Path

from medjury.judging._prompt import _TASK

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
MARKS = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]


def write_tiny_model(folder: Path, *, positions: int = 4096, shared_weights: bool = False) -> Path:
    """Write model and tokenizer as a folder that transformers reads."""
    import tokenizers
    import torch
    import transformers

    plain = tokenizers.Tokenizer(tokenizers.models.BPE())
    plain.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=700, special_tokens=MARKS, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()
    )
    plain.train_from_iterator([_TASK] * 2, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain, eos_token="<|end|>", pad_token="<|pad|>", additional_special_tokens=MARKS[2:]
    )
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=positions,
            eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, bos_token_id=None,
            tie_word_embeddings=shared_weights,
        )
    )  # fmt: skip
    model.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    return folder
