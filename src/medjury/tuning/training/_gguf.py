"""A trained model as one GGUF file, which llama.cpp and the embedded kind of judge read.

The file is made after the one that the training started from: its tokenizer and its numbers are taken over, and its
weights replaced by the trained ones, eight bits each. That is known for models built as Llama is, such as SmolLM2.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError
from medjury.foundation.files import whole_part
from medjury.tuning.training._base import MERGED, load_base
from medjury.tuning.training._libraries import library
from medjury.tuning.training._train import starting_point

Weights = NDArray[np.float32]
_WRITTEN_ANEW = ("GGUF.", "general.architecture", "general.file_type", "general.quantization_version")


def export_gguf(folder: Path, like: Path, out: str | Path | None = None) -> Path:
    """Write the merged weights of a training's folder as a GGUF file, made after the file `like`."""
    gguf = library("gguf")
    if not like.is_file():
        raise MedjuryError(f"there is no file {like}; give the GGUF file that the training started from")
    reader = gguf.GGUFReader(like)
    architecture = str(reader.fields["general.architecture"].contents())
    if architecture != "llama":
        raise MedjuryError(
            f"{like} is a model of the kind {architecture}, and only the kind llama can be written; serve the "
            "folder instead: medjury train serve FOLDER"
        )
    starting_point(folder)
    trained = _trained(gguf, folder / MERGED)
    target = Path(out) if out else folder / "model.gguf"
    lacking = [each.name for each in reader.tensors if each.name not in trained]
    if lacking:
        raise MedjuryError(
            f"{folder} has no weights {lacking[0]}, which {like} has; is it the file it was trained from?"
        )
    with whole_part(target) as part:
        writer = gguf.GGUFWriter(part, architecture)
        for field in reader.fields.values():
            if not field.name.startswith(_WRITTEN_ANEW):
                inner = field.types[-1] if len(field.types) > 1 else None
                writer.add_key_value(field.name, field.contents(), field.types[0], inner)
        writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
        writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
        for each in reader.tensors:
            _add(gguf, writer, each.name, trained[each.name])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return target


def _trained(gguf: Any, merged: Path) -> dict[str, Weights]:
    """The weights by the names that GGUF has for them; rows of queries and keys are in its order."""
    base = load_base(merged)
    config = base.model.config
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    found: dict[str, Weights] = {}
    for name, tensor in base.model.state_dict().items():
        known = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if known is None:
            raise MedjuryError(f"the weights {name} have no place in a GGUF file; serve the folder instead")
        values = tensor.float().cpu().numpy()
        if ".q_proj." in name:
            values = _interleaved(values, config.num_attention_heads)
        elif ".k_proj." in name:
            values = _interleaved(values, config.num_key_value_heads)
        found[known] = values
    return found


def _interleaved(weights: Weights, heads: int) -> Weights:
    """The two halves of every head's rows in turns: llama.cpp rotates neighbours, transformers halves."""
    rows = weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:])
    return np.ascontiguousarray(rows.swapaxes(1, 2).reshape(weights.shape))


def _add(gguf: Any, writer: Any, name: str, values: Weights) -> None:
    """Tables of weights in eight bits, where their rows allow; lists of them whole."""
    if values.ndim < 2:
        writer.add_tensor(name, values.astype(np.float32))
    elif values.shape[-1] % 32:
        writer.add_tensor(name, values.astype(np.float16))
    else:
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(name, gguf.quants.quantize(values.astype(np.float32), kind), raw_dtype=kind)
