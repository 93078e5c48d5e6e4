"""Runs a transformer in ONNX over pieces of token ids, each by itself, a core a piece.

Batches are no faster on a processor, and in a quantised model the texts of a batch would colour each other: its scales
are those of the whole batch. By itself a text has the same vector, always.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from recollect.errors import ModelError
from recollect.models.embedding.base import (
    MAX_TOKENS,
    TOKEN_SCALE,
    Embedder,
    TokenVectors,
    Vectors,
    packaged,
    packaged_array,
    unit_rows,
)
from recollect.models.embedding.tokenizer import (
    encode_batch,
    encode_in_slices,
    open_tokenizer,
    packaged_tokenizer,
    slices,
)
from recollect.runtime.processes import cores


@dataclass(frozen=True, slots=True)
class TokenPiece:
    """Consecutive tokens of a text, without special ones. `start` counts the text's tokens before it."""

    owner: int
    start: int
    ids: list[int]


def cut_pieces(tokenizer: Tokenizer, texts: Sequence[str], size: int, limit: int | None = None) -> Iterator[TokenPiece]:
    """The texts' tokens in pieces of at most `size`, in reading order; none for a text without tokens.

    With `limit`, pieces that begin after so many tokens of a text are left out.
    """
    owner, start, waiting = 0, 0, list[int]()
    for number, ids in _slices(tokenizer, texts):
        if number != owner:
            yield from _cut(owner, start, waiting, size, limit)
            owner, start, waiting = number, 0, []
        waiting.extend(ids)
        whole = len(waiting) // size * size
        if whole:
            yield from _cut(owner, start, waiting[:whole], size, limit)
            start, waiting = start + whole, waiting[whole:]
    yield from _cut(owner, start, waiting, size, limit)


def _slices(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
    for owners, ids in encode_in_slices(partial(encode_batch, tokenizer), texts):
        yield from zip(owners, ids, strict=True)


def _cut(owner: int, start: int, ids: list[int], size: int, limit: int | None) -> Iterator[TokenPiece]:
    for at in range(0, len(ids), size):
        if limit is None or start + at < limit:
            yield TokenPiece(owner, start + at, ids[at : at + size])


#: Pieces under way or waiting to be taken, for each core.
_AHEAD = 8
_KNOWN_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What the model says of a piece of t tokens, special ones included: float32 (d,) of it whole, (t, d) of each."""

    piece: TokenPiece
    outputs: dict[str, Vectors]


class Encoder:
    """A loaded ONNX model with its tokenizer. Safe to use from several threads.

    Each piece is wrapped in the special tokens that the tokenizer puts around a text; `prefix` holds the leading ones.
    """

    def __init__(self, model: Path, tokenizer: Tokenizer, threads: int | None = None) -> None:
        """Loads the model. `threads`: pieces at once, None for all cores. Raises ModelError where it cannot be used."""
        self._cores = threads or cores()
        self._session, self._integers = load_session(model)
        self.outputs = {each.name: len(each.shape) for each in self._session.get_outputs()}
        self.prefix, self._suffix = _special_tokens(tokenizer)

    @property
    def specials(self) -> int:
        """How many special tokens each piece gets."""
        return len(self.prefix) + len(self._suffix)

    def run(self, pieces: Iterable[TokenPiece], outputs: Sequence[str]) -> Iterator[Encoded]:
        """The wanted outputs for each piece, in order. Raises ModelError."""
        names = list(outputs)
        if self._cores == 1:
            yield from (self._answer(piece, names) for piece in pieces)
            return
        with ThreadPoolExecutor(self._cores) as workers:
            waiting: deque[Future[Encoded]] = deque()
            for piece in pieces:
                waiting.append(workers.submit(self._answer, piece, names))
                if len(waiting) >= _AHEAD * self._cores:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _answer(self, piece: TokenPiece, outputs: list[str]) -> Encoded:
        ids = np.array([[*self.prefix, *piece.ids, *self._suffix]], np.int64)
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        feed = {name: values[name].astype(integer) for name, integer in self._integers.items()}
        try:
            answers = self._session.run(outputs, feed)
        except Exception as error:
            raise ModelError(f"The embedding model failed: {error}") from error
        return Encoded(piece, {name: np.asarray(a[0], np.float32) for name, a in zip(outputs, answers, strict=True)})


def load_session(model: Path) -> tuple[Any, dict[str, Any]]:
    """A session of an ONNX model that reads tokens, a core a call, and its inputs with the types that they take.

    Raises ModelError where it cannot be used.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # read by its import, which otherwise begins to collect
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelError("onnxruntime is not installed.", hint="Run: pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    # Without it sums of int8 overflow on processors without VNNI, and vectors differ between machines.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's own classes, which differ between its versions
        raise ModelError(f"{model.name} is not a model that onnxruntime can load: {error}") from error
    integers = {each.name: np.int32 if "int32" in each.type else np.int64 for each in session.get_inputs()}
    if unknown := set(integers) - _KNOWN_INPUTS:
        raise ModelError(
            f"{model.name} needs unsupported inputs: {', '.join(sorted(unknown))}.",
            hint="Choose a text encoder of the BERT family.",
        )
    return session, integers


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """What the tokenizer puts before and after a text, seen on a one-letter text."""
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    wrapped = tokenizer.encode("a").ids
    for at in range(len(wrapped) - len(bare) + 1):
        if wrapped[at : at + len(bare)] == bare:
            return wrapped[:at], wrapped[at + len(bare) :]
    return [], []


# The quality mode: all-MiniLM-L6-v2, quantised to int8, for message vectors and for late interaction.

#: Word pieces that the model sees at once, beside [CLS] and [SEP].
PIECE = 254

_SENTENCES, _TOKENS = "sentence_embedding", "token_embeddings"
_Parts = list[tuple[int, TokenVectors]]


class MiniLM:
    """Vectors of 384 dimensions, token vectors of 128. A long text is the mean of its pieces of 254 tokens.

    A text has the same vectors whatever other texts are embedded beside it.
    """

    name = "minilm-int8@1"
    dimensions = 384

    def __init__(self, threads: int | None = None) -> None:
        """Loads the model, in about 0.2 s. `threads`: texts at once, None for all cores. Raises ModelError."""
        self._tokenizer = packaged_tokenizer()
        self._encoder = Encoder(packaged("minilm-int8.onnx"), self._tokenizer, threads)
        self._projection = packaged_array("li-pca384.npy").astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit rows, float32 (n, 384); zeros for a text without tokens. Raises ModelError."""
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        for answer in self._answers(texts, [_SENTENCES]):
            sums[answer.piece.owner] += answer.outputs[_SENTENCES]
        return unit_rows(sums)

    def token_embed(self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS) -> list[TokenVectors]:
        """The vectors of the first `max_tokens` tokens of each text. Raises ModelError."""
        parts: dict[int, _Parts] = defaultdict(list)
        for answer in self._answers(texts, [_TOKENS], limit=max_tokens):
            self._add_tokens(parts, answer, max_tokens)
        return [_joined(parts[number]) for number in range(len(texts))]

    def embed_with_tokens(
        self, texts: Sequence[str], *, max_tokens: int = MAX_TOKENS
    ) -> tuple[Vectors, list[TokenVectors]]:
        """Vectors and token vectors in one pass, both of the first `max_tokens` tokens. Raises ModelError."""
        sums = np.zeros((len(texts), self.dimensions), np.float32)
        parts: dict[int, _Parts] = defaultdict(list)
        for answer in self._answers(texts, [_SENTENCES, _TOKENS], limit=max_tokens):
            sums[answer.piece.owner] += answer.outputs[_SENTENCES]
            self._add_tokens(parts, answer, max_tokens)
        return unit_rows(sums), [_joined(parts[number]) for number in range(len(texts))]

    def _answers(self, texts: Sequence[str], outputs: Sequence[str], limit: int | None = None) -> Iterator[Encoded]:
        return self._encoder.run(cut_pieces(self._tokenizer, texts, PIECE, limit), outputs)

    def _add_tokens(self, parts: dict[int, _Parts], answer: Encoded, max_tokens: int) -> None:
        """Projects and quantises the tokens of a piece that begins before `max_tokens`."""
        piece, first = answer.piece, len(self._encoder.prefix)
        kept = min(len(piece.ids), max_tokens - piece.start)
        if kept > 0:
            vectors = unit_rows(self._project(answer.outputs[_TOKENS][first : first + kept]))
            parts[piece.owner].append((piece.start, _quantised(piece.ids[:kept], vectors)))

    def _project(self, states: Vectors) -> Vectors:
        """Token states (t, 384) to (t, 128).

        Multiplied four rows at a time: larger products wake the threads of numpy's BLAS, which then spin on the cores
        that the model wants, and halve its speed.
        """
        padded = np.pad(states, ((0, -len(states) % 4), (0, 0)))
        projected = (padded.reshape(-1, 4, states.shape[1]) @ self._projection).reshape(len(padded), -1)
        return projected[: len(states)]


def _quantised(ids: Sequence[int], vectors: Vectors) -> TokenVectors:
    return TokenVectors(np.array(ids, np.uint16), np.rint(vectors / TOKEN_SCALE).astype(np.int8))


def _joined(parts: _Parts) -> TokenVectors:
    """The parts of one text in reading order, as one."""
    if len(parts) == 1:
        return parts[0][1]
    ordered = [vectors for _, vectors in sorted(parts, key=lambda part: part[0])]
    ids = [np.zeros(0, np.uint16), *(vectors.ids for vectors in ordered)]
    rows = [np.zeros((0, 128), np.int8), *(vectors.vectors for vectors in ordered)]
    return TokenVectors(np.concatenate(ids), np.concatenate(rows))


# An embedding model in a folder of this machine: ONNX with tokenizer.json, or a sentence-transformers folder.

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
