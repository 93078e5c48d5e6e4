"""A cross-encoder in ONNX, made on the spot: a pair scores by the word pieces of the text that the question has too.

Small, and a real graph with the inputs and the output of real ones; it tells question and text apart by the types of
their tokens, so that it also sees how pairs are put together.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.helper import make_node, make_tensor_value_info

from recollect.models.embedding.base import packaged

_FIRST_WORD = 1_990  # pieces below are signs, letters and special tokens


def write_cross_encoder(folder: Path, *, labels: int = 1, output: str = "logits", length: int = 512) -> Path:
    """Writes the folder: `onnx/model.onnx` with so many labels a pair, tokenizer.json and its settings."""
    (folder / "onnx").mkdir(parents=True)
    onnx.save(_model(labels, output), folder / "onnx" / "model.onnx")
    (folder / "tokenizer.json").symlink_to(packaged("tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": length}))
    return folder


def _model(labels: int, output: str) -> onnx.ModelProto:
    """Counts pairs (i, j) with the same word at i in the question and at j in the text."""
    constants = {
        "one": np.array(1, np.int64),
        "least": np.array(_FIRST_WORD, np.int64),
        "rows": np.array([2], np.int64),
        "columns": np.array([1], np.int64),
        "signs": np.array([[(-1.0) ** (labels - 1 - n) for n in range(labels)]], np.float32),
    }
    nodes = [
        make_node("Greater", ["input_ids", "least"], ["is_word"]),
        make_node("Equal", ["token_type_ids", "one"], ["in_text"]),
        make_node("Not", ["in_text"], ["in_question"]),
        make_node("And", ["is_word", "in_text"], ["of_text"]),
        make_node("And", ["is_word", "in_question"], ["of_question"]),
        make_node("Unsqueeze", ["input_ids", "rows"], ["down"]),
        make_node("Unsqueeze", ["input_ids", "columns"], ["across"]),
        make_node("Equal", ["down", "across"], ["same"]),
        make_node("Unsqueeze", ["of_question", "rows"], ["down_question"]),
        make_node("Unsqueeze", ["of_text", "columns"], ["across_text"]),
        make_node("And", ["same", "down_question"], ["half"]),
        make_node("And", ["half", "across_text"], ["shared"]),
        make_node("Cast", ["shared"], ["counted"], to=TensorProto.FLOAT),
        make_node("ReduceSum", ["counted", "axes"], ["sum"], keepdims=0),
        make_node("Unsqueeze", ["sum", "columns"], ["score"]),
        make_node("Mul", ["score", "signs"], [output]),
    ]
    constants["axes"] = np.array([1, 2], np.int64)
    inputs = [
        make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    graph = helper.make_graph(
        nodes,
        "cross-encoder",
        inputs,
        [make_tensor_value_info(output, TensorProto.FLOAT, ["batch", labels])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model
