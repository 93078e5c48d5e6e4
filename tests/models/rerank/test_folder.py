"""Cross-encoders in folders: a real one in ONNX, made here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from recollect.errors import ModelError
from recollect.models.embedding.base import packaged
from recollect.models.rerank.folder import open_folder
from tests.models.rerank.cross_encoder import write_cross_encoder

QUESTION = "Where did the blue heron fish?"
TEXTS = ["Nothing of the kind", "A heron is a bird", "The blue heron likes fish", ""]


def test_a_folder_with_onnx_scores_pairs(tmp_path: Path) -> None:
    reranker = open_folder(write_cross_encoder(tmp_path / "cross"))
    assert reranker.score(QUESTION, TEXTS) == [1.0, 1.0, 4.0, 0.0]
    assert reranker.score(QUESTION, []) == []
    assert reranker.name.startswith("folder:cross@")


def test_of_two_labels_yes_counts_against_no(tmp_path: Path) -> None:
    reranker = open_folder(write_cross_encoder(tmp_path / "cross", labels=2))
    assert reranker.score(QUESTION, TEXTS) == [2.0, 2.0, 8.0, 0.0]


def test_a_long_text_is_cut_and_a_long_question_leaves_it_room(tmp_path: Path) -> None:
    reranker = open_folder(write_cross_encoder(tmp_path / "cross", length=64))
    assert reranker.score(QUESTION, ["heron " + "x " * 100_000, "y " * 1_000 + "heron"]) == [1.0, 0.0]
    assert reranker.score("heron " + "tell me more " * 2_000, ["heron"])[0] == 1.0


def test_broken_unicode_does_no_harm(tmp_path: Path) -> None:
    reranker = open_folder(write_cross_encoder(tmp_path / "cross"))
    assert reranker.score("heron \ud800", ["\udfff heron"]) == [1.0]


def test_the_same_pair_scores_the_same_in_any_company(tmp_path: Path) -> None:
    reranker = open_folder(write_cross_encoder(tmp_path / "cross"))
    alone = [reranker.score(QUESTION, [text])[0] for text in TEXTS]
    assert reranker.score(QUESTION, TEXTS) == alone


@pytest.mark.parametrize(
    ("options", "told"), [({"labels": 3}, "3 numbers"), ({"output": "last_hidden_state"}, "no cross-encoder")]
)
def test_a_model_of_another_kind_is_refused(tmp_path: Path, options: dict[str, object], told: str) -> None:
    write_cross_encoder(tmp_path / "cross", **options)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=told):
        open_folder(tmp_path / "cross")


def test_the_packaged_embedder_is_no_cross_encoder(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").symlink_to(packaged("minilm-int8.onnx"))
    (tmp_path / "tokenizer.json").symlink_to(packaged("tokenizer.json"))
    with pytest.raises(ModelError, match="no cross-encoder"):
        open_folder(tmp_path)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a folder"):
        open_folder(tmp_path / "nowhere")
    with pytest.raises(ModelError, match="no cross-encoder") as caught:
        open_folder(tmp_path)
    assert "model.onnx" in caught.value.hint
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        open_folder(tmp_path)
    (tmp_path / "tokenizer.json").symlink_to(packaged("tokenizer.json"))
    with pytest.raises(ModelError, match="can load"):
        open_folder(tmp_path)


def test_a_damaged_setting_is_said_with_its_path(tmp_path: Path) -> None:
    write_cross_encoder(tmp_path / "cross")
    (tmp_path / "cross" / "tokenizer_config.json").write_text("[]")
    with pytest.raises(ModelError, match="tokenizer_config"):
        open_folder(tmp_path / "cross")


@pytest.fixture
def sentence_folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertForSequenceClassification"]}))
    return tmp_path


def test_without_the_library_a_sentence_transformers_folder_is_refused(
    sentence_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelError, match="not installed") as caught:
        open_folder(sentence_folder)
    assert "pip install sentence-transformers" in caught.value.hint


def test_with_the_library_it_is_used_without_the_network(
    sentence_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Model:
        def __init__(self, path: str, *, local_files_only: bool) -> None:
            assert (path, local_files_only) == (str(sentence_folder), True)

        def predict(self, pairs: list[tuple[str, str]], **_: object) -> np.ndarray:
            return np.array([len(text) for _, text in pairs], np.float32)

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(CrossEncoder=Model))
    reranker = open_folder(sentence_folder)
    assert reranker.score("q", ["aa", "b"]) == [2.0, 1.0]
