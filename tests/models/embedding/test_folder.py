"""Models in folders: here the packaged one, laid out as such folders are."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from recollect.errors import ModelError
from recollect.models.embedding.base import packaged
from recollect.models.embedding.encoder import MiniLM, OnnxFolder, identity, open_folder, pool

TEXTS = ["Where did we go last summer?", "", "tax " * 600]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").symlink_to(packaged("minilm-int8.onnx"))
    (tmp_path / "tokenizer.json").symlink_to(packaged("tokenizer.json"))
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256}))
    return tmp_path


def test_a_folder_with_onnx_embeds_as_the_same_model_does_here(folder):
    embedder = open_folder(folder)
    assert embedder.dimensions == 384
    np.testing.assert_allclose(embedder.embed(TEXTS), MiniLM().embed(TEXTS), atol=1e-5)


def test_its_name_changes_with_the_model(folder):
    name = open_folder(folder).name
    assert name == open_folder(folder).name
    assert name.startswith(f"folder:{folder.name}@")
    model = folder / "onnx" / "model.onnx"
    model.unlink()
    model.write_bytes(packaged("minilm-int8.onnx").read_bytes() + b"\x18\x00")  # one more empty field
    assert identity(folder, model) != name


def test_token_states_are_pooled_where_the_model_gives_no_sentence(folder, monkeypatch):
    monkeypatch.setattr("recollect.models.embedding.encoder._wanted_output", lambda *_: "token_embeddings")
    pooled = OnnxFolder(folder, folder / "onnx" / "model.onnx").embed(TEXTS[:1])
    np.testing.assert_allclose(pooled, MiniLM().embed(TEXTS[:1]), atol=1e-3)


def test_pooling_makes_one_row_of_the_tokens():
    tokens = np.array([[1, 0], [3, 2]], np.float32)
    assert pool(tokens, "mean").tolist() == [2, 1]
    assert pool(tokens, "cls").tolist() == [1, 0]
    assert pool(tokens, "last").tolist() == [3, 2]


def test_rare_ways_of_pooling_are_refused_by_name(folder):
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_max_tokens": True}))
    with pytest.raises(ModelError, match="max_tokens"):
        open_folder(folder)


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(ModelError, match="no embedding model") as caught:
        open_folder(tmp_path)
    assert "model.onnx" in caught.value.hint
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"tokenizer\.json"):
        open_folder(tmp_path)
    (tmp_path / "tokenizer.json").symlink_to(packaged("tokenizer.json"))
    with pytest.raises(ModelError, match="can load"):
        open_folder(tmp_path)


def test_a_damaged_setting_is_said_with_its_path(folder):
    (folder / "sentence_bert_config.json").write_text("{")
    with pytest.raises(ModelError, match="sentence_bert_config"):
        open_folder(folder)


@pytest.fixture
def sentence_folder(tmp_path):
    (tmp_path / "modules.json").write_text("[]")
    return tmp_path


def test_without_the_library_a_sentence_transformers_folder_is_refused(sentence_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelError, match="not installed") as caught:
        open_folder(sentence_folder)
    assert "pip install sentence-transformers" in caught.value.hint


def test_with_the_library_it_is_used_without_the_network(sentence_folder, monkeypatch):
    class Model:
        max_seq_length = 10

        def __init__(self, path, *, local_files_only):
            assert (path, local_files_only) == (str(sentence_folder), True)

        def encode(self, texts, **_):
            assert all(len(text) <= 30 for text in texts)
            return np.array([[text.count("a"), text.count("b")] for text in texts], np.float32)

    monkeypatch.setitem(sys.modules, "sentence_transformers", SimpleNamespace(SentenceTransformer=Model))
    embedder = open_folder(sentence_folder)
    assert embedder.dimensions == 2
    rows = embedder.embed(["aa", "", "a " * 15 + "b " * 15])
    np.testing.assert_allclose(rows, [[1, 0], [0, 0], [0.5**0.5, 0.5**0.5]], atol=1e-6)
    assert embedder.embed([" "]).tolist() == [[0, 0]]
