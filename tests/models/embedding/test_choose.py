"""Embedders by name."""

import pytest

from recollect.errors import InvalidInput, ModelError
from recollect.models.embedding import open_embedder
from recollect.models.embedding.minilm import MiniLM
from recollect.models.embedding.remote import OpenAIEmbeddings
from recollect.models.embedding.static import StaticEmbedder


def test_the_default_is_static():
    assert isinstance(open_embedder(), StaticEmbedder)
    assert isinstance(open_embedder("static"), StaticEmbedder)
    assert (open_embedder().name, open_embedder().dimensions) == ("static-reg-int8@1", 256)


def test_minilm_is_the_quality_mode():
    model = open_embedder("minilm")
    assert isinstance(model, MiniLM)
    assert (model.name, model.dimensions) == ("minilm-int8@1", 384)


def test_a_server_is_named_by_its_model_and_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = open_embedder("openai:nomic-embed-text:v1.5")
    assert isinstance(model, OpenAIEmbeddings)
    assert model.name == "openai:nomic-embed-text:v1.5"


def test_a_folder_that_is_not_there_is_a_model_error(tmp_path):
    with pytest.raises(ModelError, match="not a folder"):
        open_embedder(f"folder:{tmp_path / 'nowhere'}")


@pytest.mark.parametrize("spec", ["", "bert", "static:x", "minilm:2", "folder:", "openai:", "openai", "Static"])
def test_another_name_is_refused_with_the_choices(spec):
    with pytest.raises(InvalidInput) as caught:
        open_embedder(spec)
    for choice in ("static", "minilm", "folder:", "openai:"):
        assert choice in caught.value.hint
