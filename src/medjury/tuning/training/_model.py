"""The model that is trained: from a folder, a name of the hub's that is on this machine, or a GGUF file; and back.

Weights in a GGUF file are 4 to 8 bits each; they are made whole numbers again, as near as they were kept.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medjury.foundation.errors import MedjuryError, first_line
from medjury.foundation.files import private_folder, whole_part
from medjury.models import read_whole, reading_weights, refuse_pickled
from medjury.tuning.training._record import TRAINING, read_trained

ADAPTER, MERGED, UNPACKED = "adapter", "merged", "unpacked"


@dataclass(slots=True)
class Base:
    """A model with its tokenizer, ready to be trained or asked."""

    model: Any
    tokenizer: Any
    device: str

    @property
    def longest(self) -> int:
        """The most tokens it takes, question and answer together."""
        return int(getattr(self.model.config, "max_position_embeddings", 0) or 2048)


def load_base(where: str | Path, *, four_bit: bool = False) -> Base:
    """Load a model on the GPU where there is one. Nothing is fetched."""
    torch, transformers = library("torch"), library("transformers")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    options: dict[str, Any] = {"dtype": torch.bfloat16 if device == "cuda" else torch.float32}
    if four_bit:
        options |= {"quantization_config": _quantisation(torch, transformers), "device_map": {"": 0}}
    with _readable(where), reading_weights(transformers):
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(where), local_files_only=True)
        model = read_whole(transformers.AutoModelForCausalLM, str(where), local_files_only=True, **options)
    if tokenizer.chat_template is None:
        raise MedjuryError(
            f"the model {str(where)!r} has no chat template, so it cannot be a judge; take an instruct model"
        )
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return Base(model if four_bit else model.to(device), tokenizer, device)


def unpack(file: Path, folder: Path) -> Path:
    """The weights of a GGUF file as a folder of whole weights, which alone can be trained. Made once."""
    if (folder / "config.json").is_file():
        return folder
    if not file.is_file():
        raise MedjuryError(f"there is no file {file}; give the path of the weights")
    library("gguf")
    torch, transformers = library("torch"), library("transformers")
    options: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True}
    with _readable(file), reading_weights(transformers):
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(file.parent), **options)
        packed = read_whole(
            transformers.AutoModelForCausalLM, str(file.parent), dtype=torch.float32, **options
        )
        # It remembers that it was packed, and is refused by trainers for that: the same weights in a new model.
        config = packed.config
        if hasattr(config, "quantization_config"):
            del config.quantization_config
        whole = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        whole.load_state_dict(packed.state_dict())
        part = folder.with_name(f"{folder.name}.part")
        private_folder(part)
        whole.save_pretrained(str(part))
        tokenizer.save_pretrained(str(part))
        part.replace(folder)
    return folder


def merge(base: str | Path, folder: Path) -> Path:
    """The adapter of a training put into its base, in whole weights, as a folder that any server can load."""
    peft, transformers = library("peft"), library("transformers")
    loaded = load_base(base)
    refuse_pickled(folder / ADAPTER)
    with reading_weights(transformers):
        whole = peft.PeftModel.from_pretrained(loaded.model, str(folder / ADAPTER)).merge_and_unload()
        private_folder(folder / MERGED)
        whole.save_pretrained(str(folder / MERGED))
        loaded.tokenizer.save_pretrained(str(folder / MERGED))
    return folder / MERGED


def starting_point(base: str | Path) -> str | Path:
    """A model, or the merged weights of an earlier training's folder: preference training starts from those."""
    folder = Path(base)
    if not (folder / TRAINING).is_file():
        return base
    return folder / MERGED if (folder / MERGED).is_dir() else merge(read_trained(folder)["base"], folder)


def base_hash(where: str | Path) -> str | None:
    """SHA-256 of the weights' files, in the order of their names; None where the model is not a file or folder."""
    place = Path(where)
    files = [place] if place.is_file() else sorted([*place.glob("*.safetensors"), *place.glob("*.bin")])
    if not files:
        return None
    found = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            while block := opened.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def _quantisation(torch: Any, transformers: Any) -> Any:
    return transformers.BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


@contextmanager
def _readable(where: str | Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise MedjuryError(
            f"the model {str(where)!r} cannot be loaded: {first_line(error)}. Nothing is fetched by itself: "
            "give a folder, a .gguf file, or a model that is in the hub's cache on this machine"
        ) from None


# The libraries of training, imported when something is trained and not before.


NAMES = ("torch", "transformers", "peft", "trl", "datasets", "accelerate", "bitsandbytes", "gguf", "optuna")


def library(name: str) -> Any:
    """A library of the `train` extra."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MedjuryError(
            f"Training needs {name}, which is not here ({error}). Install it: pip install 'medjury[train]'"
        ) from None


def versions() -> dict[str, str]:
    """Those that are installed, with their versions."""
    return {
        name: importlib.metadata.version(name) for name in NAMES if importlib.util.find_spec(name) is not None
    }


def four_bit_words(wanted: bool) -> tuple[bool, str]:
    """Whether 4-bit weights are trained on, and a sentence that says so and why."""
    if not wanted:
        return False, "plain LoRA on whole weights: 4-bit weights were not asked for"
    if not library("torch").cuda.is_available():
        return False, "plain LoRA on whole weights, not QLoRA: there is no CUDA device here"
    if importlib.util.find_spec("bitsandbytes") is None:
        return False, "plain LoRA on whole weights, not QLoRA: bitsandbytes is not installed"
    return True, "QLoRA: low-rank adaptation of 4-bit weights (nf4, by bitsandbytes)"


# A trained model as one GGUF file, which llama.cpp and the embedded kind of judge read.
#
# The file is made after the one that the training started from: its tokenizer and its numbers are taken over, and
# its weights replaced by the trained ones, eight bits each. That is known for models built as Llama is, such as
# SmolLM2.


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
