"""An embedding model in a folder of this machine: ONNX with tokenizer.json, or a sentence-transformers folder.

The usual layout of such folders is read: `model.onnx` or `onnx/model.onnx`, `tokenizer.json`, and where they are,
`1_Pooling/config.json` and `sentence_bert_config.json`. Nothing is ever downloaded. Instruction prefixes, which a few
models want before queries, are not added.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from recollect.errors import ModelError
from recollect.models.embedding.base import Embedder, Vectors, unit_rows
from recollect.models.embedding.encoder import Encoded, Encoder
from recollect.models.embedding.pieces import TokenPiece, cut_pieces
from recollect.models.embedding.tokenizer import open_tokenizer, slices

#: Where a folder has its model.
ONNX_NAMES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
)
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_DEFAULT_LENGTH, _LONGEST = 256, 8_192
_MIB = 1 << 20


def open_folder(path: str | Path) -> Embedder:
    """The embedder in a folder. Raises ModelError when there is none that can be used here, saying what is missing."""
    folder, model = model_in(path, "embedding model", "modules.json")
    return SentenceTransformersFolder(folder) if model is None else OnnxFolder(folder, model)


class OnnxFolder:
    """A model in ONNX. A text longer than the model's bound is the mean of its consecutive pieces."""

    def __init__(self, folder: Path, model: Path, threads: int | None = None) -> None:
        """Loads the model. Raises ModelError when a part is missing or of a kind that is not known here."""
        self._tokenizer = tokenizer_in(folder)
        self.name = identity(folder, model)
        self._encoder = Encoder(model, self._tokenizer, threads)
        self._output = _wanted_output(folder, self._encoder.outputs)
        self._pooling = _pooling(folder)
        self._piece = _length(folder) - self._encoder.specials
        self.dimensions = self._measure()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, float32 (n, dimensions); zeros for a text without tokens. Raises ModelError."""
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        for answer in self._encoder.run(cut_pieces(self._tokenizer, texts, self._piece), [self._output]):
            sums[answer.piece.owner] += self._sentence(answer)
        return unit_rows(sums)

    def _sentence(self, answer: Encoded) -> Vectors:
        found = answer.outputs[self._output]
        row: Vectors = found if found.ndim == 1 else pool(found, self._pooling)
        return np.asarray(unit_rows(row[None, :])[0], np.float32)

    def _measure(self) -> int:
        ids = self._tokenizer.encode("a", add_special_tokens=False).ids
        (answer,) = self._encoder.run([TokenPiece(0, 0, ids)], [self._output])
        return int(answer.outputs[self._output].shape[-1])


class SentenceTransformersFolder:
    """A model run by the sentence-transformers library, where that is installed."""

    def __init__(self, folder: Path) -> None:
        """Loads the model. Raises ModelError when the library is missing or refuses the folder."""
        self._model = sentence_transformer(folder, "SentenceTransformer")
        self.name = identity(folder, next(folder.glob("*.safetensors"), folder / "modules.json"))
        self.dimensions = len(self._model.encode(["a"])[0])
        # Three characters a token keep a part below the bound in all but dense scripts.
        self._characters = 3 * int(self._model.max_seq_length or _DEFAULT_LENGTH)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, float32 (n, dimensions); zeros for blank texts. Raises ModelError."""
        parts = [
            (owner, part)
            for owner, text in enumerate(texts)
            for part in slices(text, self._characters)
            if part and not part.isspace()
        ]
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        if not parts:
            return sums
        try:
            rows = np.asarray(self._model.encode([part for _, part in parts], show_progress_bar=False), np.float32)
        except Exception as error:
            raise ModelError(f"The embedding model failed: {error}") from error
        np.add.at(sums, np.array([owner for owner, _ in parts]), unit_rows(rows))
        return unit_rows(sums)


def pool(tokens: Vectors, how: str) -> Vectors:
    """The vector (d,) of a text from its token states (t, d): their "mean", the "cls" or "last" one."""
    if how == "mean":
        return np.asarray(tokens.mean(axis=0), np.float32)
    return np.asarray(tokens[0 if how == "cls" else -1], np.float32)


def _wanted_output(folder: Path, outputs: dict[str, int]) -> str:
    """The output with the sentence vectors, else one with token states to pool; `outputs` has each one's rank."""
    if outputs.get("sentence_embedding") == 2:
        return "sentence_embedding"
    if any("Dense" in str(module.get("type")) for module in _read(folder / "modules.json", [])):
        raise ModelError(
            f"The model in {folder} has a dense layer after pooling that its ONNX file leaves out.",
            hint="Export it with sentence-transformers' own ONNX export, so that it gives sentence_embedding.",
        )
    for name in _TOKEN_OUTPUTS:
        if outputs.get(name) == 3:
            return name
    raise ModelError(
        f"The model in {folder} outputs {', '.join(outputs)}, none of which is an embedding.",
        hint="It must output sentence_embedding, token_embeddings or last_hidden_state.",
    )


def _pooling(folder: Path) -> str:
    """How the model's authors pool: "mean" unless their file says otherwise. Raises ModelError for rare ways."""
    config = _read(folder / "1_Pooling" / "config.json", {})
    chosen = {key.removeprefix("pooling_mode_") for key, on in config.items() if key.startswith("pooling_mode_") and on}
    chosen = chosen or {str(config.get("pooling_mode", "mean"))}
    ways = {"mean_tokens": "mean", "cls_token": "cls", "lasttoken": "last", "mean": "mean", "cls": "cls"}
    if len(chosen) != 1 or not chosen <= ways.keys():
        raise ModelError(
            f"The model in {folder} pools by {', '.join(sorted(chosen))}, which is not supported.",
            hint="Supported: mean, cls and lasttoken.",
        )
    return ways[chosen.pop()]


def _length(folder: Path) -> int:
    """The most tokens the model takes at once, special ones included."""
    length = _read(folder / "sentence_bert_config.json", {}).get("max_seq_length")
    if not length:
        length = _read(folder / "tokenizer_config.json", {}).get("model_max_length")
    usable = isinstance(length, int | float) and 8 <= length <= _LONGEST
    return int(length) if usable else _DEFAULT_LENGTH


def model_in(path: str | Path, what: str, sign: str) -> tuple[Path, Path | None]:
    """The folder and its model in ONNX; None where it is one of sentence-transformers, which the file `sign` tells.
    Raises ModelError where it is neither, saying what is missing of `what`.
    """
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise ModelError(f"{folder} is not a folder.", hint=f"Name the folder that holds the {what}.")
    model = next((folder / name for name in ONNX_NAMES if (folder / name).is_file()), None)
    if model is None and not (folder / sign).is_file():
        raise ModelError(
            f"{folder} contains no {what}.",
            hint=f"It needs {ONNX_NAMES[0]} or {ONNX_NAMES[1]} with tokenizer.json, or a sentence-transformers model.",
        )
    return folder, model


def tokenizer_in(folder: Path) -> Tokenizer:
    """The tokenizer beside a model in ONNX. Raises ModelError."""
    if not (folder / "tokenizer.json").is_file():
        raise ModelError(f"{folder} has no tokenizer.json.", hint="Download it from where you got the model.")
    return open_tokenizer(folder / "tokenizer.json")


def sentence_transformer(folder: Path, kind: str) -> Any:
    """A model of sentence-transformers, of this class of the library. Raises ModelError when it is missing or refuses
    the folder.
    """
    try:
        library = importlib.import_module("sentence_transformers")
    except ImportError as error:
        raise ModelError(
            f"{folder} is a sentence-transformers model without an ONNX file, and the library is not installed.",
            hint="Run: pip install sentence-transformers; or export the model to model.onnx.",
        ) from error
    try:
        return getattr(library, kind)(str(folder), local_files_only=True)
    except Exception as error:  # whatever torch and transformers raise
        raise ModelError(f"sentence-transformers cannot load {folder}: {error}") from error


def identity(folder: Path, model: Path) -> str:
    """Folder name and a digest that changes with the model: of its size and its first and last MiB."""
    digest = hashlib.blake2b(digest_size=6)
    with model.open("rb") as stream:
        size = stream.seek(0, 2)
        digest.update(size.to_bytes(8, "big"))
        for at in (0, max(0, size - _MIB)):
            stream.seek(at)
            digest.update(stream.read(_MIB))
    return f"folder:{folder.resolve().name}@{digest.hexdigest()}"


def _read(path: Path, absent: Any) -> Any:
    """A JSON file, or `absent` when it is not there. Raises ModelError when it is damaged or of another shape."""
    if not path.is_file():
        return absent
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} is not readable JSON: {error}.") from error
    if type(value) is not type(absent):
        raise ModelError(f"{path} does not have the expected contents.")
    return value
